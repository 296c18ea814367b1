// Sums of a workgroup, added to its account in the notes.
#define_import_path bevy_erode::gpu::books

#import bevy_erode::gpu::state::{constants, TERMS, add_exactly}
#import bevy_erode::gpu::notes::{note_number, write_number}

var<workgroup> sums: array<vec4<f32>, 256>;

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
        if sum != 0.0 {
                    let place = constants.books + (group * TERMS + first_term + local) * 2u;
            let old = vec2(note_number(place), note_number(place + 1u));
            let now = add_exactly(old, sum);
            write_number(place, now.x);
            write_number(place + 1u, now.y);
        }
    }
}
