//! The facts about a running session that its host states for the next client.

/// The line that reports that the session's server listens on the host's loopback only.
pub const LOOPBACK: &str = "ROVE LOOPBACK";

/// The beginning of the line that states how many keys of the former client the session's server has received.
pub const TAKEN: &str = "ROVE TAKEN";

/// The facts about a running session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attachment {
    /// Whether the session's server listens on the host's loopback only.
    pub is_loopback: bool,
    /// How many keys of the former client the session's server has received. `None` if the host did not state it.
    pub taken: Option<u64>,
}

impl Attachment {
    /// Parses the fact that a line states. `None` for other lines.
    pub(super) fn of_line(line: &str) -> Option<Self> {
        if line == LOOPBACK {
            return Some(Self { is_loopback: true, taken: None });
        }
        let taken = line.strip_prefix(TAKEN)?.strip_prefix(' ')?.parse().ok();
        taken.map(|taken| Self { is_loopback: false, taken: Some(taken) })
    }

    pub(super) fn add(&mut self, told: Self) {
        self.is_loopback |= told.is_loopback;
        self.taken = told.taken.or(self.taken);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_tells_one_fact_and_other_lines_none() {
        let mut attachment = Attachment::default();
        for line in [LOOPBACK, "ROVE TAKEN 7", "ROVE LOOPBACK"] {
            attachment.add(Attachment::of_line(line).unwrap());
        }
        assert_eq!(attachment, Attachment { is_loopback: true, taken: Some(7) });
        for line in ["", "ROVE TAKEN", "ROVE TAKEN -1", "ROVE TAKEN7", "ROVE LOOPBACK 1"] {
            assert_eq!(Attachment::of_line(line), None, "{line}");
        }
    }
}
