//! Files: heightmaps, masks and whole states.

mod asset;
mod bodies;
mod folder;
mod geotiff;
mod heightmaps;
pub mod hostile;
mod sample;
mod saves;
mod world;

pub use folder::Folder;
