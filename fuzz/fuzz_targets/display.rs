//! Two screens, and the diff that turns one into the other.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("display", data));
