//! A copy in each direction, which both ends check byte by byte.

use rove_headless::Owner;
use rove_streams::{Event, Mux, Read, StreamId};
use rove_units::Instant;

/// Writes `writes` bytes and the end of the stream. Checks each byte that it reads against the byte at that place.
#[derive(Default)]
pub(crate) struct Copier {
    writes: u64,
    pub(crate) written: u64,
    id: Option<StreamId>,
    pub(crate) read: u64,
    pub(crate) is_ended: bool,
}

impl Copier {
    pub(crate) fn new(writes: u64) -> Self {
        Self { writes, ..Self::default() }
    }

    fn byte(offset: u64) -> u8 {
        (offset.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56).to_le_bytes()[0]
    }

    fn write(&mut self, mux: &mut Mux, id: StreamId) {
        while self.written < self.writes {
            let end = self.writes.min(self.written + 9_000);
            let bytes: Vec<u8> = (self.written..end).map(Self::byte).collect();
            let taken = mux.write(id, &bytes).expect("a direction that has not ended") as u64;
            self.written += taken;
            if taken < bytes.len() as u64 {
                return;
            }
        }
        let _ = mux.finish(id);
    }
}

impl Owner for Copier {
    fn turn(&mut self, now: Instant, mux: &mut Mux) {
        if self.writes > 0 && self.id.is_none() {
            let id = mux.open(now).expect("the first");
            self.id = Some(id);
            self.write(mux, id);
        }
        while let Some(event) = mux.poll_event() {
            match event {
                Event::Writable(id) => self.write(mux, id),
                Event::Readable(id) => {
                    let mut buffer = [0; 4_096];
                    while let Ok(read) = mux.read(now, id, &mut buffer) {
                        let Read::Bytes(count) = read else {
                            self.is_ended |= read == Read::End;
                            break;
                        };
                        for byte in &buffer[..count] {
                            assert_eq!(*byte, Self::byte(self.read), "at {}", self.read);
                            self.read += 1;
                        }
                    }
                }
                _ => {}
            }
        }
    }
}
