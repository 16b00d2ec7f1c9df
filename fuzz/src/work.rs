//! The client's work for a server's compressed bytes: it decompresses, reads and applies them in turns of bounded work.

use rove_session::HostScreen;
use rove_ssp::Object;
use rove_ssp::wire::{Codec, INSTRUCTION_LEN_MAX, Instruction};
use rove_terminal::Size;

/// Work of a turn, in cells. Chosen: an eighth of the client's, so that small inputs take several turns.
const TURN: u64 = 1_000_000;

/// Most work, in cells, by which a turn may exceed [`TURN`], because it completes a sequence on the largest screen
/// here. Chosen: twice the work of copying that screen with all its parts.
const SEQUENCE_MAX: u64 = 16_000_000;

/// Most work of a diff, in cells. Source: docs/limits.md.
const DIFF_MAX: u64 = 160_000_000;

/// Most memory of a state: a fixed part without copied text and lines, and a part for each cell of the window. Chosen:
/// what all received states together may take (docs/limits.md), and as much again for links and for an unfinished
/// string.
const STATE_BYTES: u64 = 16 << 20;
const STATE_CELL_BYTES: u64 = 320;

/// Most bytes to which a short input expands. Chosen: with debug assertions, a slow input then takes a second.
const EXPANDED_MAX: usize = 1 << 17;

/// Checks that a server's diff costs the client bounded work, in the whole diff and in each turn. A rejected diff must
/// not cost more than an accepted one.
pub fn effort_is_bounded(data: &[u8]) {
    let [kind, data @ ..] = data else { return };
    let size = if kind & 1 == 0 { Size::DEFAULT } else { Size::clamped(500, 200) };
    let mut codec = Codec::new();
    let compressed = match kind >> 1 & 3 {
        0 => data.to_vec(),
        1 => codec.compress(&instruction(host_bytes(&expand(data)))).expect("short"),
        2 => codec.compress(&instruction(expand(data))).expect("short"),
        _ => codec.compress(&expand(data)).expect("short"),
    };
    let Ok(plain) = codec.inflate(&compressed) else { return };
    assert!(plain.len() <= INSTRUCTION_LEN_MAX);
    let Ok(instruction) = Instruction::decode(&plain) else { return };
    apply(size, &instruction.diff);
}

fn apply(size: Size, diff: &[u8]) {
    let mut state = HostScreen::replica(size);
    let (mut effort, mut turns) = (0, 0);
    loop {
        turns += 1;
        assert!(turns <= 1 + DIFF_MAX / TURN, "so many turns");
        let Ok(part) = state.apply_part(diff, TURN) else { break };
        assert!(part.effort <= TURN + SEQUENCE_MAX, "a turn of {} cells", part.effort);
        effort += part.effort;
        assert!(effort <= DIFF_MAX + SEQUENCE_MAX, "a diff of {effort} cells");
        if part.is_whole {
            break;
        }
    }
    let cells = u64::from(size.columns()) * u64::from(size.rows());
    let bytes = state.bytes_beyond(None).get();
    assert!(bytes <= STATE_BYTES + STATE_CELL_BYTES * cells, "a state of {bytes} bytes");
}

/// Expands the input: pieces, each with its number of repetitions (as a power of two) and its length.
fn expand(mut data: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    while let [power, len, rest @ ..] = data {
        let (piece, rest) = rest.split_at(rest.len().min(usize::from(*len)));
        data = rest;
        let room = EXPANDED_MAX - plain.len();
        let times = (1 << (power & 15)).min(room / piece.len().max(1));
        plain.extend(piece.repeat(times));
    }
    plain
}

fn instruction(diff: Vec<u8>) -> Vec<u8> {
    let new_num = rove_ssp::StateNum::new(1);
    Instruction { new_num, diff, ..Instruction::default() }.encode()
}

/// Returns the bytes as the only member of a diff.
fn host_bytes(bytes: &[u8]) -> Vec<u8> {
    let member = |field: u8, body: &[u8]| {
        let mut len = body.len();
        let mut out = vec![field << 3 | 2];
        while len >= 128 {
            out.push(u8::try_from(len & 127).expect("seven bits") | 128);
            len >>= 7;
        }
        out.push(u8::try_from(len).expect("seven bits"));
        out.extend(body);
        out
    };
    member(1, &member(2, &member(4, bytes)))
}
