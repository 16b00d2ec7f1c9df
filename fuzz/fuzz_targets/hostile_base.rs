//! A picture drawn over whatever a hostile far end has left.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("hostile_base", data));
