//! Bodies on ground that stays, and on ground that does not.

use super::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Balls in a grid over the land, each so high above the ground.
fn scatter<L: Lab>(app: &mut App, side: u32, radius: f32, above: f32) -> Vec<Entity> {
    let terrain = app.world().resource::<Terrain>().clone();
    let extent = terrain.grid().extent() * 0.8;
    let origin = terrain.grid().origin();
    let mut bodies = Vec::new();
    for y in 0..side {
        for x in 0..side {
            let part = Vec2::new(x as f32, y as f32) / (side - 1) as f32 - 0.5;
            let at = origin + Vec3::new(part.x * extent.x, 0.0, part.y * extent.y);
            let ground = triangle_height(&terrain, at) as f32;
            let place = Transform::from_translation(at.with_y(ground + radius + above));
            let body = match (x + y) % 2 {
                0 => app.world_mut().spawn((place, L::ball(radius))).id(),
                _ => {
                    let block = L::block(Vec3::splat(radius), 0.5, Vec3::ZERO);
                    app.world_mut().spawn((place, block)).id()
                }
            };
            bodies.push(body);
        }
    }
    bodies
}

/// How far a body's middle is above the ground, or `None` beyond the land.
fn clearance(app: &App, body: Entity) -> Option<f64> {
    let terrain = app.world().resource::<Terrain>();
    let at = position(app, body);
    let cells = terrain.grid().world_to_grid(at);
    let last = (terrain.size() - 1).as_vec2();
    let inside = cells.cmpgt(Vec2::ZERO).all() && cells.cmplt(last).all();
    inside.then(|| f64::from(at.y) - triangle_height(terrain, at))
}

fn flat(height: f32) -> Terrain {
    let size = UVec2::new(140, 90);
    let cells = size.element_product() as usize;
    Terrain::from_heights(size, 0.8, vec![height; cells]).expect("flat ground")
}

/// A bowl for each ball, so that it knows where to rest.
pub fn dropped_balls_come_to_rest_on_the_ground<L: Lab>() {
    let pitch = 12.0;
    let bowl = |x: f32| (x / pitch - (x / pitch).round()).abs() * pitch;
    let terrain = flat(0.0);
    let grid = *terrain.grid();
    let heights = (0..grid.cells())
        .map(|i| {
            let (x, y) = ((i % grid.width()) as u32, (i / grid.width()) as u32);
            let at = grid.cell_center(x, y);
            50.0 + 0.1 * (bowl(at.x) + bowl(at.z))
        })
        .collect();
    let terrain = Terrain::from_heights(grid.size(), grid.cell_size(), heights).expect("bowls");
    let mut app = settled_app::<L>(terrain);
    let radius = 0.5;
    let balls: Vec<Entity> = [(-2, -1), (0, 0), (1, 2), (-4, 0), (3, -2)]
        .map(|(x, y)| {
            let bottom = Vec3::new(x as f32, 0.0, y as f32) * pitch;
            let place = Transform::from_translation(bottom.with_y(54.0) + Vec3::X * 0.5);
            app.world_mut().spawn((place, L::ball(radius))).id()
        })
        .to_vec();
    ticks(&mut app, 64 * 12);
    for ball in balls {
        let above = clearance(&app, ball).expect("on the land");
        let speed = L::velocity(app.world(), ball).length();
        assert!(speed < 0.3, "still rolls at {speed} m/s");
        // Slopes of a tenth: the middle is the radius and a little more above.
        assert!((above - 0.5).abs() < 0.06, "{above} m above the ground");
    }
}

pub fn rising_ground_carries_sleeping_bodies<L: Lab>() {
    let mut app = settled_app::<L>(flat(10.0));
    let bodies = scatter::<L>(&mut app, 5, 0.4, 0.01);
    ticks(&mut app, 64 * 6);
    assert!(
        bodies.iter().all(|&body| L::sleeps(app.world(), body)),
        "nothing moves, so all sleep"
    );
    // Twice their height at once, and a slope, too.
    reshape(&mut app, |at, height| height + 2.0 + 0.02 * at.x);
    settle::<L>(&mut app);
    for &body in &bodies {
        let above = clearance(&app, body).expect("on the land");
        assert!((0.3..0.8).contains(&above), "{above} m above raised ground");
    }
    ticks(&mut app, 64);
    for &body in &bodies {
        let above = clearance(&app, body).expect("on the land");
        assert!((0.3..0.6).contains(&above), "{above} m above raised ground");
    }
}

pub fn ground_that_sinks_wakes_the_sleeping<L: Lab>() {
    let mut app = settled_app::<L>(flat(10.0));
    let bodies = scatter::<L>(&mut app, 4, 0.4, 0.01);
    ticks(&mut app, 64 * 6);
    assert!(bodies.iter().all(|&body| L::sleeps(app.world(), body)));
    // Only the western half sinks.
    reshape(
        &mut app,
        |at, height| if at.x < 0.0 { height - 1.5 } else { height },
    );
    settle::<L>(&mut app);
    ticks(&mut app, 128);
    for &body in &bodies {
        let above = clearance(&app, body).expect("on the land");
        assert!((0.3..0.6).contains(&above), "{above} m above sunken ground");
    }
}

