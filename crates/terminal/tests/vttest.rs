//! The pages of vttest 2.7, and the screens of a real xterm.
//!
//! vttest was recorded on a pty of 80x24, where this emulator answered it. The text and the cursor of each page were
//! compared with those of xterm 379 for the same bytes. The pages that differ are in docs/terminal.md, with the
//! reasons. Pages of 132 columns are shown in a window of that width, which a user would have to choose.

use rove_terminal::display::{self, Vocabulary};
use rove_terminal::{Screen, Size, Terminal};

/// Bytes between two frames. Chosen: small enough for many frames in the midst of a page.
const FRAME_BYTES: usize = 97;

/// A page: its menu and number, the number of bytes after which it is complete, and the width of its window.
type Page = (&'static str, usize, u16);

/// Returns the screens of the pages, and checks that a replica shows each frame.
fn shown(recording: &[u8], pages: &[Page]) -> String {
    let mut screens = String::new();
    let [mut narrow, mut wide] = [80, 132].map(|columns| Follow::new(columns, recording));
    for (name, end, columns) in pages {
        let follow = if *columns == 80 { &mut narrow } else { &mut wide };
        screens.push_str(&format!("---- {name}\n{}\n", text(follow.up_to(*end))));
    }
    screens
}

/// A recording that is played to a terminal, with a replica that follows it.
struct Follow<'a> {
    host: Terminal,
    replica: Terminal,
    rest: &'a [u8],
    played: usize,
}

impl<'a> Follow<'a> {
    fn new(columns: u16, recording: &'a [u8]) -> Self {
        let size = Size::new(columns, 24).expect("an allowed size");
        let (host, replica) = (Terminal::host(size), Terminal::replica(size));
        Self { host, replica, rest: recording, played: 0 }
    }

    fn up_to(&mut self, end: usize) -> &Screen {
        let (piece, rest) = self.rest.split_at(end - self.played);
        (self.rest, self.played) = (rest, end);
        for bytes in piece.chunks(FRAME_BYTES) {
            let before = self.host.snapshot();
            self.host.write(bytes);
            let diff = display::diff(&before, self.host.screen(), Vocabulary::Rich);
            self.replica.write(&diff);
            assert_eq!(text(self.replica.screen()), text(self.host.screen()));
        }
        self.host.screen()
    }
}

/// Returns the rows down to the last that is not blank, and the cursor.
fn text(screen: &Screen) -> String {
    let rows = (0..screen.size().rows()).map(|row| screen.row_text(row));
    let text = rows.collect::<Vec<_>>().join("\n");
    let cursor = screen.cursor();
    format!("{}\ncursor {},{}", text.trim_end_matches('\n'), cursor.row + 1, cursor.column + 1)
}

#[test]
fn the_cursor_moves() {
    let recording = include_bytes!("recordings/vttest/movements.bin");
    let pages = [
        ("1, page 1", 5797, 80),
        ("1, page 2", 13227, 132),
        ("1, page 3", 14002, 80),
        ("1, page 4", 15148, 80),
        ("1, page 5", 15960, 80),
    ];
    insta::assert_snapshot!("movements", shown(recording, &pages));
}

#[test]
fn wrap_tabs_regions_and_attributes_work() {
    let recording = include_bytes!("recordings/vttest/features.bin");
    let pages = [
        ("2, page 1", 1271, 80),
        ("2, page 2", 1771, 80),
        ("2, page 3", 2933, 132),
        ("2, page 4", 3908, 80),
        ("2, page 5", 5052, 132),
        ("2, page 6", 6009, 80),
        ("2, page 7", 8940, 80),
        ("2, page 8", 11856, 80),
        ("2, page 9", 14778, 80),
        ("2, page 10", 17694, 80),
        ("2, page 11", 17853, 80),
        ("2, page 12", 18000, 80),
        ("2, page 13", 18581, 80),
        ("2, page 14", 18628, 80),
        ("2, page 15", 19973, 80),
    ];
    insta::assert_snapshot!("features", shown(recording, &pages));
}

#[test]
fn character_sets_are_drawn() {
    let recording = include_bytes!("recordings/vttest/charsets.bin");
    let pages = [("3", 2493, 80)];
    insta::assert_snapshot!("charsets", shown(recording, &pages));
}

#[test]
fn questions_are_answered() {
    let recording = include_bytes!("recordings/vttest/reports.bin");
    let pages = [
        ("6.1, page 1", 1558, 80),
        ("6.1, page 2", 1598, 80),
        ("6.2, page 1", 2262, 80),
        ("6.2, page 2", 2353, 80),
        ("6.2, page 3", 2401, 80),
        ("6.3", 3333, 80),
        ("6.4", 4047, 80),
        ("6.5", 4849, 80),
        ("6.6, page 1", 5481, 80),
        ("6.6, page 2", 5528, 80),
        ("6.7, page 1", 6184, 80),
        ("6.7, page 2", 6317, 80),
        ("6.7, page 3", 6388, 80),
    ];
    insta::assert_snapshot!("reports", shown(recording, &pages));
}

