//! Who uses which OST: bytes by client and OST.

use std::collections::BTreeMap;

use lioprof_model::names::{UNATTRIBUTED, without_file_system};
use lioprof_model::{Accused, Analysis};

use super::plot::{Plot, PlotOptions};
use crate::data::Covers;
use crate::draw::{
    Align, Area, BLACK, BODY, FRAME, GREY, Ink, PALE, SMALL, Scene, Text, index, readable_on, widest, width,
};
use crate::figure::{
    Axis, HEAD, HeatScale, Key, RowLabels, Swatch, bytes, bytes_colors, column_names, count, counted, heat, log_bytes,
    split, y_title,
};
use crate::page::Page;

pub(super) const PLOT: Plot = Plot {
    name: "client-ost-matrix",
    title: "Bytes by client and OST",
    how_to_read: "Rows are clients, columns are OSTs, both with those that findings name and then the busiest first; the darkness of a cell is \
        the number of bytes that this client read from (left) or wrote to (right) this OST. A dark column is \
        an OST that everybody uses, a dark row a client that uses every OST, a single dark cell one client \
        with one OST: often a file with a stripe count of 1. If there are more clients or OSTs than fit, the \
        last row or column is the sum of the others, which the colours are not scaled to.",
    draw,
};

/// Bytes by row and column.
struct Matrix {
    rows: Vec<String>,
    columns: Vec<String>,
    /// Read and written, by row and column.
    cells: [Vec<Vec<f64>>; 2],
    /// The last row, the last column is a sum of others.
    sums: (bool, bool),
}

/// Names of the `most` largest, after those that findings name; the others share the place after them.
fn top<'a>(sums: &BTreeMap<&'a str, f64>, most: usize, accused: &Accused<'_>) -> (Vec<&'a str>, usize) {
    let mut sorted: Vec<(&str, f64)> = sums.iter().map(|(k, v)| (*k, *v)).collect();
    sorted.sort_by(|a, b| {
        let first = accused.first(a.0).cmp(&accused.first(b.0));
        first.then_with(|| b.1.total_cmp(&a.1)).then_with(|| a.0.cmp(b.0))
    });
    let all = sorted.len();
    let most = if all <= most { all } else { most.saturating_sub(1).max(1) };
    (sorted.into_iter().take(most).map(|(name, _)| name).collect(), all - most)
}

fn places<'a>(names: &[&'a str]) -> BTreeMap<&'a str, usize> {
    names.iter().enumerate().map(|(i, name)| (*name, i)).collect()
}

impl Matrix {
    fn of(analysis: &Analysis, most_rows: usize, most_columns: usize) -> Self {
        let mut clients: BTreeMap<&str, f64> = BTreeMap::new();
        let mut osts: BTreeMap<&str, f64> = BTreeMap::new();
        let names: Vec<&str> = analysis.flows.iter().map(|f| f.target.as_deref().unwrap_or(UNATTRIBUTED)).collect();
        let moved: Vec<[f64; 2]> = analysis.flows.iter().map(|f| [f.read.bytes as f64, f.write.bytes as f64]).collect();
        for ((flow, ost), [read, write]) in analysis.flows.iter().zip(&names).zip(&moved) {
            if read + write > 0.0 {
                *clients.entry(&flow.nid).or_default() += read + write;
                *osts.entry(ost).or_default() += read + write;
            }
        }
        let (nids, targets) = (Accused::clients(analysis), Accused::targets(analysis));
        let (top_clients, more_clients) = top(&clients, most_rows, &nids);
        let (top_osts, more_osts) = top(&osts, most_columns, &targets);
        let (row_of, column_of) = (places(&top_clients), places(&top_osts));
        let mut rows: Vec<String> = top_clients.iter().map(|c| nids.mark(c, c)).collect();
        let short = without_file_system(top_osts.iter().copied());
        let mut columns: Vec<String> =
            top_osts.iter().zip(short).map(|(ost, short)| targets.mark(ost, &short)).collect();
        let sums = (more_clients > 0, more_osts > 0);
        if sums.0 {
            rows.push(format!("{} others", count(more_clients as u64)));
        }
        if sums.1 {
            columns.push(format!("{} others", count(more_osts as u64)));
        }
        let zero = vec![vec![0.0; columns.len()]; rows.len()];
        let mut cells = [zero.clone(), zero];
        for ((flow, ost), moved) in analysis.flows.iter().zip(&names).zip(&moved) {
            if moved[0] + moved[1] > 0.0 {
                let row = row_of.get(flow.nid.as_str()).copied().unwrap_or(rows.len() - 1);
                let column = column_of.get(ost).copied().unwrap_or(columns.len() - 1);
                for (cells, moved) in cells.iter_mut().zip(moved) {
                    cells[row][column] += moved;
                }
            }
        }
        Self { rows, columns, cells, sums }
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.cells.iter().flatten().flatten().copied().filter(|v| *v > 0.0)
    }

