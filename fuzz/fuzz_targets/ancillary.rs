//! The control messages that come with a datagram.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("ancillary", data));
