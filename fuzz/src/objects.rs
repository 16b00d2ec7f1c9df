//! The two objects: the host screen and the user stream, with diffs of a peer that has the key.

use arbitrary::{Result, Unstructured};
use rove_session::{HostScreen, TerminalReport, UserEvent, UserStream};
use rove_ssp::{Capabilities, Object};

use crate::forger::text;
use crate::script::{size, take_size};

/// Separates a diff from the next one in the fuzzer's bytes.
const NEXT: &[u8] = b"\xff\xfe\xfd";

/// Applies any diffs, one after the other. A rejected diff leaves the state as a receiver would leave it.
pub fn host_screen_takes_anything(data: &[u8]) {
    let (size, mut data) = take_size(data);
    let mut state = HostScreen::replica(size);
    while !data.is_empty() {
        let len = data.windows(NEXT.len()).position(|window| window == NEXT);
        let (diff, rest) = data.split_at(len.unwrap_or(data.len()));
        data = rest.get(NEXT.len()..).unwrap_or_default();
        let mut next = state.clone();
        if next.apply(diff).is_ok() {
            let _ = next.bytes_beyond(Some(&state));
            let _ = next.same_as(&state);
            next.clone().drop_prefix(&state);
            next.clone().drop_prefix(&next);
            state = next;
        }
    }
}

/// Checks that our own diffs, in one step or in several, lead to the state for which they were made. Diffs of a
/// stranger must do no harm.
pub fn user_stream_keeps_its_laws(data: &[u8]) {
    let _ = run_user_stream(&mut Unstructured::new(data));
}

fn run_user_stream(input: &mut Unstructured<'_>) -> Result<()> {
    let mut older = UserStream::new();
    let mut newer = UserStream::new();
    let mut strange = UserStream::new();
    while !input.is_empty() {
        match input.int_in_range(0..=9)? {
            0 => newer.push_bytes(&text(input)?),
            1 => newer.push_bytes(&vec![b'p'; usize::from(input.arbitrary::<u16>()?)]),
            2 => {
                let [columns, rows] = input.arbitrary::<[u8; 2]>()?;
                newer.push(UserEvent::Resize(size(columns, rows)));
            }
            3 => older = newer.clone(),
            4 => {
                let mut known = older.clone();
                assert!(newer.follows(&known));
                newer.drop_prefix(&older);
                older.drop_prefix(&known);
                known.drop_prefix(&older);
                assert!(newer.follows(&known) && older.same_as(&known));
            }
            5 => assert_leads(&older, &newer),
            6 => {
                let mut next = strange.clone();
                if next.apply(&text(input)?).is_ok() {
                    assert!(next.follows(&strange));
                    strange = next;
                }
            }
            7 => {
                let _ = (strange.same_as(&newer), strange.follows(&newer), newer.follows(&strange));
                strange.drop_prefix(&newer);
                let _ = strange.bytes_beyond(Some(&newer));
            }
            8 => newer.push(UserEvent::Terminal(report(input)?)),
            _ => strange = newer.clone(),
        }
        let _ = newer.bytes_beyond(Some(&older));
    }
    assert_leads(&older, &newer);
    Ok(())
}

fn report(input: &mut Unstructured<'_>) -> Result<TerminalReport> {
    Ok(match input.int_in_range(0..=4)? {
        0 => TerminalReport::KittyKeyboard,
        1 => TerminalReport::Foreground(input.arbitrary()?),
        2 => TerminalReport::Background(input.arbitrary()?),
        3 => TerminalReport::Cursor(input.arbitrary()?),
        _ => TerminalReport::CellPixels { width: input.arbitrary()?, height: input.arbitrary()? },
    })
}

/// Panics unless the diffs lead from `base` to `target`, both directly and over midpoints.
fn assert_leads(base: &UserStream, target: &UserStream) {
    let mut state = base.clone();
    state.apply(&target.diff_from(base, Capabilities::empty())).expect("our own diff");
    assert!(state.same_as(target) && state.end() == target.end());
    let mut state = base.clone();
    while let Some(middle) = target.midpoint(&state) {
        assert!(middle.follows(&state) && target.follows(&middle));
        assert!(middle.end() > state.end() && middle.end() < target.end(), "a step forward");
        state.apply(&middle.diff_from(&state, Capabilities::empty())).expect("our own diff");
        assert!(state.same_as(&middle));
    }
}
