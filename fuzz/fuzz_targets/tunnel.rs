//! The bytes that come out of a tunnel through ssh.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("tunnel", data));
