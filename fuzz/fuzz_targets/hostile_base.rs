//! A diff from any screen that a hostile server may have drawn.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("hostile_base", data));
