use rove_units::Duration;

use super::*;
use crate::config::RECEIVED_BYTES_MAX;
use crate::hello::Capabilities;
use crate::object::{ApplyError, Part};
use crate::tests::Blob;

fn instruction(old_num: u64, new_num: u64, throwaway_num: u64, bytes: u64) -> Instruction {
    Instruction {
        old_num: StateNum::new(old_num),
        new_num: StateNum::new(new_num),
        throwaway_num: StateNum::new(throwaway_num),
        diff: bytes.to_string().into_bytes(),
        ..Instruction::default()
    }
}

#[test]
fn states_are_refused_beyond_the_byte_limit_and_taken_up_to_it() {
    let limit = RECEIVED_BYTES_MAX.get();
    for (second, refused) in [(0, false), (1, true)] {
        let mut receiver = Receiver::new(Blob::default(), Instant::ZERO);
        let steps = [
            (instruction(0, 1, 0, limit), Ok(Received::Newest)),
            (instruction(0, 2, 0, second), Ok(Received::Newest)),
            (
                instruction(0, 3, 0, 1),
                if refused { Err(ReceiveError::QueueFull) } else { Ok(Received::Newest) },
            ),
        ];
        for (instruction, outcome) in steps {
            let config = Config::server();
            let received =
                receiver.handle_instruction(Instant::ZERO, instruction.clone(), u64::MAX, &config);
            assert_eq!(received, outcome, "{second}: {instruction:?}");
        }
    }
}

#[test]
fn states_that_alone_go_over_the_limit_follow_each_other_one_by_one() {
    let huge = RECEIVED_BYTES_MAX.get() + 1;
    let mut receiver = Receiver::new(Blob::default(), Instant::ZERO);
    let steps = [
        (instruction(0, 1, 0, huge), Ok(Received::Newest)),
        (instruction(0, 2, 0, huge), Err(ReceiveError::QueueFull)),
        (instruction(1, 2, 1, huge), Ok(Received::Newest)),
        (instruction(1, 3, 1, huge), Err(ReceiveError::QueueFull)),
        (instruction(2, 3, 2, 1), Ok(Received::Newest)),
        (instruction(3, 4, 3, 1), Ok(Received::Newest)),
        (instruction(3, 5, 3, 1), Ok(Received::Newest)),
    ];
    for (instruction, outcome) in steps {
        let received = receiver.handle_instruction(
            Instant::ZERO,
            instruction.clone(),
            u64::MAX,
            &Config::client(),
        );
        assert_eq!(received, outcome, "{instruction:?}");
    }
}

#[test]
fn a_state_below_all_that_are_held_is_outdated() {
    let mut receiver = Receiver::new(Blob::default(), Instant::ZERO);
    let later = Instant::ZERO + Duration::from_secs(1);
    for (instruction, outcome) in [
        (instruction(0, 5, 0, 1), Received::Newest),
        (instruction(5, 6, 5, 1), Received::Newest),
        (instruction(5, 4, 5, 1), Received::Nothing),
    ] {
        let received = receiver.handle_instruction(later, instruction, u64::MAX, &Config::client());
        assert_eq!(received, Ok(outcome));
    }
    assert_eq!(receiver.states.len(), 2);
    assert_eq!(receiver.newest().arrived_at, later);
}

/// An object that counts the applied bytes, one for each unit of effort, and refuses an `x`.
#[derive(Clone, Debug, Default)]
struct Slow {
    done: usize,
}

/// How many bytes of diffs all objects of this type have applied.
static APPLIED: core::sync::atomic::AtomicUsize = core::sync::atomic::AtomicUsize::new(0);

impl Object for Slow {
    fn diff_from(&self, _base: &Self, _peer: Capabilities) -> Vec<u8> {
        Vec::new()
    }

    fn apply(&mut self, diff: &[u8]) -> Result<(), ApplyError> {
        self.apply_part(diff, u64::MAX).map(|_| ())
    }

    fn apply_part(&mut self, diff: &[u8], effort: u64) -> Result<Part, ApplyError> {
        let most = usize::try_from(effort).unwrap_or(usize::MAX);
        let taken = most.min(diff.len() - self.done);
        APPLIED.fetch_add(taken, core::sync::atomic::Ordering::Relaxed);
        if diff[self.done..self.done + taken].contains(&b'x') {
            return Err(ApplyError { reason: "x".to_owned() });
        }
        self.done += taken;
        let is_whole = self.done == diff.len();
        if is_whole {
            self.done = 0;
        }
        Ok(Part { is_whole, effort: u64::try_from(taken).unwrap() })
    }

    fn same_as(&self, _other: &Self) -> bool {
        true
    }

    fn bytes_beyond(&self, _neighbour: Option<&Self>) -> Bytes {
        Bytes::ZERO
    }
}

#[test]
fn work_is_done_in_turns_and_refused_work_once() {
    let config = Config::client();
    let brings =
        |old, new, diff: &[u8]| Instruction { diff: diff.to_vec(), ..instruction(old, new, 0, 0) };
    let mut receiver = Receiver::new(Slow::default(), Instant::ZERO);
    let now = Instant::ZERO;
    // A diff of two bytes is applied at once, and a longer one needs a second turn.
    assert_eq!(
        receiver.handle_instruction(now, brings(0, 1, b"aa"), 2, &config),
        Ok(Received::Newest)
    );
    assert_eq!(
        receiver.handle_instruction(now, brings(1, 2, b"aaa"), 2, &config),
        Ok(Received::Begun)
    );
    assert!(receiver.has_work() && receiver.newest().num == StateNum::new(1));
    assert_eq!(receiver.work(now, 2), Ok(Received::Newest));
    assert!(!receiver.has_work() && receiver.newest().num == StateNum::new(2));
    assert_eq!(receiver.work(now, 2), Ok(Received::Nothing));
    assert_eq!(receiver.effort(), 5);

    let refused = ReceiveError::Apply(ApplyError { reason: "x".to_owned() });
    let bad = brings(2, 3, b"aax");
    assert_eq!(receiver.handle_instruction(now, bad.clone(), 2, &config), Ok(Received::Begun));
    assert_eq!(receiver.work(now, 2), Err(refused));
    assert!(!receiver.has_work());
    let applied = APPLIED.load(core::sync::atomic::Ordering::Relaxed);
    let again = ReceiveError::RefusedBefore { new_num: StateNum::new(3) };
    for _ in 0..3 {
        assert_eq!(receiver.handle_instruction(now, bad.clone(), 2, &config), Err(again.clone()));
    }
    assert_eq!(APPLIED.load(core::sync::atomic::Ordering::Relaxed), applied);
    // Another diff, or a diff from another reference, is tried.
    assert!(receiver.handle_instruction(now, brings(2, 3, b"xaa"), 2, &config).is_err());
    assert_eq!(APPLIED.load(core::sync::atomic::Ordering::Relaxed), applied + 2);
    assert_eq!(
        receiver.handle_instruction(now, brings(1, 3, b"aa"), 2, &config),
        Ok(Received::Newest)
    );
    // Above the limit, the oldest refused instruction is forgotten.
    for num in 0..u64::try_from(REFUSED_MAX).unwrap() {
        let received = receiver.handle_instruction(now, brings(3, 10 + num, b"x"), 2, &config);
        assert!(matches!(received, Err(ReceiveError::Apply(_))), "{num}");
        let first = Refused::new(StateNum::new(2), StateNum::new(3), b"aax");
        // Another instruction was refused after `first`.
        assert_eq!(receiver.refused.contains(&first), num + 2 < 16, "{num}");
    }
    assert_eq!(receiver.refused.len(), REFUSED_MAX);
}
