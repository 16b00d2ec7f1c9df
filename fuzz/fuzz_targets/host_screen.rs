//! Diffs of the host screen from a hostile server.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("host_screen", data));
