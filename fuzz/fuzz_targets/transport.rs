//! Authentic instructions that mean harm, at any time, to one transport.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("transport", data));
