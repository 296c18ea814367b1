//! Rain and evaporation as one pass. Rain in drops stays with the host.

use super::{
    frame_plan::{FramePlan, GpuCommand},
    pass::{
        Access::{Read, ReadWrite},
        Binding::{Map, State, Status},
        MapSlot, Pass, PassModule,
        Plane::{Cover, Load, Rock},
        shader_file,
    },
    shader_module::shader_module,
    twin::{GpuTwin, StepRecorder},
};
use crate::{
    forcing::{EvaporationSolver, MAX_DEPTH, RainSolver},
    terrain::Grid,
};
use bevy::render::render_resource::ShaderType;

shader_module! {
    pub(super) static CONSTANTS = "bevy_erode::gpu::forcing::constants";
    constants {
        /// Most water that one step may add to a cell. units: m
        MAX_DEPTH: f32 = MAX_DEPTH as f32;
    }
    /// What a step brings and takes. units: m
    struct WeatherConstants as weather at (1, 0) {
        rain: f32,
        drying: f32,
        /// Whether a map says how much of the rain falls on each cell.
        has_rain_map: u32,
    }
}

static RAIN_MAP: MapSlot = MapSlot {
    label: "erosion rain map",
};

static WEATHER: Pass = Pass {
    label: "erosion/forcing/weather",
    shader: shader_file!("weather.wgsl"),
    bindings: &[
        (Status, ReadWrite),
        (State(Rock), ReadWrite),
        (State(Cover), ReadWrite),
        (State(Load), ReadWrite),
        (Map(&RAIN_MAP), Read),
    ],
    constants: Some(WeatherConstants::min_size),
};

pub(super) static MODULE: PassModule = PassModule {
    passes: &[&WEATHER],
    libraries: &[],
    constants: &[&CONSTANTS],
    twins: |twins| {
        twins.add::<RainSolver>();
        twins.add::<EvaporationSolver>();
    },
};

/// Rain, then evaporation. units: m
struct Weather {
    rain: f32,
    drying: f32,
}

impl GpuCommand for Weather {
    fn plan(self: Box<Self>, plan: &mut FramePlan) {
        let constants = plan.constants(&WeatherConstants {
            rain: self.rain,
            drying: self.drying,
            has_rain_map: plan.has_map(&RAIN_MAP).into(),
        });
        plan.over_cells(&WEATHER, constants);
    }
}

impl GpuTwin for RainSolver {
    fn record_step(&mut self, dt: f32, recorder: StepRecorder) {
        // Drops fall on the host, which counts the time then.
        if self.layer(0.0).is_none() {
            return;
        }
        let depth = self.pass(dt);
        let Some((rain, weights)) = self.layer(depth) else {
            return;
        };
        let mut step = recorder.begin();
        step.set_map(&RAIN_MAP, weights);
        step.push(Weather { rain, drying: 0.0 });
    }

    fn hand_over(&mut self, _: &Grid) {
        // It knows nothing of the terrain, and the date stays.
    }
}

impl GpuTwin for EvaporationSolver {
    fn record_step(&mut self, dt: f32, recorder: StepRecorder) {
        let drying = self.pass(dt).min(MAX_DEPTH) as f32;
        let mut step = recorder.begin();
        match step.last_mut::<Weather>() {
            // One pass does both.
            Some(weather) if weather.drying == 0.0 => weather.drying = drying,
            _ => step.push(Weather { rain: 0.0, drying }),
        }
    }

    fn hand_over(&mut self, _: &Grid) {
        // It knows nothing of the terrain, and the date stays.
    }
}
