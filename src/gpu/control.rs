//! The main world's side of the GPU: who owns the terrain, and the commands of the
//! frame.

use super::{
    constants::Surroundings,
    exchange::{Differences, ReadbackResult, ReadbackResults, SetMap},
    executor::Command,
    full_readback::FullReadback,
    mirror::Mirror,
    pacing::Pacing,
    pass::{HARDNESS, Readiness},
    twin::Twins,
};
use crate::{backend::StepDevice, models::Solver, schedule::LastRun, terrain::Terrain};
use bevy::{math::DVec2, platform::collections::HashMap, prelude::*};
use core::time::Duration;

/// Who has the truth of the terrain.
#[derive(Debug, Default)]
pub(super) enum Owner {
    #[default]
    Cpu,
    Gpu(Box<Mirror>),
    /// The GPU still, until the last result is there.
    Returning(Box<Mirror>),
}

impl Owner {
    /// The mirror of the terrain on the GPU, if it is there.
    pub fn mirror(&self) -> Option<&Mirror> {
        match self {
            Self::Gpu(mirror) | Self::Returning(mirror) => Some(mirror),
            Self::Cpu => None,
        }
    }

    pub fn mirror_mut(&mut self) -> Option<&mut Mirror> {
        match self {
            Self::Gpu(mirror) | Self::Returning(mirror) => Some(mirror),
            Self::Cpu => None,
        }
    }
}

/// Whether there is a graphics device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum DeviceState {
    #[default]
    Present,
    Lost,
}

/// Whether it was said why the CPU runs the models although the GPU should.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FallbackWarning {
    #[default]
    Due,
    Given,
}

/// Models that the host runs beside the GPU.
#[derive(Debug, Default)]
pub(super) struct HostModels {
    /// In this frame's steps.
    pub this_frame: Vec<&'static str>,
    /// Those that were warned of already.
    pub warned: Vec<&'static str>,
}

/// Commands for the GPU, and what is known of it.
#[derive(Resource)]
pub(crate) struct GpuControl {
    pub(super) owner: Owner,
    pub(super) twins: Twins,
    pub(super) commands: Vec<Command>,
    pub(super) surroundings: Surroundings,
    pub(super) results: ReadbackResults,
    pub(super) readiness: Option<Readiness>,
    pub(super) device: DeviceState,
    pub(super) warning: FallbackWarning,
    pub(super) pacing: Pacing,
    pub(super) full_readback: FullReadback,
    /// The terrain when it was last read in full: all that is left if the device
    /// is lost.
    pub(super) snapshot: Option<Box<Terrain>>,
    pub(super) step: u64,
    /// Maps that the GPU has, by label; without that of hardness.
    pub(super) maps: HashMap<&'static str, Vec<f32>>,
    pub(super) host_models: HostModels,
    /// Erosion time that was not recorded because it needs too many sub-steps.
    /// units: s
    pub(super) skipped_time: f32,
}

impl Default for GpuControl {
    fn default() -> Self {
        Self {
            owner: Owner::default(),
            twins: Twins::all(),
            commands: Vec::new(),
            surroundings: Surroundings::default(),
            results: ReadbackResults::default(),
            readiness: None,
            device: DeviceState::default(),
            warning: FallbackWarning::default(),
            pacing: Pacing::default(),
            full_readback: FullReadback::default(),
            snapshot: None,
            step: 0,
            maps: HashMap::default(),
            host_models: HostModels::default(),
            skipped_time: 0.0,
        }
    }
}

impl StepDevice for GpuControl {
    const EXISTS: bool = true;

    fn is_running(&self) -> bool {
        matches!(self.owner, Owner::Gpu(_))
    }

    fn run_step<S: Solver>(&mut self, solver: &mut S, terrain: &mut Terrain, dt: f32) -> bool {
        let recorded = self.record(solver, terrain, dt);
        if !recorded {
            self.host_runs(S::NAME, S::MOVES_WATER);
        }
        recorded
    }

    fn host_runs(&mut self, model: &'static str, moves_water: bool) {
        if !self.host_models.this_frame.contains(&model) {
            self.host_models.this_frame.push(model);
        }
        if moves_water && let Owner::Gpu(mirror) = &mut self.owner {
            mirror.give_flow();
        }
    }

    fn allowed_steps(&self, budget: Option<Duration>) -> u32 {
        match (&self.owner, budget) {
            (Owner::Returning(_), _) => 0,
            (Owner::Gpu(_), Some(_)) => self.pacing.allowed_steps(),
            (Owner::Gpu(_), None) | (Owner::Cpu, _) => u32::MAX,
        }
    }

    fn count_step(&mut self, step: u64) {
        self.step = step;
        self.pacing.count_step();
    }

