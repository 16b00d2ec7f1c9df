//! Two ends of streams on a bad network. Each byte must arrive once and in order.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("order", data));
