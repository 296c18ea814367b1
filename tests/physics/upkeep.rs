//! Which colliders there are, and when they are built.

use super::*;
use bevy_erode::physics::TerrainCollider;

/// 5 × 3 chunks.
fn land() -> Terrain {
    crate::land(4, UVec2::new(300, 190), 1.0)
}

/// The chunks that have a collider, and how many.
fn coords(app: &mut App) -> Vec<UVec2> {
    let mut chunks = app.world_mut().query::<&TerrainCollider>();
    let mut coords: Vec<UVec2> = chunks.iter(app.world()).map(|chunk| chunk.coord).collect();
    coords.sort_by_key(|coord| (coord.y, coord.x));
    coords
}

fn settings(app: &mut App) -> Mut<'_, TerrainColliders> {
    app.world_mut().resource_mut()
}

/// Raises one cell by a metre.
fn raise_cell(app: &mut App, x: u32, y: u32) {
    let spot = app.world().resource::<Terrain>().grid().cell_center(x, y);
    reshape(app, |at, height| {
        if at.distance(spot) < 0.5 {
            height + 1.0
        } else {
            height
        }
    });
}

pub fn only_changed_chunks_are_built<L: Lab>() {
    let mut app = settled_app::<L>(land());
    assert_eq!(state::<L>(&app).built(), 15);
    assert_eq!(state::<L>(&app).standing(), 15);
    ticks(&mut app, 20);
    assert_eq!(state::<L>(&app).built(), 15, "nothing changed");

    // A cell in the middle of chunk (1, 1).
    raise_cell(&mut app, 90, 100);
    settle::<L>(&mut app);
    assert_eq!(state::<L>(&app).built(), 16);

    // The vertex that four chunks share.
    raise_cell(&mut app, 128, 64);
    settle::<L>(&mut app);
    assert_eq!(state::<L>(&app).built(), 20);

    // Water is nothing to stand on.
    let mut terrain = app.world_mut().resource_mut::<Terrain>();
    let cells = terrain.grid().cells();
    terrain
        .set_layer(Layer::Water, vec![1.0; cells])
        .expect("a lake");
    settle::<L>(&mut app);
    assert_eq!(state::<L>(&app).built(), 20);
}

pub fn no_more_than_allowed_are_built_in_a_frame<L: Lab>() {
    let mut app = create_app::<L>(land());
    settings(&mut app).per_frame = 2;
    let mut built = 0;
    let mut frames = 0;
    while built < 15 {
        app.update();
        std::thread::sleep(Duration::from_micros(500));
        let now = state::<L>(&app).built();
        assert!(now - built <= 2, "{} in one frame", now - built);
        built = now;
        frames += 1;
        assert!(frames < 2000, "only {built} were built");
    }
    // None at all, then.
    settings(&mut app).per_frame = 0;
    reshape(&mut app, |_, height| height + 1.0);
    for _ in 0..20 {
        app.update();
        std::thread::sleep(Duration::from_micros(500));
    }
    assert_eq!(state::<L>(&app).built(), 15);
}

pub fn the_nearest_to_bodies_are_built_first<L: Lab>() {
    let mut app = create_app::<L>(land());
    settings(&mut app).per_frame = 0;
    let corner = app
        .world()
        .resource::<Terrain>()
        .grid()
        .cell_center(290, 180);
    let place = Transform::from_translation(corner.with_y(500.0));
    app.world_mut().spawn((place, L::ball(0.5)));
    ticks(&mut app, 3);
    settings(&mut app).per_frame = 3;
    while state::<L>(&app).built() == 0 {
        app.update();
    }
    // (4, 2) is the body's own; two of its three neighbors come with it.
    let first = coords(&mut app);
    assert_eq!(first.len(), 3);
    assert!(first.contains(&UVec2::new(4, 2)), "{first:?}");
    assert!(first.iter().all(|at| at.x >= 3 && at.y >= 1), "{first:?}");
    // The far ones come too.
    settle::<L>(&mut app);
    assert_eq!(coords(&mut app).len(), 15);
}

pub fn colliders_stand_only_in_the_areas<L: Lab>() {
    let mut app = create_app::<L>(land());
    let grid = *app.world().resource::<Terrain>().grid();
    let at = |x, y| grid.cell_center(x, y).xz();
    settings(&mut app).area = ColliderArea::Areas(vec![
        Rect::from_corners(at(10, 10), at(100, 20)),
        Rect::from_corners(at(270, 150), at(299, 189) + 500.0),
        // Beyond the land.
        Rect::from_corners(at(0, 0) - 50.0, at(0, 0) - 20.0),
    ]);
    settle::<L>(&mut app);
    let expected = [(0, 0), (1, 0), (4, 2)].map(|(x, y)| UVec2::new(x, y));
    assert_eq!(coords(&mut app), expected);

    settings(&mut app).area = ColliderArea::Areas(vec![Rect::from_corners(at(70, 5), at(140, 6))]);
    settle::<L>(&mut app);
    let expected = [(1, 0), (2, 0)].map(|(x, y)| UVec2::new(x, y));
    assert_eq!(coords(&mut app), expected);
    assert_eq!(state::<L>(&app).built(), 4, "what stays is not built again");

    settings(&mut app).area = ColliderArea::Areas(Vec::new());
    settle::<L>(&mut app);
    assert_eq!(coords(&mut app), []);
    settings(&mut app).area = ColliderArea::Everywhere;
    settle::<L>(&mut app);
    assert_eq!(coords(&mut app).len(), 15);
}