    fn age(&self, tile: UVec2) -> u64 {
        let mirror = self.owner.mirror();
        mirror.map_or(0, |mirror| mirror.age(tile, self.step))
    }

    fn oldest(&self) -> u64 {
        let mirror = self.owner.mirror();
        mirror.map_or(0, |mirror| mirror.oldest(self.step))
    }
}

impl GpuControl {
    /// Whether it is this terrain that is on the GPU, or none.
    pub(super) fn is_of(&self, terrain: &Terrain) -> bool {
        let mirror = self.owner.mirror();
        mirror.is_none_or(|mirror| mirror.is_of(terrain))
    }

    /// Sends what the host changed.
    pub(super) fn send_differences(&mut self, terrain: &Terrain) {
        let mirror = self.owner.mirror_mut();
        // Where another terrain came in this frame, the next begins with it.
        let Some(mirror) = mirror.filter(|mirror| mirror.is_of(terrain)) else {
            return;
        };
        let differences = mirror.differences(terrain);
        if let Some(map) = mirror.new_hardness() {
            let slot = &HARDNESS;
            self.commands.push(Command::run(SetMap { slot, map }));
        }
        if !differences.is_empty() {
            let command = Differences(differences);
            self.commands.push(Command::run(command));
            self.full_readback.note_change();
        }
        self.surroundings.datum = terrain.datum();
        self.surroundings.borders = *terrain.borders();
    }

    /// Whether the terrain is not what the GPU had at any one moment, or is older
    /// than what was recorded.
    pub(super) fn mixes_moments(&self) -> bool {
        self.owner.mirror().is_some() && !self.full_readback.is_current()
    }

    /// Whether commands or results are on their way, or tiles wait to be read.
    pub(super) fn is_behind(&self) -> bool {
        let Some(mirror) = self.owner.mirror() else {
            return false;
        };
        mirror.wants_any(1) || self.pacing.has_new_steps() || self.pacing.is_waiting()
    }

    /// There is a device again. Nothing of an older one is left on it.
    pub(super) fn restore_device(&mut self) {
        self.device = DeviceState::Present;
        self.warning = FallbackWarning::Due;
    }

    /// Begins anew on the GPU.
    pub(super) fn start(&mut self, terrain: &mut Terrain) {
        terrain.ensure_flow();
        let gravity = self.surroundings.gravity;
        let (mirror, upload) = Mirror::new(terrain, self.step, gravity);
        // Results of an earlier time are ignored.
        self.results.take();
        self.commands.clear();
        self.commands.push(Command::Upload(Box::new(upload)));
        self.maps.clear();
        self.snapshot = None;
        self.pacing.forget_requests();
        self.full_readback.restart();
        self.twins.return_all();
        self.owner = Owner::Gpu(Box::new(mirror));
    }

    /// The CPU goes on with the terrain as it is.
    pub(super) fn stop(&mut self) {
        self.snapshot = None;
        self.commands.clear();
        self.commands.push(Command::Release);
        self.pacing.forget_requests();
        self.twins.return_all();
        self.owner = Owner::Cpu;
    }

    /// Asks for everything at once.
    pub(super) fn request_everything(&mut self) {
        let changes = self.full_readback.changes();
        let Some(mirror) = self.owner.mirror_mut() else {
            return;
        };
        let requests = mirror.request_all(self.step, changes);
        self.commands.extend(requests.into_iter().map(Command::run));
        self.pacing.note_request();
        self.full_readback.note_request();
    }

    /// Asks for tiles that changed, no more than so many besides those wanted.
    pub(super) fn request_tiles(&mut self, most: usize) {
        let changes = self.full_readback.changes();
        let Some(mirror) = self.owner.mirror_mut() else {
            return;
        };
        let requests = mirror.request(self.step, changes, most);
        self.commands.extend(requests.into_iter().map(Command::run));
        self.pacing.note_request();
    }

    /// Takes a result in; returns what edits took in vain, and whether everything
    /// was read with it.
    pub(super) fn take(
        &mut self,
        result: &ReadbackResult,
        terrain: &mut Terrain,
        run: &mut LastRun,
    ) -> (DVec2, bool) {
        let mirror = self.owner.mirror_mut();
        let known =
            |mirror: &&mut Mirror| mirror.is_of(terrain) && result.request.terrain.is_at(terrain);
        let Some(mirror) = mirror.filter(known) else {
            return (DVec2::ZERO, false);
        };
        let news = mirror.take(result, terrain);
        run.lost_by_models += news.lost;
        let request = &result.request;
        if request.last {
            self.pacing.note_result();
        }
        let whole = request.last && request.whole;
        if whole {
            self.full_readback.note_result(request.changes);
        }
        (news.shortfall, whole)
    }
}
