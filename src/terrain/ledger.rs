//! Every volume of rock and water, accounted for.
//!
//! Two sums stay constant whatever the models, the weather and the player do:
//!
//! ```text
//! solids = bedrock + soil + suspended + lava + carried + lava_carried + in_rivers + left
//!          − added − uplifted + lost
//! water  = standing + carried + in_rivers + evaporated + drained + left
//!          − rained − poured − sea_inflow − added + lost
//! ```
//!
//! All volumes are in m³ and in `f64`. `lost` is non-zero only for
//! `as_published()` settings, whose methods lose mass by themselves.

use bevy::prelude::Reflect;

/// Volumes of rock and earth. units: m³
#[derive(Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct SolidsLedger {
    /// In bedrock, counted from height zero (so it may be negative).
    pub bedrock: f64,
    /// In soil.
    pub soil: f64,
    /// Suspended in water.
    pub suspended: f64,
    /// Molten, on the ground.
    pub lava: f64,
    /// Under way in droplets or a player's hand.
    pub carried: f64,
    /// Molten, in a player's hand.
    pub lava_carried: f64,
    /// Under way in meandering rivers.
    pub in_rivers: f64,
    /// Gone over the border.
    pub left: f64,
    /// Brought in by edits and sources.
    pub added: f64,
    /// Risen from below, by uplift; less what sank.
    pub uplifted: f64,
    /// Lost by a method that does not conserve (`as_published()` only).
    pub lost: f64,
    /// Taken up from the ground so far, by whatever model.
    pub moved: f64,
    /// The constant: what the terrain started with.
    pub initial: f64,
    /// Sum of the absolute volumes on the grid: what drift is measured against. Bedrock
    /// below height zero counts as much as bedrock above, so this is no balance.
    #[cfg_attr(feature = "serialize", serde(alias = "total"))]
    pub sum_of_absolute_volumes: f64,
}

/// Volumes of water. units: m³
#[derive(Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct WaterLedger {
    /// On the ground.
    pub standing: f64,
    /// In a player's hand.
    pub carried: f64,
    /// In meandering rivers and their lakes.
    pub in_rivers: f64,
    /// Gone into the air.
    pub evaporated: f64,
    /// Taken by sinks.
    pub drained: f64,
    /// Gone over the border.
    pub left: f64,
    /// Fallen as rain.
    pub rained: f64,
    /// Poured by sources.
    pub poured: f64,
    /// Come in from the sea.
    pub sea_inflow: f64,
    /// Brought in by edits.
    pub added: f64,
    /// Lost by a method that does not conserve (`as_published()` only).
    pub lost: f64,
    /// The constant: what the terrain started with.
    pub initial: f64,
}

/// The terrain's balance sheet at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Ledger {
    /// Rock and earth.
    pub solids: SolidsLedger,
    /// Water.
    pub water: WaterLedger,
}

/// Where a model's solids went; see
/// [`TerrainWrite::record_solids`](super::TerrainWrite::record_solids).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
pub enum SolidsTerm {
    /// Held by the model itself: [`SolidsLedger::carried`].
    Carried,
    /// Gone over the border: [`SolidsLedger::left`].
    Left,
    /// Risen from below: [`SolidsLedger::uplifted`].
    Uplifted,
    /// Lost by a method that does not conserve: [`SolidsLedger::lost`].
    Lost,
}

impl SolidsTerm {
    /// A volume under this term as one that goes: what comes in is negative.
    #[inline]
    pub(super) fn outward(self, volume: f64) -> f64 {
        match self {
            Self::Uplifted => -volume,
            _ => volume,
        }
    }
}

/// Where a model's water went or came from; see
/// [`TerrainWrite::record_water`](super::TerrainWrite::record_water).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
pub enum WaterTerm {
    /// Held by the model itself: [`WaterLedger::carried`].
    Carried,
    /// Gone into the air: [`WaterLedger::evaporated`].
    Evaporated,
    /// Taken by sinks: [`WaterLedger::drained`].
    Drained,
    /// Gone over the border: [`WaterLedger::left`].
    Left,
    /// Fallen as rain: [`WaterLedger::rained`].
    Rained,
    /// Poured by sources: [`WaterLedger::poured`].
    Poured,
    /// Come in from the sea: [`WaterLedger::sea_inflow`].
    SeaInflow,
    /// Lost by a method that does not conserve: [`WaterLedger::lost`].
    Lost,
}

