//! What gameplay code asks: heights, water, rays, in batches too.

use crate::hills;
use bevy::{math::*, prelude::*};
use bevy_erode::prelude::*;
use bevy_erode::{models::pipe::PipeSolver, terrain::landform::TiltedPlane};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Height of the triangles that are drawn; NaN outside them.
fn triangle_height(terrain: &Terrain, at: Vec3) -> f64 {
    let grid = terrain.grid();
    let place = (at - grid.cell_center(0, 0)).xz().as_dvec2() / f64::from(grid.cell_size());
    let last = (grid.size() - 1).as_dvec2();
    if place.cmplt(DVec2::ZERO).any() || place.cmpgt(last).any() {
        return f64::NAN;
    }
    let low = place.floor().min(last - 1.0);
    let t = place - low;
    let corner = |dx: u32, dy: u32| {
        let cell = low.as_uvec2() + UVec2::new(dx, dy);
        f64::from(terrain.ground(grid.index(cell.x, cell.y)))
    };
    let (ne, sw) = (corner(1, 0), corner(0, 1));
    let ground = if t.x + t.y <= 1.0 {
        let nw = corner(0, 0);
        nw + (ne - nw) * t.x + (sw - nw) * t.y
    } else {
        let se = corner(1, 1);
        se + (sw - se) * (1.0 - t.x) + (ne - se) * (1.0 - t.y)
    };
    ground + f64::from(grid.origin().y)
}

fn land() -> Terrain {
    hills(11)
        .with_origin(Vec3::new(30.0, 100.0, -70.0))
        .expect("valid")
}

fn somewhere(dice: &mut Pcg64, terrain: &Terrain) -> Vec3 {
    let half = terrain.grid().extent() * 0.5;
    let mut along = |half: f32| dice.random_range(-half..half);
    terrain.grid().origin() + Vec3::new(along(half.x), 0.0, along(half.y))
}

#[test]
fn vertical_rays_hit_the_triangles() {
    let terrain = land();
    let mut dice = Pcg64::seed_from_u64(1);
    let mut hits = 0;
    for _ in 0..20_000 {
        let at = somewhere(&mut dice, &terrain);
        let expected = triangle_height(&terrain, at);
        let down = Ray3d::new(at + Vec3::Y * 900.0, Dir3::NEG_Y);
        let up = Ray3d::new(at - Vec3::Y * 900.0, Dir3::Y);
        for ray in [down, up] {
            match terrain.raycast(ray, f32::INFINITY) {
                Some(hit) => {
                    hits += 1;
                    assert!((f64::from(hit.position.y) - expected).abs() < 1e-3);
                    assert!(hit.position.xz().distance(at.xz()) < 1e-4);
                    assert!(hit.normal.y > 0.0 && hit.normal.is_normalized());
                    assert!(hit.distance <= 2000.0);
                }
                None => assert!(expected.is_nan(), "{at}: {expected}"),
            }
        }
    }
    assert!(hits > 38_000, "{hits}");
}