pub fn bodies_above_ground_that_comes_late_are_saved<L: Lab>() {
    let mut app = create_app::<L>(flat(10.0));
    // One chunk of six in a frame, and that one with pauses.
    app.world_mut().resource_mut::<TerrainColliders>().per_frame = 0;
    app.update();
    let bodies = scatter::<L>(&mut app, 6, 0.4, 0.01);
    ticks(&mut app, 40);
    assert!(clearance(&app, bodies[0]).is_some_and(|above| above < -0.5));
    app.world_mut().resource_mut::<TerrainColliders>().per_frame = 1;
    settle::<L>(&mut app);
    ticks(&mut app, 128);
    for &body in &bodies {
        let above = clearance(&app, body).expect("on the land");
        assert!((0.3..0.6).contains(&above), "{above} m above the ground");
    }
}

pub fn nothing_falls_through_ground_that_is_eroded_and_dug<L: Lab>() {
    let terrain = crate::land(3, UVec2::new(160, 130), 1.0)
        .with_soil_depth(1.0)
        .expect("soil");
    let mut app = settled_app::<L>(terrain);
    app.insert_resource(Droplets {
        rate: 0.5,
        ..Droplets::default()
    });
    app.insert_resource(Thermal::default());
    let bodies = scatter::<L>(&mut app, 9, 0.5, 1.0);
    let mut random = Pcg64::seed_from_u64(2);
    // How many ticks in a row each body was seen below the ground.
    let mut below = vec![0; bodies.len()];
    for tick in 0..400 {
        if tick % 10 == 0 {
            // A pit or a heap of a few metres, under or beside something.
            let body = bodies[random.random_range(0..bodies.len())];
            let aside = Vec3::new(random.random_range(-3.0..3.0), 0.0, 0.0);
            let middle = position(&app, body) + aside;
            let depth = random.random_range(-2.0..2.0);
            reshape(&mut app, |at, height| {
                let near = 1.0 - at.xz().distance_squared(middle.xz()) / 30.0;
                height + depth * near.max(0.0)
            });
        }
        app.update();
        std::thread::sleep(Duration::from_micros(300));
        for (&body, ticks) in bodies.iter().zip(&mut below) {
            // Until its collider follows, a heap may cover what lies there.
            *ticks = match clearance(&app, body) {
                Some(above) if above < 0.0 => *ticks + 1,
                _ => 0,
            };
            let at = position(&app, body);
            assert!(*ticks < 10, "at {at} below the ground in tick {tick}");
        }
    }
    app.world_mut().remove_resource::<Droplets>();
    app.world_mut().remove_resource::<Thermal>();
    settle::<L>(&mut app);
    let below = bodies
        .iter()
        .filter(|&&body| clearance(&app, body).is_some_and(|above| above < 0.0));
    assert_eq!(below.count(), 0, "bodies below the ground");
    let on_land = bodies
        .iter()
        .filter(|&&body| clearance(&app, body).is_some());
    assert!(
        on_land.count() > bodies.len() / 2,
        "most are on the land still"
    );
}

pub fn lava_bears_what_falls_on_it<L: Lab>() {
    let land = Terrain::flat(UVec2::splat(100), 1.0).expect("valid");
    let mut app = settled_app::<L>(land);
    let ball = app
        .world_mut()
        .spawn((L::ball(0.5), Transform::from_xyz(10.0, 6.0, -7.0)))
        .id();
    let dry = app
        .world_mut()
        .spawn((L::ball(0.5), Transform::from_xyz(-30.0, 6.0, -7.0)))
        .id();
    // It comes while they fall, over the border of two chunks.
    let depths = (0..100 * 100).map(|cell| if cell % 100 > 40 { 2.0 } else { 0.0 });
    let depths = depths.collect();
    let mut terrain = app.world_mut().resource_mut::<Terrain>();
    terrain.set_layer(Layer::Lava, depths).expect("valid");
    settle::<L>(&mut app);
    for _ in 0..300 {
        ticks(&mut app, 1);
        std::thread::sleep(Duration::from_micros(200));
    }
    let rests = |body: Entity| position(&app, body).y;
    assert!((rests(ball) - 2.5).abs() < 0.05, "{}", rests(ball));
    assert!((rests(dry) - 0.5).abs() < 0.05, "{}", rests(dry));
    // Gone again, it bears nothing.
    let mut terrain = app.world_mut().resource_mut::<Terrain>();
    terrain
        .set_layer(Layer::Lava, vec![0.0; 100 * 100])
        .expect("valid");
    settle::<L>(&mut app);
    ticks(&mut app, 200);
    let at = position(&app, ball).y;
    assert!((at - 0.5).abs() < 0.05, "{at}");
}
