//! Checks for models, of this crate and of others.
//!
//! [`check_contract`] runs a model and checks what every [`Solver`] promises. Call it
//! in a test of your model:
//!
//! ```
//! use bevy_erode::{prelude::*, testing::{Conditions, check_contract}};
//! use bevy_erode::models::thermal::ThermalSolver;
//!
//! let settings = Thermal { soil_angle: 10.0, bedrock_angle: 12.0, ..Thermal::default() };
//! let conditions = Conditions { step: 0.1, ..Conditions::default() };
//! check_contract::<ThermalSolver>(settings, &conditions)?;
//! # Ok::<(), String>(())
//! ```

mod limits;
#[cfg(test)]
mod tests;

use crate::{
    models::{AnyModel, AnySolver, Solver},
    parallel::Workers,
    terrain::{Grid, Layer, TILE, Terrain, TerrainCursor, landform::Fbm},
};
use bevy::math::{IVec2, UVec2};

/// All layers.
const LAYERS: [Layer; 6] = [
    Layer::Bedrock,
    Layer::Soil,
    Layer::Water,
    Layer::Suspended,
    Layer::Hardness,
    Layer::Lava,
];
/// Steps of a run.
const STEPS: usize = 10;
/// Largest volume that may appear or vanish in a run, in proportion to all there is.
const MAX_DRIFT: f64 = 1e-6;

/// The conditions under which a model is run. The terrain is rough hills with all
/// layers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditions {
    /// Erosion time of a step. units: s
    pub step: f32,
    /// Depth of water on all cells. units: m
    pub water: f32,
    /// Thickness of soil on all cells. units: m
    pub soil: f32,
    /// Layers in [`WRITES`](Solver::WRITES) that the model does not change under these
    /// conditions. All others have to change, or the run would show nothing.
    pub unchanged: &'static [Layer],
}

impl Default for Conditions {
    fn default() -> Self {
        Self {
            step: 0.5,
            water: 0.0,
            soil: 0.5,
            unchanged: &[],
        }
    }
}

/// Checks that a model with these settings keeps the promises of [`Solver`].
///
/// Among them: settings outside the limits that their [`Setting`] declares are refused.
/// Each described number is tried just below and just above its limits, infinite and as
/// NaN; optional parts and variants that are not in `settings` are tried one at a time,
/// as they start.
///
/// [`Setting`]: crate::settings::Setting
///
/// # Errors
/// Says which promise was broken, and how.
pub fn check_contract<S: Solver>(
    settings: S::Settings,
    conditions: &Conditions,
) -> Result<(), String> {
    check_model(&AnyModel::new::<S>(settings), conditions)
}

/// [`check_contract`] of a model whose type is not known.
///
/// # Errors
/// Says which promise was broken, and how.
pub fn check_model(model: &AnyModel, conditions: &Conditions) -> Result<(), String> {
    Check { model, conditions }.run().map_err(|reason| {
        let name = model.name();
        format!("`{name}` breaks its contract: {reason}")
    })
}

/// A model and how it is to be run.
struct Check<'a> {
    model: &'a AnyModel,
    conditions: &'a Conditions,
}

