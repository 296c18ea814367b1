//! Changes that players and tools make: a [`TerrainEdit`] message any system
//! may send, or [`TerrainEdit::apply`] without an app.
//!
//! ```text
//! w        the brush's weight at a cell, 0 to 1; a = strength · seconds
//! raise    Δ = +a·w                     lower    Δ = −a·w
//! flatten  Δ = clamp(H − h, ±a·w)       ramp     the same, H along a line
//! noise    Δ = a·w·(n − mean of n)      stamp    Δ = a·w·value
//! smooth   Δ = diffusion within the brush by `a` m², what leaves one cell
//!          arrives in another
//! ```
//!
//! Where ground is taken, soil goes before rock. Where it is added, it is soil
//! or rock as the edit's `fill` says. By default an edit brings or takes matter
//! from nowhere, and the ledger counts it as `added`; with [`Supply::Hand`] what
//! is dug goes into a hand that filling empties: the ledger's `carried`, and
//! `lava_carried` for lava.
//!
//! Edits are applied in [`ErosionSystems::Input`](crate::schedule::ErosionSystems::Input),
//! also while erosion is paused. One with a [`stamp`](TerrainEdit::stamp) waits
//! for that erosion step instead, so that machines in lockstep apply it alike.

mod apply;
mod brush;
mod history;
mod plugin;
mod stamp;

pub use apply::EditEffect;
pub use brush::{Brush, BrushShape, Falloff};
pub use history::TerrainHistory;
pub(super) use plugin::build;
pub use plugin::{EditApplied, EditRefused, HistoryApplied, HistoryRefused, HistoryRequest};
pub use stamp::HeightStamp;

use crate::terrain::{SettingsError, Terrain, in_range};
use bevy::prelude::*;
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

const EDIT: &str = "TerrainEdit";

/// What is added or taken.
///
/// [The guide](crate::guide::edits) has an example.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[reflect(Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum Matter {
    /// Loose ground.
    #[default]
    Soil,
    /// Bedrock. Soil on it stays, and sinks or rises with it.
    Rock,
    /// Water, and when taken the sediment in it.
    Water,
    /// Lava. What is added is fresh: a hand keeps it hot.
    Lava,
}

impl Matter {
    /// What the hand holds of it, cheap to ask: soil and rock are one in it.
    /// units: m³
    pub fn in_hand(self, terrain: &Terrain) -> f64 {
        let account = &terrain.account;
        match self {
            Matter::Soil | Matter::Rock => account.solids.carried,
            Matter::Water => account.water.carried,
            Matter::Lava => account.solids.lava_carried,
        }
    }
}

/// What an edit makes the ground of, where it adds to it.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[reflect(Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum Fill {
    /// Loose ground.
    #[default]
    Soil,
    /// Bedrock, below the soil that lies there.
    Rock,
}

/// Where an edit's matter comes from and goes to.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[reflect(Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum Supply {
    /// Out of nowhere and into nowhere, as much as it takes.
    #[default]
    Endless,
    /// The hand: what is dug fills it, what is added empties it, and an empty
    /// hand adds nothing.
    Hand,
}

