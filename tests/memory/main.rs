//! What solvers and readers take of the machine's memory, counted by an
//! allocator of its own.

mod files;
mod pipe;
#[path = "../files/sample.rs"]
mod sample;
#[path = "../terrains.rs"]
#[expect(dead_code, reason = "shared with other test programs")]
mod terrains;

use terrains::land;
