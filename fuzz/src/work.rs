//! Work per compressed byte: what a server sends is inflated, read and applied, in turns of bounded effort.

use rove_session::HostScreen;
use rove_ssp::Object;
use rove_ssp::wire::{Codec, INSTRUCTION_LEN_MAX, Instruction};
use rove_terminal::Size;

/// Work of one turn, in cells. Chosen: an eighth of the client's, so that small inputs take several.
const TURN: u64 = 1_000_000;

/// Most work by which a turn may go beyond that: one sequence, all of it, on the largest screen here. Chosen: twice what
/// copying it costs, with what stands beside its cells.
const SEQUENCE_MAX: u64 = 16_000_000;

/// Most work of one diff, in cells, as docs/limits.md has it.
const DIFF_MAX: u64 = 160_000_000;

/// Most memory of a state without copied text and lines, and for each cell of the window besides.
/// Chosen: what the received states together may take, as docs/limits.md has it, and as much for links and for a string
/// without an end.
const STATE_BYTES: u64 = 16 << 20;
const STATE_CELL_BYTES: u64 = 320;

/// Most bytes that a short input may stand for. Chosen: with debug assertions a slow one takes a second.
const EXPANDED_MAX: usize = 1 << 17;

/// Checks that a server's diff costs the client bounded work. The whole diff has a bound, and so has each turn. A refused diff
/// costs no more than an accepted diff.
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

/// Reads pieces, each with how often it is repeated, as a power of two, and its length.
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

/// Returns the bytes as the one member of a diff.
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
