//! The bytes of a session's files: a secret, records that are sealed (encrypted and authenticated) with it, and the
//! progress.
//!
//! Each whole record begins a new file, the next generation. The file's head has the generation's number and a salt.
//! Sealed pieces follow, each after its length. A piece's first byte says whether the piece ends a record. The progress
//! is the generation's number, and its number of written pieces.

use rove_session::Record;
use rove_ssp::{Key, RecordCipher};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::error::ResumeFileError;

/// The first bytes of the key file and the file of records: a name, and the number of the format.
const KEY_MARK: [u8; 8] = *b"rovekey\x01";
const RECORD_MARK: [u8; 8] = *b"roverec\x01";

/// Length of the head of a file of records, in bytes: mark, generation and salt.
const HEAD_LEN: usize = 32;

/// Most bytes of a record in a piece, whose first byte is not part of the record.
const PIECE_LEN: usize = RecordCipher::PIECE_LEN_MAX - 1;

/// Most bytes read from a session's file of records. Chosen: several whole records with the largest window and input.
pub(super) const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The point up to which the records were written: a generation, and a number of pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Progress {
    pub(super) generation: u64,
    pub(super) pieces: u64,
}

/// The secret that seals the records of a session. It is in the client's memory and in the session's key file.
pub(super) type Secret = Zeroizing<[u8; 16]>;

/// Returns the contents of a key file: the secret, and then a text that tells where the record is.
pub(super) fn encode_secret(secret: &Secret, place: &[u8]) -> Zeroizing<Vec<u8>> {
    Zeroizing::new([&KEY_MARK[..], &secret[..], place].concat())
}

/// Reads the contents of a key file. `None` if they are malformed.
pub(super) fn decode_secret(bytes: &[u8]) -> Option<(Secret, &[u8])> {
    let (secret, place) = bytes.strip_prefix(&KEY_MARK)?.split_first_chunk()?;
    Some((Zeroizing::new(*secret), place))
}

impl Progress {
    pub(super) fn encode(self) -> [u8; 16] {
        (u128::from(self.generation) << 64 | u128::from(self.pieces)).to_be_bytes()
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (generation, pieces) = bytes.split_first_chunk()?;
        let pieces = pieces.try_into().ok()?;
        Some(Self {
            generation: u64::from_be_bytes(*generation),
            pieces: u64::from_be_bytes(pieces),
        })
    }
}

/// Seals the records of a generation: a file with the session's facts, a whole record, and then records of changes.
pub(super) struct Sealer {
    cipher: RecordCipher,
    pub(super) progress: Progress,
    /// Length of the file so far, in bytes.
    pub(super) len: u64,
}

impl Sealer {
    /// Begins a generation, and returns the sealer with the head of the file.
    pub(super) fn begin(secret: &[u8; 16], generation: u64, salt: [u8; 16]) -> (Self, Vec<u8>) {
        let head = head(generation, salt);
        let progress = Progress { generation, pieces: 0 };
        let cipher = RecordCipher::new(&file_key(secret, &head));
        (Self { cipher, progress, len: 0 }, head)
    }

    /// Seals a record and appends it to `out`.
    pub(super) fn seal(&mut self, record: &[u8], out: &mut Vec<u8>) {
        let count = record.len().div_ceil(PIECE_LEN).max(1);
        for number in 0..count {
            let part = &record[number * PIECE_LEN..record.len().min((number + 1) * PIECE_LEN)];
            let mut piece = Vec::with_capacity(part.len() + 1 + RecordCipher::TAG_LEN);
            piece.push(u8::from(number + 1 == count));
            piece.extend(part);
            self.cipher.seal(self.progress.pieces, &mut piece);
            self.progress.pieces += 1;
            let len = u16::try_from(piece.len()).expect("a piece is short");
            out.extend(len.to_be_bytes());
            out.extend(piece);
        }
    }
}

/// The opened records of a file. `first` is the session's facts, and `rest` joins all other records.
pub(super) struct Opened {
    pub(super) first: Zeroizing<Vec<u8>>,
    pub(super) rest: Zeroizing<Vec<u8>>,
    pub(super) progress: Progress,
}