#[test]
fn slanting_rays_hit_first_what_marching_finds() {
    let terrain = land();
    let mut dice = Pcg64::seed_from_u64(2);
    let (mut hits, mut misses) = (0, 0);
    for _ in 0..2000 {
        let from = somewhere(&mut dice, &terrain) + Vec3::Y * dice.random_range(-40.0..120.0);
        let to = somewhere(&mut dice, &terrain) + Vec3::Y * dice.random_range(0.0..80.0);
        let Ok(direction) = Dir3::new(to - from) else {
            continue;
        };
        let length = from.distance(to) * 1.5;
        let over = |t: f64| {
            let at = from.as_dvec3() + direction.as_dvec3() * t;
            at.y - triangle_height(&terrain, at.as_vec3())
        };
        // Marching in small steps: the first change of sign over the land.
        let step = 0.02;
        let mut expected = None;
        let mut before = over(0.0);
        for i in 1..(f64::from(length) / step) as u32 {
            let t = f64::from(i) * step;
            let now = over(t);
            if before.is_finite() && now.is_finite() && (before > 0.0) != (now > 0.0) {
                expected = Some(t);
                break;
            }
            before = now;
        }
        let hit = terrain.raycast(Ray3d::new(from, direction), length);
        match (hit, expected) {
            (Some(hit), Some(t)) => {
                hits += 1;
                let distance = f64::from(hit.distance);
                // Marching may step over a hit that only grazes a crest.
                let grazes = over(distance).abs() < 1e-3 && distance < t;
                assert!((distance - t).abs() < 2.0 * step || grazes, "{hit:?} {t}");
            }
            (Some(hit), None) => assert!(over(f64::from(hit.distance)).abs() < 1e-3, "{hit:?}"),
            (None, Some(t)) => panic!("{from} {direction:?}: nothing hit, expected {t}"),
            (None, None) => misses += 1,
        }
    }
    assert!(hits > 500 && misses > 50, "{hits} {misses}");
}

#[test]
fn rays_through_vertices_and_edges_find_ground() {
    let terrain = land();
    let grid = terrain.grid();
    for y in 0..grid.size().y {
        for x in 0..grid.size().x {
            let at = grid.cell_center(x, y) + Vec3::Y * 500.0;
            let hit = terrain.raycast(Ray3d::new(at, Dir3::NEG_Y), 1e4);
            let hit = hit.unwrap_or_else(|| panic!("({x}, {y})"));
            assert!((hit.position.y - 100.0 - terrain.ground(grid.index(x, y))).abs() < 2e-3);
            assert_eq!(hit.cell, UVec2::new(x, y));
        }
    }
    // Along rows and columns of vertices, and along the diagonals.
    let low = grid.cell_center(0, 0);
    for direction in [Vec3::X, Vec3::Z, Vec3::new(1.0, 0.0, 1.0)] {
        let direction = Dir3::new(direction * 50.0 - Vec3::Y * 120.0).expect("valid");
        for cells in 0..40u32 {
            let from = low + Vec3::new(cells as f32 * 2.0, 130.0, cells as f32 * 2.0);
            assert!(terrain.raycast(Ray3d::new(from, direction), 1e4).is_some());
        }
    }
}

#[test]
fn rays_follow_the_ground_as_it_changes() {
    let mut terrain = land();
    let at = terrain.grid().cell_center(64, 64);
    let ray = Ray3d::new(at + Vec3::Y * 500.0, Dir3::NEG_Y);
    let before = terrain.raycast(ray, 1e4).expect("a hit").position.y;
    let edit = TerrainEdit::raise(at, Brush::circle(6.0)).with_strength(30.0);
    edit.apply(&mut terrain).expect("valid");
    let after = terrain.raycast(ray, 1e4).expect("a hit").position.y;
    assert!((after - before - 30.0).abs() < 0.1, "{before} {after}");
    let copy = terrain.clone();
    assert_eq!(copy.raycast(ray, 1e4), terrain.raycast(ray, 1e4));
}

#[test]
fn odd_rays_and_lands_hit_nothing_or_ground() {
    let terrain = land();
    let down = Dir3::NEG_Y;
    for origin in [Vec3::NAN, Vec3::INFINITY, Vec3::splat(1e30)] {
        assert_eq!(terrain.raycast(Ray3d::new(origin, down), 1e4), None);
    }
    let above = Ray3d::new(terrain.grid().origin() + Vec3::Y * 500.0, down);
    assert_eq!(terrain.raycast(above, f32::NAN), None);
    assert_eq!(terrain.raycast(above, -1.0), None);
    assert_eq!(terrain.raycast(above, 10.0), None, "too short");
    for size in [UVec2::ONE, UVec2::new(1, 9), UVec2::new(9, 1)] {
        let strip = Terrain::flat(size, 1.0).expect("valid");
        assert_eq!(strip.raycast(Ray3d::new(Vec3::Y, down), 9.0), None);
    }
    for size in [UVec2::splat(2), UVec2::new(3, 66), UVec2::new(65, 2)] {
        let small = Terrain::flat(size, 1.0).expect("valid");
        assert!(small.raycast(Ray3d::new(Vec3::Y, down), 9.0).is_some());
    }
}

