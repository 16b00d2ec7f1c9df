//! Reads the list of logged-in users from the file utmp.

use core::ops::Range;
use std::fs::File;

use super::record::LoginRecord;
use crate::bounded;

const FILE: &str = "/var/run/utmp";

/// Most bytes of the list of logged-in users that are read. Chosen: five thousand logins.
const FILE_BYTES_MAX: u64 = 2 * 1024 * 1024;

/// Length of a record in bytes. On 64-bit ARM, glibc's header gives a record a long session number and a long time.
/// Source: glibc, `struct utmp`, as laid out in utmp(5).
const RECORD_LEN: usize = if cfg!(target_arch = "aarch64") { 400 } else { 384 };

/// The type number of a record about a login. Source: utmp(5), `USER_PROCESS`.
const LOGIN: i16 = 7;

/// The ranges of bytes of the terminal, the user and the host in a record.
const LINE: Range<usize> = 8..40;
const USER: Range<usize> = 44..76;
const HOST: Range<usize> = 76..332;

/// Returns the logged-in users, or none if there is no list.
pub(crate) fn read() -> Vec<LoginRecord> {
    let bytes = File::open(FILE).and_then(|file| bounded::read(file, FILE_BYTES_MAX));
    bytes.map_or_else(|_| Vec::new(), |bytes| parse(&bytes))
}

fn parse(bytes: &[u8]) -> Vec<LoginRecord> {
    let text = |field: &[u8]| {
        let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
        String::from_utf8_lossy(&field[..end]).into_owned()
    };
    bytes
        .chunks_exact(RECORD_LEN)
        .filter(|record| i16::from_ne_bytes([record[0], record[1]]) == LOGIN)
        .map(|record| LoginRecord {
            user: text(&record[USER]),
            line: text(&record[LINE]),
            host: text(&record[HOST]),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_are_told_from_other_records_and_half_a_record_is_none() {
        let record = |kind: i16, line: &[u8], user: &[u8], host: &[u8]| {
            let mut bytes = vec![0; RECORD_LEN];
            bytes[..2].copy_from_slice(&kind.to_ne_bytes());
            for (field, text) in [(LINE, line), (USER, user), (HOST, host)] {
                bytes[field.start..field.start + text.len()].copy_from_slice(text);
            }
            bytes
        };
        let whole = [
            record(2, b"~", b"reboot", b""),
            record(LOGIN, b"pts/3", &[b'u'; 32], b"192.0.2.7 via rove [12]"),
            record(8, b"pts/4", b"gone", b""),
        ]
        .concat();
        let found = parse(&whole);
        assert_eq!(found.len(), 1);
        let login = &found[0];
        assert_eq!((login.line.as_str(), login.user.len()), ("pts/3", 32));
        assert_eq!(login.host, "192.0.2.7 via rove [12]");
        assert!(parse(&whole[..2 * RECORD_LEN - 1]).is_empty());
    }

    #[cfg(target_env = "gnu")]
    #[test]
    fn the_layout_is_that_of_the_c_library() {
        use core::mem::{offset_of, size_of};
        assert_eq!(size_of::<libc::utmpx>(), RECORD_LEN);
        assert_eq!(offset_of!(libc::utmpx, ut_line), LINE.start);
        assert_eq!(offset_of!(libc::utmpx, ut_user), USER.start);
        assert_eq!(offset_of!(libc::utmpx, ut_host), HOST.start);
    }
}