    /// What single clients moved on single OSTs: whatever the others come to in sum is no measure for one.
    fn ones(&self) -> Vec<f64> {
        let rows = self.rows.len() - usize::from(self.sums.0);
        let columns = self.columns.len() - usize::from(self.sums.1);
        let single = self.cells.iter().flat_map(|cells| cells[..rows].iter().flat_map(|row| &row[..columns]));
        let ones: Vec<f64> = single.copied().filter(|v| *v > 0.0).collect();
        if ones.is_empty() { self.values().collect() } else { ones }
    }

    fn color_axis(&self) -> Axis {
        let ones = self.ones();
        let max = ones.iter().copied().fold(0.0, f64::max);
        if HeatScale::wants_log(ones.iter().copied()) {
            log_bytes(ones.iter().copied().fold(max, f64::min), max, "bytes")
        } else {
            bytes_colors(max, "bytes", "")
        }
    }
}

/// Longest column label.
const COLUMN_ROOM: f64 = 96.0;

fn draw(analysis: &Analysis, options: &PlotOptions) -> Result<Scene, &'static str> {
    if analysis.flows.iter().all(|f| f.read.bytes == 0 && f.write.bytes == 0) {
        return Err("no bytes were read or written, or their sizes are unknown");
    }
    let covers = Covers { bytes: true, targets: true, ..Covers::default() };
    let what = "Bytes that each client read and wrote on each OST.";
    let mut page = Page::new(options, analysis, PLOT.title, what, covers);
    // A cell without known bytes is not a cell without I/O.
    let unknown = analysis.totals.read.unsized_rpcs.saturating_add(analysis.totals.write.unsized_rpcs);
    let nothing = if unknown > 0 { "nothing moved, or size unknown" } else { "nothing moved" };
    page.legend(&[Key::new(Swatch::Fill(PALE), nothing)]);
    if unknown > 0 {
        page.note(format!("{} of unknown size not included.", counted(unknown, "RPC")));
    }
    let most_rows = index((page.free_height() - HEAD - COLUMN_ROOM - SMALL * 3.0) / 15.0).max(2);
    // Names are at most 170 wide, the colour bar about 90.
    let most_columns = index((f64::from(options.width_px) - 310.0) / 2.0 / 15.0).max(2);
    let matrix = Matrix::of(analysis, most_rows, most_columns);
    let (rows, columns) = (matrix.rows.len(), matrix.columns.len());
    page.explain_mark(matrix.rows.iter().chain(&matrix.columns));
    if matrix.sums.0 || matrix.sums.1 {
        page.note(format!(
            "The busiest {} and {} are shown; the others are summed up in the last row and column, which the colours are not scaled to.",
            counted((rows - usize::from(matrix.sums.0)) as u64, "client"),
            counted((columns - usize::from(matrix.sums.1)) as u64, "OST"),
        ));
    }
    let scale = HeatScale { axis: matrix.color_axis() };
    let longest = widest(matrix.columns.iter().map(String::as_str), SMALL);
    let sides = BODY * 1.7 + RowLabels::new(&matrix.rows, 30.0, 170.0).width() + scale.bar_width();
    let each = (f64::from(options.width_px) - 32.0 - sides - 16.0) / 2.0 / columns as f64;
    let level = longest < each - 6.0;
    let names_high = if level { 20.0 } else { longest.min(COLUMN_ROOM) + 10.0 };
    let title_high = BODY * 1.4;
    let wanted = HEAD + (rows as f64 * 30.0).max(150.0) + names_high + title_high;
    let body = page.body(wanted);
    let high = body.height() - HEAD - names_high - title_high;
    let labels = RowLabels::new(&matrix.rows, high / rows as f64, 170.0);
    let left = body.x0 + BODY * 1.7 + labels.width();
    let (right, gap) = (body.x1 - scale.bar_width(), 16.0);
    let wide = (right - left - gap) / 2.0;
    let scene = &mut page.scene;
    let places = split(Area::new(0.0, body.y0 + HEAD, 0.0, body.y0 + HEAD + high), rows);
    for (i, name) in ["Read", "Written"].into_iter().enumerate() {
        let x0 = left + i as f64 * (wide + gap);
        let area = Area::new(x0, body.y0 + HEAD, x0 + wide, body.y0 + HEAD + high);
        half(scene, area, &matrix, i, &places, &scale, level);
        let sum: f64 = matrix.cells[i].iter().flatten().sum();
        scene.text(Text::new((area.x0, area.y0 - 7.0), name, BODY).bold());
        let figures = Text::new((area.x1, area.y0 - 7.0), bytes(sum), SMALL).ink(GREY);
        scene.text(figures.align(Align::End));
        let (x, _) = area.center();
        scene.label(x, body.y1 - BODY * 0.6, Align::Middle, BODY, BLACK, "OST");
    }
    labels.draw(scene, left, &places);
    let all = Area::new(left, body.y0 + HEAD, right, body.y0 + HEAD + high);
    y_title(scene, body.x0 + BODY, all, "client (NID)");
    scale.bar(scene, Area::new(right, all.y0, body.x1, all.y1));
    Ok(page.finish())
}

