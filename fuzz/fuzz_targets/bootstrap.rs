//! Both output streams of ssh and the server before the session, and the exit of ssh.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("bootstrap", data));
