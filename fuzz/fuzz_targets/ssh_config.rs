//! The answer of ssh to a query for its configuration.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("ssh_config", data));
