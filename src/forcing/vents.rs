//! Vents: entities that pour lava where they stand.

use super::{
    MAX_DEPTH, add_counted,
    springs::{disc_at, tiles_of},
};
use crate::{
    settings::{self, Setting},
    terrain::{Grid, SettingsError, Terrain},
};
use bevy::prelude::*;

const SOURCE: &str = "LavaSource";

/// Pours fresh lava on the land where its entity stands. The model
/// [`Lava`](crate::models::lava::Lava) lets it flow.
///
/// [The guide](crate::guide::lava) has an example.
#[derive(Component, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Component, Default)]
#[require(Transform)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct LavaSource {
    /// Lava poured. units: m³/s
    #[reflect(@Setting::new("m³/s", 0.0..=100.0).limits(0.0..=1e9).about("Lava poured"))]
    pub discharge: f32,
    /// Radius of the patch it is poured on, or the cell that covers the source
    /// if that is larger. units: m
    #[reflect(@Setting::new("m", 0.0..=100.0).limits(0.0..=1e6)
        .about("Radius of the patch that it is poured on"))]
    pub radius: f32,
}

impl Default for LavaSource {
    fn default() -> Self {
        Self {
            discharge: 1.0,
            radius: 5.0,
        }
    }
}

impl LavaSource {
    /// A vent that pours so much. units: m³/s
    pub fn cubic_metres_per_second(discharge: f32) -> Self {
        Self {
            discharge,
            ..Self::default()
        }
    }

    /// Pours on another radius. units: m
    pub fn with_radius(self, radius: f32) -> Self {
        Self { radius, ..self }
    }

    /// Checks the values; the error names the field.
    pub fn check(&self) -> Result<(), SettingsError> {
        settings::check(self)
    }

    /// [`check`](Self::check), and whether it stands on the land.
    pub(crate) fn check_at(&self, grid: &Grid, position: Vec3) -> Result<(), SettingsError> {
        self.check()?;
        disc_at(SOURCE, grid, position, self.radius).map(drop)
    }

    /// What vents are sorted by; see [`WaterSource`](super::WaterSource).
    pub(crate) fn order(&self, at: Vec3) -> [u32; 4] {
        [at.x, at.z, self.discharge, self.radius].map(f32::to_bits)
    }

    /// Pours for `dt` seconds at a world position. Returns the lava poured. A
    /// `dt` that is not a positive, finite number pours nothing. units: m³
    pub fn pour(
        &self,
        terrain: &mut Terrain,
        position: Vec3,
        dt: f32,
    ) -> Result<f64, SettingsError> {
        self.check()?;
        let grid = *terrain.grid();
        let disc = disc_at(SOURCE, &grid, position, self.radius)?;
        let volume = f64::from(self.discharge) * f64::from(dt);
        if !(volume > 0.0 && volume.is_finite()) {
            return Ok(0.0);
        }
        let total: f64 = disc.cells(grid.size()).map(|(_, weight)| weight).sum();
        let mut poured = 0.0;
        let lava = terrain.ensure_lava();
        for (cell, weight) in disc.cells(grid.size()) {
            let depth = volume * weight / (total * grid.cell_area());
            let depth = depth.min(MAX_DEPTH) as f32;
            poured += add_counted(&mut lava.depth[cell], &mut lava.low[cell], depth);
            lava.heat[cell] = (lava.heat[cell] + depth).min(lava.depth[cell]);
        }
        poured *= grid.cell_area();
        terrain.account.solids.added += poured;
        terrain.mark_lava_tiles(tiles_of(&grid, &disc));
        Ok(poured)
    }
}
