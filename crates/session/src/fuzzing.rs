//! Properties that must hold whatever bytes the user's terminal sends. Only the fuzz targets use this module; it is not
//! part of the library's interface.

use rove_units::{Duration, Instant};

use crate::probe::Probe;

/// Maximum number of answers that the probe can report: one to each question, and the end of the answers.
const ANSWERS_MAX: usize = 11;

/// Checks that a terminal may answer anything, in pieces of any size. The probe removes awaited answers, and neither
/// changes nor reorders nor keeps any other byte.
pub fn answers_take_anything(data: &[u8]) {
    let Some((&choice, input)) = data.split_first() else { return };
    let whole = read(input.chunks(input.len().max(1)));
    let pieces = read(input.chunks(1 + usize::from(choice)));
    assert_eq!(whole, pieces, "it depends on how the answers are cut");
    let (keys, answers) = whole;
    assert!(answers.len() <= ANSWERS_MAX, "{} answers", answers.len());
    assert!(!answers.is_empty() || keys == input, "keys are lost, and nothing was answered");
    let mut rest = input.iter();
    assert!(keys.iter().all(|key| rest.any(|byte| byte == key)), "keys that nobody has typed");
}

/// Returns the keys and the answers in `pieces`.
fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<u8>, Vec<String>) {
    let start = Instant::from_millis(0);
    let (mut probe, mut keys) = (Probe::new(true), Vec::new());
    probe.ask(start, false, Some(3));
    for piece in pieces {
        probe.handle_input(start, piece, &mut keys);
    }
    probe.handle_timeout(start + Duration::from_secs(60), &mut keys);
    let answers = core::iter::from_fn(|| probe.poll_answer());
    (keys, answers.map(|answer| format!("{answer:?}")).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SAID: &[&str] = &[
        "\x1b[?62;22c",
        "\x1b[?0u",
        "\x1b[?2026;2$y",
        "\x1b[?1007;1$y",
        "\x1b]10;rgb:0/0/0\x07",
        "\x1b]11;rgb:ffff/ffff/ffff\x1b\\",
        "\x1bP>|XTerm(370)\x1b\\",
        "\x1b[6;16;8t",
        "\x1b[A",
        "\x1b",
        "x",
    ];

    proptest! {
        #[test]
        fn the_answers_of_a_terminal_are_read_alike_however_they_are_cut(
            choice: u8,
            said in proptest::collection::vec(0..SAID.len(), 0..30),
            noise in proptest::collection::vec(any::<u8>(), 0..20),
        ) {
            let said: String = said.into_iter().map(|at| SAID[at]).collect();
            answers_take_anything(&[&[choice], said.as_bytes(), &noise[..]].concat());
        }
    }
}
