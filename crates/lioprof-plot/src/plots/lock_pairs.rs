//! Who is in whose way: lock conflicts by holder and waiter.

use std::collections::BTreeMap;

use lioprof_model::{Analysis, LockPair};

use super::plot::{Plot, PlotOptions};
use crate::data::{Covers, NO_CONFLICT, contended, is_ost, mdt_note};
use crate::draw::{
    Align, Area, BLACK, BODY, FRAME, GRID, Ink, PALE, SMALL, Scene, index, ratio, readable_on, widest, width,
};
use crate::figure::{
    Axis, HeatScale, Key, RowLabels, Swatch, column_names, count, count_colors, counted, heat, log_count, percent,
    short_count, split, y_title,
};
use crate::page::Page;

pub(super) const PLOT: Plot = Plot {
    name: "lock-pairs",
    title: "Who waits for whose locks",
    how_to_read: "Rows are the clients that held a lock, columns the clients that asked for one in conflict with it, \
        both with the most conflicts first; the darkness of a cell is the number of conflicts. Where there is room, \
        a cell also says how often the release of the one let the other have its lock (hand-overs). Two dark cells \
        that mirror each other at the diagonal are two clients that take a lock from each other, to and fro. A dark \
        row is a client that is in everybody's way, a dark column one that always has to wait. The diagonal is empty \
        because a client against itself is no contention.",
    draw,
};

/// Conflicts and hand-overs.
type Cell = (u64, u64);

/// Conflicts by holder and waiter.
struct Matrix {
    clients: Vec<String>,
    cells: Vec<Vec<Cell>>,
    /// Clients that are not shown.
    hidden: usize,
    /// Conflicts between two clients that are shown.
    shown: f64,
}

impl Matrix {
    fn of(pairs: &[&LockPair], most: usize) -> Self {
        let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
        for pair in pairs {
            *sums.entry(&pair.holder_nid).or_default() += pair.conflicts as f64;
            *sums.entry(&pair.waiter_nid).or_default() += pair.conflicts as f64;
        }
        let mut order: Vec<(&str, f64)> = sums.into_iter().collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let hidden = order.split_off(order.len().min(most));
        let place: BTreeMap<&str, usize> = order.iter().enumerate().map(|(i, (nid, _))| (*nid, i)).collect();
        let clients: Vec<String> = order.iter().map(|(nid, _)| (*nid).to_owned()).collect();
        let mut cells = vec![vec![(0, 0); clients.len()]; clients.len()];
        let mut shown = 0.0;
        for pair in pairs {
            let at = |nid: &str| place.get(nid).copied();
            if let (Some(holder), Some(waiter)) = (at(&pair.holder_nid), at(&pair.waiter_nid)) {
                shown += pair.conflicts as f64;
                let cell: &mut Cell = &mut cells[holder][waiter];
                *cell = (cell.0.saturating_add(pair.conflicts), cell.1.saturating_add(pair.handovers));
            }
        }
        Self { clients, cells, hidden: hidden.len(), shown }
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.cells.iter().flatten().map(|cell| cell.0 as f64).filter(|v| *v > 0.0)
    }

    fn color_axis(&self) -> Axis {
        let max = self.values().fold(0.0, f64::max);
        if HeatScale::wants_log(self.values()) { log_count(max, "conflicts") } else { count_colors(max, "conflicts") }
    }
}

/// Longest column label.
const COLUMN_ROOM: f64 = 110.0;
/// A cell is not higher than this.
const TALLEST: f64 = 64.0;

