//! The progress of a program (OSC 9;4).

/// The state of a progress bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressKind {
    /// The program works: `OSC 9;4;1`.
    Running = 1,
    /// The program has failed.
    Failed = 2,
    /// The program works, and its progress is unknown.
    Indeterminate = 3,
    /// The program waits.
    Paused = 4,
}

/// The progress of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The state of the work.
    pub kind: ProgressKind,
    /// The part that is done, 0 to 100. It is 0 if it is unknown.
    pub percent: u8,
}

impl Progress {
    /// Returns the progress that follows `old` after `OSC 9;4;text`, where the text is `kind;percent`; `None` if the
    /// text is malformed. A failure or pause without a percentage keeps the old one.
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
