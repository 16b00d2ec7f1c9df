//! Frames of any screen that a server may show.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("renderer", data));