fn half(
    scene: &mut Scene,
    area: Area,
    matrix: &Matrix,
    direction: usize,
    places: &[(f64, f64)],
    scale: &HeatScale,
    level: bool,
) {
    let cells = &matrix.cells[direction];
    heat::background(scene, area);
    let columns = matrix.columns.len();
    let each = area.width() / columns as f64;
    let edges: Vec<f64> = (0..=columns).map(|i| area.x0 + i as f64 * each).collect();
    // Figures in all cells or in none: some only would look like a choice.
    let longest = matrix.values().map(|v| width(&bytes(v), SMALL, false)).fold(0.0, f64::max);
    let labelled = longest < each - 6.0 && area.height() / places.len() as f64 > SMALL * 1.5;
    for (values, (y0, y1)) in cells.iter().zip(places) {
        heat::row(scene, (*y0, *y1), &edges, values, scale);
        for (i, value) in values.iter().enumerate().filter(|(_, v)| **v > 0.0) {
            let label = bytes(*value);
            if labelled {
                let ink = readable_on(scale.ink(*value));
                let (x, y) = (edges[i] + each / 2.0, f64::midpoint(*y0, *y1));
                scene.label(x, y, Align::Middle, SMALL, ink, &label);
            }
        }
    }
    let white = Ink::new(0xff_ffff);
    for x in &edges[1..columns] {
        scene.line(&[(*x, area.y0), (*x, area.y1)], white, 1.0);
    }
    for (y, _) in &places[1..] {
        scene.line(&[(area.x0, *y), (area.x1, *y)], white, 1.0);
    }
    // Sums of others are set apart.
    let (last_row, last_column) = matrix.sums;
    let strong = FRAME;
    if last_row && places.len() > 1 {
        let y = places[places.len() - 1].0;
        scene.line(&[(area.x0, y), (area.x1, y)], strong, 1.5);
    }
    if last_column && columns > 1 {
        let x = edges[columns - 1];
        scene.line(&[(x, area.y0), (x, area.y1)], strong, 1.5);
    }
    scene.outline(area, strong, 1.0);
    column_names(scene, area, &matrix.columns, level, COLUMN_ROOM);
}