#[test]
fn ground_at_equals_height_and_normal() {
    let terrain = land();
    let mut dice = Pcg64::seed_from_u64(3);
    let places: Vec<Vec3> = (0..9000)
        .map(|_| somewhere(&mut dice, &terrain) * 1.05)
        .collect();
    let mut points = vec![None; 3];
    terrain.ground_at_all(&places, &mut points);
    assert_eq!(points.len(), places.len());
    let mut outside = 0;
    for (place, point) in places.iter().zip(&points) {
        match point {
            Some(point) => {
                let height = terrain.height_at(*place).expect("land");
                let normal = terrain.normal_at(*place).expect("land");
                assert!((point.height - height).abs() < 1e-4);
                assert!(point.normal.distance(normal) < 1e-5, "{point:?} {normal}");
            }
            None => {
                outside += 1;
                assert_eq!(terrain.height_at(*place), None);
            }
        }
    }
    assert!((100..4000).contains(&outside), "{outside}");
}

#[test]
fn water_is_level_and_flows() {
    // A lake in a bowl, its surface at 8 m.
    let size = UVec2::new(65, 49);
    let bowl = |i: u32| {
        let at = UVec2::new(i % 65, i / 65).as_vec2() - Vec2::new(32.0, 24.0);
        at.length_squared() * 0.03
    };
    let ground: Vec<f32> = (0..65 * 49).map(bowl).collect();
    let water = ground.iter().map(|g| (8.0 - g).max(0.0)).collect();
    let terrain = Terrain::from_heights(size, 1.0, ground)
        .and_then(|terrain| terrain.with_layer(Layer::Water, water))
        .and_then(|terrain| terrain.with_origin(Vec3::new(5.0, 2.0, 1.0)))
        .expect("valid");
    let middle = Vec3::new(5.0, 0.0, 1.0);
    for x in -15..=15 {
        let at = middle + Vec3::X * x as f32 * 0.97;
        assert!((terrain.water_surface_at(at).expect("wet") - 10.0).abs() < 1e-4);
    }
    assert_eq!(terrain.water_surface_at(middle + Vec3::X * 25.0), None);
    assert!((terrain.water_depth_at(middle).expect("land") - 8.0).abs() < 1e-3);
    assert_eq!(terrain.water_depth_at(middle + Vec3::X * 25.0), Some(0.0));
    assert_eq!(terrain.velocity_at(middle), Some(Vec2::ZERO), "still");
    assert_eq!(terrain.velocity_at(middle + Vec3::X * 99.0), None);
    let slope = terrain.slope_at(middle + Vec3::X * 10.0).expect("land");
    assert!(slope.distance(Vec2::new(0.6, 0.0)) < 0.01, "{slope}");

    // A sheet that runs down a plane towards +X.
    let mut plane = Terrain::generate(&TiltedPlane::default(), UVec2::splat(64), 2.0)
        .and_then(|terrain| terrain.with_borders(Borders::all(Border::Open)))
        .and_then(|terrain| terrain.with_layer(Layer::Water, vec![0.5; 64 * 64]))
        .expect("valid");
    let mut solver = PipeSolver::new(PipeModel::default(), plane.grid()).expect("valid");
    for _ in 0..60 {
        solver.step(&mut plane, 0.05);
    }
    let middle = Vec3::new(0.3, 0.0, 0.3);
    let velocity = plane.velocity_at(middle).expect("land");
    let down = -plane.slope_at(middle).expect("land");
    assert!(velocity.dot(down.normalize()) > 0.1, "{velocity} {down}");
    let discharge = plane.discharge_at(middle).expect("land");
    let depth = plane.water_depth_at(middle).expect("land");
    assert!((discharge / depth).distance(velocity) < 0.05 * velocity.length());
}

