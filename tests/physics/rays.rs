//! Rays against the triangles that the ground consists of.

use super::*;
use bevy::math::DVec2;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Wider than deep, cells that are no metre, off the origin, and no multiple of
/// a chunk: 3 × 2 chunks, the last ones narrow.
fn odd_land() -> Terrain {
    crate::land(5, UVec2::new(150, 101), 1.7)
        .with_origin(Vec3::new(31.0, 220.0, -47.0))
        .expect("a finite origin")
}

fn random() -> Pcg64 {
    Pcg64::seed_from_u64(17)
}

/// A point of the land between the outermost cells' centers, at height zero.
fn somewhere(terrain: &Terrain, random: &mut Pcg64) -> Vec3 {
    let grid = terrain.grid();
    let last = grid.size() - 1;
    let (from, to) = (grid.cell_center(0, 0), grid.cell_center(last.x, last.y));
    let part = Vec3::new(random.random(), 0.0, random.random());
    from + (to - from) * (part * 0.9998 + 0.0001)
}

pub fn vertical_rays_meet_the_triangles<L: Lab>() {
    let mut app = settled_app::<L>(odd_land());
    let terrain = app.world().resource::<Terrain>().clone();
    let mut random = random();
    let top = 400.0;
    let rays: Vec<Ray3d> = (0..4000)
        .map(|_| {
            let at = somewhere(&terrain, &mut random);
            Ray3d::new(at.with_y(top), Dir3::NEG_Y)
        })
        .collect();
    let hits = L::cast(app.world_mut(), rays.clone());
    for (ray, hit) in rays.iter().zip(hits) {
        let expected = triangle_height(&terrain, ray.origin);
        let found = hit.map(|distance| f64::from(top - distance));
        let found = found.unwrap_or_else(|| panic!("no ground at {}", ray.origin));
        assert!(
            (found - expected).abs() < 4e-3,
            "at {}: {found} instead of {expected}",
            ray.origin
        );
    }
}

/// Rays from above the highest point at all angles, and flat ones from the
/// ground to the ground: what they meet lies on the triangles, and they did not
/// pass below them on the way.
pub fn slanted_rays_meet_the_triangles<L: Lab>() {
    let mut app = settled_app::<L>(odd_land());
    let terrain = app.world().resource::<Terrain>().clone();
    let mut random = random();
    let rays: Vec<Ray3d> = (0..3000)
        .map(|number| {
            let mut from = somewhere(&terrain, &mut random).with_y(320.0);
            let mut to = somewhere(&terrain, &mut random).with_y(170.0);
            if number % 2 == 0 {
                from.y = triangle_height(&terrain, from) as f32 + 8.0;
                to.y = triangle_height(&terrain, to) as f32 - 0.5;
            }
            Ray3d::new(from, Dir3::new(to - from).expect("two points"))
        })
        .collect();
    let hits = L::cast(app.world_mut(), rays.clone());
    for (ray, hit) in rays.iter().zip(hits) {
        let distance = hit.unwrap_or_else(|| panic!("no ground along {ray:?}"));
        let at = ray.get_point(distance);
        let expected = triangle_height(&terrain, at);
        // The flattest rays meet steep ground: what counts is the distance to it.
        assert!(
            (f64::from(at.y) - expected).abs() < 5e-3,
            "{at} is not on the ground at {expected}"
        );
        let mut step = 0.0;
        while step < distance - 0.1 {
            let on_the_way = ray.get_point(step);
            let clearance = f64::from(on_the_way.y) - triangle_height(&terrain, on_the_way);
            assert!(
                clearance > -5e-3,
                "{ray:?} passed the ground at {on_the_way}"
            );
            step += 0.4;
        }
    }
}

/// Rays exactly on the lines between chunks, through their corners, and as
/// close to them as numbers allow.
pub fn no_ray_falls_between_chunks<L: Lab>() {
    let mut app = settled_app::<L>(odd_land());
    let terrain = app.world().resource::<Terrain>().clone();
    let grid = *terrain.grid();
    let top = 400.0;
    let mut random = random();
    let mut rays = Vec::new();
    for (column, row) in [(64, None), (128, None)]
        .into_iter()
        .chain([(0, Some(64u32))])
    {
        for part in 0..2000 {
            let along: f64 = random.random_range(0.01..0.99);
            let cells = match row {
                None => DVec2::new(f64::from(column), along * f64::from(grid.size().y - 1)),
                Some(row) => DVec2::new(along * f64::from(grid.size().x - 1), f64::from(row)),
            };
            // Every other ray through a vertex.
            let cells = if part % 2 == 0 { cells } else { cells.round() };
            let half = grid.size().as_dvec2() * 0.5;
            let from_middle = (cells + 0.5 - half) * f64::from(grid.cell_size());
            let at = grid.origin() + Vec3::new(from_middle.x as f32, 0.0, from_middle.y as f32);
            let nudge = |value: f32, way: u32| match way % 3 {
                0 => value,
                1 => value.next_up(),
                _ => value.next_down(),
            };
            let at = Vec3::new(nudge(at.x, part), top, nudge(at.z, part / 3));
            rays.push(Ray3d::new(at, Dir3::NEG_Y));
            // The same point from the side, across or along the border.
            let target = at.with_y(triangle_height(&terrain, at) as f32);
            let lean = match part % 4 {
                0 => Vec3::new(0.1, 1.0, 0.0),
                1 => Vec3::new(0.0, 1.0, 0.1),
                2 => Vec3::new(-0.1, 1.0, 0.1),
                _ => Vec3::new(0.1, 1.0, 0.1),
            };
            let from = target + lean * (top - target.y);
            rays.push(Ray3d::new(
                from,
                Dir3::new(target - from).expect("downward"),
            ));
        }
    }
    let hits = L::cast(app.world_mut(), rays.clone());
    for (ray, hit) in rays.iter().zip(hits) {
        let distance = hit.unwrap_or_else(|| panic!("nothing below {ray:?}"));
        let at = ray.get_point(distance);
        let expected = triangle_height(&terrain, at);
        assert!(
            (f64::from(at.y) - expected).abs() < 5e-3,
            "{ray:?} met {at}, the ground is at {expected}"
        );
    }
}
