//! Two ends of streams, and a bad network.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("order", data));
