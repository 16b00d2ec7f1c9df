//! The client's work for each compressed byte of a server.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("work", data));
