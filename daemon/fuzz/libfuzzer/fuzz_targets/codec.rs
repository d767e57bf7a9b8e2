#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| modiar_fuzz::run("codec", input));
