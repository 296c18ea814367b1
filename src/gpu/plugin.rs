//! Wires the GPU's side into the app.

use super::{
    backend::{
        BackendChanged, EditShortfall, ErosionBackendStatus, Readback, ReadbackCompleted,
        device_lost, receive, send,
    },
    control::GpuControl,
    executor::{CommandQueue, Executor, map_readbacks, run_commands},
    pass::{Pipelines, embed_shaders, queue_pipelines},
    pipe,
};
use crate::{
    backend::{ErosionBackend, TileRequests},
    schedule::ErosionSystems,
};
use bevy::{
    core_pipeline::schedule::camera_driver,
    ecs::schedule::InternedScheduleLabel,
    prelude::*,
    render::{
        ExtractSchedule, MainWorld, Render, RenderApp, RenderStartup, RenderSystems,
        error_handler::{ErrorType, RenderErrorHandler, RenderErrorPolicy},
        render_resource::PipelineCache,
        renderer::RenderGraph,
    },
};

/// Lets the GPU run models. [`ErosionPlugin`](crate::ErosionPlugin) adds it.
pub struct GpuPlugin {
    /// The schedule that [`ErosionSystems`] run in.
    pub schedule: InternedScheduleLabel,
}

impl Plugin for GpuPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<ErosionBackend>()
            .init_resource::<ErosionBackendStatus>()
            .init_resource::<Readback>()
            .init_resource::<GpuControl>()
            .init_resource::<TileRequests>()
            .register_type::<ErosionBackendStatus>()
            .register_type::<Readback>()
            .add_message::<BackendChanged>()
            .add_message::<ReadbackCompleted>()
            .add_message::<EditShortfall>()
            .add_systems(
                self.schedule,
                (
                    // So that nothing acts on an older mirror than it must.
                    receive.before(ErosionSystems::Input),
                    send.after(ErosionSystems::Simulate)
                        .before(ErosionSystems::Publish),
                ),
            );
        #[cfg(feature = "render")]
        super::view::build(app, self.schedule);
    }

    fn finish(&self, app: &mut App) {
        // Without a renderer the CPU runs everything.
        if app.get_sub_app(RenderApp).is_none() {
            return;
        }
        embed_shaders(app);
        survive_device_loss(app);
        #[cfg(feature = "render")]
        super::view::finish(app);
        let results = app.world().resource::<GpuControl>().results.clone();
        let Some(render_app) = app.get_sub_app_mut(RenderApp) else {
            return;
        };
        render_app
            .insert_resource(CommandQueue {
                results,
                ..default()
            })
            .init_resource::<Executor>()
            .add_systems(RenderStartup, (queue_pipelines, forget_former_device))
            .add_systems(ExtractSchedule, extract_commands)
            .add_systems(RenderGraph, run_commands.before(camera_driver))
            .add_systems(Render, map_readbacks.in_set(RenderSystems::Cleanup));
    }
}

/// Bevy's default is to quit when the device is lost. Erosion can go on, so the
/// app stays; what becomes of other errors is left to whoever decided before.
/// When that ends rendering for now or for good, no command is carried out.
fn survive_device_loss(app: &mut App) {
    let world = app.world_mut();
    let before = world.remove_resource::<RenderErrorHandler>();
    world.insert_resource(HandlerBefore(before.unwrap_or_default()));
    world.insert_resource(RenderErrorHandler(|error, main_world, render_world| {
        let policy = if error.ty == ErrorType::DeviceLost {
            RenderErrorPolicy::StopRendering
        } else {
            let before = main_world.get_resource::<HandlerBefore>();
            let before = before.map_or(RenderErrorHandler::default().0, |before| before.0.0);
            before(error, main_world, render_world)
        };
        if !matches!(policy, RenderErrorPolicy::Ignore) {
            device_lost(main_world);
        }
        policy
    }));
}

/// Who decided on render errors before.
#[derive(Resource)]
struct HandlerBefore(RenderErrorHandler);

/// A new device knows nothing of what was on an older one.
fn forget_former_device(mut commands: Commands, mut queue: ResMut<CommandQueue>) {
    commands.insert_resource(Executor::default());
    queue.commands.clear();
    queue.is_new_device = true;
}

/// Brings the main world's commands to the render world.
fn extract_commands(
    mut main: ResMut<MainWorld>,
    mut queue: ResMut<CommandQueue>,
    pipelines: Option<Res<Pipelines>>,
    cache: Res<PipelineCache>,
) {
    let mut control = main.resource_mut::<GpuControl>();
    if core::mem::take(&mut queue.is_new_device) {
        control.restore_device();
    }
    control.readiness = pipelines.map(|pipelines| pipelines.readiness(&cache));
    queue.commands.append(&mut control.commands);
    queue.surroundings = control.surroundings;
}

/// Memory that a sub-step of the pipe model moves for each cell. units: bytes
pub fn bytes_per_cell() -> u32 {
    let passes = pipe::SUB_STEP.iter();
    passes.map(|pass| pass.bytes_per_cell()).sum()
}
