//! Both prediction engines, between any user and any host.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("prediction", data));
