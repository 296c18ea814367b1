//! A model that does not refuse settings outside their limits breaks its contract.

use super::*;
use crate::{
    schedule::ErosionStepSystems,
    settings::{self, Setting},
    terrain::SettingsError,
};
use bevy::prelude::*;

/// What a [`Weathering`] does wrong.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    Nothing,
    /// No setting is checked.
    AcceptsAll,
    /// NaN is neither too small nor too large.
    AcceptsNan,
    /// The optional part is not checked.
    AcceptsPart,
    /// New settings of a solver are not checked.
    AcceptsLater,
    /// The error names another field.
    NamesOther,
    /// Settings that are refused are in use nevertheless.
    KeepsWrong,
    /// Settings that are refused slow it down.
    ChangesState,
}

/// Says what is wrong with a model.
trait Faulty: Send + Sync + 'static {
    const FAULT: Fault;
}

macro_rules! faults {
    ($($name:ident)+) => {
        $(struct $name;
        impl Faulty for $name {
            const FAULT: Fault = Fault::$name;
        })+
    };
}

faults!(Nothing AcceptsAll AcceptsNan AcceptsPart AcceptsLater NamesOther KeepsWrong ChangesState);

#[derive(Resource, Reflect, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct WeatheringSettings {
    #[reflect(@Setting::new("m/s", 0.0..=0.01).limits(0.0..=1.0))]
    rate: f32,
    #[reflect(@Setting::new("", 1..=4).limits(1..=8))]
    rounds: u32,
    #[reflect(@Setting::optional(Winter::default))]
    winter: Option<Winter>,
}

impl Default for WeatheringSettings {
    fn default() -> Self {
        Self {
            rate: 0.001,
            rounds: 2,
            winter: None,
        }
    }
}

#[derive(Reflect, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct Winter {
    #[reflect(@Setting::new("", 0.0..=1.0).limits(0.0..=1.0))]
    share: f64,
}

impl Default for Winter {
    fn default() -> Self {
        Self { share: 0.5 }
    }
}

/// Bedrock becomes soil, everywhere alike.
struct Weathering<F> {
    settings: WeatheringSettings,
    grid: Grid,
    is_slow: bool,
    fault: core::marker::PhantomData<F>,
}

impl<F: Faulty> Solver for Weathering<F> {
    type Settings = WeatheringSettings;

    const NAME: &'static str = "WeatheringSettings";
    const KEY: &'static str = "weathering";
    const READS: &'static [Layer] = &[Layer::Bedrock, Layer::Soil];
    const WRITES: &'static [Layer] = &[Layer::Bedrock, Layer::Soil];

    fn step_set() -> impl SystemSet {
        ErosionStepSystems::Thermal
    }

    fn new(settings: WeatheringSettings, grid: &Grid) -> Result<Self, SettingsError> {
        Self::check_settings(&settings)?;
        Ok(Self {
            settings,
            grid: *grid,
            is_slow: false,
            fault: core::marker::PhantomData,
        })
    }

    fn check_settings(settings: &WeatheringSettings) -> Result<(), SettingsError> {
        let all_but = |settings: &WeatheringSettings| match F::FAULT {
            Fault::AcceptsNan if settings.rate.is_nan() => WeatheringSettings {
                rate: 0.0,
                ..settings.clone()
            },
            Fault::AcceptsPart => WeatheringSettings {
                winter: None,
                ..settings.clone()
            },
            _ => settings.clone(),
        };
        match (settings::check(&all_but(settings)), F::FAULT) {
            (_, Fault::AcceptsAll) => Ok(()),
            (Err(error), Fault::NamesOther) => Err(SettingsError {
                field: "speed".into(),
                ..error
            }),
            (checked, _) => checked,
        }
    }

    fn settings(&self) -> &WeatheringSettings {
        &self.settings
    }

