//! How far a program has come (OSC 9;4).

/// What a bar of progress says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressKind {
    /// Work goes on: `OSC 9;4;1`.
    Running = 1,
    /// It has failed.
    Failed = 2,
    /// Work goes on, nobody knows how far it has come.
    Indeterminate = 3,
    /// It waits.
    Paused = 4,
}

/// How far a program has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Whether it goes on.
    pub kind: ProgressKind,
    /// How much is done, 0 to 100; 0 where nobody knows.
    pub percent: u8,
}

impl Progress {
    /// Returns what follows `old` by the part of an OSC behind `9;4;`, `kind;percent`; `None` if that
    /// is nonsense. A failure and a pause may leave the percentage as it was.
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
