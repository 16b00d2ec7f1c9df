//! Our terminal emulator, compared with two others.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("differential", data));
