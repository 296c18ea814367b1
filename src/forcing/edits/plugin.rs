//! Wires edits into an app: messages in, effects out.

use super::{
    Brush, EditAction, EditEffect, EditStamp, Fill, Matter, Supply, TerrainEdit, TerrainHistory,
};
use crate::{
    schedule::{Erosion, ErosionStep, ErosionStepSystems, ErosionSystems, ErosionTime},
    terrain::Terrain,
};
use bevy::{ecs::schedule::InternedScheduleLabel, prelude::*};

/// A [`TerrainEdit`] was applied, and what it really did.
#[derive(Message, Clone, Debug, PartialEq)]
pub struct EditApplied {
    /// The edit.
    pub edit: TerrainEdit,
    /// What the terrain gained or lost by it.
    pub effect: EditEffect,
    /// Erosion steps that had been run.
    pub step: u64,
}

/// A [`TerrainEdit`] was not applied, and why. Nothing was changed.
#[derive(Message, Clone, Debug, PartialEq)]
pub struct EditRefused {
    /// The edit.
    pub edit: TerrainEdit,
    /// What is wrong with it.
    pub reason: String,
}

/// Asks to undo or redo an edit or stroke; see [`TerrainHistory`]. In a frame,
/// or a step, edits come first.
#[derive(Message, Reflect, Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum HistoryRequest {
    /// Takes the last edit or stroke back.
    Undo {
        /// Waits for an erosion step.
        stamp: Option<EditStamp>,
    },
    /// Does what was undone again.
    Redo {
        /// Waits for an erosion step.
        stamp: Option<EditStamp>,
    },
}

impl HistoryRequest {
    /// Takes the last edit or stroke back, at once.
    pub const UNDO: Self = Self::Undo { stamp: None };
    /// Does what was undone again, at once.
    pub const REDO: Self = Self::Redo { stamp: None };

    fn stamp(&self) -> Option<EditStamp> {
        match *self {
            Self::Undo { stamp } | Self::Redo { stamp } => stamp,
        }
    }

    fn run(&self, history: &mut TerrainHistory, terrain: &mut Terrain) {
        match self {
            Self::Undo { .. } => history.undo(terrain),
            Self::Redo { .. } => history.redo(terrain),
        };
    }
}

/// Edits and requests that wait for their step.
#[derive(Resource, Default)]
struct Waiting {
    /// The terrain that they are for.
    terrain: u64,
    edits: Vec<(EditStamp, TerrainEdit)>,
    requests: Vec<(EditStamp, HistoryRequest)>,
}

impl Waiting {
    /// Goes over to a terrain. What waited for another one is refused.
    fn leave(&mut self, terrain: u64, refused: &mut MessageWriter<EditRefused>) {
        if self.terrain == terrain {
            return;
        }
        self.terrain = terrain;
        self.requests.clear();
        for (_, edit) in self.edits.drain(..) {
            refused.write(EditRefused {
                edit,
                reason: "its terrain is gone".into(),
            });
        }
    }
}

pub(crate) fn build(app: &mut App, schedule: InternedScheduleLabel) {
    app.init_resource::<TerrainHistory>()
        .init_resource::<Waiting>()
        .add_message::<TerrainEdit>()
        .add_message::<HistoryRequest>()
        .add_message::<EditApplied>()
        .add_message::<EditRefused>()
        .register_type::<TerrainEdit>()
        .register_type::<EditAction>()
        .register_type::<Brush>()
        .register_type::<Matter>()
        .register_type::<Fill>()
        .register_type::<Supply>()
        .add_systems(schedule, take_edits.in_set(ErosionSystems::Input))
        .add_systems(
            ErosionStep,
            apply_stamped_edits.in_set(ErosionStepSystems::Edits),
        );
}

/// Applies edits that are for now, and keeps those that are for later.
fn take_edits(
    mut edits: MessageReader<TerrainEdit>,
    mut requests: MessageReader<HistoryRequest>,
    terrain: Option<ResMut<Terrain>>,
    mut history: ResMut<TerrainHistory>,
    mut waiting: ResMut<Waiting>,
    time: Res<Time<Erosion>>,
    mut applied: MessageWriter<EditApplied>,
    mut refused: MessageWriter<EditRefused>,
) {
    let Some(mut terrain) = terrain else {
        for edit in edits.read() {
            refused.write(EditRefused {
                edit: edit.clone(),
                reason: "there is no terrain".into(),
            });
        }
        requests.clear();
        waiting.leave(0, &mut refused);
        return;
    };
    waiting.leave(terrain.id.get(), &mut refused);
    for edit in edits.read() {
        match edit.stamp {
            Some(stamp) if stamp.step <= time.steps() => {
                refused.write(EditRefused {
                    edit: edit.clone(),
                    reason: format!(
                        "it is for step {}, but {} steps have been run",
                        stamp.step,
                        time.steps()
                    ),
                });
            }
            Some(stamp) => waiting.edits.push((stamp, edit.clone())),
            None => apply(
                edit,
                &mut terrain,
                &mut history,
                time.steps(),
                &mut applied,
                &mut refused,
            ),
        }
    }
    for request in requests.read() {
        match request.stamp() {
            Some(stamp) if stamp.step <= time.steps() => {
                warn!(
                    "a request for step {} came when {} steps had been run",
                    stamp.step,
                    time.steps()
                );
            }
            Some(stamp) => waiting.requests.push((stamp, *request)),
            None => request.run(&mut history, &mut terrain),
        }
    }
}

/// Applies the edits of this step in the order of their stamps.
fn apply_stamped_edits(
    terrain: Option<ResMut<Terrain>>,
    mut history: ResMut<TerrainHistory>,
    mut waiting: ResMut<Waiting>,
    time: Res<Time<Erosion>>,
    mut applied: MessageWriter<EditApplied>,
    mut refused: MessageWriter<EditRefused>,
) {
    let Some(mut terrain) = terrain else {
        return;
    };
    // A terrain that came since is not the one they are for.
    let is_other = waiting.terrain != terrain.id.get();
    if is_other || waiting.edits.is_empty() && waiting.requests.is_empty() {
        return;
    }
    let step = time.steps();
    // Stable: edits of one stamp keep the order in which they came.
    waiting.edits.sort_by_key(|(stamp, _)| *stamp);
    let due = waiting
        .edits
        .partition_point(|(stamp, _)| stamp.step <= step);
    for (_, edit) in waiting.edits.drain(..due) {
        apply(
            &edit,
            &mut terrain,
            &mut history,
            step,
            &mut applied,
            &mut refused,
        );
    }
    waiting.requests.sort_by_key(|(stamp, _)| *stamp);
    let due = waiting
        .requests
        .partition_point(|(stamp, _)| stamp.step <= step);
    for (_, request) in waiting.requests.drain(..due) {
        request.run(&mut history, &mut terrain);
    }
}

fn apply(
    edit: &TerrainEdit,
    terrain: &mut Terrain,
    history: &mut TerrainHistory,
    step: u64,
    applied: &mut MessageWriter<EditApplied>,
    refused: &mut MessageWriter<EditRefused>,
) {
    let edit = edit.clone();
    match history.apply(&edit, terrain) {
        Ok(effect) => {
            applied.write(EditApplied { edit, effect, step });
        }
        Err(error) => {
            refused.write(EditRefused {
                edit,
                reason: error.to_string(),
            });
        }
    }
}
