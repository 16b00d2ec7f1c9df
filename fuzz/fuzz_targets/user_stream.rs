//! Diffs from a hostile client, and our own.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("user_stream", data));
