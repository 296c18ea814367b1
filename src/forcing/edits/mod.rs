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
//! Where ground is removed, soil goes before rock. Where it is added, it is soil
//! or rock as the edit's `fill` says. By default an edit creates or destroys matter,
//! and the ledger counts it as `added`. With [`Supply::Hand`] what is dug goes into
//! the player's hand, an inventory that filling empties: the ledger's `carried`, and
//! `lava_carried` for lava.
//!
//! Edits are applied in [`ErosionSystems::Input`](crate::schedule::ErosionSystems::Input),
//! also while erosion is paused. An edit with a step number
//! ([`at_step`](TerrainEdit::at_step)) waits for that erosion step instead, so that all
//! machines of a lockstep game apply it in the same step.

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

/// What an edit adds or removes.
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
    /// Lava. What is added is fully molten: a hand keeps it hot.
    Lava,
}

impl Matter {
    /// Volume of it in the player's hand (see [`Supply::Hand`]), without a search of the
    /// terrain. Soil and rock are counted together. units: m³
    pub fn in_hand(self, terrain: &Terrain) -> f64 {
        let account = &terrain.account;
        match self {
            Matter::Soil | Matter::Rock => account.solids.carried,
            Matter::Water => account.water.carried,
            Matter::Lava => account.solids.lava_carried,
        }
    }
}

/// What an edit adds where it raises the ground.
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
    /// Created and destroyed by the edit, without a limit.
    #[default]
    Endless,
    /// The player's hand, an inventory: what is dug fills it, what is added empties
    /// it, and an empty hand adds nothing.
    Hand,
}

/// What an edit does.
#[derive(Reflect, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum EditAction {
    /// Adds ground. Strength in m/s.
    Raise,
    /// Removes ground, soil first. Strength in m/s.
    Lower,
    /// Smooths bumps by diffusion, without adding or removing anything. Strength in
    /// m²/s: bumps as wide as its square root in metres vanish within a second.
    Smooth,
    /// Moves the ground towards a height. Strength in m/s.
    Flatten {
        /// The world height. units: m
        height: f32,
    },
    /// Moves the ground towards the straight line from the edit's `from` to its
    /// `to`; the brush's radius is half the ramp's width. Strength in m/s.
    Ramp,
    /// Adds noise: as much is added as is removed. Strength in m/s.
    Noise {
        /// Another seed gives other bumps.
        seed: u32,
        /// Distance from bump to bump. units: m
        feature_size: f32,
    },
    /// Adds soil, rock, water or lava. Strength in m/s.
    Add(Matter),
    /// Removes soil, rock, water or lava, as far as there is any. Strength in m/s.
    Remove(Matter),
    /// Moves the hardness towards a value. Strength in 1/s.
    SetHardness {
        /// 0 erodes freely, 1 not at all.
        value: f32,
    },
    /// Presses a heightmap, as wide as the brush, into the ground. Strength in
    /// m/s for a value of 1.
    Stamp {
        /// The heightmap.
        #[reflect(ignore, default = "default_stamp")]
        #[cfg_attr(feature = "serialize", serde(with = "shared_stamp"))]
        map: Arc<HeightStamp>,
        /// Rotation about the vertical axis. units: rad
        #[cfg_attr(feature = "serialize", serde(alias = "turn"))]
        rotation: f32,
    },
}

fn default_stamp() -> Arc<HeightStamp> {
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

/// The erosion step that an edit waits for. It is applied before the models of that
/// step, in the order of `order` among the edits of that step.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[reflect(Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct EditStep {
    /// Number of the step; the first step is 1.
    pub step: u64,
    /// Order among edits of that step, e.g. the player's number.
    pub order: u32,
}

