//! A terminal that gets any bytes and sizes.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("terminal", data));