    fn set_settings(&mut self, settings: WeatheringSettings) -> Result<(), SettingsError> {
        match (Self::check_settings(&settings), F::FAULT) {
            (Err(error), Fault::KeepsWrong) => {
                self.settings = settings;
                return Err(error);
            }
            (Err(error), Fault::ChangesState) => {
                self.is_slow = true;
                return Err(error);
            }
            (_, Fault::AcceptsLater) => {}
            (checked, _) => checked?,
        }
        self.settings = settings;
        Ok(())
    }

    fn step_on(&mut self, _: Workers, terrain: &mut Terrain, dt: f32) {
        if !(self.grid.matches(terrain.grid()) && dt > 0.0 && dt.is_finite()) {
            return;
        }
        let share = match &self.settings.winter {
            Some(winter) => winter.share as f32,
            None => 1.0,
        };
        let slowed = if self.is_slow { 0.5 } else { 1.0 };
        let WeatheringSettings { rate, rounds, .. } = self.settings;
        let depth = (rate * rounds as f32 * share * slowed * dt).min(0.01);
        let mut write = terrain.write(Self::WRITES);
        let layers = write.layers();
        let (Ok(bedrock), Ok(soil)) = (layers.bedrock.write(), layers.soil.write()) else {
            return;
        };
        for (bedrock, soil) in bedrock.iter_mut().zip(soil) {
            let lowered = *bedrock - depth;
            // As much as the bedrock really loses, to the last bit.
            *soil += *bedrock - lowered;
            *bedrock = lowered;
        }
    }
}

fn check<F: Faulty>() -> Result<(), String> {
    check_contract::<Weathering<F>>(WeatheringSettings::default(), &Conditions::default())
}

#[test]
fn a_model_that_refuses_wrong_settings_keeps_its_contract() {
    assert_eq!(check::<Nothing>(), Ok(()));
}

#[test]
fn a_careless_model_breaks_its_contract() {
    let broken = |checked: Result<(), String>, expected: &str| {
        let error = checked.expect_err(expected);
        assert!(error.contains(expected), "{error}\nexpected: {expected}");
    };
    broken(
        check::<AcceptsAll>(),
        "`check_settings` accepts `rate` = -1e-45, expected an error: it must be 0 to 1",
    );
    broken(check::<AcceptsNan>(), "accepts `rate` = NaN");
    broken(check::<AcceptsPart>(), "accepts `winter.share` = -");
    broken(check::<AcceptsLater>(), "`set_settings` accepts `rate`");
    broken(
        check::<NamesOther>(),
        "with an error about the field `speed`, expected `rate`",
    );
    broken(
        check::<KeepsWrong>(),
        "`set_settings` refuses `rate` = -1e-45, but changes the settings",
    );
    broken(
        check::<ChangesState>(),
        "a solver that refused wrong settings does not go on with the same bits",
    );
}

#[test]
fn every_described_number_is_tried_on_each_side() {
    let mut settings = WeatheringSettings {
        winter: Some(Winter::default()),
        ..WeatheringSettings::default()
    };
    let wrong = settings::wrong_numbers(&mut settings);
    let tried = |path: &str| {
        let own = wrong.iter().filter(|wrong| wrong.path == path);
        own.map(|wrong| format!("{:?}", wrong.value))
            .collect::<Vec<_>>()
    };
    assert_eq!(tried("rate"), ["-1e-45", "1.0000001", "NaN", "inf", "-inf"]);
    assert_eq!(tried("rounds"), ["0", "9"]);
    assert_eq!(tried("winter.share").len(), 5);
    for wrong in &wrong {
        let mut settings = settings.clone();
        wrong.write_to(&mut settings);
        let error = settings::check(&settings).expect_err("out of its limits");
        assert_eq!(error.field, wrong.path);
    }
    let mut settings = WeatheringSettings::default();
    let others = settings::other_variants(&mut settings);
    assert_eq!(others.len(), 1);
    others[0].write_to(&mut settings);
    assert_eq!(settings.winter, Some(Winter::default()));
}