#[test]
fn many_places_are_answered_as_one_is() {
    let mut terrain = hills(3);
    let cells = terrain.grid().cells();
    terrain
        .set_layer(Layer::Water, vec![0.3; cells])
        .expect("valid");
    let mut solver = PipeSolver::new(PipeModel::default(), terrain.grid()).expect("valid");
    for _ in 0..40 {
        solver.step(&mut terrain, 0.05);
    }
    let mut dice = Pcg64::seed_from_u64(8);
    // More than one worker's share, some beyond the land, one nowhere.
    let mut places: Vec<Vec3> = (0..5000)
        .map(|_| somewhere(&mut dice, &terrain) * 1.05)
        .collect();
    places.push(Vec3::NAN);
    let (mut water, mut slopes, mut soil) = (vec![None; 3], Vec::new(), Vec::new());
    terrain.water_at_all(&places, &mut water);
    terrain.look_up_all(&places, &mut slopes, Terrain::slope_at);
    terrain.look_up_all(&places, &mut soil, |terrain, at| {
        terrain.layer_at(Layer::Soil, at)
    });
    assert_eq!(water.len(), places.len());
    let (mut outside, mut dry, mut moving) = (0, 0, 0);
    for (i, &at) in places.iter().enumerate() {
        assert_eq!(slopes[i], terrain.slope_at(at));
        assert_eq!(soil[i], terrain.layer_at(Layer::Soil, at));
        let Some(point) = water[i] else {
            outside += 1;
            assert_eq!(terrain.water_depth_at(at), None);
            continue;
        };
        assert_eq!(Some(point.depth), terrain.water_depth_at(at));
        assert_eq!(point.surface, terrain.water_surface_at(at));
        assert_eq!(Some(point.velocity), terrain.velocity_at(at));
        assert_eq!(Some(point.discharge), terrain.discharge_at(at));
        dry += usize::from(point.surface.is_none());
        moving += usize::from(point.velocity.length() > 0.1);
    }
    assert!(outside > 100 && moving > 1000, "{outside} {dry} {moving}");
    assert!(water[5000].is_none());
}

#[test]
fn a_system_may_ask() {
    #[derive(Resource, Default)]
    struct Answers(Vec<Option<f32>>, usize);

    fn ask(ground: TerrainQuery, mut answers: ResMut<Answers>) {
        answers.0.push(ground.height(Vec3::ZERO));
        assert_eq!(ground.age(), 0);
        assert_eq!(ground.age_at(Vec3::ZERO), ground.grid().map(|_| 0));
        let mut points = Vec::new();
        ground.ground_all(&[Vec3::ZERO; 3], &mut points);
        let mut hits = Vec::new();
        let ray = Ray3d::new(Vec3::Y * 500.0, Dir3::NEG_Y);
        ground.raycast_all(&[ray; 2], 1e4, &mut hits);
        let mut water = vec![None; 7];
        ground.water_all(&[Vec3::ZERO; 4], &mut water);
        let mut depths = Vec::new();
        ground.look_up_all(&[Vec3::ZERO; 5], &mut depths, Terrain::water_depth_at);
        assert_eq!((points.len(), hits.len()), (3, 2));
        assert_eq!((water.len(), depths.len()), (4, 5));
        let here = Vec3::ZERO;
        assert!(water.iter().all(|point| *point == ground.water(here)));
        assert!(
            depths
                .iter()
                .all(|depth| *depth == ground.water_depth(here))
        );
        answers.1 += hits.iter().flatten().count();
    }
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, ErosionPlugin::default()))
        .init_resource::<Answers>()
        .add_systems(Update, ask.after(ErosionSystems::Publish));
    app.update();
    app.insert_resource(hills(1));
    app.update();
    let answers = app.world().resource::<Answers>();
    assert!(answers.0[0].is_none() && answers.0[1].is_some());
    assert_eq!(answers.1, 2);
}
