//! What ssh and the server print before the session, on two streams, and how ssh ends.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("bootstrap", data));
