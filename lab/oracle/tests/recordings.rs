//! Recorded sessions of real programs. A recording must be executed completely, and the other two emulators differ from
//! each other. Therefore each cell of ours, and the cursor, must be the same in at least one other emulator.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rove_oracle::{Alacritty, Emulator, Ours, Picture, Vt100};
use rove_terminal::{Attributes, Size};

/// Bytes between two comparisons. Chosen: few enough to compare in the middle of a redraw.
const PIECE_BYTES: usize = 97;

/// Erases from the cursor to the end of the row (EL).
const EL: &[u8] = b"\x1b[K";

/// The attributes that both other emulators have.
const COMMON: Attributes = Vt100::KNOWN;

/// The three emulators, which execute the same stream.
struct Three {
    ours: Ours,
    alacritty: Alacritty,
    vt100: Vt100,
}

impl Three {
    fn blank(size: Size) -> Self {
        Self {
            ours: Ours::blank(size),
            alacritty: Alacritty::blank(size),
            vt100: Vt100::blank(size),
        }
    }

    /// Executes `bytes` in all three. If a wrap is pending at EL, a CUF that cannot move cancels the wrap in the other
    /// two. This is the most common difference in programs' output, because `top` fills a row and then erases.
    fn write(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            if rest.starts_with(EL) && self.ours.pending_wrap() {
                self.alacritty.write(b"\x1b[C");
                self.vt100.write(b"\x1b[C");
            }
            let next = rest.windows(EL.len()).skip(1).position(|window| window == EL);
            let (now, later) = rest.split_at(next.map_or(rest.len(), |next| next + 1));
            self.ours.write(now);
            self.alacritty.write(now);
            self.vt100.write(now);
            rest = later;
        }
    }

    /// Returns the places where both other emulators differ from ours.
    fn alone(&self) -> Vec<String> {
        let [ours, alacritty, vt100] =
            [self.ours.picture(), self.alacritty.picture(), self.vt100.picture()]
                .map(|picture| picture.limited_to(COMMON, false));
        let mut alone = Vec::new();
        for (row, looks) in ours.rows.iter().enumerate() {
            for (column, look) in looks.iter().enumerate() {
                let theirs = |picture: &Picture| picture.rows[row][column].clone();
                if *look != theirs(&alacritty) && *look != theirs(&vt100) {
                    alone.push(format!(
                        "{row},{column}: {look:?}, alacritty {:?}, vt100 {:?}",
                        theirs(&alacritty),
                        theirs(&vt100)
                    ));
                }
            }
        }
        if ours.cursor != alacritty.cursor && ours.cursor != vt100.cursor {
            alone.push(format!(
                "cursor {:?}, alacritty {:?}, vt100 {:?}",
                ours.cursor, alacritty.cursor, vt100.cursor
            ));
        }
        alone
    }
}

#[test]
fn ours_is_never_alone_on_a_recorded_session() {
    for (name, recording) in [
        ("vim", &include_bytes!("../../../crates/terminal/tests/recordings/vim.bin")[..]),
        ("less", include_bytes!("../../../crates/terminal/tests/recordings/less.bin")),
        ("emacs", include_bytes!("../../../crates/terminal/tests/recordings/emacs.bin")),
        ("neovim", include_bytes!("../../../crates/terminal/tests/recordings/neovim.bin")),
        ("tmux", include_bytes!("../../../crates/terminal/tests/recordings/tmux.bin")),
        ("htop", include_bytes!("../../../crates/terminal/tests/recordings/htop.bin")),
        ("mc", include_bytes!("../../../crates/terminal/tests/recordings/mc.bin")),
        ("fish", include_bytes!("../../../crates/terminal/tests/recordings/fish.bin")),
        ("zsh", include_bytes!("../../../crates/terminal/tests/recordings/zsh.bin")),
    ] {
        let mut three = Three::blank(Size::DEFAULT);
        for (number, piece) in recording.chunks(PIECE_BYTES).enumerate() {
            three.write(piece);
            let alone = three.alone();
            assert!(alone.is_empty(), "{name}, after piece {number}: {alone:#?}");
        }
    }
}

/// The recordings of keys are not in the repository. The variable `ROVE_TRACES` names the folder with `keys/*.jsonl`,
/// lines of JSON with the terminal's size and the host's output.
#[test]
fn ours_is_never_alone_on_the_key_traces_that_are_there() {
    let named = std::env::var_os("ROVE_TRACES").filter(|name| !name.is_empty());
    let Some(traces) = named else { return };
    let folder = Path::new(&traces).join("keys");
    let entries = folder.read_dir().expect("ROVE_TRACES has a folder keys");
    for entry in entries {
        let path = entry.expect("the folder can be read").path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            follow_trace(&path);
        }
    }
}

fn follow_trace(path: &Path) {
    let text = std::fs::read_to_string(path).expect("a trace is text");
    let mut three = Three::blank(Size::DEFAULT);
    for (number, line) in (1..).zip(text.lines()) {
        let record: serde_json::Value = serde_json::from_str(line).expect("a record is JSON");
        match record["dir"].as_str() {
            Some("size") => {
                let length = |name: &str| record[name].as_i64().expect("a size has lengths");
                let size = Size::new(length("cols"), length("rows")).expect("a real terminal");
                three = Three::blank(size);
            }
            Some("host") => {
                let data = record["data"].as_str().expect("host data is text");
                three.write(&STANDARD.decode(data).expect("host data is base64"));
                let alone = three.alone();
                assert!(alone.is_empty(), "{}:{number}: {alone:#?}", path.display());
            }
            _ => {}
        }
    }
}
