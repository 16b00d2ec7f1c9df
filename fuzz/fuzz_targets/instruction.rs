//! Serialized instructions.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::wire::instruction_takes_anything(data));
