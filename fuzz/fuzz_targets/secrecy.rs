//! A user who types secrets to a program that echoes and then stops.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("secrecy", data));
