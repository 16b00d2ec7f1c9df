//! Two pictures, and the way from one to the other.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("display", data));
