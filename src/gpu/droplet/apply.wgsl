// Last pass of a batch of drops: the ground takes on the sums of their changes.
#define_import_path bevy_erode::gpu::droplet::apply

#import bevy_erode::gpu::constants::{constants, GROUP, AT_REST, MOVED, SOLIDS_LEFT}
#import bevy_erode::gpu::state::{add_exactly, exactly, index, inside, tile_of}
#import bevy_erode::gpu::status::{status, status_word, mark_ground}
#import bevy_erode::gpu::ledger::add_to_term
#import bevy_erode::gpu::droplet::exact::product
#import bevy_erode::gpu::droplet::constants::{droplet, DROPLET_SUMS}

@group(0) @binding(2) var<storage, read_write> rock: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read_write> cover: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read_write> tallies: array<vec2<i32>>;

var<workgroup> changed: atomic<u32>;

// Books units that were counted in two halves, and begins to count anew. In
// pieces of so few bits that each is exact.
fn add_units(place: u32, term: u32) {
    let unit = droplet.unit;
    let low = status_word(place);
    let high = i32(status_word(place + 1u)) + i32(low >> 16u);
    add_to_term(0u, term, product(f32(low & 0xFFFFu), unit));
    add_to_term(0u, term, product(f32(high & 0xFFFF), product(unit, 65536.0)));
    add_to_term(0u, term, product(f32(high >> 16u), product(unit, 4294967296.0)));
    atomicStore(&status[place], 0u);
    atomicStore(&status[place + 1u], 0u);
}

@compute @workgroup_size(GROUP, GROUP)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let cell = vec2<i32>(id.xy);
    if inside(cell) {
        let at = index(cell);
        let tally = tallies[at];
        if any(tally != vec2(0)) { tallies[at] = vec2(0); }
        let units = tally.y;
        if units != 0 {
            // In two parts that are exact numbers, as on the CPU.
            let most = (units + 32) & ~63;
            var sum = vec2(cover[at].x, 0.0);
            sum = add_exactly(sum, product(f32(most), droplet.unit));
            sum = add_exactly(sum, product(f32(units - most), droplet.unit));
            let soil = select(0.0, sum.x, sum.x > 0.0);
            cover[at].x = soil;
            // What soil cannot take goes to the bedrock, which keeps a rest.
            rock[at] = add_exactly(rock[at], exactly(exactly(sum.x - soil) + sum.y));
            atomicOr(&changed, 1u);
        }
    }
    workgroupBarrier();
    if local == 0u {
        if all(group.xy == vec2(0u)) {
            add_units(DROPLET_SUMS, MOVED);
            add_units(DROPLET_SUMS + 2u, SOLIDS_LEFT);
        }
        if atomicLoad(&changed) != 0u {
            let tile = tile_of(group.xy * GROUP);
            mark_ground(tile);
            atomicAnd(&status[constants.tile_states.x + tile], ~AT_REST);
        }
    }
}
