//! Compressed instructions.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::wire::inflate_is_bounded(data));
