//! The screen.

use lioprof_model::Severity;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use crate::clean::clean;
use crate::headline;
use crate::help::{HELP, NOTES};
use crate::level::View;
use crate::state::State;
use crate::table::{Row, Table};

/// Lines above the rows: totals, verdict (two), tabs, headings.
const HEAD: u16 = 5;
/// Lines below the rows: others, and what can be done.
const FOOT: u16 = 2;

const PLAIN: Style = Style::new();
const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
const INVERSE: Style = Style::new().add_modifier(Modifier::REVERSED);
const DIM: Style = Style::new().add_modifier(Modifier::DIM);

/// Draws what there is to show.
pub fn draw(state: &mut State, area: Rect, buffer: &mut Buffer) {
    state.page = area.height.saturating_sub(HEAD + FOOT).max(1);
    let mut canvas = Canvas { area, buffer };
    let live = &state.live;
    canvas.line(0, &title(state), BOLD);
    let (severity, verdict) = headline::verdict(live);
    canvas.two_lines(1, &verdict, style_of(severity));
    tabs(state, &mut canvas);
    if state.help {
        help(&mut canvas);
    } else {
        rows(state, &mut canvas);
    }
    let last = area.height.saturating_sub(1);
    if last >= HEAD {
        let (text, style) = foot(state);
        canvas.line(last, &text, style);
    }
}

/// Part of a screen.
struct Canvas<'a> {
    area: Rect,
    buffer: &'a mut Buffer,
}

impl Canvas<'_> {
    /// Writes at the beginning of a line.
    fn line(&mut self, y: u16, text: &str, style: Style) {
        self.at(0, y, text, style);
    }

    /// Writes at a place; returns the column behind it. What has no room is left out.
    fn at(&mut self, x: u16, y: u16, text: &str, style: Style) -> u16 {
        if y >= self.area.height || x >= self.area.width {
            return self.area.width;
        }
        let (left, top) = (self.area.x + x, self.area.y + y);
        let (end, _) = self.buffer.set_stringn(left, top, text, usize::from(self.area.width - x), style);
        end - self.area.x
    }

    /// Writes a sentence in two lines, cut after the last word that fits into the first.
    fn two_lines(&mut self, y: u16, text: &str, style: Style) {
        let width = usize::from(self.area.width);
        let fits = text.char_indices().nth(width).map_or(text.len(), |(at, _)| at);
        let cut = if fits == text.len() { fits } else { text[..fits].rfind(' ').unwrap_or(fits) };
        let (first, rest) = text.split_at(cut);
        self.line(y, first, style);
        self.line(y + 1, rest.trim_start(), style);
    }
}

fn style_of(severity: Option<Severity>) -> Style {
    match severity {
        Some(Severity::Critical) => BOLD.fg(Color::Red),
        Some(Severity::Warning) => BOLD.fg(Color::Yellow),
        Some(Severity::Info) | None => PLAIN,
    }
}

fn title(state: &State) -> String {
    let live = &state.live;
    let text = if live.servers.is_empty() { "waiting for the first answer".to_owned() } else { headline::totals(live) };
    // At the front, where a narrow screen has it, too.
    format!("lioprof top  {}{text}", if state.frozen { "FROZEN  " } else { "" })
}

fn tabs(state: &State, canvas: &mut Canvas<'_>) {
    let mut x = 0;
    for (number, view) in View::ALL.iter().enumerate() {
        let style = if *view == state.view() { INVERSE } else { PLAIN };
        x = canvas.at(x, 3, &format!(" {} {} ", number + 1, view.name()), style) + 1;
    }
    for step in state.path() {
        x = canvas.at(x, 3, &format!("> {}", clean(&step)), BOLD) + 1;
    }
}

fn foot(state: &State) -> (String, Style) {
    if state.typing {
        return (format!("/{}_", clean(&state.filter)), BOLD);
    }
    let troubles = headline::troubles(&state.live);
    let others = troubles.len().saturating_sub(1);
    let trouble = state.trouble.as_deref().map(clean).or_else(|| troubles.into_iter().next());
    match trouble {
        Some(trouble) if others > 0 => (format!("{trouble} [and {others} more]"), style_of(Some(Severity::Warning))),
        Some(trouble) => (trouble, style_of(Some(Severity::Warning))),
        None if !state.filter.is_empty() => (format!("only rows with `{}`; Esc: all", clean(&state.filter)), PLAIN),
        None => ("q quit  ? help  Enter more  Esc back  / filter  < > sort  r reverse  space freeze".to_owned(), DIM),
    }
}

fn help(canvas: &mut Canvas<'_>) {
    for (y, (keys, what)) in (HEAD - 1..).zip(HELP) {
        canvas.at(1, y, keys, BOLD);
        canvas.at(19, y, what, PLAIN);
    }
    let below = u16::try_from(HELP.len()).unwrap_or(u16::MAX).saturating_add(HEAD);
    for (y, note) in (below..).zip(NOTES) {
        canvas.at(1, y, note, PLAIN);
    }
}

fn rows(state: &State, canvas: &mut Canvas<'_>) {
    let table = state.table();
    let selected = state.selected_row(&table);
    let widths = table.widths();
    headings(state, &table, &widths, canvas);
    // The selected row is in the middle, but for both ends.
    let page = usize::from(state.page);
    let last_first = table.rows.len().saturating_sub(page);
    let first = selected.saturating_sub(page / 2).min(last_first);
    for (y, (at, row)) in (HEAD..).zip(table.rows.iter().enumerate().skip(first).take(page)) {
        cells(row, &table, &widths, y, if at == selected { INVERSE } else { PLAIN }, canvas);
    }
    if table.rows.is_empty() {
        canvas.at(1, HEAD, "nothing", DIM);
    }
    let below = canvas.area.height.saturating_sub(FOOT);
    if below < HEAD {
        return;
    }
    if let Some((count, row)) = &table.others {
        let mut row = row.clone();
        if let Some(name) = row.cells.first_mut() {
            name.text = format!("others: {count}");
        }
        cells(&row, &table, &widths, below, DIM, canvas);
    } else if table.rows.len() > page {
        canvas.line(below, &format!(" row {} of {}", selected + 1, table.rows.len()), DIM);
    }
}

fn headings(state: &State, table: &Table, widths: &[usize], canvas: &mut Canvas<'_>) {
    let mut x = 1;
    for (at, (column, &width)) in table.columns.iter().zip(widths).enumerate() {
        let style = if state.sort() == Some(at) { INVERSE } else { BOLD };
        x = put(canvas, x, HEAD - 1, column.heading, (width, column.is_name), style);
    }
}

fn cells(row: &Row, table: &Table, widths: &[usize], y: u16, style: Style, canvas: &mut Canvas<'_>) {
    let mut x = 1;
    for ((cell, column), &width) in row.cells.iter().zip(&table.columns).zip(widths) {
        x = put(canvas, x, y, &cell.text, (width, column.is_name), style);
    }
}

/// Writes a cell, and a gap behind it; not at all if it has no room, since part of a figure is a wrong figure.
fn put(canvas: &mut Canvas<'_>, x: u16, y: u16, text: &str, (width, is_name): (usize, bool), style: Style) -> u16 {
    let after = x.saturating_add(u16::try_from(width).unwrap_or(u16::MAX));
    if after > canvas.area.width && x > 1 {
        return canvas.area.width;
    }
    let text: String = text.chars().take(width).collect();
    let text = if is_name { format!("{text:<width$}") } else { format!("{text:>width$}") };
    canvas.at(x, y, &text, style);
    canvas.at(after, y, "  ", style);
    after.saturating_add(2)
}
