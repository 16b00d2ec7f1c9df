//! A transport that gets hostile but authentic instructions, at any time.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("transport", data));
