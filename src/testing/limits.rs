//! Settings outside their limits are refused.

use super::{Check, STEPS, ensure};
use crate::{
    models::AnyModel,
    parallel::Workers,
    settings::{other_variants, wrong_numbers},
    terrain::{Grid, SettingsError},
};
use core::{fmt, ops::RangeInclusive};

/// A model with one setting that is outside its limits.
struct WrongModel {
    model: AnyModel,
    /// Where the setting stands, such as `streams.onset`.
    path: String,
    value: String,
    limits: RangeInclusive<f64>,
}

impl Check<'_> {
    /// Settings outside their limits are refused with an error that names the field,
    /// and a solver that refused them goes on as if they had not been offered.
    pub(super) fn check_limits(&self) -> Result<(), String> {
        let mut terrain = self.land()?;
        let grid = *terrain.grid();
        let mut other_terrain = terrain.clone();
        let (mut solver, mut other) = (self.solver(&grid)?, self.solver(&grid)?);
        // So that there is working state to lose.
        solver.step_on(Workers::global(), &mut terrain, self.conditions.step);
        other.step_on(Workers::global(), &mut other_terrain, self.conditions.step);
        for model in variants_of(self.model, &grid) {
            for wrong in wrong_models(&model) {
                wrong.ensure_refused("`check_settings`", wrong.model.check())?;
                wrong.ensure_refused("`new`", wrong.model.solver(&grid).map(drop))?;
                wrong.ensure_refused("`set_settings`", solver.set_model(&wrong.model))?;
                ensure(solver.model() == *self.model, || {
                    format!(
                        "`set_settings` refuses {wrong}, but changes the settings from {:?} to {:?}",
                        self.model,
                        solver.model()
                    )
                })?;
            }
        }
        for _ in 0..STEPS {
            solver.step_on(Workers::global(), &mut terrain, self.conditions.step);
            other.step_on(Workers::global(), &mut other_terrain, self.conditions.step);
        }
        ensure(terrain.state_hash() == other_terrain.state_hash(), || {
            "a solver that refused wrong settings does not go on with the same bits as one that \
             was not offered any"
                .into()
        })
    }
}

/// The model, and the same with each optional part and each variant that it has not,
/// as far as these can be used.
fn variants_of(model: &AnyModel, grid: &Grid) -> Vec<AnyModel> {
    let others = other_variants(model.clone().settings_mut().as_partial_reflect_mut());
    let others = others.into_iter().map(|other| {
        let mut model = model.clone();
        other.write_to(model.settings_mut().as_partial_reflect_mut());
        model
    });
    // A rule about several fields may forbid what a part starts with.
    let others = others.filter(|model| model.check().is_ok() && model.solver(grid).is_ok());
    core::iter::once(model.clone()).chain(others).collect()
}

/// The model with each described number outside its limits, one at a time.
fn wrong_models(model: &AnyModel) -> Vec<WrongModel> {
    let wrong = wrong_numbers(model.clone().settings_mut().as_partial_reflect_mut());
    let wrong = wrong.into_iter().map(|wrong| {
        let mut model = model.clone();
        wrong.write_to(model.settings_mut().as_partial_reflect_mut());
        WrongModel {
            model,
            value: format!("{:?}", wrong.value),
            path: wrong.path,
            limits: wrong.limits,
        }
    });
    wrong.collect()
}

impl WrongModel {
    fn ensure_refused(&self, who: &str, result: Result<(), SettingsError>) -> Result<(), String> {
        let Err(error) = result else {
            let (low, high) = (self.limits.start(), self.limits.end());
            return Err(match (*low, *high) {
                (f64::MIN, f64::MAX) => {
                    format!("{who} accepts {self}, expected an error: it must be finite")
                }
                _ => format!("{who} accepts {self}, expected an error: it must be {low} to {high}"),
            });
        };
        // A part may report its own fields.
        let is_named = error.field == self.path || self.model.field_path(&error) == self.path;
        ensure(is_named, || {
            format!(
                "{who} refuses {self} with an error about the field `{}`, expected `{}`: {error}",
                error.field, self.path
            )
        })
    }
}

impl fmt::Display for WrongModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` = {}", self.path, self.value)
    }
}
