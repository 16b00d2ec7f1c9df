//! Names, on command lines and in tables, of the mechanisms that a run can leave out, and of the reference policies.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use rove_session::Mechanism;
use rove_ssp::{Mechanism as Sending, ReferencePolicy};

/// A mechanism or policy, its name, and a phrase for help texts that describes it.
type Named<M> = (M, &'static str, &'static str);

/// The mechanisms of the prediction engine, in the order of [`Mechanism`].
#[rustfmt::skip]
pub(super) const PREDICTION: [Named<Mechanism>; 19] = [
    (Mechanism::ShellPrompts, "shell-prompts", "characters before their echo at shells, after three lines"),
    (Mechanism::Statements, "statements", "the same where the server states that the shell waits"),
    (Mechanism::EditorModes, "editor-modes", "the same in editors that name their mode"),
    (Mechanism::Suggestions, "suggestions", "grey text behind the cursor is no input"),
    (Mechanism::LineKeys, "line-keys", "Home, End, Delete, Ctrl-A, Ctrl-K and their like"),
    (Mechanism::WordKeys, "word-keys", "keys that move by words or take them out"),
    (Mechanism::Motions, "motions", "keys that were seen to move the cursor on the screen"),
    (Mechanism::Rulers, "rulers", "numbers that follow the cursor"),
    (Mechanism::History, "history", "lines that Up and Down bring back"),
    (Mechanism::DrawnCursors, "drawn-cursors", "cursors that programs draw, with the terminal's hidden"),
    (Mechanism::Wraps, "wraps", "input over the edge of its row"),
    (Mechanism::Colors, "colors", "predictions painted as the text around them"),
    (Mechanism::Palettes, "palettes", "colours remembered from when text was typed"),
    (Mechanism::LateEchoes, "late-echoes", "overdue echoes are waited for and learned from"),
    (Mechanism::Lateness, "lateness", "how late echoes are sets how long to wait"),
    (Mechanism::Latency, "latency", "a screen far sooner than all answers before is none"),
    (Mechanism::TypeAhead, "type-ahead", "text typed ahead, found behind a new prompt"),
    (Mechanism::NewPrompts, "new-prompts", "a known prompt answers Enter at once"),
    (Mechanism::Paste, "paste", "a pasted line is text as if it were typed"),
];

/// The mechanisms of the sender, in the order of [`Sending::ALL`].
#[rustfmt::skip]
pub(super) const SENDER: [Named<Sending>; 11] = [
    (Sending::Repetition, "repetition", "small contents sent several times on a path that loses datagrams"),
    (Sending::SecondAck, "second-ack", "contents that arrive again acknowledged again"),
    (Sending::LateAck, "late-ack", "acknowledgments that wait longer for company where little is lost"),
    (Sending::FirstContact, "first-contact", "first contents sent again soon until something is acknowledged"),
    (Sending::News, "news", "new contents that wait less for the frame before"),
    (Sending::Steady, "steady", "steady output that comes sooner on a far path that loses datagrams"),
    (Sending::Collection, "collection", "new contents that wait less for company where no more comes"),
    (Sending::Quiet, "quiet", "heartbeats that become rare while there is nothing to say"),
    (Sending::FarPath, "far-path", "round trips of more than a second measured and waited for"),
    (Sending::PathSize, "path-size", "datagrams as large as the path takes"),
    (Sending::Linger, "linger", "the end of a session acknowledged again where that may be lost"),
];

/// The rules by which an end chooses the state that a diff starts from.
pub(super) const REFERENCE: [Named<ReferencePolicy>; 5] = [
    (
        ReferencePolicy::Prospective,
        "prospective",
        "The assumed state, or the known one where that costs little more: Mosh's rule",
    ),
    (ReferencePolicy::Assumed, "assumed", "The newest state that has no reason to be lost yet"),
    (ReferencePolicy::Known, "known", "The newest acknowledged state"),
    (ReferencePolicy::Adaptive, "adaptive", "The known state where that needs no more datagrams"),
    (
        ReferencePolicy::Bayesian,
        "bayesian",
        "The state whose diff is worth most, by how likely the other end holds it",
    ),
];

/// Returns all mechanisms of the prediction engine, in the order in which tables list them ([`PREDICTION`]).
pub(super) fn all() -> impl Iterator<Item = Mechanism> {
    PREDICTION.iter().map(|(mechanism, ..)| *mechanism)
}

/// Returns the name of a mechanism of the prediction engine.
pub(super) const fn name(mechanism: Mechanism) -> &'static str {
    PREDICTION[mechanism as usize].1
}

/// Returns the name of a mechanism of the sender.
pub(super) const fn sender_name(mechanism: Sending) -> &'static str {
    SENDER[mechanism as usize].1
}

/// Returns a parser of the names in `table`. It lists these names in help and completions.
pub(super) fn parser<M>(table: &'static [Named<M>]) -> impl TypedValueParser<Value = M>
where
    M: Copy + Send + Sync,
{
    let value = |(_, name, help): &Named<M>| PossibleValue::new(*name).help(*help);
    PossibleValuesParser::new(table.iter().map(value)).map(|found| {
        let row = table.iter().find(|(_, name, _)| *name == found);
        row.expect("the possible values are those of the table").0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mechanism_has_its_name_and_a_line_of_description() {
        let rows = PREDICTION.iter().map(|(it, name, about)| (*it as usize, *name, *about));
        let names: Vec<_> = rows.collect();
        for (index, (place, name, about)) in names.iter().enumerate() {
            assert_eq!(*place, index, "{name} is out of order");
            assert!((1..=66).contains(&about.len()), "{name}");
            assert_eq!(names.iter().filter(|(_, other, _)| other == name).count(), 1, "{name}");
        }
        assert!(SENDER.iter().map(|(it, ..)| *it).eq(Sending::ALL));
    }
}