impl WaterTerm {
    /// A volume under this term as one that goes: what comes in is negative.
    #[inline]
    pub(super) fn outward(self, volume: f64) -> f64 {
        match self {
            Self::Rained | Self::Poured | Self::SeaInflow => -volume,
            _ => volume,
        }
    }
}

impl SolidsLedger {
    /// Adds to a term.
    #[inline]
    pub(super) fn record(&mut self, term: SolidsTerm, volume: f64) {
        *match term {
            SolidsTerm::Carried => &mut self.carried,
            SolidsTerm::Left => &mut self.left,
            SolidsTerm::Uplifted => &mut self.uplifted,
            SolidsTerm::Lost => &mut self.lost,
        } += volume;
    }

    /// All terms.
    #[cfg(feature = "io")]
    pub(crate) fn terms(&self) -> [f64; 14] {
        [
            self.bedrock,
            self.soil,
            self.suspended,
            self.lava,
            self.carried,
            self.lava_carried,
            self.in_rivers,
            self.left,
            self.added,
            self.uplifted,
            self.lost,
            self.moved,
            self.initial,
            self.sum_of_absolute_volumes,
        ]
    }

    /// The sum that must stay equal to [`initial`](Self::initial). units: m³
    pub fn balance(&self) -> f64 {
        self.bedrock
            + self.soil
            + self.suspended
            + self.lava
            + self.carried
            + self.lava_carried
            + self.in_rivers
            + self.left
            - self.added
            - self.uplifted
            + self.lost
    }

    /// Volume that appeared (positive) or vanished (negative). units: m³
    pub fn drift(&self) -> f64 {
        self.balance() - self.initial
    }

    /// Drift in proportion to all there is:
    /// [`sum_of_absolute_volumes`](Self::sum_of_absolute_volumes).
    pub fn drift_of_total(&self) -> f64 {
        ratio(self.drift(), self.sum_of_absolute_volumes)
    }

    /// Drift in proportion to the volume moved so far.
    pub fn drift_of_moved(&self) -> f64 {
        ratio(self.drift(), self.moved)
    }
}

impl WaterLedger {
    /// Adds to a term.
    #[inline]
    pub(super) fn record(&mut self, term: WaterTerm, volume: f64) {
        *match term {
            WaterTerm::Carried => &mut self.carried,
            WaterTerm::Evaporated => &mut self.evaporated,
            WaterTerm::Drained => &mut self.drained,
            WaterTerm::Left => &mut self.left,
            WaterTerm::Rained => &mut self.rained,
            WaterTerm::Poured => &mut self.poured,
            WaterTerm::SeaInflow => &mut self.sea_inflow,
            WaterTerm::Lost => &mut self.lost,
        } += volume;
    }

    /// All terms.
    #[cfg(feature = "io")]
    pub(crate) fn terms(&self) -> [f64; 12] {
        [
            self.standing,
            self.carried,
            self.in_rivers,
            self.evaporated,
            self.drained,
            self.left,
            self.rained,
            self.poured,
            self.sea_inflow,
            self.added,
            self.lost,
            self.initial,
        ]
    }

    /// The sum that must stay equal to [`initial`](Self::initial). units: m³
    pub fn balance(&self) -> f64 {
        self.standing + self.carried + self.in_rivers + self.evaporated + self.drained + self.left
            - self.rained
            - self.poured
            - self.sea_inflow
            - self.added
            + self.lost
    }

    /// Volume that appeared (positive) or vanished (negative). units: m³
    pub fn drift(&self) -> f64 {
        self.balance() - self.initial
    }

    /// Drift in proportion to all the water that ever was.
    pub fn drift_of_total(&self) -> f64 {
        let total = self.initial + self.rained + self.poured + self.sea_inflow + self.added.abs();
        ratio(self.drift(), total)
    }
}

/// `part / whole`, and zero when there is nothing to compare with and no drift.
fn ratio(part: f64, whole: f64) -> f64 {
    if part == 0.0 {
        0.0
    } else {
        part / whole.max(f64::MIN_POSITIVE)
    }
}
