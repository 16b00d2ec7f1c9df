use rove_units::Duration;

use super::*;
use crate::blob::Blob;

fn instruction(old_num: u64, new_num: u64, throwaway_num: u64, bytes: u64) -> Instruction {
    Instruction {
        old_num: StateNum::new(old_num),
        new_num: StateNum::new(new_num),
        ack_num: StateNum::INITIAL,
        throwaway_num: StateNum::new(throwaway_num),
        diff: bytes.to_string().into_bytes(),
        chaff: Vec::new(),
        hello: None,
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
            let received = receiver.handle_instruction(Instant::ZERO, &instruction, &config);
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
        let received = receiver.handle_instruction(Instant::ZERO, &instruction, &Config::client());
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
        let received = receiver.handle_instruction(later, &instruction, &Config::client());
        assert_eq!(received, Ok(outcome));
    }
    assert_eq!(receiver.states.len(), 2);
    assert_eq!(receiver.newest_arrived_at(), later);
}
