//! Masks: what the land has been through, cell by cell, for a game's own
//! terrain material, its plants and its sounds.
//!
//! | [`Mask`] | value | unit |
//! |---|---|---|
//! | `Wear` | `max(0, g₀ − g)`: how far the ground lies below where it was | m |
//! | `Deposit` | `max(0, g − g₀)`: how far it lies above | m |
//! | `Flow` | discharge per metre of width, `q`, smoothed over time | m²/s |
//! | `Wetness` | 1 under water, falling to 0 as the ground dries | – |
//! | `Slope` | rise per metre at the cell's center | – |
//! | `SoilDepth` | thickness of loose ground | m |
//!
//! `g` is the ground, `g₀` the ground when the masks first saw the terrain, so
//! wear and deposit are the net change since then and never both above zero.
//! With `t` the erosion time between two updates:
//!
//! ```text
//! Flow    ← Flow + (q − Flow)·(1 − e^(−t/memory)),   q once it is within 0.1 %
//! Wetness ← max(min(depth/soak_depth, 1), Wetness − t/drying)
//! ```
//!
//! Insert [`TerrainMasks`] and they are kept up to date, in
//! [`ErosionSystems::Output`](crate::schedule::ErosionSystems::Output), tile by
//! tile: land on which nothing happens costs nothing. Each mask takes four bytes
//! a cell, wear and deposit together four more.
//!
//! ```
//! use bevy::math::UVec2;
//! use bevy_erode::prelude::*;
//! use bevy_erode::models::droplet::DropletSolver;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let mut terrain = Terrain::generate(&Ridged::seeded(7), UVec2::splat(64), 4.0)?;
//!     let mut masks = TerrainMasks::new([Mask::Wear, Mask::Slope]);
//!     masks.update(&terrain, 0.0);
//!
//!     let mut solver = DropletSolver::new(Droplets::seeded(1), terrain.grid())?;
//!     solver.rain(&mut terrain, 1000);
//!     masks.update(&terrain, 1.0); // an app does this each frame
//!
//!     let wear = masks.field(Mask::Wear).unwrap_or_default();
//!     let deepest = wear.iter().copied().fold(0.0, f32::max);
//!     println!("the deepest gully was cut {deepest:.1} m");
//!     assert!(deepest > 0.0 && masks.field(Mask::Flow).is_none());
//!     Ok(())
//! }
//! ```
#![cfg_attr(
    feature = "render",
    doc = r#"
With feature `render` each mask is an image too: [`TerrainMasks::image`] gives
its handle, the same for as long as the terrain is. A texel is a cell, so the
`ATTRIBUTE_UV_0` of the ground's meshes samples it: `R16Float`, which every
graphics adapter filters, in the unit of the mask, clamped at the land's border.

```
use bevy::prelude::*;
use bevy_erode::prelude::*;
use bevy_erode::view::GroundMaterial;

fn setup(mut commands: Commands) {
    commands.insert_resource(TerrainMasks::new([Mask::Wear, Mask::Wetness]));
}

/// Any material with a texture takes a mask, such as a splatting one of your own.
fn paint(
    masks: Option<Res<TerrainMasks>>,
    chunks: Query<&MeshMaterial3d<GroundMaterial>, Added<TerrainChunk>>,
    mut materials: ResMut<Assets<GroundMaterial>>,
) {
    let Some(masks) = masks else { return };
    for chunk in &chunks {
        if let Some(mut material) = materials.get_mut(&chunk.0) {
            material.base.base_color_texture = masks.image(Mask::Wetness);
        }
    }
}
# let mut app = App::new();
# app.add_systems(Startup, setup).add_systems(PostUpdate, paint);
```
"#
)]

mod fields;
#[cfg(feature = "render")]
mod images;
mod plugin;
#[cfg(test)]
mod tests;

pub use fields::{MaskSettings, TerrainMasks};
#[cfg(feature = "render")]
pub(crate) use images::paint_images;
pub(crate) use plugin::build;

use bevy::prelude::*;

/// Something about each cell.
///
/// [The guide](crate::guide::masks) has an example.
#[derive(Reflect, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mask {
    /// How far the ground was cut below where it was. units: m
    Wear,
    /// How far the ground was piled above where it was. units: m
    Deposit,
    /// Discharge per metre of width, smoothed over time. units: m²/s
    Flow,
    /// 1 where there is water, falling to 0 as the ground dries.
    Wetness,
    /// Rise of the ground per metre.
    Slope,
    /// Thickness of loose ground. units: m
    SoilDepth,
}

impl Mask {
    /// All of them.
    pub const ALL: [Mask; 6] = [
        Mask::Wear,
        Mask::Deposit,
        Mask::Flow,
        Mask::Wetness,
        Mask::Slope,
        Mask::SoilDepth,
    ];

    /// Its name in words.
    pub fn name(self) -> &'static str {
        match self {
            Mask::Wear => "wear",
            Mask::Deposit => "deposit",
            Mask::Flow => "flow",
            Mask::Wetness => "wetness",
            Mask::Slope => "slope",
            Mask::SoilDepth => "soil depth",
        }
    }

    /// Its unit; empty for a share.
    pub fn unit(self) -> &'static str {
        match self {
            Mask::Wear | Mask::Deposit | Mask::SoilDepth => "m",
            Mask::Flow => "m²/s",
            Mask::Wetness | Mask::Slope => "",
        }
    }

    /// Whether it follows the water; the others follow the ground.
    fn follows_water(self) -> bool {
        matches!(self, Mask::Flow | Mask::Wetness)
    }

    /// Place among [`ALL`](Self::ALL).
    #[inline]
    fn place(self) -> usize {
        self as usize
    }
}
