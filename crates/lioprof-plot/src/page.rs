//! The page: title, what is shown, how sure it is, legend, body, notes.

use lioprof_model::{ACCUSED, Analysis};

use crate::data::quality::{self, Covers};
use crate::draw::{Area, BODY, GREY, Ink, LINE, SMALL, Scene, TITLE, Text, WARN, wrap};
use crate::figure::legend::{self, Key};
use crate::figure::time_axis::Window;
use crate::options::PlotOptions;

const MARGIN: f64 = 16.0;

/// A page that is being filled from top to bottom.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) scene: Scene,
    max_height: f64,
    /// Where the next thing goes.
    y: f64,
    notes: Vec<String>,
}

impl Page {
    /// Starts with title, one sentence about what is shown, the window, and how sure the figures are.
    pub(crate) fn new(options: &PlotOptions, analysis: &Analysis, title: &str, what: &str, covers: Covers) -> Self {
        let mut page = Self::titled(options, title, &format!("{what} Window: {}.", Window::of(analysis).describe()));
        let doubts = quality::doubts(analysis, covers);
        if !doubts.is_empty() {
            page.lines(&doubts.join(" "), GREY);
        }
        for warning in quality::warnings(analysis) {
            page.lines(&warning, WARN);
        }
        page.y += 4.0;
        page
    }

    /// Starts with the title, what is shown, and how sure the figures of both are.
    pub(crate) fn of_two(
        options: &PlotOptions,
        sides: [&Analysis; 2],
        title: &str,
        what: &str,
        covers: Covers,
    ) -> Self {
        let mut page = Self::titled(options, title, what);
        for (name, analysis) in ["Before", "After"].into_iter().zip(sides) {
            let doubts = quality::doubts(analysis, covers);
            if !doubts.is_empty() {
                page.lines(&format!("{name}: {}", doubts.join(" ")), GREY);
            }
            for warning in quality::warnings(analysis) {
                page.lines(&format!("{name}: {warning}"), WARN);
            }
        }
        page.y += 4.0;
        page
    }

    /// Starts with the title and what is shown.
    pub(crate) fn plain(options: &PlotOptions, title: &str, what: &str) -> Self {
        let mut page = Self::titled(options, title, what);
        page.y += 4.0;
        page
    }

    fn titled(options: &PlotOptions, title: &str, what: &str) -> Self {
        let scene = Scene { width: f64::from(options.width_px), ..Scene::default() };
        let max_height = f64::from(options.height_px);
        let mut page = Self { scene, max_height, y: 10.0, notes: Vec::new() };
        if !options.bare {
            page.y += TITLE;
            page.scene.text(Text::new((MARGIN, page.y), title, TITLE).bold());
            page.y += 4.0;
            page.lines(what, GREY);
        }
        page
    }

    fn room(&self) -> f64 {
        self.scene.width - 2.0 * MARGIN
    }

    fn lines(&mut self, text: &str, ink: Ink) {
        for line in wrap(text, BODY, self.room()) {
            self.y += BODY * LINE;
            self.scene.text(Text::new((MARGIN, self.y), line, BODY).ink(ink));
        }
    }

    /// Adds a legend.
    pub(crate) fn legend(&mut self, keys: &[Key]) {
        let room = self.room();
        self.y += 4.0;
        self.y += legend::draw(&mut self.scene, (MARGIN, self.y), room, keys);
    }

    /// Adds a note below the body, if it says anything; before [`Page::body`].
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.notes.extend(Some(text.into()).filter(|text| !text.is_empty()));
    }

    /// Says what the mark at one of these names means, if there is any; before [`Page::body`].
    pub(crate) fn explain_mark<'a>(&mut self, names: impl IntoIterator<Item = &'a String>) {
        if names.into_iter().any(|name| name.starts_with(ACCUSED)) {
            self.note(format!("{ACCUSED}: a finding names it."));
        }
    }

    fn note_lines(&self) -> Vec<String> {
        self.notes.iter().flat_map(|note| wrap(note, SMALL, self.room())).collect()
    }

    /// Height that is left for the body.
    pub(crate) fn free_height(&self) -> f64 {
        let notes = self.note_lines().len() as f64 * SMALL * LINE;
        (self.max_height - self.y - 8.0 - notes - MARGIN).max(120.0)
    }

    /// The area for data and axes, of this height if there is room.
    pub(crate) fn body(&mut self, height: f64) -> Area {
        let height = height.min(self.free_height());
        let top = self.y + 8.0;
        self.y = top + height;
        Area::new(MARGIN, top, self.scene.width - MARGIN, self.y)
    }

    /// Writes the notes and cuts the page.
    pub(crate) fn finish(mut self) -> Scene {
        let lines = self.note_lines();
        for line in &lines {
            self.y += SMALL * LINE;
            self.scene.text(Text::new((MARGIN, self.y), line, SMALL).ink(GREY));
        }
        self.scene.height = (self.y + if lines.is_empty() { 10.0 } else { 14.0 }).ceil();
        self.scene
    }
}