impl Check<'_> {
    fn run(&self) -> Result<(), String> {
        self.check_settings()?;
        self.check_limits()?;
        let before = self.land()?;
        let mut terrain = before.clone();
        let start = TerrainCursor::at(&terrain);
        let mut solver = self.solver(terrain.grid())?;
        for _ in 0..STEPS {
            solver.step_on(Workers::global(), &mut terrain, self.conditions.step);
        }
        self.check_writes(&before, &terrain)?;
        check_volumes(&terrain)?;
        check_marks(&before, &terrain, start)?;
        self.check_workers(&before, &terrain)?;
        self.check_reads(&terrain)?;
        self.check_no_steps(&mut *solver, &mut terrain)?;
        self.check_state(&mut *solver, terrain)?;
        self.check_sizes()
    }

    fn solver(&self, grid: &Grid) -> Result<Box<dyn AnySolver>, String> {
        let solver = self.model.solver(grid);
        solver.map_err(|error| format!("no solver for {} cells: {error}", grid.size()))
    }

    /// Hills of 128 × 96 cells with all layers.
    fn land(&self) -> Result<Terrain, String> {
        let mut terrain = hills(1, UVec2::new(128, 96))?;
        for layer in LAYERS {
            let value = match layer {
                Layer::Bedrock => continue,
                Layer::Soil => self.conditions.soil,
                Layer::Water => self.conditions.water,
                Layer::Suspended => 0.25,
                Layer::Hardness => 0.5,
                Layer::Lava => 0.4,
            };
            terrain = with_layer(terrain, layer, |_| value)?;
        }
        Ok(terrain)
    }

    /// Defaults can be used, and a solver has the settings that it was given.
    fn check_settings(&self) -> Result<(), String> {
        let default = self.model.entry().default_model();
        let checked = default.check();
        checked.map_err(|error| format!("its default settings are refused: {error}"))?;
        let checked = self.model.check();
        checked.map_err(|error| format!("its settings are refused: {error}"))?;
        let terrain = hills(1, UVec2::new(9, 7))?;
        let mut solver = self.solver(terrain.grid())?;
        ensure(solver.model() == *self.model, || {
            format!(
                "made with {:?}, a solver has {:?}",
                self.model,
                solver.model()
            )
        })?;
        let set = solver.set_model(&default);
        set.map_err(|error| format!("a solver refuses the default settings: {error}"))?;
        ensure(solver.model() == default, || {
            format!("set to {default:?}, a solver has {:?}", solver.model())
        })
    }

    /// Only layers that are declared change, and all of them do.
    fn check_writes(&self, before: &Terrain, after: &Terrain) -> Result<(), String> {
        for layer in LAYERS {
            let changed = values(before, layer) != values(after, layer);
            let declared = self.model.entry().writes().contains(&layer);
            ensure(!changed || declared, || {
                format!("it changes the layer {layer}, which is not in `WRITES`")
            })?;
            let expected = declared && !self.conditions.unchanged.contains(&layer);
            ensure(changed || !expected, || {
                format!(
                    "it declares the layer {layer} in `WRITES`, but does not change it in \
                     {STEPS} steps under {:?}",
                    self.conditions
                )
            })?;
        }
        let flows = self.model.entry().moves_water();
        ensure(flows == after.flow().is_some(), || match flows {
            true => "`MOVES_WATER` is true, but it does not write the flow".into(),
            false => "it writes the flow, but `MOVES_WATER` is false".into(),
        })
    }

    /// Another number of threads gives the same bits.
    fn check_workers(&self, before: &Terrain, after: &Terrain) -> Result<(), String> {
        let mut terrain = before.clone();
        let mut solver = self.solver(terrain.grid())?;
        for _ in 0..STEPS {
            solver.step_on(Workers::serial(), &mut terrain, self.conditions.step);
        }
        ensure(terrain.state_hash() == after.state_hash(), || {
            "the result on one thread is not that on several".into()
        })
    }

    /// A layer that is not read makes no difference to any other.
    fn check_reads(&self, expected: &Terrain) -> Result<(), String> {
        for layer in LAYERS {
            if self.model.entry().reads().contains(&layer) {
                continue;
            }
            let mut terrain = with_layer(self.land()?, layer, |cell| match layer {
                // Another relief.
                Layer::Bedrock => 40.0 + (cell % 13) as f32 * 0.75,
                Layer::Hardness => (cell % 5) as f32 * 0.2,
                _ => 3.0 + (cell % 7) as f32 * 0.5,
            })?;
            let mut solver = self.solver(terrain.grid())?;
            for _ in 0..STEPS {
                solver.step_on(Workers::global(), &mut terrain, self.conditions.step);
            }
            for other in LAYERS.into_iter().filter(|other| *other != layer) {
                ensure(values(&terrain, other) == values(expected, other), || {
                    format!(
                        "the layer {layer} is not in `READS`, but another {layer} gives \
                         another {other}"
                    )
                })?;
            }
            ensure(terrain.flow() == expected.flow(), || {
                format!(
                    "the layer {layer} is not in `READS`, but another {layer} gives another flow"
                )
            })?;
        }
        Ok(())
    }

    /// What is no step changes nothing; nor does a terrain of another size.
    fn check_no_steps(
        &self,
        solver: &mut dyn AnySolver,
        terrain: &mut Terrain,
    ) -> Result<(), String> {
        let hash = terrain.state_hash();
        for nothing in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            solver.step_on(Workers::global(), terrain, nothing);
            ensure(terrain.state_hash() == hash, || {
                format!("a step of {nothing} s changes the terrain")
            })?;
        }
        let mut other = hills(1, UVec2::new(5, 7))?;
        let hash = other.state_hash();
        solver.step_on(Workers::global(), &mut other, self.conditions.step);
        ensure(other.state_hash() == hash, || {
            "it changes a terrain of another size than its grid's".into()
        })
    }

    /// After saving and loading, and after a shift, it continues.
    fn check_state(&self, solver: &mut dyn AnySolver, mut terrain: Terrain) -> Result<(), String> {
        let state = solver.save_state(&terrain);
        let mut copy = terrain.clone();
        let mut loaded = self.solver(copy.grid())?;
        let done = loaded.load_state(&state, &copy);
        done.map_err(|error| format!("it refuses its own saved state: {error}"))?;
        for _ in 0..STEPS {
            solver.step_on(Workers::global(), &mut terrain, self.conditions.step);
            loaded.step_on(Workers::global(), &mut copy, self.conditions.step);
        }
        ensure(copy.state_hash() == terrain.state_hash(), || {
            "after saving and loading it does not continue with the same bits".into()
        })?;
        let longer = [&state[..], &[1]].concat();
        ensure(loaded.load_state(&longer, &copy).is_err(), || {
            "it accepts a saved state with a byte too much".into()
        })?;
        let shifted = solver.shift(IVec2::new(1, -1), &terrain);
        shifted.map_err(|error| format!("it cannot be shifted: {error}"))?;
        solver.step_on(Workers::global(), &mut terrain, self.conditions.step);
        check_values(&terrain).map_err(|reason| format!("after a shift, {reason}"))?;
        check_volumes(&terrain)
    }

    /// Any grid and any length of step are sound.
    fn check_sizes(&self) -> Result<(), String> {
        for size in [
            (1, 1),
            (1, 9),
            (9, 1),
            (2, 2),
            (3, 2),
            (65, 64),
            (64, 65),
            (129, 3),
        ] {
            let terrain = hills(2, size.into())?;
            let terrain = with_layer(terrain, Layer::Soil, |_| 1.0)?;
            let mut terrain = with_layer(terrain, Layer::Lava, |_| 0.7)?;
            let mut solver = self.solver(terrain.grid())?;
            for dt in [self.conditions.step, 1e9, self.conditions.step] {
                solver.step_on(Workers::global(), &mut terrain, dt);
            }
            let checked = check_values(&terrain).and_then(|()| check_volumes(&terrain));
            checked.map_err(|reason| format!("on {} × {} cells: {reason}", size.0, size.1))?;
        }
        Ok(())
    }
}

