//! What ssh answers when it is asked for its configuration.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("ssh_config", data));
