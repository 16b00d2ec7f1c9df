//! The standard input of the script on the host. A read blocks until the program is sent or found unnecessary.

use std::io::{self, Cursor, Read};
use std::sync::mpsc::{self, Receiver, Sender};

/// Reads the bytes from a channel, until all senders are dropped.
pub(crate) struct Source {
    chunks: Receiver<Vec<u8>>,
    chunk: Cursor<Vec<u8>>,
}

impl Source {
    /// Creates a reader, and the sender that fills it.
    pub(crate) fn new() -> (Sender<Vec<u8>>, Self) {
        let (sender, chunks) = mpsc::channel();
        (sender, Self { chunks, chunk: Cursor::default() })
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let len = self.chunk.read(buffer)?;
            if len > 0 || buffer.is_empty() {
                return Ok(len);
            }
            match self.chunks.recv() {
                Ok(chunk) => self.chunk = Cursor::new(chunk),
                Err(_) => return Ok(0),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sent_bytes_are_read_and_the_end_is_the_senders() {
        let (sender, mut source) = Source::new();
        for chunk in ["ab", "", "cde"] {
            sender.send(chunk.into()).unwrap();
        }
        let mut buffer = [0; 2];
        for wanted in ["ab", "cd", "e"] {
            let len = source.read(&mut buffer).unwrap();
            assert_eq!(&buffer[..len], wanted.as_bytes());
        }
        drop(sender);
        assert_eq!(source.read(&mut buffer).unwrap(), 0);
    }
}
