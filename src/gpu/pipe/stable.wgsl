// The length of a sub-step. To be included by passes that bind the status buffer.
#define_import_path bevy_erode::gpu::pipe::stable

#import bevy_erode::gpu::constants::constants
#import bevy_erode::gpu::pipe::constants::{pipe, COURANT}
#import bevy_erode::gpu::status::status_number

// The time that this sub-step takes, as a share of what it was asked to: the
// water may have become faster than the host knows.
fn stable_share() -> f32 {
    let signal = max(sqrt(2.0 * status_number(constants.pace.x)), 1e-3);
    return min(1.0, COURANT * constants.cell_size / signal / pipe.dt);
}
