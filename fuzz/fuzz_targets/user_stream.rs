//! Diffs of the user stream: those of a hostile client, and rove's own.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("user_stream", data));
