//! Datagrams, down to the instruction.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::wire::datagram_takes_anything(data));
