// Sums of a workgroup, added to its account in the status buffer.
#define_import_path bevy_erode::gpu::ledger

#import bevy_erode::gpu::constants::{constants, GROUP, LEDGER_TERMS}
#import bevy_erode::gpu::state::add_exactly
#import bevy_erode::gpu::status::{status_number, write_status}

// Of a workgroup that keeps an account.
const INVOCATIONS: u32 = GROUP * GROUP;

var<workgroup> sums: array<vec4<f32>, INVOCATIONS>;

// Adds to a term of a workgroup's account. An amount may be larger than all that
// is there yet, so it is added to the rest exactly too.
fn add_to_term(group: u32, term: u32, amount: f32) {
    let place = constants.ledger + (group * LEDGER_TERMS + term) * 2u;
    let low = add_exactly(vec2(status_number(place + 1u), 0.0), amount);
    let high = add_exactly(vec2(status_number(place), 0.0), low.x);
    write_status(place, high.x);
    write_status(place + 1u, high.y + low.y);
}

// To be called by all invocations of a workgroup, 256 of them, in uniform control flow.
fn add_to_ledger(group: u32, first_term: u32, terms: u32, local: u32, values: vec4<f32>) {
    sums[local] = values;
    workgroupBarrier();
    for (var half = INVOCATIONS / 2u; half > 0u; half = half >> 1u) {
        if local < half {
            sums[local] += sums[local + half];
        }
        workgroupBarrier();
    }
    if local < terms {
        let sum = sums[0][local];
        if sum != 0.0 { add_to_term(group, first_term + local, sum); }
    }
}
