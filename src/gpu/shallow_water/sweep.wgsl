// Solves all lines of one direction, rows or columns, which are tridiagonal
// systems. The equations are those of the modules `shallow_water::lines` and
// `shallow_water::sweeps`: two invocations a line eliminate its cells from both ends, meet in the middle cell,
// and go back.
#define_import_path bevy_erode::gpu::shallow_water::sweep

#import bevy_erode::gpu::constants::{constants, FILM}
#import bevy_erode::gpu::status::{status, status_number, write_status}
#import bevy_erode::gpu::shallow_water::sheet::{WEST, EAST, NORTH, SOUTH, CONDUCTANCE, KEPT, SWEPT, fall_place, rim, rim_place, is_steady}
#import bevy_erode::gpu::shallow_water::constants::{solve, LINES, MAX_CARRIED}

@group(0) @binding(2) var<storage, read> sheet: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> conductance: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read> kept: array<vec2<f32>>;
// New flow through the east and the south face.
@group(0) @binding(5) var<storage, read_write> swept: array<vec2<f32>>;
// Of each face: how its flow depends on that of the next one.
@group(0) @binding(6) var<storage, read_write> shares: array<f32>;
// Old discharges of the fluid.
@group(0) @binding(7) var<storage, read> discharge: array<vec2<f32>>;

// What the right sides found.
var<workgroup> right_sides: array<vec2<f32>, LINES>;
var<workgroup> right_flows: array<f32, LINES>;

fn by_columns() -> bool {
    return solve.by_columns != 0u;
}

// The side that a line begins at.
fn first_side() -> u32 {
    return select(WEST, NORTH, by_columns());
}

fn cell_of(line: u32, k: u32) -> u32 {
    return select(line * constants.size.x + k, k * constants.size.x + line, by_columns());
}

// Conductance of the face before cell k.
fn conductance_of(line: u32, k: u32) -> f32 {
    if k == 0u { return rim(first_side(), CONDUCTANCE, line); }
    let both = conductance[cell_of(line, k - 1u)];
    return select(both.x, both.y, by_columns());
}

// Fall of the old level over the face before cell k.
fn fall_of(line: u32, k: u32, cells: u32) -> f32 {
    if k == 0u { return status_number(fall_place(first_side(), line)); }
    if k == cells { return status_number(fall_place(select(EAST, SOUTH, by_columns()), line)); }
    return sheet[cell_of(line, k - 1u)].x - sheet[cell_of(line, k)].x;
}

// Kept flow of the face before cell k.
fn kept_of(line: u32, k: u32) -> f32 {
    if k == 0u { return rim(first_side(), KEPT, line); }
    let both = kept[cell_of(line, k - 1u)];
    return select(both.x, both.y, by_columns());
}

// What cell k will gain across the lines, by the old flows but for what is kept of
// them.
fn aside_of(line: u32, k: u32) -> f32 {
    let at = cell_of(line, k);
    var old: vec2<f32>;
    var still: vec2<f32>;
    if by_columns() {
        if line == 0u {
            old.x = status_number(solve.edges + k);
            still.x = rim(WEST, KEPT, k);
        } else {
            old.x = discharge[at - 1u].x;
            still.x = kept[at - 1u].x;
        }
        old.y = discharge[at].x;
        still.y = kept[at].x;
    } else {
        if line == 0u {
            old.x = status_number(solve.edges + constants.size.y + k);
            still.x = rim(NORTH, KEPT, k);
        } else {
            let above = at - constants.size.x;
            old.x = discharge[above].y;
            still.x = kept[above].y;
        }
        old.y = discharge[at].y;
        still.y = kept[at].y;
    }
    let gain = (old.x - old.y) * solve.per_length - (still.x - still.y);
    let depth = sheet[at].y;
    return min(max(gain, -depth), depth);
}

// What drives a flow through a face, and by how much the cells before and behind it
// change that as they rise.
struct Face {
    before: f32,
    behind: f32,
    drive: f32,
}

// The face before cell k.
fn face_of(line: u32, k: u32, cells: u32) -> Face {
    let c = conductance_of(line, k);
    let fall = fall_of(line, k, cells);
    let drive = c * fall;
    if solve.carries == 0u { return Face(c, c, drive); }
    // On a border only the edge cell can rise, so that its depth counts.
    let first = sheet[cell_of(line, max(k, 1u) - 1u)].y;
    let second = sheet[cell_of(line, min(k, cells - 1u))].y;
    let down = fall >= 0.0;
    let giving = select(second, first, down);
    let taking = select(first, second, down);
    // Where it is too dry for a flow, both parts of it are zero.
    let h = max(min(giving, abs(fall) + taking), FILM);
    let expected = kept_of(line, k) + drive / (1.0 + c);
    let carried = min(max((5.0 / 3.0) * expected / h, -MAX_CARRIED), MAX_CARRIED);
    // Later on, what flows across the lines is known.
    var aside = 0.0;
    if solve.is_second == 0u {
        if carried > 0.0 && k > 0u { aside = aside_of(line, k - 1u); }
        if carried < 0.0 && k < cells { aside = aside_of(line, k); }
    }
    return Face(c + max(carried, 0.0), c + max(-carried, 0.0), drive + carried * aside);
}

