//! The bytes that arrive through an ssh tunnel.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("tunnel", data));
