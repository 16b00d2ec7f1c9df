//! Sealed packets of streams, and forged ones.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("packets", data));
