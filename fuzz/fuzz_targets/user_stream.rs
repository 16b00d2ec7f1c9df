//! Diffs from a hostile client, and our own.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::objects::user_stream_keeps_its_laws(data));
