//! Any bytes as OpenEXR: a heightmap or an error, no panic.

#![no_main]

#[allow(dead_code)]
#[path = "../../tests/files/bodies.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bodies::exr(bytes));
