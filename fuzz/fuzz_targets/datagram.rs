//! All layers of a datagram, from the bytes to the instruction.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("datagram", data));
