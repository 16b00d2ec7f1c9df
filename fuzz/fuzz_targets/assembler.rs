//! Fragments in any order.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::wire::assembler_is_bounded(data));
