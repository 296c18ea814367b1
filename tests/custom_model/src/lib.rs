//! Frost shattering: water that freezes in cracks breaks bedrock into soil. A model of
//! a crate of its own, added to an app by [`FrostPlugin`].
//!
//! Every freeze–thaw cycle breaks bedrock above the frost line, less the thicker the
//! soil above it, by the exponential soil production function of Heimsath et al.
//! (1997). With `s` the thickness of soil and `n` the number of cycles:
//!
//! ```text
//! ds/dn = r·(1 − hardness)·exp(−s/c)      r: rate on bare rock, c: shelter
//! s(n)  = s + c·ln(1 + n·r·(1 − hardness)/c·exp(−s/c))
//! ```
//!
//! The second line solves the first exactly, so that the result does not depend on the
//! length of a step. What the soil gains, the bedrock loses.

use bevy::{
    math::{IVec2, ops},
    prelude::*,
};
use bevy_erode::{
    models::{
        ShiftOutcome,
        solver_state::{StateError, StateReader, StateWriter},
    },
    parallel::Workers,
    prelude::*,
    schedule::ErosionStepSystems,
    settings::{self, Setting},
    terrain::{Grid, LayerSlice, SettingsError},
};
use serde::{Deserialize, Serialize};

/// Breaks bedrock by frost: insert this resource and it runs.
#[derive(Resource, Reflect, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[reflect(Resource, Default)]
#[serde(default, deny_unknown_fields)]
#[reflect(@Setting::titled("Frost shattering", "Frost breaks bedrock into soil"))]
pub struct FrostShattering {
    /// Ground above this elevation freezes. units: m
    #[reflect(@Setting::new("m", -1000.0..=5000.0).limits(-1e9..=1e9)
        .about("Ground above this elevation freezes"))]
    pub frost_line: f32,
    /// Erosion time of a freeze–thaw cycle. units: s
    #[reflect(@Setting::new("s", 0.1..=60.0).limits(1e-3..=1e9)
        .about("Erosion time of a freeze–thaw cycle"))]
    pub cycle: f32,
    /// Bare bedrock broken in a cycle. units: m
    #[reflect(@Setting::new("m", 0.0..=0.1).limits(0.0..=1.0)
        .about("Bare bedrock broken in a cycle"))]
    pub rate: f32,
    /// Soil of this thickness lowers the breaking to 1/e. units: m
    #[reflect(@Setting::new("m", 0.05..=5.0).limits(1e-3..=1e3)
        .about("Soil of this thickness lowers the breaking to 1/e"))]
    pub shelter: f32,
}

impl Default for FrostShattering {
    fn default() -> Self {
        Self {
            frost_line: 100.0,
            cycle: 1.0,
            rate: 0.002,
            shelter: 0.5,
        }
    }
}

/// Runs [`FrostShattering`] on a terrain.
#[derive(Clone, Debug)]
pub struct FrostSolver {
    settings: FrostShattering,
    grid: Grid,
    /// Time since the last whole cycle. units: s
    elapsed: f64,
}

impl Solver for FrostSolver {
    type Settings = FrostShattering;

    const NAME: &'static str = "FrostShattering";
    const KEY: &'static str = "frost_shattering";
    const READS: &'static [Layer] = &[Layer::Bedrock, Layer::Soil, Layer::Hardness];
    const WRITES: &'static [Layer] = &[Layer::Bedrock, Layer::Soil];

    fn step_set() -> impl SystemSet {
        ErosionStepSystems::Thermal
    }

    fn new(settings: FrostShattering, grid: &Grid) -> Result<Self, SettingsError> {
        Self::check_settings(&settings)?;
        Ok(Self {
            settings,
            grid: *grid,
            elapsed: 0.0,
        })
    }

    fn check_settings(settings: &FrostShattering) -> Result<(), SettingsError> {
        settings::check(settings)
    }

    fn settings(&self) -> &FrostShattering {
        &self.settings
    }

    fn set_settings(&mut self, settings: FrostShattering) -> Result<(), SettingsError> {
        Self::check_settings(&settings)?;
        self.settings = settings;
        // A state is only loaded again if less than a cycle has passed.
        self.elapsed = self.elapsed.min(f64::from(self.settings.cycle));
        Ok(())
    }

    fn step_on(&mut self, workers: Workers, terrain: &mut Terrain, dt: f32) {
        let same_grid = self.grid.matches(terrain.grid());
        if !(same_grid && dt > 0.0 && dt.is_finite()) {
            return;
        }
        let cycle = f64::from(self.settings.cycle);
        self.elapsed += f64::from(dt);
        let cycles = (self.elapsed / cycle).floor();
        self.elapsed = (self.elapsed - cycles * cycle).clamp(0.0, cycle);
        if cycles > 0.0 && self.settings.rate > 0.0 {
            self.shatter(workers, terrain, cycles as f32);
        }
    }

    fn save_state(&self, _: &Terrain) -> Vec<u8> {
        let mut state = StateWriter::default();
        state.write_real(self.elapsed);
        state.finish()
    }

    fn load_state(&mut self, state: &[u8], _: &Terrain) -> Result<(), StateError> {
        let mut state = StateReader::new(Self::NAME, state);
        let cycle = f64::from(self.settings.cycle);
        let elapsed =
            state.read_real_in(0.0..=cycle, "the time since the last cycle, in seconds,")?;
        state.finish()?;
        self.elapsed = elapsed;
        Ok(())
    }

    /// The time of the year does not depend on the place.
    fn shift(&mut self, _: IVec2, terrain: &Terrain) -> Result<ShiftOutcome, SettingsError> {
        self.grid = *terrain.grid();
        Ok(ShiftOutcome::Kept)
    }
}

impl FrostSolver {
    /// Breaks bedrock for so many cycles. Cells do not depend on each other, so the
    /// result is the same for any workers.
    fn shatter(&self, workers: Workers, terrain: &mut Terrain, cycles: f32) {
        let FrostShattering {
            frost_line,
            rate,
            shelter,
            ..
        } = self.settings;
        // Only what is declared can be written. Changed tiles are marked and the
        // ledger is balanced when `write` is dropped.
        let mut write = terrain.write(Self::WRITES);
        let layers = write.layers();
        let (Ok(bedrock), Ok(soil)) = (layers.bedrock.write(), layers.soil.write()) else {
            return;
        };
        let hardness = layers.hardness.map(LayerSlice::read);
        let band = self.grid.width() * 64;
        let rows = bedrock.chunks_mut(band).zip(soil.chunks_mut(band));
        workers.each(rows.enumerate(), |(number, (bedrock, soil))| {
            for (index, (bedrock, soil)) in bedrock.iter_mut().zip(soil).enumerate() {
                if *bedrock + *soil <= frost_line {
                    continue;
                }
                let softness = match hardness {
                    Some(hardness) => 1.0 - hardness[number * band + index],
                    None => 1.0,
                };
                let growth = cycles * rate * softness / shelter * ops::exp(-*soil / shelter);
                let lowered = *bedrock - shelter * ops::ln_1p(growth);
                // As much as the bedrock really loses, to the last bit.
                *soil += *bedrock - lowered;
                *bedrock = lowered;
            }
        });
    }
}

/// Adds frost shattering to an app with erosion.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrostPlugin;

impl Plugin for FrostPlugin {
    fn build(&self, app: &mut App) {
        app.add_erosion_model::<FrostSolver>();
    }
}
