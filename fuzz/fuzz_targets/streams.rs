//! Frames, messages and packets of streams.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("streams", data));
