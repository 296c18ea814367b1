//! Files: reading and writing heightmaps and masks, saving and loading the whole
//! state.
//!
//! A [`Heightmap`] is a plain grid of numbers: heights, a layer of the terrain,
//! or any mask. It is read from and written as PNG (16 bits), RAW (`.r16`,
//! `.r32`), OpenEXR and TIFF, also GeoTIFF. Files of whole numbers do
//! not say what they are in metres, so a [`Vertical`] range or scale goes with them.
//!
//! ```
//! use bevy::math::UVec2;
//! use bevy_erode::prelude::*;
//! use bevy_erode::io::{HeightmapFormat, VerticalRange};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let terrain = Terrain::generate(&Ridged::seeded(7), UVec2::new(48, 32), 4.0)?;
//! let ground = Heightmap::from_ground(&terrain);
//! let range = VerticalRange::from_values(&ground.values);
//! let png = ground.write(HeightmapFormat::Png16, range.into())?;
//!
//! // Files of this crate know their range and cell size; for others, set them.
//! let options = HeightmapOptions {
//!     vertical: Some(VerticalRange::new(0.0, 300.0).into()),
//!     cell_size: Some(4.0),
//!     ..HeightmapOptions::default()
//! };
//! let again = Heightmap::read(&png, &options)?.into_terrain()?;
//! assert_eq!(again.size(), terrain.size());
//! # Ok(())
//! # }
//! ```
//!
//! A [`SavedState`] is everything: all layers, models with the state of their solvers,
//! rivers with all that they carry, weather, springs and clock. A loaded state goes on
//! with the same bits as if it had never been saved.
//!
//! ```no_run
//! # use bevy::prelude::*; use bevy_erode::prelude::*;
//! fn save(world: &mut World) -> Result {
//!     Ok(SavedState::capture(world)?.write_file("land.erode")?)
//! }
//!
//! fn load(world: &mut World) -> Result {
//!     Ok(SavedState::read_file("land.erode")?.restore(world)?)
//! }
//! ```
//!
//! Files may be damaged or hostile: every reader checks what a file declares
//! before it allocates memory, and returns an error that says what is wrong. A file is
//! written under a temporary name and then replaces the old one, so an interrupted
//! save destroys nothing.

mod atomic;
mod heightmap;
mod save;

pub use heightmap::{
    Endian, Heightmap, HeightmapError, HeightmapFormat, HeightmapLoader, HeightmapOptions,
    HeightmapPlugin, Vertical, VerticalRange,
};
pub(crate) use save::ModelFiles;
pub use save::{SaveError, SavedState};

/// Writes a whole file. An old file of that name stays as it was until the new one is complete.
pub(crate) fn write_file(path: &std::path::Path, bytes: &[u8]) -> std::io::Result<()> {
    atomic::write(path, |file: &mut dyn std::io::Write| file.write_all(bytes))
}
