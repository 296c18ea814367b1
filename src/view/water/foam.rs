//! Where water breaks, and so is white.
//!
//! Fast water alone is not: a smooth chute is as clear as glass. What makes foam is
//! the energy that water loses to more than the drag of its bed, where it runs
//! into slower water (a hydraulic jump) and where it falls. With the ground `z`,
//! depth `d`, level `L = z + d`, speed `v` and its height `K = v²/2g` in a cell, and
//! with the same a length `s` up (↑) and down (↓) the flow:
//!
//! ```text
//! jump = (L↑ + K↑) − (L↓ + K↓) − max(z↑ − z↓, 2s·n²v²/d^(4/3)) − 0.1·K↑·r(Fr↓²)
//! fall = (L↑ − L) − clamp(L − L↓, 0, 1.5·s) − d↑
//! lost = √(2g·(max(0, jump)·r(Fr↑²) + max(0, fall)·(v↑ from 0.1 to 0.4 m/s)))
//!        · (min(d, d↑) from 5 to 30 mm)
//! foam = (lost from ¼ to all of the foam speed)           Fr² = v²/(g·d)
//! ```
//!
//! where "from … to" rises smoothly from 0 to 1, and `r(Fr²)` is that from 0.6 to
//! 1.4. The view knows no bed's roughness. So drag takes all that the bed's fall
//! gives, as it does in even flow, or what it takes of `n`, if that is more: even
//! flow on any slope has no foam. A tenth of the speed's height is for waves and for
//! bends of the bed, as long as water stays faster than its waves. Water that the bed
//! lets down as steeply as before slides on, up to a slope of 1.5; else it falls,
//! if by more than its own depth.

use crate::view::{colors::ramp, surface::Cells};
use bevy::math::*;

pub(crate) const GRAVITY: f32 = 9.81;

/// Manning's roughness that beds have at least. units: s/m^⅓
pub(crate) const ROUGHNESS: f32 = 0.05;

/// Share of its height of speed that water may lose as long as it outruns its
/// own waves.
pub(crate) const SPARE: f32 = 0.1;

/// Water does not slide down what is steeper: it falls.
pub(crate) const STEEPEST: f32 = 1.5;

/// Squares of the Froude number between which water outruns its waves more and more.
pub(crate) const CRITICAL: (f32, f32) = (0.6, 1.4);

/// Speeds between which water that falls counts more and more. units: m/s
pub(crate) const MOVING: (f32, f32) = (0.1, 0.4);

/// Depths between which water is more and more than a film. units: m
pub(crate) const THICK: (f32, f32) = (0.005, 0.03);

/// Shares of the foam speed between which what water loses makes it white.
pub(crate) const WHITE: (f32, f32) = (0.25, 1.0);

/// Slower water neither breaks nor has a direction. units: m/s
pub(crate) const STILL: f32 = 0.02;

/// Ground, depth and height of speed of the water at a place. units: m
fn spot(ground: f32, depth: f32, velocity: Vec2) -> Vec3 {
    Vec3::new(ground, depth, velocity.length_squared() / (2.0 * GRAVITY))
}

/// The square of the Froude number.
fn froude_squared(spot: Vec3) -> f32 {
    2.0 * spot.z / spot.y.max(1e-3)
}

/// The speed whose energy water loses as it breaks, from what it is like at a
/// place and `apart` metres up and down the flow. units: m/s
fn lost_speed(up: Vec3, here: Vec3, down: Vec3, apart: f32) -> f32 {
    let outruns = |spot| ramp(froude_squared(spot), CRITICAL.0, CRITICAL.1);
    let depth = here.y.max(0.01);
    let slope = ROUGHNESS * ROUGHNESS * 2.0 * GRAVITY * here.z / (depth * depth.cbrt());
    let drag = (up.x - down.x).max(2.0 * apart * slope);
    let spare = SPARE * up.z * outruns(down);
    let jump = up.element_sum() - down.element_sum() - drag - spare;

    let level = here.x + here.y;
    let (before, behind) = (up.x + up.y - level, level - (down.x + down.y));
    let fall = before - behind.clamp(0.0, STEEPEST * apart) - up.y;
    let speed = (2.0 * GRAVITY * up.z).sqrt();

    let lost = jump.max(0.0) * outruns(up) + fall.max(0.0) * ramp(speed, MOVING.0, MOVING.1);
    (2.0 * GRAVITY * lost).sqrt() * ramp(up.y.min(here.y), THICK.0, THICK.1)
}

