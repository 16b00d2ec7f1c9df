//! Requests of SOCKS clients.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("socks", data));
