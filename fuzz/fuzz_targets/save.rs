//! Any bytes as a saved state: a state that can be written again, or an error.

#![no_main]

#[allow(dead_code)]
#[path = "../../tests/files/bodies.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bodies::save(bytes));
