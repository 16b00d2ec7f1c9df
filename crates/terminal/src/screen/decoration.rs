//! Decorations of cells: hyperlinks and underline colours.
//!
//! Few cells have decorations. Like combining characters, they are stored beside the row's cells. So a cell stays
//! small, and a row without decorations needs no memory for them.

use std::ops::Range;
use std::sync::Arc;

use crate::screen::Size;
use crate::screen::cell::Color;

/// Longest URI of a hyperlink, in bytes. Text with a longer URI is no link. Source: the specification of OSC 8, which
/// names the limit of the terminals that introduced it.
pub(crate) const URI_BYTES_MAX: usize = 2083;

/// Longest identifier of a hyperlink, in bytes. Text with a longer one is no link. Source: OSC 8's specification.
pub(crate) const LINK_ID_BYTES_MAX: usize = 250;

/// Memory of a hyperlink besides its text, in bytes. Chosen: the fields, and the overhead of three allocations.
const LINK_BYTES: usize = 112;

/// Most bytes of hyperlinks that programs may put into a row. Each run of linked cells counts the bytes of its link,
/// even if several runs share a link. Text beyond the limit is kept without its link. Chosen: a row of 80 columns full
/// of wide characters with a URI of 1500 bytes. Each of them is a run, because its right half has no decoration.
pub(crate) const HOST_ROW_LINK_BYTES_MAX: usize = 64 * 1024;

/// Bytes of hyperlinks that all rows of a host's screen share, whatever the screen's size. Chosen: 24 rows of
/// [`HOST_ROW_LINK_BYTES_MAX`].
const HOST_SCREEN_LINK_BYTES: usize = 24 * HOST_ROW_LINK_BYTES_MAX;

/// Bytes of hyperlinks that each cell adds to the limit of its row. Chosen: a link of 50 bytes for every seven cells.
const CELL_LINK_BYTES: usize = 24;

/// Most bytes of hyperlinks in any row. Each piece of a cut run counts. Text beyond the limit is kept without link.
pub(crate) const ROW_LINK_BYTES_MAX: usize = 4 * HOST_ROW_LINK_BYTES_MAX;

/// Returns the most bytes of hyperlinks that programs may put into a row of a screen of this size. A replica's row may
/// contain twice as many, because in the middle of a diff it has both old and new links.
pub(crate) fn row_link_bytes_max(size: Size) -> usize {
    let (columns, rows) = (usize::from(size.columns()), usize::from(size.rows()));
    let share = HOST_SCREEN_LINK_BYTES / rows + columns * CELL_LINK_BYTES;
    share.min(HOST_ROW_LINK_BYTES_MAX)
}

/// URI schemes of accepted links. Chosen: schemes that open a page, a file or a conversation. Other schemes may run a
/// program on the user's computer, with arguments that the remote host chooses.
const SCHEMES: [&str; 20] = [
    "file", "ftp", "ftps", "gemini", "git", "gopher", "http", "https", "info", "irc", "ircs",
    "mailto", "man", "news", "nntp", "sftp", "sip", "ssh", "tel", "xmpp",
];

/// A hyperlink (OSC 8).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hyperlink {
    id: Box<str>,
    uri: Box<str>,
}

impl Hyperlink {
    /// Parses the text of OSC 8, `parameters;URI`. `None` if the text ends a link, or its URI has no accepted scheme.
    /// Also `None` if the URI or identifier is too long or not printable ASCII.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (parameters, uri) = text.split_once(';')?;
        let id = parameters.split(':').find_map(|part| part.strip_prefix("id=")).unwrap_or("");
        let is_printable = |text: &str| text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        let is_link = uri.len() <= URI_BYTES_MAX
            && id.len() <= LINK_ID_BYTES_MAX
            && is_printable(uri)
            && is_printable(id)
            && uri.split_once(':').is_some_and(|(scheme, _)| {
                SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme))
            });
        is_link.then(|| Self { id: id.into(), uri: uri.into() })
    }

    /// Returns the identifier (`id=`), or an empty text. Pieces of text with the same identifier form one link.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the URI that the link opens.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    fn bytes(&self) -> usize {
        LINK_BYTES + self.id.len() + self.uri.len()
    }
}

