// Second pass of thermal weathering: bedrock breaks, and soil comes and goes.
#define_import_path bevy_erode::gpu::thermal::slide

#import bevy_erode::gpu::constants::{constants, GROUP, MOVED, AT_REST}
#import bevy_erode::gpu::state::{add_exactly, exactly, index, inside, tile_of}
#import bevy_erode::gpu::status::{status, status_word, mark_ground}
#import bevy_erode::gpu::ledger::add_to_ledger
#import bevy_erode::gpu::thermal::constants::{thermal, HIGH, PER_DIAGONAL, QUANTUM_SHARE, SMALLEST}

@group(0) @binding(2) var<storage, read_write> rock: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read_write> cover: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> slides: array<vec2<f32>>;
@group(0) @binding(5) var hardness: texture_2d<f32>;

var<workgroup> changed: atomic<u32>;

// Share and ground of a cell; beyond the border nothing is loose.
fn slide_at(cell: vec2<i32>) -> vec2<f32> {
    if !inside(cell) { return vec2(0.0, HIGH); }
    return slides[index(cell)];
}

// The step in which flows are counted: the last place of the deepest soil, and
// one more in reserve.
fn quantum() -> f32 {
    let deepest = max(bitcast<f32>(status_word(thermal.deepest.x)), SMALLEST);
    let power = bitcast<f32>(bitcast<u32>(deepest) & 0x7F800000u);
    return max(power * QUANTUM_SHARE, SMALLEST);
}

// The flow from a neighbor into this cell, rounded towards zero to whole quanta.
fn inflow(here: vec2<f32>, there: vec2<f32>, stable: f32, share: f32, quantum: f32) -> f32 {
    let rise = there.y - here.y;
    let excess = rise - min(max(rise, -stable), stable);
    let loose = select(here.x, there.x, excess > 0.0);
    return trunc(loose * excess * share / quantum) * quantum;
}

@compute @workgroup_size(GROUP, GROUP)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) number: u32,
) {
    let cell = vec2<i32>(id.xy);
    if number == 0u && all(group.xy == vec2(0u)) {
        atomicStore(&status[thermal.deepest.y], 0u);
    }
    var broken = 0.0;
    if inside(cell) {
        let at = index(cell);
        let here = slides[at];
        let e = slide_at(cell + vec2(1, 0));
        let w = slide_at(cell + vec2(-1, 0));
        let s = slide_at(cell + vec2(0, 1));
        let n = slide_at(cell + vec2(0, -1));
        let se = slide_at(cell + vec2(1, 1));
        let nw = slide_at(cell + vec2(-1, -1));
        let sw = slide_at(cell + vec2(-1, 1));
        let ne = slide_at(cell + vec2(1, -1));

        let lowest_axis = min(min(w.y, e.y), min(n.y, s.y));
        let lowest_diagonal = min(min(nw.y, se.y), min(ne.y, sw.y));
        let fall = max(here.y - lowest_axis, (here.y - lowest_diagonal) * PER_DIAGONAL);
        var soil = cover[at].x;
        broken = max(fall - thermal.rock_stable, 0.0) * thermal.breaking;
        if broken > 0.0 {
            broken *= thermal.shelter / (thermal.shelter + soil);
            if constants.has_hardness != 0u { broken *= 1.0 - textureLoad(hardness, cell, 0).x; }
            // Deep soil counts in coarser steps: the rock loses what arrives there.
            let covered = exactly(soil + broken);
            broken = exactly(covered - soil);
            soil = covered;
            rock[at] = add_exactly(rock[at], -broken);
        }

        let step = quantum();
        let stable = thermal.stable;
        let share = thermal.share;
        let along = (inflow(here, e, stable.x, share.x, step) + inflow(here, w, stable.x, share.x, step))
            + (inflow(here, s, stable.x, share.x, step) + inflow(here, n, stable.x, share.x, step));
        let across = (inflow(here, se, stable.y, share.y, step) + inflow(here, nw, stable.y, share.y, step))
            + (inflow(here, sw, stable.y, share.y, step) + inflow(here, ne, stable.y, share.y, step));
        let gain = along + across;
        if broken != 0.0 || gain != 0.0 {
            cover[at].x = max(soil + gain, 0.0);
            atomicOr(&changed, 1u);
        }
    }
    add_to_ledger(group.y * groups.x + group.x, MOVED, 1u, number, vec4(broken, 0.0, 0.0, 0.0));
    if number == 0u && atomicLoad(&changed) != 0u {
        let tile = tile_of(group.xy * GROUP);
        mark_ground(tile);
        atomicAnd(&status[constants.tile_states.x + tile], ~AT_REST);
    }
}