/// What an edit does.
#[derive(Reflect, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum EditAction {
    /// Adds ground. Strength in m/s.
    Raise,
    /// Takes ground, soil first. Strength in m/s.
    Lower,
    /// Evens bumps out, without adding or taking anything. Strength in m²/s:
    /// in a second bumps of its square root in metres are gone.
    Smooth,
    /// Brings the ground to a height. Strength in m/s.
    Flatten {
        /// The world height. units: m
        height: f32,
    },
    /// Brings the ground to the straight line from the edit's `from` to its
    /// `to`; the brush's radius is half the ramp's width. Strength in m/s.
    Ramp,
    /// Adds bumps and hollows, as much as it takes. Strength in m/s.
    Noise {
        /// Another seed gives other bumps.
        seed: u32,
        /// Distance from bump to bump. units: m
        feature_size: f32,
    },
    /// Adds soil, rock, water or lava. Strength in m/s.
    Add(Matter),
    /// Takes soil, rock, water or lava, as far as there is any. Strength in m/s.
    Remove(Matter),
    /// Brings hardness to a value. Strength in 1/s.
    SetHardness {
        /// 0 erodes freely, 1 not at all.
        value: f32,
    },
    /// Presses a heightmap, as wide as the brush, into the ground. Strength in
    /// m/s for a value of 1.
    Stamp {
        /// The heightmap.
        #[reflect(ignore, default = "no_stamp")]
        #[cfg_attr(feature = "serialize", serde(with = "shared_stamp"))]
        map: Arc<HeightStamp>,
        /// Turn about the vertical axis. units: rad
        turn: f32,
    },
}

fn no_stamp() -> Arc<HeightStamp> {
    Arc::new(HeightStamp::crater())
}

#[cfg(feature = "serialize")]
mod shared_stamp {
    use super::{Arc, HeightStamp};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(
        stamp: &Arc<HeightStamp>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        HeightStamp::serialize(stamp, serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<HeightStamp>, D::Error> {
        HeightStamp::deserialize(deserializer).map(Arc::new)
    }
}

/// When a stamped edit is applied: before the models of this erosion step, in
/// the order of `order` among the edits of that step.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[reflect(Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct EditStamp {
    /// Number of the step; the first step is 1.
    pub step: u64,
    /// Rank among edits of that step, e.g. the player's number.
    pub order: u32,
}

/// A change of the terrain by a player or a tool. Send it as a message:
///
/// ```
/// use bevy::prelude::*;
/// use bevy_erode::prelude::*;
///
/// fn dig(time: Res<Time>, mut edits: MessageWriter<TerrainEdit>) {
///     let edit = TerrainEdit::lower(Vec3::new(10.0, 0.0, -5.0), Brush::circle(20.0));
///     edits.write(edit.with_strength(3.0).for_seconds(time.delta_secs()));
/// }
/// # let mut app = App::new();
/// # app.add_plugins((MinimalPlugins, ErosionPlugin::default())).add_systems(Update, dig);
/// # app.update();
/// ```
#[derive(Message, Reflect, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct TerrainEdit {
    /// What it does.
    pub action: EditAction,
    /// Where the stroke begins; the brush is drawn from here to `to`, so that
    /// a fast pointer leaves no gaps. Its height matters to a ramp only. units: m
    pub from: Vec3,
    /// Where the stroke ends. units: m
    pub to: Vec3,
    /// Shape, radius and falloff.
    pub brush: Brush,
    /// How much it does in a second; the unit is the action's.
    pub strength: f32,
    /// How long it acts: usually the frame's time. units: s
    pub seconds: f32,
    /// What it adds, where it adds ground.
    pub fill: Fill,
    /// Where its matter comes from.
    pub supply: Supply,
    /// Edits of the same stroke are undone together, also if those of other
    /// players come between them. Each press of a button wants a number of its
    /// own, such as a [`new_stroke`](Self::new_stroke)'s; each edit of stroke 0
    /// stands alone.
    pub stroke: u64,
    /// Waits for an erosion step instead of acting at once.
    pub stamp: Option<EditStamp>,
}

impl TerrainEdit {
    /// An action at a place, with a strength of 1 for one second.
    pub fn new(action: EditAction, at: Vec3, brush: Brush) -> Self {
        Self {
            action,
            from: at,
            to: at,
            brush,
            strength: 1.0,
            seconds: 1.0,
            fill: Fill::Soil,
            supply: Supply::Endless,
            stroke: 0,
            stamp: None,
        }
    }

    /// Adds ground.
    pub fn raise(at: Vec3, brush: Brush) -> Self {
        Self::new(EditAction::Raise, at, brush)
    }

