//! The user's bytes as keys.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_predict::fuzzing::keys_do_not_depend_on_cuts(data));
