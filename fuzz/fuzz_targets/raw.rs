//! Any bytes as RAW of any size: a heightmap or an error, no panic.

#![no_main]

#[allow(dead_code)]
#[path = "../../tests/files/bodies.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|input: (u32, u32, f32, &[u8])| {
    let (width, height, scale, bytes) = input;
    bodies::raw(width, height, scale, bytes);
});