#[test]
fn lines_and_characters_are_inserted_and_deleted() {
    let recording = include_bytes!("recordings/vttest/insert-delete.bin");
    let pages = [
        ("8, page 1", 2904, 80),
        ("8, page 2", 3237, 80),
        ("8, page 3", 3428, 80),
        ("8, page 4", 3523, 80),
        ("8, page 5", 5970, 80),
        ("8, page 6", 7529, 80),
        ("8, page 7", 7906, 80),
        ("8, page 8", 11315, 132),
        ("8, page 9", 11648, 132),
        ("8, page 10", 11891, 132),
        ("8, page 11", 11987, 132),
        ("8, page 12", 15706, 132),
        ("8, page 13", 17889, 80),
        ("8, page 14", 18266, 80),
    ];
    insta::assert_snapshot!("insert-delete", shown(recording, &pages));
}

#[test]
fn the_bugs_of_the_vt100_are_not_there() {
    let recording = include_bytes!("recordings/vttest/bugs.bin");
    let pages = [
        ("9.1, page 1", 2065, 80),
        ("9.1, page 2", 2214, 80),
        ("9.1, page 3", 2259, 80),
        ("9.1, page 4", 2304, 80),
        ("9.1, page 5", 2349, 80),
        ("9.1, page 6", 2394, 80),
        ("9.1, page 7", 2439, 80),
        ("9.1, page 8", 2484, 80),
        ("9.1, page 9", 2529, 80),
        ("9.1, page 10", 2574, 80),
        ("9.1, page 11", 2620, 80),
        ("9.1, page 12", 2695, 80),
        ("9.2, page 1", 4163, 80),
        ("9.2, page 2", 4235, 80),
        ("9.3", 5460, 80),
        ("9.4, page 1", 6807, 80),
        ("9.4, page 2", 7146, 80),
        ("9.5", 8700, 132),
        ("9.6, page 1", 9974, 80),
        ("9.6, page 2", 10118, 80),
        ("9.7", 11931, 80),
        ("9.8, page 1", 13470, 80),
        ("9.8, page 2", 13568, 80),
        ("9.8, page 3", 13667, 80),
        ("9.8, page 4", 13950, 132),
        ("9.8, page 5", 14047, 132),
        ("9.8, page 6", 14146, 132),
        ("9.9", 16404, 80),
    ];
    insta::assert_snapshot!("bugs", shown(recording, &pages));
}

#[test]
fn resets_leave_a_blank_screen_or_the_picture() {
    let recording = include_bytes!("recordings/vttest/reset.bin");
    let pages = [
        ("10.1, page 1", 1147, 80),
        ("10.1, page 2", 1180, 80),
        ("10.2, page 1", 1602, 80),
        ("10.2, page 2", 1727, 80),
        ("10.3, page 1", 2116, 80),
        ("10.3, page 2", 2135, 80),
    ];
    insta::assert_snapshot!("reset", shown(recording, &pages));
}

#[test]
fn the_cursor_hides_and_characters_are_erased() {
    let recording = include_bytes!("recordings/vttest/vt220.bin");
    let pages = [
        ("11.1.2.2, page 1", 3157, 80),
        ("11.1.2.2, page 2", 3215, 80),
        ("11.1.2.3", 4350, 80),
        ("11.1.3", 5468, 80),
        ("11.1.6, page 1", 6023, 80),
        ("11.1.6, page 2", 6042, 80),
    ];
    insta::assert_snapshot!("vt220", shown(recording, &pages));
}

#[test]
fn the_screen_is_panned() {
    let recording = include_bytes!("recordings/vttest/vt320.bin");
    let pages = [("11.2.2.1", 2336, 80), ("11.2.2.2", 3105, 80)];
    insta::assert_snapshot!("vt320", shown(recording, &pages));
}

#[test]
fn movement_and_editing_stay_within_rows_and_columns() {
    let recording = include_bytes!("recordings/vttest/vt420.bin");
    let pages = [
        ("11.3.2.9", 22676, 80),
        ("11.3.2.10", 37846, 80),
        ("11.3.3.10, page 1", 41807, 80),
        ("11.3.3.10, page 2", 41918, 80),
        ("11.3.3.10, page 3", 44029, 80),
        ("11.3.3.10, page 4", 44142, 80),
        ("11.3.3.11, page 1", 47044, 80),
        ("11.3.3.11, page 2", 47159, 80),
        ("11.3.3.11, page 3", 49270, 80),
        ("11.3.3.11, page 4", 49382, 80),
        ("11.3.3.12, page 1", 50908, 80),
        ("11.3.3.12, page 2", 51601, 80),
        ("11.3.3.13", 56249, 80),
    ];
    insta::assert_snapshot!("vt420", shown(recording, &pages));
}

