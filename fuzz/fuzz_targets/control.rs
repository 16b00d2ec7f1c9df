//! Requests at a control socket, and the replies.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("control", data));
