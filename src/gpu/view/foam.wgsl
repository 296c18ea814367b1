// Where water breaks, and so is white: the module `view::water::foam` for shaders.
#define_import_path bevy_erode::gpu::view::foam

#import bevy_erode::gpu::view::water_look::{CRITICAL, GRAVITY, MOVING, ROUGHNESS, SPARE, STEEPEST, THICK, WHITE}

fn ramp(value: f32, start: f32, end: f32) -> f32 {
    let t = clamp((value - start) / (end - start), 0.0, 1.0);
    return t * t * (3.0 - 2.0 * t);
}

// Ground, depth and height of speed of the water at a place. units: m
fn water_spot(ground: f32, depth: f32, velocity: vec2<f32>) -> vec3<f32> {
    return vec3(ground, depth, dot(velocity, velocity) / (2.0 * GRAVITY));
}

// How much water outruns its own waves.
fn outruns(at: vec3<f32>) -> f32 {
    return ramp(2.0 * at.z / max(at.y, 1e-3), CRITICAL.x, CRITICAL.y);
}

// The speed whose energy water loses as it breaks, from what it is like at a
// place and `apart` metres up and down the flow. units: m/s
fn lost_speed(up: vec3<f32>, here: vec3<f32>, down: vec3<f32>, apart: f32) -> f32 {
    let depth = max(here.y, 0.01);
    let slope = ROUGHNESS * ROUGHNESS * 2.0 * GRAVITY * here.z / pow(depth, 4.0 / 3.0);
    let drag = max(up.x - down.x, 2.0 * apart * slope);
    let spare = SPARE * up.z * outruns(down);
    let jump = (up.x + up.y + up.z) - (down.x + down.y + down.z) - drag - spare;

    let level = here.x + here.y;
    let before = up.x + up.y - level;
    let behind = level - (down.x + down.y);
    let fall = before - clamp(behind, 0.0, STEEPEST * apart) - up.y;
    let speed = sqrt(2.0 * GRAVITY * up.z);

    let lost = max(jump, 0.0) * outruns(up) + max(fall, 0.0) * ramp(speed, MOVING.x, MOVING.y);
    return sqrt(2.0 * GRAVITY * lost) * ramp(min(up.y, here.y), THICK.x, THICK.y);
}

// What is on one side of a place, if it is wet. Else water goes on there as it
// comes from the other side: a bank is no fall.
fn water_beside(here: vec3<f32>, wet: vec3<f32>, opposite: vec3<f32>) -> vec3<f32> {
    if wet.y > 0.0 { return wet; }
    if opposite.y <= 0.0 { return here; }
    let on = 2.0 * here - opposite;
    return vec3(on.x, max(on.yz, vec2(0.0)));
}

// How much of the water at a place is white, 0 to 1.
fn foam_between(up: vec3<f32>, here: vec3<f32>, down: vec3<f32>, apart: f32, foam_speed: f32) -> f32 {
    return ramp(lost_speed(up, here, down, apart) / foam_speed, WHITE.x, WHITE.y);
}
