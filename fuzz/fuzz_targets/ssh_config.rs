//! The output of `ssh -G`, which is ssh's configuration for a host.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("ssh_config", data));
