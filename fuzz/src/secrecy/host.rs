//! A simulated program on the host's terminal, which echoes or reads a secret.

use rove_terminal::{Screen, Size, Terminal};

/// Most characters of a line with echo. Chosen: no prompt and line together reach the edge of the smallest screen.
const OPEN_LINE: usize = 8;

/// How the program answers letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Echo {
    Letters,
    Nothing,
    Mask(char),
}

/// The program, its terminal, and the line that it reads.
pub(super) struct Host {
    terminal: Terminal,
    pub(super) echo: Echo,
    /// The length of the line, and the cursor's position in the line.
    len: usize,
    at: usize,
}

impl Host {
    pub(super) const fn new(terminal: Terminal) -> Self {
        Self { terminal, echo: Echo::Letters, len: 0, at: 0 }
    }

    pub(super) fn is_open(&self) -> bool {
        self.echo == Echo::Letters
    }

    pub(super) fn snapshot(&self) -> Screen {
        self.terminal.snapshot()
    }

    pub(super) fn write(&mut self, output: &str) {
        self.terminal.write(output.as_bytes());
    }

    pub(super) fn resize(&mut self, size: Size) {
        self.terminal.resize(size);
    }

    /// Ends the line and writes a text. Returns whether the text has moved the cursor.
    pub(super) fn turn(&mut self, output: &str, echo: Echo) -> bool {
        let before = self.snapshot().cursor().position();
        self.write(output);
        self.echo = echo;
        let has_moved = self.snapshot().cursor().position() != before;
        if has_moved {
            (self.len, self.at) = (0, 0);
        }
        has_moved
    }

    /// Answers a key as a simple line editor does. Returns whether the key was echoed.
    pub(super) fn edit(&mut self, key: &str) -> bool {
        match key {
            "\x7f" if self.at > 0 => {
                self.write("\x08\x1b[P");
                (self.at, self.len) = (self.at - 1, self.len - 1);
            }
            "\x1b[D" if self.at > 0 => {
                self.write("\x08");
                self.at -= 1;
            }
            "\x1b[C" if self.at < self.len => {
                self.write("\x1b[C");
                self.at += 1;
            }
            "\x01" => {
                self.write(&"\x08".repeat(self.at));
                self.at = 0;
            }
            "\x05" => {
                self.write(&"\x1b[C".repeat(self.len - self.at));
                self.at = self.len;
            }
            "\x15" => {
                self.write(&format!("{}\x1b[{}P", "\x08".repeat(self.at), self.at.max(1)));
                (self.len, self.at) = (self.len - self.at, 0);
            }
            _ if key.len() == 1 && key.is_ascii() && key >= " " && self.len < OPEN_LINE => {
                self.write(&format!("\x1b[@{key}"));
                (self.at, self.len) = (self.at + 1, self.len + 1);
                return true;
            }
            _ => {}
        }
        false
    }

    /// Answers a key as a program does that reads a secret.
    pub(super) fn mask(&mut self, key: &str) {
        let Echo::Mask(mask) = self.echo else { return };
        let is_control = key.chars().any(char::is_control);
        for _ in key.chars().filter(|_| !is_control) {
            let screen = self.snapshot();
            if screen.cursor().column + 1 < screen.size().columns() {
                self.write(&mask.to_string());
            }
        }
    }
}
