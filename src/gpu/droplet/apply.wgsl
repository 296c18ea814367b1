// Last pass of a batch of drops: the ground takes on the sums of their changes.
#define_import_path bevy_erode::gpu::droplet::apply

#import bevy_erode::gpu::state::{constants, AT_REST, MOVED, SOLIDS_LEFT, add_exactly, exactly, index, inside, tile_of}
#import bevy_erode::gpu::notes::{notes, note, mark_ground}
#import bevy_erode::gpu::ledger::enter
#import bevy_erode::gpu::droplet::exact::product

@group(0) @binding(2) var<storage, read_write> rock: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read_write> cover: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read_write> tallies: array<vec2<i32>>;

var<workgroup> changed: atomic<u32>;

// Books units that were counted in two halves, and begins to count anew. In
// pieces of so few bits that each is exact.
fn book_units(place: u32, term: u32) {
    let unit = constants.drops.unit;
    let low = note(place);
    let high = i32(note(place + 1u)) + i32(low >> 16u);
    enter(0u, term, product(f32(low & 0xFFFFu), unit));
    enter(0u, term, product(f32(high & 0xFFFF), product(unit, 65536.0)));
    enter(0u, term, product(f32(high >> 16u), product(unit, 4294967296.0)));
    atomicStore(&notes[place], 0u);
    atomicStore(&notes[place + 1u], 0u);
}

@compute @workgroup_size(16, 16)
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
            sum = add_exactly(sum, product(f32(most), constants.drops.unit));
            sum = add_exactly(sum, product(f32(units - most), constants.drops.unit));
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
            book_units(constants.drops.account, MOVED);
            book_units(constants.drops.account + 2u, SOLIDS_LEFT);
        }
        if atomicLoad(&changed) != 0u {
            let tile = tile_of(group.xy * 16u);
            mark_ground(tile);
            atomicAnd(&notes[constants.tile_states.x + tile], ~AT_REST);
        }
    }
}
