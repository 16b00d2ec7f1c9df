//! What ssh and the server print before the session.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("startup", data));
