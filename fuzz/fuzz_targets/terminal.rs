//! Bytes and sizes into a terminal.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::terminal::takes_anything(data));