fn ensure(condition: bool, reason: impl FnOnce() -> String) -> Result<(), String> {
    match condition {
        true => Ok(()),
        false => Err(reason()),
    }
}

/// Rough hills with cells of 2 m.
fn hills(seed: u32, size: UVec2) -> Result<Terrain, String> {
    let shape = Fbm::seeded(seed).with_feature_size(150.0).with_height(60.0);
    Terrain::generate(&shape, size, 2.0).map_err(|error| error.to_string())
}

fn with_layer(
    terrain: Terrain,
    layer: Layer,
    value: impl Fn(usize) -> f32,
) -> Result<Terrain, String> {
    let values = (0..terrain.grid().cells()).map(value).collect();
    let done = terrain.with_layer(layer, values);
    done.map_err(|error| error.to_string())
}

/// The values of a layer, bit for bit.
fn values(terrain: &Terrain, layer: Layer) -> Vec<u32> {
    let planes: &[&[f32]] = match layer {
        Layer::Bedrock => &[terrain.bedrock()],
        Layer::Soil => &[terrain.soil()],
        Layer::Water => &[terrain.water()],
        Layer::Suspended => &[terrain.suspended()],
        Layer::Hardness => &[terrain.hardness().unwrap_or_default()],
        Layer::Lava => &[
            terrain.lava().unwrap_or_default(),
            terrain.lava_heat().unwrap_or_default(),
        ],
    };
    let values = planes.iter().copied().flatten();
    values.map(|value| value.to_bits()).collect()
}

/// Elevations are finite; thicknesses are, too, and not negative.
fn check_values(terrain: &Terrain) -> Result<(), String> {
    for layer in LAYERS {
        let bad = values(terrain, layer).into_iter().map(f32::from_bits);
        let bad = bad.enumerate().find(|(_, value)| {
            let is_thickness = layer != Layer::Bedrock;
            !value.is_finite() || (is_thickness && *value < 0.0)
        });
        if let Some((cell, value)) = bad {
            return Err(format!("cell {cell} of the layer {layer} is {value}"));
        }
    }
    Ok(())
}

/// Nothing appears or vanishes that is not in the ledger.
fn check_volumes(terrain: &Terrain) -> Result<(), String> {
    let ledger = terrain.ledger();
    for (what, drift) in [
        ("rock and soil", ledger.solids.drift_of_total()),
        ("water", ledger.water.drift_of_total()),
    ] {
        ensure(drift.abs() <= MAX_DRIFT, || {
            format!("{drift:.1e} of all {what} appeared or vanished, allowed is {MAX_DRIFT:.0e}")
        })?;
    }
    Ok(())
}

/// Every tile in which a cell changed is marked as changed.
fn check_marks(before: &Terrain, after: &Terrain, start: TerrainCursor) -> Result<(), String> {
    let width = before.grid().width();
    for layer in LAYERS {
        let changes = start.peek(after);
        let marked: Vec<UVec2> = match layer {
            Layer::Bedrock | Layer::Soil => changes.ground().collect(),
            Layer::Water => changes.water().collect(),
            Layer::Lava => changes.lava().collect(),
            // Not drawn or asked for on its own.
            Layer::Suspended | Layer::Hardness => continue,
        };
        let (old, new) = (values(before, layer), values(after, layer));
        let changed = (0..old.len().min(new.len())).filter(|&cell| old[cell] != new[cell]);
        for cell in changed {
            // Lava has two planes.
            let cell = cell % before.grid().cells();
            let (x, y) = ((cell % width) as u32, (cell / width) as u32);
            let tile = UVec2::new(x, y) / TILE;
            ensure(marked.contains(&tile), || {
                format!(
                    "it changes the layer {layer} at cell ({x}, {y}), but does not mark tile {tile}"
                )
            })?;
        }
    }
    Ok(())
}