pub fn colliders_follow_bodies<L: Lab>() {
    let mut app = create_app::<L>(land());
    settings(&mut app).area = ColliderArea::NearBodies { radius: 10.0 };
    settle::<L>(&mut app);
    assert_eq!(coords(&mut app), [], "no body, no ground");

    let grid = *app.world().resource::<Terrain>().grid();
    let above = |x, y| grid.cell_center(x, y).with_y(100.0);
    // In the middle of a chunk, and on a corner of four.
    let place = |x, y| Transform::from_translation(above(x, y));
    let first = app.world_mut().spawn((place(32, 32), L::ball(0.5))).id();
    let second = app.world_mut().spawn((place(192, 128), L::ball(0.5))).id();
    ticks(&mut app, 2);
    settle::<L>(&mut app);
    let expected = [(0, 0), (2, 1), (3, 1), (2, 2), (3, 2)].map(|(x, y)| UVec2::new(x, y));
    assert_eq!(coords(&mut app), expected);

    app.world_mut().despawn(first);
    ticks(&mut app, 2);
    settle::<L>(&mut app);
    assert_eq!(coords(&mut app), expected[1..]);
    app.world_mut().despawn(second);
    ticks(&mut app, 2);
    settle::<L>(&mut app);
    assert_eq!(coords(&mut app), []);
}

pub fn colliders_follow_what_a_game_moves<L: Lab>() {
    let mut app = create_app::<L>(land());
    settings(&mut app).area = ColliderArea::NearBodies { radius: 10.0 };
    let grid = *app.world().resource::<Terrain>().grid();
    let place = Transform::from_translation(grid.cell_center(96, 100).with_y(-30.0));
    let body = app.world_mut().spawn((place, L::kinematic(0.5))).id();
    ticks(&mut app, 2);
    settle::<L>(&mut app);
    assert_eq!(coords(&mut app), [UVec2::new(1, 1)]);
    // Neither ground that comes nor ground that rises moves what a game moves.
    reshape(&mut app, |_, height| height + 3.0);
    settle::<L>(&mut app);
    assert_eq!(position(&app, body), place.translation);
    // It goes elsewhere, and the ground with it.
    let away = grid.cell_center(290, 20).with_y(80.0);
    app.world_mut()
        .get_mut::<Transform>(body)
        .expect("a body")
        .translation = away;
    ticks(&mut app, 4);
    settle::<L>(&mut app);
    assert_eq!(coords(&mut app), [UVec2::new(4, 0)]);
}

pub fn a_new_terrain_is_built_near_bodies_first<L: Lab>() {
    let mut app = settled_app::<L>(Terrain::flat(UVec2::splat(70), 1.0).expect("valid"));
    let land = land();
    let corner = land.grid().cell_center(290, 180);
    let place = Transform::from_translation(corner.with_y(500.0));
    app.world_mut().spawn((place, L::ball(0.5)));
    ticks(&mut app, 3);
    let before = state::<L>(&app).built();
    settings(&mut app).per_frame = 3;
    app.insert_resource(land);
    while state::<L>(&app).built() == before {
        app.update();
    }
    let first = coords(&mut app);
    assert!(first.contains(&UVec2::new(4, 2)), "{first:?}");
}

pub fn a_collider_that_a_game_removed_bears_nothing<L: Lab>() {
    let mut app = settled_app::<L>(Terrain::flat(UVec2::splat(128), 1.0).expect("valid"));
    let mut colliders = app.world_mut().query::<(Entity, &TerrainCollider)>();
    let cave = colliders
        .iter(app.world())
        .find(|(_, collider)| collider.coord == UVec2::ZERO)
        .map(|(entity, _)| entity)
        .expect("a collider");
    app.world_mut().despawn(cave);
    let place = Transform::from_xyz(-30.0, 3.0, -30.0);
    let body = app.world_mut().spawn((place, L::ball(0.5))).id();
    ticks(&mut app, 100);
    let before = position(&app, body).y;
    assert!(before < 0.0, "it fell into the cave");
    // The ground that is not there rises over it.
    reshape(&mut app, |_, height| height + 1.0);
    settle::<L>(&mut app);
    let after = position(&app, body).y;
    assert!(after < before, "lifted from {before} to {after}");
}

pub fn colliders_go_with_their_terrain<L: Lab>() {
    let mut app = settled_app::<L>(land());
    assert_eq!(coords(&mut app).len(), 15);
    // Another size.
    app.insert_resource(crate::land(8, UVec2::new(100, 70), 1.0));
    settle::<L>(&mut app);
    assert_eq!(coords(&mut app).len(), 4);
    // Another land on the same place: no moment without ground.
    let before = state::<L>(&app).built();
    app.insert_resource(crate::land(9, UVec2::new(100, 70), 1.0));
    for _ in 0..20 {
        app.update();
        std::thread::sleep(Duration::from_micros(500));
        assert_eq!(coords(&mut app).len(), 4);
    }
    assert_eq!(state::<L>(&app).built(), before + 4);
    app.world_mut().remove_resource::<Terrain>();
    app.update();
    assert_eq!(coords(&mut app), []);
    assert_eq!(state::<L>(&app).standing(), 0);
}

pub fn a_terrain_of_one_row_has_no_colliders<L: Lab>() {
    let mut app = settled_app::<L>(Terrain::flat(UVec2::new(90, 1), 1.0).expect("a row"));
    assert_eq!(coords(&mut app), []);
    app.insert_resource(Terrain::flat(UVec2::new(2, 2), 1.0).expect("a quad"));
    settle::<L>(&mut app);
    assert_eq!(coords(&mut app), [UVec2::ZERO]);
}
