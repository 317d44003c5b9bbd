//! What is shown, and how.

use std::fmt;

use lioprof_model::Live;

use crate::level::{Level, View};
use crate::table::Table;
use crate::tables;

/// What is shown: the last update, which list of it, in which order, what of it.
#[derive(Clone, Debug, Default)]
pub struct State {
    pub(crate) live: Live,
    /// What came while the screen was frozen.
    waiting: Option<Live>,
    pub(crate) frozen: bool,
    /// Lists from the view down; never empty but for the default, which is the first view.
    levels: Vec<Open>,
    pub(crate) reverse: bool,
    /// Only rows with this text in a name.
    pub(crate) filter: String,
    /// The filter is being typed.
    pub(crate) typing: bool,
    pub(crate) help: bool,
    /// Rows that the screen has room for.
    pub(crate) page: u16,
    /// Why no update came, if none did.
    pub(crate) trouble: Option<String>,
}

/// A list that is open.
#[derive(Clone, Debug)]
struct Open {
    level: Level,
    /// Column that it is sorted by; `None`: as it came.
    sort: Option<usize>,
    /// Names of the row that is selected, and where it was.
    selected: Option<(Vec<String>, usize)>,
}

impl Open {
    fn new(level: Level) -> Self {
        Self { level, sort: None, selected: None }
    }
}

/// There is no column of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownColumn {
    name: String,
    known: Vec<&'static str>,
}

impl fmt::Display for UnknownColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no column `{}` in this view; expected one of: {}", self.name, self.known.join(", "))
    }
}

impl std::error::Error for UnknownColumn {}

impl State {
    /// A view, without anything to show as yet.
    #[must_use]
    pub fn new(view: View) -> Self {
        Self { levels: vec![Open::new(Level::View(view))], page: 1, ..Self::default() }
    }

    /// Takes an update; a frozen screen shows it later.
    pub fn update(&mut self, live: Live) {
        self.trouble = None;
        if self.frozen {
            self.waiting = Some(live);
        } else {
            self.live = live;
        }
    }

    /// Notes why no update comes; what there is stays.
    pub fn trouble(&mut self, why: String) {
        self.trouble = Some(why);
    }

    /// Shows only rows with this text in a name.
    pub fn set_filter(&mut self, text: &str) {
        text.clone_into(&mut self.filter);
    }

    /// Sorts by the first column whose heading begins so.
    ///
    /// # Errors
    /// If none does.
    pub fn sort_by(&mut self, heading: &str) -> Result<(), UnknownColumn> {
        let columns = tables::columns(&self.level());
        let begins = |known: &str| known.to_lowercase().starts_with(&heading.to_lowercase());
        let Some(at) = columns.iter().position(|column| begins(column.heading)) else {
            let known = columns.iter().map(|column| column.heading).collect();
            return Err(UnknownColumn { name: heading.to_owned(), known });
        };
        if let Some(open) = self.levels.last_mut() {
            open.sort = Some(at);
        }
        Ok(())
    }

    /// The list that is shown.
    pub(crate) fn level(&self) -> Level {
        self.levels.last().map_or(Level::View(View::default()), |open| open.level.clone())
    }

    /// The view that it belongs to.
    pub(crate) fn view(&self) -> View {
        match self.levels.first().map(|open| &open.level) {
            Some(Level::View(view)) => *view,
            _ => View::default(),
        }
    }

    /// The column that the list is sorted by, if it is by one.
    pub(crate) fn sort(&self) -> Option<usize> {
        self.levels.last().and_then(|open| open.sort)
    }

    /// The rows that are shown, in order.
    pub(crate) fn table(&self) -> Table {
        let mut table = tables::table(&self.live, &self.level());
        if !self.filter.is_empty() {
            let text = self.filter.to_lowercase();
            table.rows.retain(|row| row.contains(&table.columns, &text));
            // Whether it is among the others is not known.
            table.others = None;
        }
        if let Some(sort) = self.sort() {
            table.rows.sort_by(|a, b| a.cells[sort].order(&b.cells[sort]));
        }
        if self.reverse {
            table.rows.reverse();
        }
        table
    }

    /// Where the selected row is.
    pub(crate) fn selected_row(&self, table: &Table) -> usize {
        let Some((names, at)) = self.levels.last().and_then(|open| open.selected.as_ref()) else { return 0 };
        let found = table.rows.iter().position(|row| row.names(&table.columns) == *names);
        found.unwrap_or(*at).min(table.rows.len().saturating_sub(1))
    }

    /// Selects the row so many rows further.
    pub(crate) fn select(&mut self, by: i64) {
        let table = self.table();
        let last = i64::try_from(table.rows.len()).unwrap_or(i64::MAX) - 1;
        let now = i64::try_from(self.selected_row(&table)).unwrap_or(0);
        let at = usize::try_from(now.saturating_add(by).clamp(0, last.max(0))).unwrap_or(0);
        if let (Some(open), Some(row)) = (self.levels.last_mut(), table.rows.get(at)) {
            open.selected = Some((row.names(&table.columns), at));
        }
    }

    pub(crate) fn freeze(&mut self) {
        self.frozen = !self.frozen;
        if let Some(live) = self.waiting.take().filter(|_| !self.frozen) {
            self.live = live;
        }
    }

    pub(crate) fn show(&mut self, view: View) {
        self.levels = vec![Open::new(Level::View(view))];
        self.reverse = false;
    }

    pub(crate) fn go_to(&mut self, level: Level) {
        // The filter was about the rows above.
        self.filter.clear();
        self.levels.push(Open::new(level));
    }

    /// To the list above, or out of the filter.
    pub(crate) fn go_back(&mut self) {
        if !self.filter.is_empty() {
            self.filter.clear();
        } else if self.levels.len() > 1 {
            self.levels.pop();
        }
    }

    /// The lists above this one, and this one.
    pub(crate) fn path(&self) -> Vec<String> {
        self.levels.iter().skip(1).map(|open| open.level.title()).collect()
    }

    /// Sorts by the column beside the one that it is sorted by.
    pub(crate) fn sort_beside(&mut self, right: bool) {
        let columns = tables::columns(&self.level()).len();
        let Some(open) = self.levels.last_mut() else { return };
        open.sort = match (open.sort, right) {
            (None, true) => Some(0),
            (None, false) => Some(columns - 1),
            (Some(at), true) => (at + 1 < columns).then_some(at + 1),
            (Some(at), false) => at.checked_sub(1),
        };
    }
}