#[test]
fn the_cursor_moves_by_iso_6429() {
    let recording = include_bytes!("recordings/vttest/iso-movements.bin");
    let pages = [
        ("11.5.1", 2775, 80),
        ("11.5.2", 6411, 80),
        ("11.5.3", 7986, 80),
        ("11.5.4", 9249, 80),
        ("11.5.5", 11363, 80),
        ("11.5.6", 12526, 80),
        ("11.5.7", 13531, 80),
        ("11.5.8", 14403, 80),
        ("11.5.9", 15715, 80),
    ];
    insta::assert_snapshot!("iso-movements", shown(recording, &pages));
}

#[test]
fn colors_are_shown_and_erased_with() {
    let recording = include_bytes!("recordings/vttest/iso-colors.bin");
    let pages = [
        ("11.6.2", 7850, 80),
        ("11.6.3", 9121, 80),
        ("11.6.4, page 1", 12017, 80),
        ("11.6.4, page 2", 12803, 80),
        ("11.6.5, page 1", 15825, 80),
        ("11.6.5, page 2", 16717, 80),
        ("11.6.8, page 1", 20277, 80),
        ("11.6.8, page 2", 23195, 80),
        ("11.6.8, page 3", 26119, 80),
        ("11.6.8, page 4", 29037, 80),
        ("11.6.8, page 5", 29802, 80),
        ("11.6.8, page 6", 29851, 80),
        ("11.6.9, page 1", 31236, 80),
        ("11.6.9, page 2", 31285, 80),
        ("11.6.9, page 3", 31333, 80),
    ];
    insta::assert_snapshot!("iso-colors", shown(recording, &pages));
}

#[test]
fn vt102_features_work_in_colors() {
    let recording = include_bytes!("recordings/vttest/bce.bin");
    let pages = [
        ("11.6.6.1, page 1", 7147, 80),
        ("11.6.6.1, page 2", 14577, 132),
        ("11.6.6.1, page 3", 15352, 80),
        ("11.6.6.1, page 4", 16498, 80),
        ("11.6.6.3, page 1", 18589, 80),
        ("11.6.6.3, page 2", 19595, 80),
        ("11.6.6.3, page 3", 21756, 80),
        ("11.6.6.3, page 4", 22089, 80),
        ("11.6.6.3, page 5", 22280, 80),
        ("11.6.6.3, page 6", 22375, 80),
        ("11.6.6.3, page 7", 24822, 80),
        ("11.6.6.3, page 8", 26381, 80),
        ("11.6.6.3, page 9", 26758, 80),
        ("11.6.6.3, page 10", 30167, 132),
        ("11.6.6.3, page 11", 30500, 132),
        ("11.6.6.3, page 12", 30743, 132),
        ("11.6.6.3, page 13", 30839, 132),
        ("11.6.6.3, page 14", 34558, 132),
        ("11.6.6.3, page 15", 36741, 80),
        ("11.6.6.3, page 16", 37118, 80),
    ];
    insta::assert_snapshot!("bce", shown(recording, &pages));
}

#[test]
fn characters_repeat_and_pages_scroll() {
    let recording = include_bytes!("recordings/vttest/iso-others.bin");
    let pages = [("11.7.2", 2363, 80), ("11.7.3", 3188, 80), ("11.7.6", 4004, 80)];
    insta::assert_snapshot!("iso-others", shown(recording, &pages));
}

#[test]
fn alternate_screens_give_the_picture_back() {
    let recording = include_bytes!("recordings/vttest/alternate.bin");
    let pages = [
        ("11.8.7.3, page 1", 2359, 80),
        ("11.8.7.3, page 2", 2445, 80),
        ("11.8.7.3, page 3", 2584, 80),
        ("11.8.7.4, page 1", 3353, 80),
        ("11.8.7.4, page 2", 3441, 80),
        ("11.8.7.4, page 3", 3590, 80),
        ("11.8.7.5, page 1", 4343, 80),
        ("11.8.7.5, page 2", 4422, 80),
        ("11.8.7.5, page 3", 4564, 80),
    ];
    insta::assert_snapshot!("alternate", shown(recording, &pages));
}

#[test]
fn modes_are_reported() {
    let recording = include_bytes!("recordings/vttest/modes.bin");
    let pages = [
        ("11.8.2.2, page 1", 3344, 80),
        ("11.8.2.2, page 2", 4668, 80),
        ("11.8.2.2, page 3", 6092, 80),
        ("11.8.2.2, page 4", 6712, 80),
    ];
    insta::assert_snapshot!("modes", shown(recording, &pages));
}