fn draw(analysis: &Analysis, options: &PlotOptions) -> Result<Scene, &'static str> {
    let locks = contended(analysis)?;
    // A client against itself is no contention.
    let between = |p: &&LockPair| p.conflicts > 0 && p.holder_nid != p.waiter_nid && is_ost(&p.target);
    let pairs: Vec<&LockPair> = locks.pairs.iter().filter(between).collect();
    if pairs.is_empty() {
        return Err(NO_CONFLICT);
    }
    let what = "Conflicts between clients by who held the lock (row) and who asked for one (column), all OSTs.";
    let mut page = Page::new(options, analysis, PLOT.title, what, Covers { locks: true, ..Covers::default() });
    let title_high = BODY * 1.6;
    let most_rows = index((page.free_height() - 20.0 - COLUMN_ROOM - title_high - SMALL * 3.0) / 15.0).max(2);
    // Names are at most 170 wide, the colour bar about 90.
    let most_columns = index((f64::from(options.width_px) - 310.0) / 15.0).max(2);
    let matrix = Matrix::of(&pairs, most_rows.min(most_columns));
    let scale = HeatScale { axis: matrix.color_axis() };
    let n = matrix.clients.len();
    let longest = widest(matrix.clients.iter().map(String::as_str), SMALL);
    let sides = BODY * 1.7 + RowLabels::new(&matrix.clients, 30.0, 170.0).width() + scale.bar_width();
    let each = (f64::from(options.width_px) - 32.0 - sides) / n as f64;
    let level = longest < each - 6.0;
    let names_high = if level { 20.0 } else { longest.min(COLUMN_ROOM) + 10.0 };
    // The legend and notes take a few lines more.
    let room = page.free_height() - 40.0 - names_high - title_high;
    let high = (n as f64 * TALLEST).max(160.0).min(room);
    let labels = Figures::of(&matrix, each, high / n as f64);
    let mut keys = vec![Key::new(Swatch::Fill(PALE), "no conflict")];
    keys.extend(labels.key().map(|text| Key::new(Swatch::None, text)));
    page.legend(&keys);
    let all: f64 = pairs.iter().map(|p| p.conflicts as f64).sum();
    let mut notes = Vec::new();
    if matrix.hidden > 0 {
        notes.push(format!(
            "The {} with most conflicts are shown, {} more {} not; {} of the conflicts are between two of those shown.",
            counted(n as u64, "client"),
            count(matrix.hidden as u64),
            if matrix.hidden == 1 { "is" } else { "are" },
            percent(ratio(matrix.shown, all)),
        ));
    }
    notes.extend(mdt_note(locks));
    page.note(notes.join(" "));
    let body = page.body(high + names_high + title_high);
    let row_names = RowLabels::new(&matrix.clients, high / n as f64, 170.0);
    let left = body.x0 + BODY * 1.7 + row_names.width();
    let high = body.height() - names_high - title_high;
    let area = Area::new(left, body.y0, body.x1 - scale.bar_width(), body.y0 + high);
    let places = split(area, n);
    let scene = &mut page.scene;
    cells(scene, area, &matrix, &places, &scale, &labels);
    column_names(scene, area, &matrix.clients, level, COLUMN_ROOM);
    row_names.draw(scene, left, &places);
    y_title(scene, body.x0 + BODY, area, "client that held the lock");
    let (x, _) = area.center();
    scene.label(x, body.y1 - BODY * 0.6, Align::Middle, BODY, BLACK, "client that asked for it and waited");
    scale.bar(scene, Area::new(area.x1, area.y0, body.x1, area.y1));
    Ok(page.finish())
}

/// What is written into the cells: in all of them or in none, some only would look like a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Figures {
    Words,
    Both,
    Conflicts,
    None,
}

impl Figures {
    fn of(matrix: &Matrix, wide: f64, high: f64) -> Self {
        for figures in [Self::Words, Self::Both, Self::Conflicts] {
            let lines = || matrix.cells.iter().flatten().filter(|c| c.0 > 0).flat_map(|c| figures.lines(*c));
            let longest = lines().map(|line| width(&line, SMALL, false)).fold(0.0, f64::max);
            let most = if figures == Self::Conflicts { 1.0 } else { 2.0 };
            if longest < wide - 6.0 && high > SMALL * 1.4 * most {
                return figures;
            }
        }
        Self::None
    }

    fn lines(self, (conflicts, handovers): Cell) -> Vec<String> {
        match self {
            Self::Words => vec![counted(conflicts, "conflict"), counted(handovers, "hand-over")],
            Self::Both => vec![short_count(conflicts as f64), short_count(handovers as f64)],
            Self::Conflicts => vec![short_count(conflicts as f64)],
            Self::None => Vec::new(),
        }
    }

    fn key(self) -> Option<&'static str> {
        match self {
            Self::Both => Some("upper figure: conflicts, lower figure: hand-overs"),
            Self::Conflicts => Some("figure: conflicts"),
            Self::Words | Self::None => None,
        }
    }
}

fn cells(scene: &mut Scene, area: Area, matrix: &Matrix, places: &[(f64, f64)], scale: &HeatScale, figures: &Figures) {
    heat::background(scene, area);
    let n = matrix.clients.len();
    let each = area.width() / n as f64;
    let edges: Vec<f64> = (0..=n).map(|i| area.x0 + i as f64 * each).collect();
    for (row, (y0, y1)) in matrix.cells.iter().zip(places) {
        let values: Vec<f64> = row.iter().map(|cell| cell.0 as f64).collect();
        heat::row(scene, (*y0, *y1), &edges, &values, scale);
        for (i, cell) in row.iter().enumerate().filter(|(_, cell)| cell.0 > 0) {
            let ink = readable_on(scale.ink(cell.0 as f64));
            let lines = figures.lines(*cell);
            let (x, middle) = (edges[i] + each / 2.0, f64::midpoint(*y0, *y1));
            for (at, line) in lines.iter().enumerate() {
                let y = middle + (at as f64 - (lines.len() - 1) as f64 / 2.0) * SMALL * 1.4;
                scene.label(x, y, Align::Middle, SMALL, ink, line);
            }
        }
    }
    let white = Ink::new(0xff_ffff);
    for x in &edges[1..n] {
        scene.line(&[(*x, area.y0), (*x, area.y1)], white, 1.0);
    }
    for (y, _) in &places[1..] {
        scene.line(&[(area.x0, *y), (area.x1, *y)], white, 1.0);
    }
    // Nobody is in conflict with itself.
    for (i, (y0, y1)) in places.iter().enumerate() {
        scene.rect(Area::new(edges[i] + 0.5, y0 + 0.5, edges[i + 1] - 0.5, y1 - 0.5), GRID);
        scene.line(&[(edges[i], *y0), (edges[i + 1], *y1)], FRAME, 0.5);
    }
    scene.outline(area, FRAME, 1.0);
}
