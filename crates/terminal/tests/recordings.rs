//! Recorded sessions of real programs (vim, less and emacs on a pty of 80x24, `TERM=xterm-256color`)
//! against the screens a person saw. The screens were compared with those of tmux 3.3a.

use rove_terminal::{Screen, Size, Terminal, display};

/// Bytes taken between two frames. Chosen: small enough for many frames in the midst of a redraw.
const FRAME_BYTES: usize = 97;

/// Returns the screen after a recording, and checks that a replica fed with the diffs of its frames
/// shows every one of them.
fn replayed(recording: &[u8]) -> String {
    let (mut host, mut replica) = (Terminal::host(Size::DEFAULT), Terminal::replica(Size::DEFAULT));
    for piece in recording.chunks(FRAME_BYTES) {
        host.write(piece);
        replica.write(&display::diff(replica.screen(), host.screen(), display::Repertoire::FULL));
        assert_eq!(text(replica.screen()), text(host.screen()));
    }
    text(host.screen())
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
