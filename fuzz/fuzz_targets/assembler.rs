//! Fragments of instructions, in any order.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("assembler", data));
