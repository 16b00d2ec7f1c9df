//! Two pictures, and the way from one to the other.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::terminal::diffs_carry_everything(data));
