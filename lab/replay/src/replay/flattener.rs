//! Removes the switches to and from the alternate screen from a program's output.

/// Modes that switch screens, or save the cursor for the switch. Source: xterm's control sequences, DECSET.
const SWITCHES: [&[u8]; 4] = [b"47", b"1047", b"1048", b"1049"];

/// Longest control sequence in which screen switches are found. Chosen: dozens of modes. Longer ones pass as they are.
const SEQUENCE_BYTES_MAX: usize = 256;

/// A filter for a program's output, which may be cut into pieces anywhere.
#[derive(Clone, Debug, Default)]
pub(super) struct Flattener {
    /// The beginning of a control sequence whose end has not come yet.
    pending: Vec<u8>,
}

impl Flattener {
    /// Returns the output without switches. An incomplete sequence is held back until its end comes.
    pub(super) fn flatten(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut kept = Vec::with_capacity(bytes.len());
        for &byte in bytes {
            match self.pending.as_slice() {
                [] if byte != 0x1b => kept.push(byte),
                [0x1b] if byte != b'[' => {
                    kept.append(&mut self.pending);
                    // This escape may begin another sequence.
                    if byte == 0x1b { self.pending.push(byte) } else { kept.push(byte) }
                }
                _ => self.pending.push(byte),
            }
            let is_whole = self.pending.len() > 2 && !(0x20..=0x3f).contains(&byte);
            if is_whole || self.pending.len() > SEQUENCE_BYTES_MAX {
                kept.extend(without_switches(&core::mem::take(&mut self.pending)));
            }
        }
        kept
    }
}

/// Returns a control sequence without the modes that switch screens, or nothing if it has no other modes.
fn without_switches(sequence: &[u8]) -> Vec<u8> {
    let body = sequence.strip_prefix(b"\x1b[?");
    let Some((last @ (b'h' | b'l'), modes)) = body.and_then(<[u8]>::split_last) else {
        return sequence.to_vec();
    };
    let others: Vec<&[u8]> =
        modes.split(|byte| *byte == b';').filter(|mode| !SWITCHES.contains(mode)).collect();
    if others.is_empty() {
        return Vec::new();
    }
    [b"\x1b[?", others.join(&b';').as_slice(), &[*last]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_switches_of_the_screen_go_wherever_the_output_is_cut() {
        for (output, kept) in [
            (&b"a\x1b[?1049hb\x1b[?1049lc"[..], &b"abc"[..]),
            (b"\x1b[?1;1049;25hx", b"\x1b[?1;25hx"),
            (b"\x1b[?47l\x1b[?1047h\x1b[?1048h", b""),
            (b"\x1b[1049h\x1b[?1049$p\x1b[?25l", b"\x1b[1049h\x1b[?1049$p\x1b[?25l"),
            (b"\x1b\x1b[?1049h\x1bM\x1b]2;t\x07", b"\x1b\x1bM\x1b]2;t\x07"),
        ] {
            for at in 0..=output.len() {
                let mut flattener = Flattener::default();
                let mut found = flattener.flatten(&output[..at]);
                found.extend(flattener.flatten(&output[at..]));
                assert_eq!(found, kept, "{} cut at {at}", output.escape_ascii());
            }
        }
    }

    #[test]
    fn a_sequence_beyond_the_bound_passes() {
        let long = [b"\x1b[?".as_slice(), &[b'1'; SEQUENCE_BYTES_MAX]].concat();
        assert_eq!(Flattener::default().flatten(&long), long);
    }
}
