// Sums of a workgroup, added to its account in the notes.
#define_import_path bevy_erode::gpu::ledger

#import bevy_erode::gpu::state::{constants, TERMS, add_exactly}
#import bevy_erode::gpu::notes::{note_number, write_number}

var<workgroup> sums: array<vec4<f32>, 256>;

// Adds to a term of a workgroup's account. An amount may be larger than all that
// is there yet, so it is added to the rest exactly too.
fn enter(group: u32, term: u32, amount: f32) {
    let place = constants.books + (group * TERMS + term) * 2u;
    let low = add_exactly(vec2(note_number(place + 1u), 0.0), amount);
    let high = add_exactly(vec2(note_number(place), 0.0), low.x);
    write_number(place, high.x);
    write_number(place + 1u, high.y + low.y);
}

// To be called by all 256 invocations of a workgroup, in uniform control flow.
fn book(group: u32, first_term: u32, terms: u32, local: u32, values: vec4<f32>) {
    sums[local] = values;
    workgroupBarrier();
    for (var half = 128u; half > 0u; half = half >> 1u) {
        if local < half {
            sums[local] += sums[local + half];
        }
        workgroupBarrier();
    }
    if local < terms {
        let sum = sums[0][local];
        if sum != 0.0 { enter(group, first_term + local, sum); }
    }
}
