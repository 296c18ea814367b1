//! Wires edits into an app: messages in, effects out.

use super::{
    Brush, EditAction, EditEffect, EditStep, Fill, Matter, Supply, TerrainEdit, TerrainHistory,
};
use crate::{
    models::ageing::timeline::show_age,
    schedule::{Erosion, ErosionStep, ErosionStepSystems, ErosionSystems, ErosionTime},
    terrain::{Terrain, TerrainCursor},
};
use bevy::{
    ecs::{schedule::InternedScheduleLabel, system::SystemParam},
    prelude::*,
};

/// A [`TerrainEdit`] was applied; says what it really did.
#[derive(Message, Clone, Debug, PartialEq)]
pub struct EditApplied {
    /// The edit.
    pub edit: TerrainEdit,
    /// What the terrain gained or lost by it.
    pub effect: EditEffect,
    /// Erosion steps that had been run.
    pub step: u64,
}

/// A [`TerrainEdit`] was not applied; says why. Nothing was changed.
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

/// A [`HistoryRequest`] was not carried out; says why. Nothing was changed.
#[derive(Message, Clone, Debug, PartialEq, Eq)]
pub struct HistoryRefused {
    /// The request.
    pub request: HistoryRequest,
    /// What is wrong with it.
    pub reason: String,
}

/// Asks to undo or redo an edit or stroke; see [`TerrainHistory`]. Edits of the same
/// frame, or step, are applied first. [`HistoryApplied`] or [`HistoryRefused`] answers.
///
/// [The guide](crate::guide::edits) has an example.
#[derive(Message, Reflect, Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum HistoryRequest {
    /// Undoes the last edit or stroke.
    Undo {
        /// The erosion step to wait for, instead of acting at once.
        #[cfg_attr(feature = "serialize", serde(alias = "stamp"))]
        at_step: Option<EditStep>,
    },
    /// Redoes what was undone last.
    Redo {
        /// The erosion step to wait for, instead of acting at once.
        #[cfg_attr(feature = "serialize", serde(alias = "stamp"))]
        at_step: Option<EditStep>,
    },
}

impl HistoryRequest {
    /// Undoes the last edit or stroke, at once.
    pub const UNDO: Self = Self::Undo { at_step: None };
    /// Redoes what was undone last, at once.
    pub const REDO: Self = Self::Redo { at_step: None };