// Share of a face's flow, and what it has without the next one.
fn store(line: u32, k: u32, flow: f32) {
    if k == 0u {
        write_status(rim_place(first_side(), SWEPT, line), flow);
    } else if by_columns() {
        swept[cell_of(line, k - 1u)].y = flow;
    } else {
        swept[cell_of(line, k - 1u)].x = flow;
    }
}

fn stored(line: u32, k: u32) -> f32 {
    if k == 0u { return rim(first_side(), SWEPT, line); }
    let both = swept[cell_of(line, k - 1u)];
    return select(both.x, both.y, by_columns());
}

// What cell k gains by kept flows and by the sweep before.
fn push_of(line: u32, k: u32) -> f32 {
    let columns = by_columns();
    let x = select(k, line, columns);
    let y = select(line, k, columns);
    let at = y * constants.size.x + x;
    let own = kept[at];
    var west: f32;
    var north: f32;
    if x == 0u { west = rim(WEST, KEPT, y); } else { west = kept[at - 1u].x; }
    if y == 0u { north = rim(NORTH, KEPT, x); } else { north = kept[at - constants.size.x].y; }
    var push = (west - own.x) + (north - own.y);
    if solve.is_second != 0u {
        let out = swept[at];
        if columns {
            if x == 0u { push += rim(WEST, SWEPT, y) - out.x; } else { push += swept[at - 1u].x - out.x; }
        } else {
            if y == 0u { push += rim(NORTH, SWEPT, x) - out.y; } else { push += swept[at - constants.size.x].y - out.y; }
        }
    }
    return push;
}

// What has been eliminated from one end: the flow into the next cell is p - b·δ.
// The right side is the left one mirrored: what lies before a face lies behind it.
struct Side {
    b: f32,
    p: f32,
}

fn mirrored(face: Face) -> Face {
    return Face(face.behind, face.before, -face.drive);
}

fn begin(face: Face) -> Side {
    return Side(face.behind, face.drive);
}

// Takes in a cell and its next face; returns what the face before has without
// the next one, and its share.
fn take(side: ptr<function, Side>, push: f32, next: Face) -> vec2<f32> {
    let b = (*side).b;
    let p = (*side).p;
    let a = 1.0 + b;
    let part = 1.0 / a;
    let whole = 1.0 / (a + next.before);
    *side = Side((a * next.behind) * whole, (a * next.drive + next.before * (push + p)) * whole);
    return vec2((p - b * push) * part, b * part);
}

@compute @workgroup_size(LINES, 2)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) id: vec3<u32>) {
    let size = constants.size;
    let lines = select(size.y, size.x, by_columns());
    let cells = select(size.x, size.y, by_columns());
    let line = group.x * LINES + id.x;
    let is_left = id.y == 0u;
    let works = line < lines && !is_steady();
    let middle = cells / 2u;
    // The first face of all has no cell to keep its share.
    var first_share = 0.0;
    var side = Side(0.0, 0.0);
    if works {
        if is_left {
            side = begin(face_of(line, 0u, cells));
            for (var k = 0u; k < middle; k++) {
                let found = take(&side, push_of(line, k), face_of(line, k + 1u, cells));
                store(line, k, found.x);
                if k == 0u { first_share = found.y; } else { shares[cell_of(line, k - 1u)] = found.y; }
            }
        } else {
            side = begin(mirrored(face_of(line, cells, cells)));
            for (var k = cells - 1u; k > middle; k--) {
                let found = take(&side, push_of(line, k), mirrored(face_of(line, k, cells)));
                store(line, k + 1u, -found.x);
                shares[cell_of(line, k)] = found.y;
            }
            right_sides[id.x] = vec2(side.b, side.p);
        }
    }
    workgroupBarrier();
    var flow = 0.0;
    if works && is_left {
        let right = right_sides[id.x];
        let whole = 1.0 + (side.b + right.x);
        let rise = (push_of(line, middle) + (side.p + right.y)) / whole;
        flow = side.p - side.b * rise;
        right_flows[id.x] = -(right.y - right.x * rise);
    }
    workgroupBarrier();
    if works {
        if is_left {
            store(line, middle, flow);
            for (var k = middle; k > 0u; k--) {
                let before = k - 1u;
                var share = first_share;
                if before > 0u { share = shares[cell_of(line, before - 1u)]; }
                flow = stored(line, before) + share * flow;
                store(line, before, flow);
            }
        } else {
            flow = right_flows[id.x];
            store(line, middle + 1u, flow);
            for (var k = middle + 2u; k <= cells; k++) {
                flow = stored(line, k) + shares[cell_of(line, k - 1u)] * flow;
                store(line, k, flow);
            }
        }
    }
}
