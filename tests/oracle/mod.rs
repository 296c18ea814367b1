//! Slow, literal transcriptions of the methods in `f64`, to hold the fast code against.

pub mod ageing;
pub mod droplets;
pub mod lava;
pub mod pipe;
pub mod shallow_water;
pub mod thermal;