/// The rare attributes of a cell, which are stored beside the row's cells and not in the pen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Decoration {
    /// The underline's colour. The default is the colour of the text.
    pub underline_color: Color,
    /// The hyperlink that the cell's text opens.
    pub link: Option<Arc<Hyperlink>>,
}

impl Decoration {
    /// The decoration of nearly all cells: no underline colour and no link.
    pub const NONE: &'static Self = &Self { underline_color: Color::Default, link: None };

    /// Returns whether there is neither an underline colour nor a link.
    pub fn is_none(&self) -> bool {
        self == Self::NONE
    }

    fn link_bytes(&self) -> usize {
        self.link.as_ref().map_or(0, |link| link.bytes())
    }
}

/// Neighbouring cells with the same decoration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Run {
    columns: Range<u16>,
    decoration: Decoration,
}

impl Run {
    fn touches(&self, next: &Self) -> bool {
        self.columns.end == next.columns.start && self.decoration == next.decoration
    }
}

/// The decorations of a row as runs from left to right. No run is empty, and no two equal runs touch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Decorations {
    runs: Vec<Run>,
    link_bytes: usize,
}

impl Decorations {
    pub(crate) const fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    pub(crate) const fn len(&self) -> usize {
        self.runs.len()
    }

    /// Returns the number of runs that end after `column`, for the effort of moving these runs.
    pub(crate) fn len_from(&self, column: u16) -> usize {
        self.runs.len() - self.first_behind(column)
    }

    /// Returns the decoration of the cell in `column`, or [`Decoration::NONE`].
    pub(crate) fn at(&self, column: u16) -> &Decoration {
        let run = self.runs.get(self.first_behind(column));
        run.filter(|run| run.columns.contains(&column))
            .map_or(Decoration::NONE, |run| &run.decoration)
    }

    /// Decorates the cells of `columns`. Omits a link that would bring the row over `link_bytes_max`.
    pub(crate) fn set(
        &mut self,
        columns: Range<u16>,
        decoration: &Decoration,
        link_bytes_max: usize,
    ) {
        self.clear(columns.clone());
        if columns.is_empty() {
            return;
        }
        let mut run = Run { columns, decoration: decoration.clone() };
        let at = self.first_behind(run.columns.start);
        if !self.joins(at, &run) && self.link_bytes + decoration.link_bytes() > link_bytes_max {
            run.decoration.link = None;
        }
        if run.decoration.is_none() {
            return;
        }
        self.link_bytes += run.decoration.link_bytes();
        self.runs.insert(at, run);
        self.merge_with_next(at);
        if let Some(before) = at.checked_sub(1) {
            self.merge_with_next(before);
        }
    }

    /// Removes the decorations of the cells in `columns`. This may cut a run in two. The second part loses its link if
    /// the links of the row would exceed [`ROW_LINK_BYTES_MAX`].
    pub(crate) fn clear(&mut self, columns: Range<u16>) {
        if !columns.is_empty() {
            self.cut(columns);
        }
    }

