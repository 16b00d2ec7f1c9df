//! A compiled terminfo entry.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("terminfo", data));
