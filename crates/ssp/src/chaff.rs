//! Random padding of instructions: a few bytes in each, and many in a path size probe.

use rove_units::Stream;

use crate::compress::Codec;
use crate::instruction::Instruction;

/// Maximum padding of an instruction other than a path size probe, in bytes, to hide the exact length. Source: Mosh
/// 1.4.0 as observed, docs/wire.md.
const BLUR_MAX: u64 = 16;

/// Maximum number of corrections of the padding until a compressed instruction has the wanted length. Compression makes
/// random bytes longer, by an amount that depends on their number. Chosen: twice the most that any length has needed.
const CORRECTIONS_MAX: u32 = 6;

/// Returns 0 to [`BLUR_MAX`] random bytes, the padding of an instruction that is no path size probe.
pub(crate) fn blur(draws: Stream) -> Vec<u8> {
    let len = usize::try_from(draws.at(0).below(BLUR_MAX + 1)).expect("at most 16");
    noise(&draws, len)
}

/// Returns an instruction in its compressed form, padded to `len` bytes, or to a few less if no padding gives exactly
/// `len`. An instruction that is longer gets no padding.
pub(crate) fn fill(
    instruction: Instruction,
    len: usize,
    draws: Stream,
    codec: &mut Codec,
) -> Vec<u8> {
    let compress = |instruction: &Instruction, codec: &mut Codec| {
        codec.compress(&instruction.encode()).expect("far below what an instruction may have")
    };
    let mut padded = Instruction { chaff: Vec::new(), ..instruction };
    let mut best = compress(&padded, codec);
    let mut now = best.len();
    for _ in 0..CORRECTIONS_MAX {
        let chaff_len = (padded.chaff.len() + len).saturating_sub(now);
        padded.chaff = noise(&draws, chaff_len);
        let compressed = compress(&padded, codec);
        now = compressed.len();
        if (best.len()..=len).contains(&now) {
            best = compressed;
        }
        if now == len {
            break;
        }
    }
    best
}

fn noise(draws: &Stream, len: usize) -> Vec<u8> {
    (1..).flat_map(|at| draws.at(at).bits().to_be_bytes()).take(len).collect()
}

#[cfg(test)]
mod tests {
    use rove_units::Seed;

    use super::*;
    use crate::num::StateNum;

    #[test]
    fn an_instruction_is_padded_to_any_length() {
        let mut codec = Codec::new();
        let num = |num| StateNum::new(num);
        let instruction = Instruction {
            old_num: num(70_000),
            new_num: num(70_001),
            ack_num: num(5),
            ..Instruction::default()
        };
        for len in (100..1_440).chain([1_999]) {
            let draws = Seed::new(7).stream("chaff").fork(u64::try_from(len).unwrap());
            let padded = fill(instruction.clone(), len, draws, &mut codec);
            assert!((len - 2..=len).contains(&padded.len()), "{} for {len}", padded.len());
            let read = Instruction::decode(&codec.inflate(&padded).unwrap()).unwrap();
            assert_eq!((read.new_num, read.diff), (num(70_001), Vec::new()));
        }
        let bare = fill(instruction.clone(), 0, Seed::new(1).stream("chaff"), &mut codec);
        assert!(bare.len() > 10, "what is longer stays");
    }

    #[test]
    fn the_usual_padding_has_all_lengths_up_to_its_limit() {
        let chaff = Seed::new(1).stream("chaff");
        let mut lens: Vec<usize> = (0..300).map(|number| blur(chaff.fork(number)).len()).collect();
        lens.sort_unstable();
        lens.dedup();
        assert_eq!(lens, (0..=16).collect::<Vec<_>>());
    }
}