/// What is on one side of a place, if it is wet. Else water goes on there as it
/// comes from the other side: a bank is no fall.
fn side(here: Vec3, wet: Option<Vec3>, opposite: Option<Vec3>) -> Vec3 {
    match (wet, opposite) {
        (Some(wet), _) => wet,
        (None, Some(opposite)) => {
            let on = 2.0 * here - opposite;
            Vec3::new(on.x, on.y.max(0.0), on.z.max(0.0))
        }
        (None, None) => here,
    }
}

/// How much of the water in a cell is white, 0 to 1. `last` is the last cell of the
/// land, and `foam_speed` the speed that water loses where it is all white.
pub(in crate::view) fn foam(
    cells: &impl Cells,
    at: UVec2,
    last: UVec2,
    cell_size: f32,
    foam_speed: f32,
) -> f32 {
    let (depth, velocity) = (cells.depth(at.x, at.y), cells.velocity(at.x, at.y));
    let sum = velocity.x.abs() + velocity.y.abs();
    if depth <= 0.0 || sum < STILL {
        return 0.0;
    }
    let ground = cells.ground(at.x, at.y);
    let here = spot(0.0, depth, velocity);
    let look = |step: IVec2| {
        let there = at.as_ivec2() + step;
        let is_inside = there.cmpge(IVec2::ZERO).all() && there.cmple(last.as_ivec2()).all();
        let there = there.as_uvec2();
        let depth = is_inside.then(|| cells.depth(there.x, there.y));
        let depth = depth.filter(|depth| *depth > 0.0)?;
        let velocity = cells.velocity(there.x, there.y);
        Some(spot(
            cells.ground(there.x, there.y) - ground,
            depth,
            velocity,
        ))
    };
    let (mut up, mut down) = (Vec3::ZERO, Vec3::ZERO);
    for (along, axis) in [(velocity.x, IVec2::X), (velocity.y, IVec2::Y)] {
        let step = if along < 0.0 { -axis } else { axis };
        let (before, behind) = (look(-step), look(step));
        let weight = along.abs() / sum;
        up += weight * side(here, before, behind);
        down += weight * side(here, behind, before);
    }
    // The places between the cells on both axes are not as far away.
    let apart = cell_size * velocity.length() / sum;
    let lost = lost_speed(up, here, down, apart);
    ramp(lost / foam_speed, WHITE.0, WHITE.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::WaterView;

    /// Ground, depth and velocity by column and row.
    struct Made<F>(F);

    impl<F: Fn(f32, f32) -> (f32, f32, Vec2)> Made<F> {
        fn of(&self, x: u32, y: u32) -> (f32, f32, Vec2) {
            (self.0)(x as f32, y as f32)
        }
    }

    impl<F: Fn(f32, f32) -> (f32, f32, Vec2)> Cells for Made<F> {
        fn ground(&self, x: u32, y: u32) -> f32 {
            self.of(x, y).0
        }

        fn soil(&self, _: u32, _: u32) -> f32 {
            0.0
        }

        fn depth(&self, x: u32, y: u32) -> f32 {
            self.of(x, y).1
        }

        fn share(&self, _: u32, _: u32) -> f32 {
            0.0
        }

        fn velocity(&self, x: u32, y: u32) -> Vec2 {
            self.of(x, y).2
        }
    }

    const SIZE: u32 = 21;

    /// Foam of all cells with the foam speed of the defaults, row by row.
    fn foam_of(cell_size: f32, water: impl Fn(f32, f32) -> (f32, f32, Vec2)) -> Vec<f32> {
        let (cells, last) = (Made(water), UVec2::splat(SIZE - 1));
        let speed = WaterView::default().foam_speed;
        let cell = |i: u32| {
            foam(
                &cells,
                UVec2::new(i % SIZE, i / SIZE),
                last,
                cell_size,
                speed,
            )
        };
        (0..SIZE * SIZE).map(cell).collect()
    }

    fn most(foam: &[f32]) -> f32 {
        foam.iter().copied().fold(0.0, f32::max)
    }

    /// Foam in the middle row of a canal along +X.
    fn canal(cell_size: f32, water: impl Fn(f32) -> (f32, f32, f32)) -> Vec<f32> {
        let all = foam_of(cell_size, |x, _| {
            let (ground, depth, speed) = water(x);
            (ground, depth, Vec2::new(speed, 0.0))
        });
        let row = (SIZE / 2 * SIZE) as usize;
        all[row..row + SIZE as usize].to_vec()
    }

    fn speed_of(froude: f32, depth: f32) -> f32 {
        froude * (GRAVITY * depth).sqrt()
    }

    #[test]
    fn an_even_chute_is_clear_in_every_direction() {
        for slope in [0.1, 0.3, 0.6, 1.0] {
            for froude in [1.5, 2.0, 3.0, 5.0] {
                for (depth, l) in [(0.03, 0.5), (0.2, 1.0), (0.2, 4.0), (1.5, 2.0)] {
                    for angle in [0.0, 30.0, 45.0, 100.0, 200.0_f32] {
                        let way = Vec2::from_angle(angle.to_radians());
                        let velocity = speed_of(froude, depth) * way;
                        let fall = |x, y| -slope * l * way.dot(Vec2::new(x, y));
                        let foam = foam_of(l, |x, y| (fall(x, y), depth, velocity));
                        let name = format!("{slope} {froude} {depth} {l} {angle}");
                        assert!(most(&foam) < 0.05, "{name}: {}", most(&foam));
                        // Nor along banks, whichever way they run.
                        let foam = foam_of(l, |x, y| {
                            let is_in = way.perp_dot(Vec2::new(x, y) - 10.0).abs() < 3.0;
                            let depth = if is_in { depth } else { 0.0 };
                            (fall(x, y), depth, velocity)
                        });
                        assert!(most(&foam) < 0.05, "banks, {name}: {}", most(&foam));
                    }
                }
            }
        }
    }

    #[test]
    fn a_chute_that_is_not_quite_even_is_clear() {
        // Speed and depth swing by some percent, as on any rough bed.
        for slope in [0.1, 0.5, 1.0] {
            let foam = canal(1.0, |x| {
                let depth = 0.2 * (1.0 + 0.01 * (2.1 * x).sin());
                (-slope * x, depth, 0.2 * speed_of(2.0, 0.2) / depth)
            });
            assert!(most(&foam) < 0.05, "{foam:?}");
        }
    }

    #[test]
    fn a_hydraulic_jump_is_white_where_it_is() {
        for (depth, l) in [(0.2, 0.5), (0.2, 1.0), (0.5, 2.0), (1.0, 4.0)] {
            for slope in [0.0, 0.3, 1.0] {
                let discharge = depth * speed_of(3.0, depth);
                // As much water at a Froude number of 0.3.
                let deep = depth * 10.0_f32.powf(2.0 / 3.0);
                let foam = canal(l, |x| match x < 10.0 {
                    true => (slope * l * (10.0 - x), depth, discharge / depth),
                    false => (0.0, deep, discharge / deep),
                });
                assert!(foam[10] > 0.5, "{depth} {l} {slope}: {foam:?}");
                let mut elsewhere = foam.clone();
                elsewhere.drain(9..12);
                assert!(
                    most(&elsewhere) < 0.05,
                    "{depth} {l} {slope}: {elsewhere:?}"
                );
            }
        }
    }

    #[test]
    fn a_jump_over_a_few_cells_is_white_where_it_begins() {
        let discharge = 0.2 * speed_of(3.0, 0.2);
        let foam = canal(0.5, |x| {
            let depth = match x as u32 {
                ..9 => 0.2,
                9 => 0.35,
                10 => 0.55,
                _ => 0.75,
            };
            (0.0, depth, discharge / depth)
        });
        assert!(foam[9] > 0.5, "{foam:?}");
        assert_eq!(most(&foam[..8]), 0.0);
        assert_eq!(most(&foam[12..]), 0.0);
    }

    #[test]
    fn the_foot_of_a_fall_is_white_and_its_lip_is_clear() {
        for (drop, l) in [(0.7, 1.0), (2.0, 1.0), (2.0, 4.0), (30.0, 2.0)] {
            let foam = canal(l, |x| match x < 10.0 {
                // Critical on top, and a deep pool below.
                true => (drop + 2.0, 0.3, speed_of(1.0, 0.3)),
                false => (0.0, 2.0, 0.15 * speed_of(1.0, 0.3)),
            });
            assert!(foam[10] > 0.9, "{drop} {l}: {foam:?}");
            assert_eq!(most(&foam[..10]), 0.0, "{foam:?}");
            assert_eq!(most(&foam[11..]), 0.0, "{foam:?}");
        }
    }

    #[test]
    fn a_face_that_water_cannot_keep_to_is_white() {
        let face = |slope: f32| {
            let foam = canal(1.0, |x| (-slope * x, 0.1, 5.0));
            most(&foam[5..15])
        };
        assert_eq!(face(1.0), 0.0);
        assert_eq!(face(1.5), 0.0);
        assert!(face(3.0) > 0.9, "{}", face(3.0));
    }

    #[test]
    fn still_and_slow_water_is_clear() {
        // A lake over a rough bed, as level as can be, and with all the small
        // motions that models leave in one.
        let lake = |speed: f32| {
            foam_of(1.0, |x, y| {
                let bed = (x * 1.3).sin() + (y * 0.9).cos();
                let velocity = speed * Vec2::new((x * 2.0).sin(), (y * 3.0).cos());
                (bed, 4.0 - bed, velocity)
            })
        };
        assert_eq!(most(&lake(0.0)), 0.0);
        assert_eq!(most(&lake(0.3)), 0.0);
        // A river that slows down over pools and speeds up over bars.
        let discharge = speed_of(0.3, 1.0);
        let river = canal(2.0, |x| {
            let depth = 1.0 + 0.3 * (x * 0.7).sin();
            (1.0 - depth - 0.004 * x, depth, discharge / depth)
        });
        assert_eq!(most(&river), 0.0, "{river:?}");
        // And into a lake.
        let mouth = canal(2.0, |x| {
            let depth = if x < 10.0 { 1.0 } else { 4.0 };
            (1.0 - depth, depth, discharge / depth)
        });
        assert_eq!(most(&mouth), 0.0, "{mouth:?}");
    }

    #[test]
    fn a_film_is_clear() {
        let foam = canal(1.0, |x| (if x < 10.0 { 5.0 } else { 0.0 }, 0.004, 1.0));
        assert_eq!(most(&foam), 0.0);
    }

    #[test]
    fn foam_is_the_same_in_all_directions_of_the_grid() {
        let discharge = 0.3 * speed_of(3.0, 0.3);
        let jump = |along: f32| match along < 10.0 {
            true => (0.0, 0.3, discharge / 0.3),
            false => (0.0, 1.2, discharge / 1.2),
        };
        let turned = |way: Vec2| {
            let foam = foam_of(1.0, |x, y| {
                let from = if way.element_sum() < 0.0 { 20.0 } else { 0.0 };
                let along = from + way.dot(Vec2::new(x, y));
                let (ground, depth, speed) = jump(along + 0.25);
                (ground, depth, speed * way)
            });
            most(&foam)
        };
        let east = turned(Vec2::X);
        for way in [Vec2::NEG_X, Vec2::Y, Vec2::NEG_Y] {
            assert!((turned(way) - east).abs() < 1e-4, "{way}: {}", turned(way));
        }
    }
}
