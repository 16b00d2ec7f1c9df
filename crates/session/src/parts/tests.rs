//! Functions for the tests of single parts.

use rove_ssp::ApplyError;
use rove_terminal::{Screen, Size};

use super::*;
use crate::message;
use crate::part::Work;

/// Returns the diff that turns `old` into `new`, as a message.
pub(super) fn diff<P: Part>(old: &P, new: &P) -> Vec<u8> {
    let receiver = Receiver { understands: crate::CAPABILITIES, shows: None };
    new.diff_from(old, &receiver).iter().flat_map(|body| member::<P>(body)).collect()
}

/// Returns a message with one instruction of the part.
pub(super) fn member<P: Part>(body: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    put_member(&mut message, P::MEMBER, body);
    message
}

/// Returns a part after it has applied a message that contains only instructions of this part.
pub(super) fn applied<P: Part>(mut part: P, diff: &[u8]) -> Result<P, ApplyError> {
    let (screen, mut work) = (Screen::blank(Size::DEFAULT), Work::default());
    for instruction in message::instructions(diff) {
        let (_, body) = message::member(instruction?, |number| number == P::MEMBER)?.unwrap();
        part.apply(body, &mut Replica { screen: &screen, work: &mut work })?;
    }
    Ok(part)
}

#[test]
fn a_member_changes_its_own_part_and_no_other() {
    let mut parts = Parts { tty: Some(rove_terminal::Tty::USUAL), ..Parts::default() };
    let (screen, mut work) = (Screen::blank(Size::DEFAULT), Work::default());
    let mut replica = Replica { screen: &screen, work: &mut work };
    parts.apply(bells::Bells::MEMBER, b"\x08\x02", &mut replica).unwrap();
    parts.apply(99, b"\x08\x02", &mut replica).unwrap();
    assert!(!Parts::know(99) && Parts::know(bells::Bells::MEMBER));
    let wanted = Parts { bells: bells::Bells(2), tty: parts.tty, ..Parts::default() };
    assert!(parts.shows_same(&wanted));
    assert!(!parts.shows_same(&Parts::default()));
}