/// Opens a file of records that has at least the progress `written`. An incomplete record at the end is dropped.
///
/// # Errors
///
/// Returns an error if the file was sealed with another secret, is cut short, or is older than `written`.
pub(super) fn open(
    secret: &Secret,
    written: Progress,
    bytes: &[u8],
) -> Result<Opened, ResumeFileError> {
    let (head, mut rest) =
        bytes.split_first_chunk::<HEAD_LEN>().ok_or(ResumeFileError::Truncated)?;
    if !head.starts_with(&RECORD_MARK) {
        return Err(ResumeFileError::Foreign);
    }
    let generation = head[8..].first_chunk().map(|it| u64::from_be_bytes(*it)).expect("32 bytes");
    let mut cipher = RecordCipher::new(&file_key(secret, head));
    let mut records = vec![Zeroizing::new(Vec::new())];
    let (mut pieces, mut whole) = (0, 0);
    while let Some((sealed, after)) = split_piece(rest) {
        let mut piece = Zeroizing::new(sealed.to_vec());
        if !cipher.open(pieces, &mut piece) {
            // The first piece was sealed with another secret, or belongs to another generation.
            if pieces == 0 {
                return Err(ResumeFileError::Foreign);
            }
            break;
        }
        let Some((is_last, part)) = piece.split_first() else { break };
        records.last_mut().expect("there is one").extend(part);
        (pieces, rest) = (pieces + 1, after);
        if *is_last == 1 {
            records.push(Zeroizing::default());
            whole = pieces;
        }
    }
    let progress = Progress { generation, pieces: whole };
    if progress < written {
        return Err(ResumeFileError::Old);
    }
    // The last record is empty or incomplete.
    records.pop();
    let mut records = records.into_iter();
    let first = records.next().ok_or(ResumeFileError::Truncated)?;
    let rest = Zeroizing::new(records.flat_map(|it| it.to_vec()).collect());
    Ok(Opened { first, rest, progress })
}

/// Returns the first sealed piece, without its length, and the bytes after it. `None` if the piece is incomplete.
fn split_piece(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(u16::from_be_bytes(*len).into())
}

/// Returns the first two sealed records of a generation: the session's facts, and a whole record.
pub(super) fn first_records(sealer: &mut Sealer, facts: &[u8], record: &Record) -> Vec<u8> {
    let mut out = Vec::new();
    sealer.seal(facts, &mut out);
    sealer.seal(&record.bytes, &mut out);
    out
}

fn head(generation: u64, salt: [u8; 16]) -> Vec<u8> {
    [&RECORD_MARK[..], &generation.to_be_bytes(), &salt].concat()
}

/// Seals the session key, so that the record does not contain it in clear text.
pub(super) fn seal_key(secret: &[u8; 16], key: &Key) -> Vec<u8> {
    let text = key.to_text();
    // The full capacity is reserved from the start, because growing would leave a copy of the key in memory.
    let mut sealed = Vec::with_capacity(text.len() + RecordCipher::TAG_LEN);
    sealed.extend(text.as_bytes());
    RecordCipher::new(&file_key(secret, &KEY_MARK)).seal(0, &mut sealed);
    sealed
}

/// Opens a sealed session key. `None` if the sealed bytes are damaged.
pub(super) fn open_key(secret: &[u8; 16], sealed: &[u8]) -> Option<Key> {
    let mut text = Zeroizing::new(sealed.to_vec());
    let is_whole = RecordCipher::new(&file_key(secret, &KEY_MARK)).open(0, &mut text);
    Key::from_text(str::from_utf8(&text).ok().filter(|_| is_whole)?).ok()
}

/// Returns the key that seals a file. Each generation has another key, because its head has another salt.
fn file_key(secret: &[u8; 16], head: &[u8]) -> Key {
    let sum = Sha256::new().chain_update(secret).chain_update(head).finalize();
    Key::from_bytes(*sum.first_chunk().expect("a sum has 32 bytes"))
}