    /// Removes the decorations of the cells in `columns`. An empty range only cuts the run around it in two.
    fn cut(&mut self, columns: Range<u16>) {
        let Range { start: mut from, end: mut to } = self.reached_by(&columns);
        if from == to {
            return;
        }
        let (head, tail) = (self.runs[from].columns.start, self.runs[to - 1].columns.end);
        if to - from == 1 && head < columns.start && tail > columns.end {
            let run = &mut self.runs[from];
            run.columns.end = columns.start;
            let mut decoration = run.decoration.clone();
            if self.link_bytes + decoration.link_bytes() > ROW_LINK_BYTES_MAX {
                decoration.link = None;
            }
            self.link_bytes += decoration.link_bytes();
            if !decoration.is_none() {
                self.runs.insert(to, Run { columns: columns.end..tail, decoration });
            }
            return;
        }
        if head < columns.start {
            self.runs[from].columns.end = columns.start;
            from += 1;
        }
        if tail > columns.end {
            to -= 1;
            self.runs[to].columns.start = columns.end;
        }
        for run in self.runs.drain(from..to) {
            self.link_bytes -= run.decoration.link_bytes();
        }
    }

    /// Copies the decorations of `columns` in row `from` to this row's columns from `to` on, which must be undecorated.
    /// Omits a link that would bring the row over `link_bytes_max`.
    pub(crate) fn copy(
        &mut self,
        from: &Self,
        columns: Range<u16>,
        to: u16,
        link_bytes_max: usize,
    ) {
        if columns.is_empty() {
            return;
        }
        let mut moved: Vec<Run> = Vec::new();
        for run in &from.runs[from.reached_by(&columns)] {
            let start = run.columns.start.max(columns.start) - columns.start + to;
            let end = run.columns.end.min(columns.end) - columns.start + to;
            let mut run = Run { columns: start..end, decoration: run.decoration.clone() };
            if self.link_bytes + run.decoration.link_bytes() > link_bytes_max {
                run.decoration.link = None;
            }
            match moved.last_mut() {
                _ if run.decoration.is_none() => {}
                Some(last) if last.touches(&run) => last.columns.end = end,
                _ => {
                    self.link_bytes += run.decoration.link_bytes();
                    moved.push(run);
                }
            }
        }
        let at = self.first_behind(to);
        let behind = at + moved.len();
        self.runs.splice(at..at, moved);
        for end in [behind, at] {
            if let Some(before) = end.checked_sub(1) {
                self.merge_with_next(before);
            }
        }
    }

    /// Moves the decorations from `column` on right by `count`, together with the cells. `end` is the width of the row.
    pub(crate) fn insert(&mut self, column: u16, count: u16, end: u16) {
        if count == 0 {
            return;
        }
        self.clear(end - count..end);
        self.cut(column..column);
        for run in &mut self.runs {
            if run.columns.start >= column {
                run.columns = run.columns.start + count..run.columns.end + count;
            }
        }
    }

    /// Removes the decorations of `count` cells at `column`. Later decorations move left, together with the cells.
    pub(crate) fn delete(&mut self, column: u16, count: u16) {
        self.clear(column..column + count);
        for run in &mut self.runs {
            if run.columns.start >= column {
                run.columns = run.columns.start - count..run.columns.end - count;
            }
        }
        if let Some(before) = self.first_behind(column).checked_sub(1) {
            self.merge_with_next(before);
        }
    }

