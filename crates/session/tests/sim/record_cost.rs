//! The cost of the record from which `rove resume` continues a session: `cargo test -p rove-session --test record_cost
//! -- --nocapture`.
//!
//! A client and a stock server meet in virtual time. The test seals each record and writes it to a file in memory.

use std::fs::File;
use std::os::unix::fs::FileExt;

use rove_link::LinkConfig;
use rove_ssp::{Config, Key, RecordCipher};

use crate::common::*;

/// How many frames of each kind are measured.
const FRAMES: usize = 300;

/// The output that makes a frame.
type Output = fn(usize) -> String;

/// The kinds of frames, each with its output and the maximum number of bytes of a record.
const KINDS: [(&str, Output, f64); 3] = [
    ("one key", |frame| if frame % 40 == 39 { "\r\n".to_owned() } else { "x".to_owned() }, 64.0),
    (
        "a line scrolls",
        |frame| format!("\r\nline {frame} of a program that prints some text"),
        160.0,
    ),
    (
        "a whole screen",
        |frame| {
            (0..24)
                .map(|row| {
                    format!(
                        "\x1b[{};1H\x1b[3{}m{:79}",
                        row + 1,
                        row % 8,
                        "x".repeat((frame * 7 + row * 13) % 79)
                    )
                })
                .collect()
        },
        700.0,
    ),
];

#[test]
fn a_record_has_few_bytes() {
    let path = format!("/dev/shm/rove-record-{}", std::process::id());
    for (kind, output, len_max) in KINDS {
        let file = File::create(&path).unwrap();
        let (mut times, mut lens) = (Vec::new(), Vec::new());
        let link = LinkConfig::lossless(ms(5));
        let mut pair = pair_with(&link, rove(Config::client()), stock(Config::server()));
        pair.left.client.recording().start();
        let mut cipher = RecordCipher::new(&Key::from_bytes([1; 16]));
        let mut number = 0;
        let (mut offset, mut wholes) = (0, 0);
        for frame in 0..FRAMES {
            print(&mut pair, output(frame).as_bytes());
            for _ in 0..8 {
                pair.run_for(ms(5));
                #[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
                let start = std::time::Instant::now();
                let Some(record) = pair.left.client.recording().poll() else { continue };
                let mut sealed = Vec::with_capacity(record.bytes.len() + 64);
                for part in record.bytes.chunks(RecordCipher::PIECE_LEN_MAX) {
                    let mut piece = part.to_vec();
                    cipher.seal(number, &mut piece);
                    number += 1;
                    sealed.extend(piece);
                }
                if record.is_whole {
                    (offset, wholes) = (0, wholes + 1);
                }
                file.write_all_at(&sealed, offset).unwrap();
                offset += u64::try_from(sealed.len()).unwrap();
                pair.left.client.recording().handle_written();
                times.push(start.elapsed().as_secs_f64() * 1e6);
                lens.push(f64::from(u32::try_from(sealed.len()).unwrap()));
            }
        }
        let count = times.len();
        let mean = lens.iter().sum::<f64>() / f64::from(u32::try_from(count).unwrap());
        let median = |mut it: Vec<f64>| {
            it.sort_by(f64::total_cmp);
            it[it.len() / 2]
        };
        let (us, len) = (median(times), median(lens));
        println!(
            "{kind:16} {count:5} records ({wholes} whole), {len:6.0} bytes (mean {mean:6.0}), {us:6.1} us"
        );
        assert!(len <= len_max, "{kind}: {len} bytes");
    }
    std::fs::remove_file(path).unwrap();
}
