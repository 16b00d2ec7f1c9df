//! The tab stops of the screen.

/// Columns between the initial tab stops of a terminal. Source: terminfo `it#8` of every xterm entry.
const INTERVAL: usize = 8;

/// The columns with a tab stop.
#[derive(Clone, Debug)]
pub(crate) struct TabStops {
    stops: Vec<bool>,
    /// Whether columns that a resize adds get tab stops. False after a program has cleared all stops.
    regular: bool,
}

impl TabStops {
    /// Creates a tab stop in every eighth column, except the first column.
    pub(crate) fn new(columns: u16) -> Self {
        let mut tabs = Self { stops: Vec::new(), regular: true };
        tabs.resize(columns);
        tabs
    }

    pub(crate) fn resize(&mut self, columns: u16) {
        let columns = usize::from(columns);
        self.stops.truncate(columns);
        for column in self.stops.len()..columns {
            self.stops.push(self.regular && column > 0 && column % INTERVAL == 0);
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.stops.capacity()
    }

    pub(crate) fn set(&mut self, column: u16, stop: bool) {
        self.stops[usize::from(column)] = stop;
    }

    pub(crate) fn clear(&mut self) {
        self.stops.fill(false);
        self.regular = false;
    }

    /// Returns the `count`th tab stop to the right of `column`, or the last column if there are fewer stops.
    pub(crate) fn next(&self, column: u16, count: u16) -> u16 {
        let last = self.stops.len() - 1;
        debug_assert!(usize::from(column) <= last, "the cursor is on the screen");
        let mut stops = (usize::from(column) + 1..last).filter(|&stop| self.stops[stop]);
        let stop = stops.nth(usize::from(count.saturating_sub(1))).unwrap_or(last);
        u16::try_from(stop).expect("a screen has at most 4096 columns")
    }

    /// Returns the `count`th tab stop to the left of `column`, or column 0 if there are fewer stops.
    pub(crate) fn previous(&self, column: u16, count: u16) -> u16 {
        let mut stops = (0..usize::from(column)).rev().filter(|&stop| self.stops[stop]);
        let stop = stops.nth(usize::from(count.saturating_sub(1))).unwrap_or(0);
        u16::try_from(stop).expect("a screen has at most 4096 columns")
    }
}
