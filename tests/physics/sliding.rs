//! A box on ice must not notice where one chunk ends.

use super::*;

/// Speeds of a box at the places of its way over flat ground, so far aside of
/// the middle.
fn slide<L: Lab>(direction: Vec3, speed: f32, height: f32, aside: f32) -> Vec<(f32, f32)> {
    let mut app = settled_app::<L>(flat_at(height));
    let half = Vec3::new(0.6, 0.3, 0.45);
    let lane = direction.cross(Vec3::Y) * aside;
    let start = direction * -50.0 + lane + Vec3::Y * (height + half.y + 0.001);
    let block = (
        Transform::from_translation(start),
        L::block(half, 0.02, direction * speed),
    );
    let block = app.world_mut().spawn(block).id();
    let mut track = Vec::new();
    for _ in 0..64 * 30 {
        app.update();
        let way = (position(&app, block) - start).dot(direction);
        track.push((way - 50.0, L::velocity(app.world(), block).dot(direction)));
        if way > 100.0 {
            break;
        }
    }
    track
}

/// 4 × 4 chunks of 32 m: borders at -32, 0 and 32 m.
fn flat_at(height: f32) -> Terrain {
    let cells = 257 * 257;
    Terrain::from_heights(UVec2::splat(257), 0.5, vec![height; cells]).expect("flat ground")
}

fn speed_at(track: &[(f32, f32)], way: f32) -> f32 {
    let found = track.iter().find(|(at, _)| *at >= way);
    found
        .unwrap_or_else(|| panic!("the box stopped before {way} m"))
        .1
}

pub fn a_border_slows_a_sliding_box_no_more_than_other_ground<L: Lab>() {
    for direction in [Vec3::X, Vec3::NEG_X, Vec3::Z, Vec3::NEG_Z] {
        // Across the borders, and along one of them as well: the lanes at 0.
        for (speed, height, aside) in [(8.0, 0.0, 0.0), (20.0, 0.0, 0.0), (8.0, 1234.5, 9.3)] {
            let track = slide::<L>(direction, speed, height, aside);
            for border in [-32.0, 0.0, 32.0] {
                let lost = |from: f32| {
                    let (before, after) = (speed_at(&track, from), speed_at(&track, from + 4.0));
                    (before - after) / before
                };
                let (over, elsewhere) = (lost(border - 2.0), lost(border - 10.0));
                assert!(
                    over - elsewhere < 0.01,
                    "{direction} at {speed} m/s: {over} lost at {border} m, {elsewhere} before"
                );
            }
        }
    }
}
