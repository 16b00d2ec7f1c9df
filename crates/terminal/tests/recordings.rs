//! Recorded sessions of real programs (on a pty of 80x24, `TERM=xterm-256color`), and the screens that a person saw.
//! Each screen was compared with those of tmux 3.3a and xterm 379 for the same bytes. The programs are Debian 12's,
//! among them neovim 0.7.2, tmux 3.3a, htop 3.2.2, mc 4.8.29, fish 3.6.0 and zsh 5.9. The later recordings begin and
//! end at a shell's prompt.

use rove_terminal::{Screen, Size, Terminal, display};

/// Bytes between two frames. Chosen: small enough for many frames in the midst of a redraw.
const FRAME_BYTES: usize = 97;

/// Returns the screen after a recording, and checks that a replica shows each frame after its diff.
fn replayed(recording: &[u8]) -> String {
    let (mut host, mut replica) = (Terminal::host(Size::DEFAULT), Terminal::replica(Size::DEFAULT));
    for piece in recording.chunks(FRAME_BYTES) {
        host.write(piece);
        replica.write(&display::diff(replica.screen(), host.screen(), display::Vocabulary::Rich));
        assert_eq!(text(replica.screen()), text(host.screen()));
    }
    text(host.screen())
}

/// Returns the screens at some points of a recording, and checks a replica as [`replayed`] does. Each point is a number
/// of bytes from the start, and the name of the last event before it.
fn followed(recording: &[u8], points: &[(usize, &str)]) -> String {
    let (mut host, mut replica) = (Terminal::host(Size::DEFAULT), Terminal::replica(Size::DEFAULT));
    let mut screens = String::new();
    let mut at = 0;
    for &(end, name) in points {
        for piece in recording[at..end].chunks(FRAME_BYTES) {
            let before = host.snapshot();
            host.write(piece);
            replica.write(&display::diff(&before, host.screen(), display::Vocabulary::Rich));
            assert_eq!(text(replica.screen()), text(host.screen()), "before {name}");
        }
        screens.push_str(&format!("---- {name}\n{}\n", text(host.screen())));
        at = end;
    }
    assert_eq!(at, recording.len(), "the last point is the end");
    screens
}

fn text(screen: &Screen) -> String {
    let rows = (0..screen.size().rows()).map(|row| screen.row_text(row));
    let cursor = screen.cursor();
    let cursor = format!("cursor {},{}", cursor.row + 1, cursor.column + 1);
    rows.chain([cursor]).collect::<Vec<_>>().join("\n")
}

#[test]
fn vim_shows_its_windows() {
    insta::assert_snapshot!("vim", replayed(include_bytes!("recordings/vim.bin")));
}

#[test]
fn less_shows_its_page() {
    insta::assert_snapshot!("less", replayed(include_bytes!("recordings/less.bin")));
}

#[test]
fn emacs_shows_its_buffers() {
    insta::assert_snapshot!("emacs", replayed(include_bytes!("recordings/emacs.bin")));
}

#[test]
fn neovim_scrolls_searches_splits_and_leaves() {
    let recording = include_bytes!("recordings/neovim.bin");
    let points = [
        (1800, "opened"),
        (6367, "scrolled"),
        (9517, "searched"),
        (14138, "split"),
        (17520, "left"),
    ];
    insta::assert_snapshot!("neovim", followed(recording, &points));
}

#[test]
fn tmux_splits_scrolls_back_and_leaves() {
    let recording = include_bytes!("recordings/tmux.bin");
    let points = [
        (783, "opened"),
        (2083, "split"),
        (2926, "split again"),
        (4094, "scrolled back"),
        (4916, "zoomed"),
        (6143, "left"),
    ];
    insta::assert_snapshot!("tmux", followed(recording, &points));
}

#[test]
fn mc_shows_panels_and_a_file_and_leaves() {
    let recording = include_bytes!("recordings/mc.bin");
    let points = [
        (3970, "opened"),
        (4493, "other panel"),
        (5148, "viewed"),
        (5166, "scrolled"),
        (8855, "panels again"),
        (11875, "left"),
    ];
    insta::assert_snapshot!("mc", followed(recording, &points));
}

#[test]
fn htop_shows_lists_and_trees_and_leaves() {
    let recording = include_bytes!("recordings/htop.bin");
    let points = [
        (2220, "opened"),
        (2894, "tree"),
        (4842, "setup"),
        (7977, "searching"),
        (8690, "found"),
        (9079, "left"),
    ];
    insta::assert_snapshot!("htop", followed(recording, &points));
}

#[test]
fn fish_suggests_and_completes() {
    let recording = include_bytes!("recordings/fish.bin");
    let points = [
        (150, "opened"),
        (533, "suggested"),
        (917, "typing"),
        (1003, "completed"),
        (1266, "listed"),
        (2173, "loop"),
        (2590, "left"),
    ];
    insta::assert_snapshot!("fish", followed(recording, &points));
}

#[test]
fn zsh_lists_and_chooses() {
    let recording = include_bytes!("recordings/zsh.bin");
    let points = [
        (408, "opened"),
        (962, "listed"),
        (1715, "chosen"),
        (2205, "loop"),
        (2529, "searching"),
        (19379, "scrolled"),
        (19556, "cleared"),
        (19575, "left"),
    ];
    insta::assert_snapshot!("zsh", followed(recording, &points));
}