    /// Returns the approximate memory of the decorations in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.runs.capacity() * size_of::<Run>() + self.link_bytes
    }

    /// Panics if a run is empty, lies outside the row, overlaps the next or could be merged with it.
    pub(crate) fn assert_integrity(&self, columns: u16) {
        assert!(self.runs.iter().all(|run| !run.columns.is_empty() && !run.decoration.is_none()));
        assert!(self.runs.last().is_none_or(|run| run.columns.end <= columns));
        for pair in self.runs.windows(2) {
            let (left, right) = (&pair[0], &pair[1]);
            assert!(left.columns.end <= right.columns.start);
            assert!(left.columns.end < right.columns.start || left.decoration != right.decoration);
        }
        let link_bytes: usize = self.runs.iter().map(|run| run.decoration.link_bytes()).sum();
        assert_eq!(link_bytes, self.link_bytes);
    }

    /// Returns the index of the first run that ends after `column`.
    fn first_behind(&self, column: u16) -> usize {
        self.runs.partition_point(|run| run.columns.end <= column)
    }

    /// Returns the indices of the runs that decorate any of `columns`. For an empty range, returns the run around it.
    fn reached_by(&self, columns: &Range<u16>) -> Range<usize> {
        let from = self.first_behind(columns.start);
        let reached = self.runs[from..].partition_point(|run| run.columns.start < columns.end);
        from..from + reached
    }

    /// Returns whether `run`, inserted at index `at`, touches a run with the same decoration.
    fn joins(&self, at: usize, run: &Run) -> bool {
        let before = at.checked_sub(1).map(|before| &self.runs[before]);
        let after = self.runs.get(at);
        before.is_some_and(|before| before.touches(run))
            || after.is_some_and(|after| run.touches(after))
    }

    fn merge_with_next(&mut self, at: usize) {
        if let [left, right, ..] = &mut self.runs[at..]
            && left.touches(right)
        {
            left.columns.end = right.columns.end;
            self.link_bytes -= right.decoration.link_bytes();
            self.runs.remove(at + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn link(uri: &str) -> Decoration {
        let link = Hyperlink::parse(&format!(";{uri}")).map(Arc::new);
        Decoration { link, ..Decoration::default() }
    }

    fn colored(index: u8) -> Decoration {
        Decoration { underline_color: Color::Indexed(index), link: None }
    }

    #[test]
    fn links_lead_to_places_and_nowhere_else() {
        let long = |len: usize| format!(";http:{}", "x".repeat(len - 5));
        for (text, expected) in [
            (";http://a.example/b;c?d", Some(("", "http://a.example/b;c?d"))),
            ("id=7;mailto:me", Some(("7", "mailto:me"))),
            ("x=1:id=a b:y=2;FILE:///etc", Some(("a b", "FILE:///etc"))),
            (";", None),
            ("", None),
            ("id=1", None),
            (";no-scheme", None),
            (";javascript:alert(1)", None),
            (";http://\u{e9}", None),
            ("id=\u{e9};http://a", None),
        ] {
            let link = Hyperlink::parse(text);
            assert_eq!(link.as_ref().map(|link| (link.id(), link.uri())), expected, "{text}");
        }
        assert!(Hyperlink::parse(&long(URI_BYTES_MAX)).is_some());
        assert!(Hyperlink::parse(&long(URI_BYTES_MAX + 1)).is_none());
        let id = |len| Hyperlink::parse(&format!("id={};http:x", "i".repeat(len)));
        assert!(id(LINK_ID_BYTES_MAX).is_some() && id(LINK_ID_BYTES_MAX + 1).is_none());
    }

    #[test]
    fn a_row_holds_links_up_to_its_limit() {
        let mut decorations = Decorations::default();
        let (a, b) = (link("http:aaaaa"), link("http:bbbbb"));
        let two = 2 * (LINK_BYTES + 10);
        decorations.set(0..1, &a, two);
        decorations.set(2..3, &b, two);
        decorations.set(4..5, &a, two);
        assert_eq!((decorations.at(0), decorations.at(2)), (&a, &b));
        assert!(decorations.at(4).is_none(), "a third piece is one too many");
        decorations.set(1..2, &a, two);
        assert_eq!(decorations.at(1), &a, "a longer piece is not a further one");
        decorations.clear(0..2);
        decorations.set(4..5, &a, two);
        assert_eq!(decorations.at(4), &a);
    }

    #[test]
    fn a_screen_shares_its_bytes_of_links_among_its_rows() {
        for (columns, rows, most) in [
            (80, 24, HOST_ROW_LINK_BYTES_MAX),
            (1, 1, HOST_ROW_LINK_BYTES_MAX),
            (80, 200, 64 * 1024 * 24 / 200 + 80 * 24),
            (500, 200, 64 * 1024 * 24 / 200 + 500 * 24),
            (4096, 2048, HOST_ROW_LINK_BYTES_MAX),
        ] {
            assert_eq!(row_link_bytes_max(Size::clamped(columns, rows)), most, "{columns}x{rows}");
        }
    }

    #[test]
    fn pieces_of_one_link_are_bounded() {
        let mut decorations = Decorations::default();
        let uri = format!("http:{}", "x".repeat(2000));
        decorations.set(0..4096, &link(&uri), HOST_ROW_LINK_BYTES_MAX);
        for column in (1..4096).step_by(2) {
            decorations.clear(column..column + 1);
        }
        decorations.assert_integrity(4096);
        assert!(decorations.link_bytes <= ROW_LINK_BYTES_MAX);
        assert!(!decorations.at(0).is_none());
    }

    /// A change to the decorations. The test makes the same change to a plain list with a decoration for each cell.
    #[derive(Clone, Debug)]
    enum Edit {
        Set(Range<u16>, u8),
        Clear(Range<u16>),
        Insert(u16, u16),
        Delete(u16, u16),
        /// Copies a range of the row to another column.
        Copy(Range<u16>, u16),
    }

    const COLUMNS: u16 = 12;

    fn edit() -> impl Strategy<Value = Edit> {
        let range = (0..COLUMNS, 0..=COLUMNS).prop_map(|(a, b)| a.min(b)..a.max(b));
        let shift = (0..COLUMNS, 0..=COLUMNS).prop_map(|(at, count)| (at, count.min(COLUMNS - at)));
        prop_oneof![
            (range.clone(), 0_u8..4).prop_map(|(range, index)| Edit::Set(range, index)),
            range.clone().prop_map(Edit::Clear),
            (range, 0..=COLUMNS).prop_map(|(range, to)| {
                let len = u16::try_from(range.len()).unwrap();
                Edit::Copy(range, to.min(COLUMNS - len))
            }),
            shift.clone().prop_map(|(at, count)| Edit::Insert(at, count)),
            shift.prop_map(|(at, count)| Edit::Delete(at, count)),
        ]
    }

    proptest! {
        #[test]
        fn runs_do_what_single_cells_would(edits in prop::collection::vec(edit(), 0..20)) {
            let mut runs = Decorations::default();
            let mut cells = vec![Decoration::default(); usize::from(COLUMNS)];
            let decoration = |index: u8| match index {
                0 => Decoration::default(),
                1 => link("http:a"),
                index => colored(index),
            };
            let at = |range: &Range<u16>| usize::from(range.start)..usize::from(range.end);
            for edit in edits {
                match edit {
                    Edit::Set(range, index) => {
                        cells[at(&range)].fill(decoration(index));
                        runs.set(range, &decoration(index), usize::MAX);
                    }
                    Edit::Clear(range) => {
                        cells[at(&range)].fill(Decoration::default());
                        runs.clear(range);
                    }
                    Edit::Insert(column, count) => {
                        cells[usize::from(column)..].rotate_right(usize::from(count));
                        cells[at(&(column..column + count))].fill(Decoration::default());
                        runs.insert(column, count, COLUMNS);
                    }
                    Edit::Delete(column, count) => {
                        cells[usize::from(column)..].rotate_left(usize::from(count));
                        cells[usize::from(COLUMNS - count)..].fill(Decoration::default());
                        runs.delete(column, count);
                    }
                    Edit::Copy(range, to) => {
                        let (from, len) = (runs.clone(), u16::try_from(range.len()).unwrap());
                        let copied = cells[at(&range)].to_vec();
                        cells[at(&(to..to + len))].clone_from_slice(&copied);
                        runs.clear(to..to + len);
                        runs.copy(&from, range, to, usize::MAX);
                    }
                }
                runs.assert_integrity(COLUMNS);
                for (column, cell) in (0..).zip(&cells) {
                    prop_assert_eq!(runs.at(column), cell, "column {}", column);
                }
            }
        }
    }
}
