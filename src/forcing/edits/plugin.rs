//! Wires edits into an app: messages in, effects out.

use super::{
    Brush, EditAction, EditEffect, EditStamp, Fill, Matter, Supply, TerrainEdit, TerrainHistory,
};
use crate::{
    schedule::{Erosion, ErosionStep, ErosionStepSystems, ErosionSystems, ErosionTime},
    terrain::Terrain,
};
use bevy::{
    ecs::{schedule::InternedScheduleLabel, system::SystemParam},
    prelude::*,
};

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

/// A [`HistoryRequest`] was carried out.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryApplied {
    /// The request.
    pub request: HistoryRequest,
    /// Erosion steps that had been run.
    pub step: u64,
}

/// A [`HistoryRequest`] was not carried out, and why. Nothing was changed.
#[derive(Message, Clone, Debug, PartialEq, Eq)]
pub struct HistoryRefused {
    /// The request.
    pub request: HistoryRequest,
    /// What is wrong with it.
    pub reason: String,
}

/// Asks to undo or redo an edit or stroke; see [`TerrainHistory`]. In a frame,
/// or a step, edits come first. [`HistoryApplied`] or [`HistoryRefused`] answers.
///
/// [The guide](crate::guide::edits) has an example.
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

    /// Carries it out. Returns whether there was anything to undo or redo.
    fn run(&self, history: &mut TerrainHistory, terrain: &mut Terrain) -> bool {
        match self {
            Self::Undo { .. } => history.undo(terrain),
            Self::Redo { .. } => history.redo(terrain),
        }
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
    fn leave(&mut self, terrain: u64, desk: &mut Desk) {
        if self.terrain == terrain {
            return;
        }
        self.terrain = terrain;
        for (_, edit) in self.edits.drain(..) {
            desk.refuse(edit, "its terrain is gone");
        }
        for (_, request) in self.requests.drain(..) {
            desk.refuse_request(request, "its terrain is gone");
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
        .add_message::<HistoryApplied>()
        .add_message::<HistoryRefused>()
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

/// Where edits are applied or refused, and answered.
#[derive(SystemParam)]
struct Desk<'w> {
    history: ResMut<'w, TerrainHistory>,
    time: Res<'w, Time<Erosion>>,
    applied: MessageWriter<'w, EditApplied>,
    refused: MessageWriter<'w, EditRefused>,
    turned: MessageWriter<'w, HistoryApplied>,
    kept: MessageWriter<'w, HistoryRefused>,
}

impl Desk<'_> {
    fn apply(&mut self, edit: TerrainEdit, terrain: &mut Terrain) {
        match self.history.apply(&edit, terrain) {
            Ok(effect) => {
                let step = self.time.steps();
                self.applied.write(EditApplied { edit, effect, step });
            }
            Err(error) => self.refuse(edit, error.to_string()),
        }
    }

    fn refuse(&mut self, edit: TerrainEdit, reason: impl Into<String>) {
        let reason = reason.into();
        self.refused.write(EditRefused { edit, reason });
    }

    fn turn(&mut self, request: HistoryRequest, terrain: &mut Terrain) {
        if request.run(&mut self.history, terrain) {
            let step = self.time.steps();
            self.turned.write(HistoryApplied { request, step });
            return;
        }
        let reason = match request {
            HistoryRequest::Undo { .. } => "there is nothing to undo",
            HistoryRequest::Redo { .. } => "there is nothing to redo",
        };
        self.refuse_request(request, reason);
    }

    fn refuse_request(&mut self, request: HistoryRequest, reason: impl Into<String>) {
        let reason = reason.into();
        self.kept.write(HistoryRefused { request, reason });
    }
}

/// What is wrong with a stamp for a step that is over.
fn too_late(stamp: EditStamp, steps: u64) -> String {
    let step = stamp.step;
    format!("it is for step {step}, but {steps} steps have been run")
}

/// Applies edits that are for now, and keeps those that are for later.
fn take_edits(
    mut edits: MessageReader<TerrainEdit>,
    mut requests: MessageReader<HistoryRequest>,
    terrain: Option<ResMut<Terrain>>,
    mut waiting: ResMut<Waiting>,
    mut desk: Desk,
) {
    // Its memory goes with its terrain, not with the next edit.
    desk.history.belong_to(terrain.as_deref());
    let Some(mut terrain) = terrain else {
        for edit in edits.read() {
            desk.refuse(edit.clone(), "there is no terrain");
        }
        for request in requests.read() {
            desk.refuse_request(*request, "there is no terrain");
        }
        waiting.leave(0, &mut desk);
        return;
    };
    waiting.leave(terrain.id.get(), &mut desk);
    let steps = desk.time.steps();
    for edit in edits.read() {
        let edit = edit.clone();
        match edit.stamp {
            Some(stamp) if stamp.step <= steps => desk.refuse(edit, too_late(stamp, steps)),
            Some(stamp) => waiting.edits.push((stamp, edit)),
            None => desk.apply(edit, &mut terrain),
        }
    }
    for request in requests.read() {
        match request.stamp() {
            Some(stamp) if stamp.step <= steps => {
                desk.refuse_request(*request, too_late(stamp, steps));
            }
            Some(stamp) => waiting.requests.push((stamp, *request)),
            None => desk.turn(*request, &mut terrain),
        }
    }
}

/// Applies the edits of this step in the order of their stamps.
fn apply_stamped_edits(
    terrain: Option<ResMut<Terrain>>,
    mut waiting: ResMut<Waiting>,
    mut desk: Desk,
) {
    let Some(mut terrain) = terrain else {
        return;
    };
    // A terrain that came since is not the one they are for.
    if waiting.terrain != terrain.id.get() {
        return;
    }
    let step = desk.time.steps();
    for edit in take_due(&mut waiting.edits, step) {
        desk.apply(edit, &mut terrain);
    }
    for request in take_due(&mut waiting.requests, step) {
        desk.turn(request, &mut terrain);
    }
}

/// Takes out what is due, in the order of the stamps.
fn take_due<T>(waiting: &mut Vec<(EditStamp, T)>, step: u64) -> impl Iterator<Item = T> + '_ {
    // Stable: those of one stamp keep the order in which they came.
    waiting.sort_by_key(|(stamp, _)| *stamp);
    let due = waiting.partition_point(|(stamp, _)| stamp.step <= step);
    waiting.drain(..due).map(|(_, what)| what)
}