    fn at_step(&self) -> Option<EditStep> {
        match *self {
            Self::Undo { at_step } | Self::Redo { at_step } => at_step,
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
struct PendingEdits {
    /// The terrain that they are for, if any.
    cursor: Option<TerrainCursor>,
    edits: Vec<(EditStep, TerrainEdit)>,
    requests: Vec<(EditStep, HistoryRequest)>,
}

impl PendingEdits {
    /// Sets the terrain. Edits that waited for another one are refused.
    fn set_terrain(&mut self, terrain: Option<&Terrain>, writer: &mut EditWriter) {
        let is_same = match (self.cursor, terrain) {
            (Some(cursor), Some(terrain)) => cursor.is_of(terrain),
            (own, other) => own.is_none() && other.is_none(),
        };
        if is_same {
            return;
        }
        self.cursor = terrain.map(TerrainCursor::at);
        for (_, edit) in self.edits.drain(..) {
            writer.refuse(
                edit,
                "the terrain that it was sent for was removed or replaced",
            );
        }
        for (_, request) in self.requests.drain(..) {
            writer.refuse_request(
                request,
                "the terrain that it was sent for was removed or replaced",
            );
        }
    }
}

pub(crate) fn build(app: &mut App, schedule: InternedScheduleLabel) {
    app.init_resource::<TerrainHistory>()
        .init_resource::<PendingEdits>()
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
        .add_systems(
            schedule,
            take_edits
                .in_set(ErosionSystems::Input)
                // Edits are made to the age that is shown.
                .after(show_age),
        )
        .add_systems(
            ErosionStep,
            apply_pending_edits.in_set(ErosionStepSystems::Edits),
        );
}

/// Applies or refuses edits, and writes the messages that answer them.
#[derive(SystemParam)]
struct EditWriter<'w> {
    history: ResMut<'w, TerrainHistory>,
    time: Res<'w, Time<Erosion>>,
    applied: MessageWriter<'w, EditApplied>,
    refused: MessageWriter<'w, EditRefused>,
    history_applied: MessageWriter<'w, HistoryApplied>,
    history_refused: MessageWriter<'w, HistoryRefused>,
}

impl EditWriter<'_> {
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

    fn apply_request(&mut self, request: HistoryRequest, terrain: &mut Terrain) {
        if request.run(&mut self.history, terrain) {
            let step = self.time.steps();
            self.history_applied.write(HistoryApplied { request, step });
            return;
        }
        let reason = match request {
            HistoryRequest::Undo { .. } => "nothing to undo",
            HistoryRequest::Redo { .. } => "nothing to redo",
        };
        self.refuse_request(request, reason);
    }

    fn refuse_request(&mut self, request: HistoryRequest, reason: impl Into<String>) {
        let reason = reason.into();
        self.history_refused
            .write(HistoryRefused { request, reason });
    }
}

/// Why an edit for a step that is over is refused.
fn too_late(at: EditStep, steps: u64) -> String {
    let step = at.step;
    format!("too late for step {step}: {steps} steps have been run")
}

/// Applies edits that have no step, and keeps those that wait for one.
fn take_edits(
    mut edits: MessageReader<TerrainEdit>,
    mut requests: MessageReader<HistoryRequest>,
    terrain: Option<ResMut<Terrain>>,
    mut pending: ResMut<PendingEdits>,
    mut writer: EditWriter,
) {
    // The history is emptied with its terrain, not only by the next edit.
    writer.history.set_terrain(terrain.as_deref());
    let Some(mut terrain) = terrain else {
        for edit in edits.read() {
            writer.refuse(edit.clone(), "there is no `Terrain` resource");
        }
        for request in requests.read() {
            writer.refuse_request(*request, "there is no `Terrain` resource");
        }
        pending.set_terrain(None, &mut writer);
        return;
    };
    pending.set_terrain(Some(&terrain), &mut writer);
    let steps = writer.time.steps();
    for edit in edits.read() {
        let edit = edit.clone();
        match edit.at_step {
            Some(at) if at.step <= steps => writer.refuse(edit, too_late(at, steps)),
            Some(at) => pending.edits.push((at, edit)),
            None => writer.apply(edit, &mut terrain),
        }
    }
    for request in requests.read() {
        match request.at_step() {
            Some(at) if at.step <= steps => {
                writer.refuse_request(*request, too_late(at, steps));
            }
            Some(at) => pending.requests.push((at, *request)),
            None => writer.apply_request(*request, &mut terrain),
        }
    }
}

/// Applies the edits that waited for this step, in their order.
fn apply_pending_edits(
    terrain: Option<ResMut<Terrain>>,
    mut pending: ResMut<PendingEdits>,
    mut writer: EditWriter,
) {
    let Some(mut terrain) = terrain else {
        return;
    };
    // They were sent for another terrain.
    if !pending.cursor.is_some_and(|cursor| cursor.is_of(&terrain)) {
        return;
    }
    let step = writer.time.steps();
    for edit in take_due(&mut pending.edits, step) {
        writer.apply(edit, &mut terrain);
    }
    for request in take_due(&mut pending.requests, step) {
        writer.apply_request(request, &mut terrain);
    }
}

/// Removes and returns what is due, in order.
fn take_due<T>(pending: &mut Vec<(EditStep, T)>, step: u64) -> impl Iterator<Item = T> + '_ {
    // Stable: equal ones keep the order in which they came.
    pending.sort_by_key(|(at, _)| *at);
    let due = pending.partition_point(|(at, _)| at.step <= step);
    pending.drain(..due).map(|(_, what)| what)
}