/// A change of the terrain by a player or a tool. Send it as a message;
/// [`EditApplied`] or [`EditRefused`] answers:
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
    /// players come between them. Give each press of a button a number of its own,
    /// by [`new_stroke`](Self::new_stroke); edits of stroke 0 are undone one by one.
    pub stroke: u64,
    /// The erosion step to wait for, instead of acting at once.
    #[cfg_attr(feature = "serialize", serde(alias = "stamp"))]
    pub at_step: Option<EditStep>,
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
            at_step: None,
        }
    }

    /// Adds ground.
    pub fn raise(at: Vec3, brush: Brush) -> Self {
        Self::new(EditAction::Raise, at, brush)
    }

    /// Removes ground.
    pub fn lower(at: Vec3, brush: Brush) -> Self {
        Self::new(EditAction::Lower, at, brush)
    }

    /// Smooths bumps.
    pub fn smooth(at: Vec3, brush: Brush) -> Self {
        Self::new(EditAction::Smooth, at, brush)
    }

    /// Moves the ground towards the height of `at`.
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

    /// Removes matter.
    pub fn remove(matter: Matter, at: Vec3, brush: Brush) -> Self {
        Self::new(EditAction::Remove(matter), at, brush)
    }

    /// Presses a heightmap into the ground.
    pub fn stamp(map: impl Into<Arc<HeightStamp>>, at: Vec3, brush: Brush) -> Self {
        let map = map.into();
        Self::new(EditAction::Stamp { map, rotation: 0.0 }, at, brush)
    }

    /// Sets how much it does in a second.
    pub fn with_strength(self, strength: f32) -> Self {
        Self { strength, ..self }
    }

    /// Sets how long it acts. units: s
    pub fn for_seconds(self, seconds: f32) -> Self {
        Self { seconds, ..self }
    }

    /// Draws the brush along a line that starts at `from`. units: m
    pub fn drawn_from(self, from: Vec3) -> Self {
        Self { from, ..self }
    }

    /// Sets whether it adds rock or soil.
    pub fn with_fill(self, fill: Fill) -> Self {
        Self { fill, ..self }
    }

    /// Puts what it removes into the hand, and takes what it adds from there.
    pub fn by_hand(self) -> Self {
        Self {
            supply: Supply::Hand,
            ..self
        }
    }

    /// A number for a [stroke](Self::stroke), unique within this program. A lockstep
    /// game numbers the strokes of its players itself, below 2³².
    pub fn new_stroke() -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(1 << 32);
        NEXT.fetch_add(1, Ordering::Relaxed)
    }

    /// Makes it a part of a [stroke](Self::stroke), which is undone as a whole.
    pub fn in_stroke(self, stroke: u64) -> Self {
        Self { stroke, ..self }
    }

    /// Lets it wait for an erosion step.
    pub fn at_step(self, step: u64, order: u32) -> Self {
        Self {
            at_step: Some(EditStep { step, order }),
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
                let reason = format!("must be a finite position within ±1e9 m, was {place}");
                return Err(SettingsError::new(EDIT, field, reason));
            }
        }
        match &self.action {
            EditAction::Flatten { height } => in_range(EDIT, "height", *height, -1e9..=1e9),
            EditAction::Noise { feature_size, .. } => {
                in_range(EDIT, "feature_size", *feature_size, 1e-3..=1e6)
            }
            EditAction::SetHardness { value } => in_range(EDIT, "value", *value, 0.0..=1.0),
            EditAction::Stamp { rotation, .. } => in_range(EDIT, "rotation", *rotation, -1e4..=1e4),
            _ => Ok(()),
        }
    }
}

#[cfg(all(test, feature = "serialize"))]
mod tests {
    use super::*;

    /// Edits and requests that were written before `stamp` became `at_step` and `turn`
    /// became `rotation`.
    #[test]
    fn old_field_names_are_read() {
        let map = "(size: (1, 1), values: [1.0])";
        let edit = |turn: &str, stamp: &str| {
            format!(
                "(action: Stamp(map: {map}, {turn}: 0.5), from: (1.0, 2.0, 3.0), to: (1.0, 2.0, \
                 3.0), brush: (), strength: 1.0, seconds: 1.0, fill: Soil, supply: Endless, \
                 stroke: 0, {stamp}: Some((step: 7, order: 1)))"
            )
        };
        let read = |text: &str| ron::from_str::<TerrainEdit>(text).expect("readable");
        let old = read(&edit("turn", "stamp"));
        assert_eq!(old, read(&edit("rotation", "at_step")));
        assert_eq!(old.at_step, Some(EditStep { step: 7, order: 1 }));
        let undo: HistoryRequest = ron::from_str("Undo(stamp: None)").expect("readable");
        assert_eq!(undo, HistoryRequest::UNDO);
    }
}
