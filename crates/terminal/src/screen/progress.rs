//! The progress bar of a program (OSC 9;4).

/// The state of a progress bar. The values are the numbers of OSC 9;4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressKind {
    /// The program is working: `OSC 9;4;1`.
    Running = 1,
    /// The program has failed: `OSC 9;4;2`.
    Failed = 2,
    /// The program is working, and its progress is unknown: `OSC 9;4;3`.
    Indeterminate = 3,
    /// The program is waiting: `OSC 9;4;4`.
    Paused = 4,
}

/// The progress bar of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Whether the program runs, waits or has failed.
    pub kind: ProgressKind,
    /// The part of the work that is done, 0 to 100, or 0 if it is unknown.
    pub percent: u8,
}

impl Progress {
    /// Returns the progress after `OSC 9;4;text`, where the text is `kind;percent`. `None` if the text is malformed,
    /// and `Some(None)` if it ends the progress. A failure or pause without a percentage keeps the percentage of `old`.
    pub(crate) fn after(old: Option<Self>, text: &str) -> Option<Option<Self>> {
        let (kind, percent) = text.split_once(';').unwrap_or((text, ""));
        let kind = match kind {
            "0" => return Some(None),
            "1" => ProgressKind::Running,
            "2" => ProgressKind::Failed,
            "3" => ProgressKind::Indeterminate,
            "4" => ProgressKind::Paused,
            _ => return None,
        };
        let percent = match (kind, percent) {
            (ProgressKind::Indeterminate, _) | (ProgressKind::Running, "") => 0,
            (_, "") => old.map_or(0, |old| old.percent),
            (_, percent) => percent.parse::<u16>().ok()?.min(100).to_le_bytes()[0],
        };
        Some(Some(Self { kind, percent }))
    }
}
