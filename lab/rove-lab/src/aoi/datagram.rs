//! Datagrams of the study: a state as the difference from an older one, in JSON.

use serde::{Deserialize, Serialize};

/// The texts of the states, in turn. Source: the study.
const TEXTS: [&str; 5] = ["abc", "cde", "edf", "adsfhadsf", "fgi"];

/// A state, or an acknowledgment where its `diff` is `None`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct Datagram {
    /// The state that the difference is from.
    pub(super) old_num: u64,
    /// The number of the state that the difference makes.
    pub(super) new_num: u64,
    /// The newest state that whoever sends this has received.
    pub(super) ack_num: u64,
    /// The oldest state that is still a reference.
    pub(super) throwaway_num: u64,
    /// When it was sent, in ns of the sender's clock; in an acknowledgment, that of what is acknowledged.
    pub(super) timestamp: u64,
    /// The edit script.
    pub(super) diff: Option<Vec<Edit>>,
}

/// A step of an edit script, in bytes: the texts are ASCII.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct Edit {
    at: usize,
    removed: usize,
    inserted: String,
}

impl Datagram {
    /// Returns the datagram as JSON.
    pub(super) fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("numbers and texts are JSON")
    }

    /// Reads JSON that [`Datagram::encode`] wrote.
    pub(super) fn decode(bytes: &[u8]) -> Self {
        serde_json::from_slice(bytes).expect("the path changes no byte")
    }
}

/// Returns the text of a state; the one numbered 0 is empty.
pub(super) fn text(state: u64) -> &'static str {
    let Some(turn) = state.checked_sub(1) else { return "" };
    TEXTS[usize::try_from(turn % 5).expect("below five")]
}

/// Returns the edits that make `new` of `old`: at most one, between what both begin and end with.
pub(super) fn diff(old: &str, new: &str) -> Vec<Edit> {
    if old == new {
        return Vec::new();
    }
    let alike = |(a, b): &(u8, u8)| a == b;
    let at = old.bytes().zip(new.bytes()).take_while(alike).count();
    let rest = (old.len() - at).min(new.len() - at);
    let end = old.bytes().rev().zip(new.bytes().rev()).take(rest).take_while(alike).count();
    let inserted = new[at..new.len() - end].to_owned();
    vec![Edit { at, removed: old.len() - end - at, inserted }]
}

/// Makes the edits of a text that they were made for.
pub(super) fn patched(old: &str, edits: &[Edit]) -> String {
    let mut text = old.to_owned();
    for Edit { at, removed, inserted } in edits {
        text.replace_range(*at..at + removed, inserted);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_script_leads_from_any_text_to_any_other() {
        for (old, new) in (0..=5).flat_map(|old| (0..=5).map(move |new| (text(old), text(new)))) {
            assert_eq!(patched(old, &diff(old, new)), new, "{old} to {new}");
        }
        assert_eq!(patched("aba", &diff("aba", "ababa")), "ababa");
        assert_eq!(diff("abc", "abd"), [Edit { at: 2, removed: 1, inserted: "d".to_owned() }]);
        assert_eq!((text(0), text(1), text(5), text(6)), ("", "abc", "fgi", "abc"));
    }

    #[test]
    fn a_datagram_is_the_same_after_its_way() {
        let diff = Some(diff("abc", "cde"));
        let datagram =
            Datagram { old_num: 1, new_num: 2, ack_num: 0, throwaway_num: 1, timestamp: 5, diff };
        assert_eq!(Datagram::decode(&datagram.encode()), datagram);
    }
}