    /// Takes ground.
    pub fn lower(at: Vec3, brush: Brush) -> Self {
        Self::new(EditAction::Lower, at, brush)
    }

    /// Evens bumps out.
    pub fn smooth(at: Vec3, brush: Brush) -> Self {
        Self::new(EditAction::Smooth, at, brush)
    }

    /// Brings the ground to the height of `at`.
    pub fn flatten(at: Vec3, brush: Brush) -> Self {
        Self::new(EditAction::Flatten { height: at.y }, at, brush)
    }

    /// Builds a ramp from one point to another, heights included.
    pub fn ramp(from: Vec3, to: Vec3, brush: Brush) -> Self {
        Self {
            from,
            ..Self::new(EditAction::Ramp, to, brush)
        }
    }

    /// Adds matter.
    pub fn add(matter: Matter, at: Vec3, brush: Brush) -> Self {
        Self::new(EditAction::Add(matter), at, brush)
    }

    /// Takes matter.
    pub fn remove(matter: Matter, at: Vec3, brush: Brush) -> Self {
        Self::new(EditAction::Remove(matter), at, brush)
    }

    /// Presses a heightmap into the ground.
    pub fn stamp(map: impl Into<Arc<HeightStamp>>, at: Vec3, brush: Brush) -> Self {
        let map = map.into();
        Self::new(EditAction::Stamp { map, turn: 0.0 }, at, brush)
    }

    /// Does so much in a second.
    pub fn with_strength(self, strength: f32) -> Self {
        Self { strength, ..self }
    }

    /// Acts for so long. units: s
    pub fn for_seconds(self, seconds: f32) -> Self {
        Self { seconds, ..self }
    }

    /// Draws the brush from another place to its own. units: m
    pub fn drawn_from(self, from: Vec3) -> Self {
        Self { from, ..self }
    }

    /// Adds rock or soil.
    pub fn with_fill(self, fill: Fill) -> Self {
        Self { fill, ..self }
    }

    /// Takes into the hand and gives from it.
    pub fn by_hand(self) -> Self {
        Self {
            supply: Supply::Hand,
            ..self
        }
    }

    /// A number for a [stroke](Self::stroke) that no other of this program has. A
    /// lockstep game numbers the strokes of its players by itself, below 2³².
    pub fn new_stroke() -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(1 << 32);
        NEXT.fetch_add(1, Ordering::Relaxed)
    }

    /// Belongs to a [stroke](Self::stroke) that is undone at once.
    pub fn in_stroke(self, stroke: u64) -> Self {
        Self { stroke, ..self }
    }

    /// Waits for an erosion step.
    pub fn at_step(self, step: u64, order: u32) -> Self {
        Self {
            stamp: Some(EditStamp { step, order }),
            ..self
        }
    }

    /// Checks all values; the error names the field.
    pub fn check(&self) -> Result<(), SettingsError> {
        self.brush.check()?;
        in_range(EDIT, "strength", self.strength, 0.0..=1e6)?;
        in_range(EDIT, "seconds", self.seconds, 0.0..=86_400.0)?;
        for (field, place) in [("from", self.from), ("to", self.to)] {
            if !(place.is_finite() && place.abs().max_element() <= 1e9) {
                return Err(SettingsError {
                    model: EDIT,
                    field,
                    reason: format!("must be a finite place within ±1e9 m, was {place}"),
                });
            }
        }
        match &self.action {
            EditAction::Flatten { height } => in_range(EDIT, "height", *height, -1e9..=1e9),
            EditAction::Noise { feature_size, .. } => {
                in_range(EDIT, "feature_size", *feature_size, 1e-3..=1e6)
            }
            EditAction::SetHardness { value } => in_range(EDIT, "value", *value, 0.0..=1.0),
            EditAction::Stamp { turn, .. } => in_range(EDIT, "turn", *turn, -1e4..=1e4),
            _ => Ok(()),
        }
    }
}
