//! The ground under a pointer, and the ring that shows the brush.

use crate::{hills, view::create_app};
use bevy::{
    camera::visibility::RenderLayers,
    mesh::VertexAttributeValues,
    picking::{
        PickingSystems,
        backend::{
            PointerHits,
            ray::{RayId, RayMap},
        },
        pointer::PointerId,
    },
    prelude::*,
};
use bevy_erode::view::{BrushRing, TerrainPicking};
use bevy_erode::{prelude::*, view::BrushRingMark};

fn point_at(app: &mut App, ray: Ray3d) -> Vec<PointerHits> {
    let mut rays = app.world_mut().resource_mut::<RayMap>();
    for old in rays.map.values_mut() {
        *old = ray;
    }
    app.update();
    let mut hits = app.world_mut().resource_mut::<Messages<PointerHits>>();
    hits.drain().collect()
}

#[test]
fn pointers_hit_the_chunk_below_them() {
    let mut app = create_app(hills(3));
    let camera = app.world_mut().spawn(Camera::default()).id();
    let id = RayId::new(camera, PointerId::Mouse);
    let down = |at: Vec3| Ray3d::new(at + Vec3::Y * 500.0, Dir3::NEG_Y);
    let mut rays = RayMap::default();
    rays.map.insert(id, down(Vec3::ZERO));
    app.insert_resource(rays)
        .add_message::<PointerHits>()
        .configure_sets(PreUpdate, PickingSystems::Backend);
    for (at, coord) in [
        (Vec3::new(-100.0, 0.0, -60.0), UVec2::new(0, 0)),
        (Vec3::new(100.0, 0.0, 80.0), UVec2::new(1, 1)),
    ] {
        let hits = point_at(&mut app, down(at));
        assert_eq!(hits.len(), 1);
        let (entity, data) = &hits[0].picks[0];
        let chunk = app.world().get::<TerrainChunk>(*entity).expect("a chunk");
        assert_eq!(chunk.coord, coord);
        let ground = app.world().resource::<Terrain>();
        let hit = ground.raycast(down(at), 1e6).expect("land");
        assert_eq!(data.position, Some(hit.position));
        assert_eq!(data.camera, camera);
    }
    assert!(point_at(&mut app, down(Vec3::X * 9000.0)).is_empty());
    // A chunk that is not to be picked, and a backend that is off.
    let at = down(Vec3::new(-100.0, 0.0, -60.0));
    let entity = point_at(&mut app, at)[0].picks[0].0;
    app.world_mut().entity_mut(entity).insert(Pickable::IGNORE);
    assert!(point_at(&mut app, at).is_empty());
    app.world_mut().entity_mut(entity).remove::<Pickable>();
    // What a camera does not see, it does not pick.
    let elsewhere = RenderLayers::layer(3);
    app.world_mut().entity_mut(entity).insert(elsewhere.clone());
    assert!(point_at(&mut app, at).is_empty());
    app.world_mut().entity_mut(camera).insert(elsewhere);
    assert_eq!(point_at(&mut app, at).len(), 1);
    app.world_mut()
        .entity_mut(entity)
        .insert(InheritedVisibility::HIDDEN);
    assert!(point_at(&mut app, at).is_empty());
    app.world_mut()
        .entity_mut(entity)
        .insert(InheritedVisibility::VISIBLE);
    app.world_mut().entity_mut(camera).insert(Camera2d);
    assert!(point_at(&mut app, at).is_empty(), "no camera of the world");
    app.world_mut().entity_mut(camera).remove::<Camera2d>();
    assert_eq!(point_at(&mut app, at).len(), 1);
    app.world_mut().resource_mut::<TerrainPicking>().enabled = false;
    assert!(point_at(&mut app, at).is_empty());
}

fn ring(app: &mut App) -> Option<Vec<Vec3>> {
    let mut query = app
        .world_mut()
        .query_filtered::<(&Mesh3d, &Visibility), With<BrushRingMark>>();
    let (mesh, visibility) = query.single(app.world()).ok()?;
    if *visibility == Visibility::Hidden {
        return None;
    }
    let mesh = app.world().resource::<Assets<Mesh>>().get(&mesh.0)?;
    match mesh.attribute(Mesh::ATTRIBUTE_POSITION) {
        Some(VertexAttributeValues::Float32x3(v)) => Some(v.iter().map(|&v| v.into()).collect()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_ring_lies_on_the_ground() {
    let mut app = create_app(hills(3));
    assert!(ring(&mut app).is_none());
    let at = Vec3::new(10.0, 0.0, 5.0);
    *app.world_mut().resource_mut::<BrushRing>() = BrushRing {
        at: Some(at),
        brush: Brush::circle(30.0),
        ..default()
    };
    app.update();
    let check = |app: &mut App, radius: f32| {
        let points = ring(app).expect("a ring");
        let terrain = app.world().resource::<Terrain>();
        assert!(points.len() > 100);
        for point in points {
            let ground = terrain.height_at(point).expect("land");
            assert!((0.0..2.0).contains(&(point.y - ground)), "{point} {ground}");
            let away = (point - at).xz().length();
            assert!((away - radius).abs() < 0.05 * radius, "{away}");
        }
    };
    check(&mut app, 30.0);
    // It follows the brush and the ground.
    app.world_mut().resource_mut::<BrushRing>().brush = Brush::circle(12.0);
    let edit = TerrainEdit::raise(at, Brush::circle(20.0)).with_strength(9.0);
    app.world_mut().write_message(edit);
    app.update();
    check(&mut app, 12.0);
    app.world_mut().resource_mut::<BrushRing>().at = None;
    app.update();
    assert!(ring(&mut app).is_none());
}

#[test]
fn the_ring_lies_on_what_is_on_top() {
    let land = hills(3);
    let cells = land.grid().cells();
    let top = land.bedrock().iter().copied().fold(0.0, f32::max);
    // A lake over all of the land, and lava in its east.
    let water = land.bedrock().iter().map(|ground| top + 5.0 - ground);
    let water = water.collect();
    let land = land.with_layer(Layer::Water, water).expect("valid");
    let mut app = create_app(land);
    let lay = |app: &mut App, at: Vec3, brush: Brush| {
        *app.world_mut().resource_mut::<BrushRing>() = BrushRing {
            at: Some(at),
            brush,
            ..default()
        };
        app.update();
    };
    lay(&mut app, Vec3::ZERO, Brush::square(20.0));
    for point in ring(&mut app).expect("a ring") {
        assert!((0.0..2.0).contains(&(point.y - top - 5.0)), "{point}");
        let away = point.xz().abs().max_element();
        assert!((away - 20.0).abs() < 1.5, "{away}: a square");
    }
    let mut terrain = app.world_mut().resource_mut::<Terrain>();
    let no_lake = vec![0.0; cells];
    terrain.set_layer(Layer::Water, no_lake).expect("valid");
    let lava = vec![4.0; cells];
    terrain.set_layer(Layer::Lava, lava).expect("valid");
    app.update();
    for point in ring(&mut app).expect("a ring") {
        let terrain = app.world().resource::<Terrain>();
        let above = point.y - terrain.height_at(point).expect("land");
        assert!((4.0..6.0).contains(&above), "{above}");
    }
}

#[test]
fn the_ring_is_only_drawn_anew_when_something_changed() {
    let mut app = create_app(hills(3));
    let mesh = |app: &mut App| {
        let mut query = app
            .world_mut()
            .query_filtered::<&Mesh3d, With<BrushRingMark>>();
        query.single(app.world()).map(|mesh| mesh.0.id()).ok()
    };
    app.world_mut().resource_mut::<BrushRing>().at = Some(Vec3::ZERO);
    app.update();
    let first = mesh(&mut app);
    assert!(first.is_some());
    app.update();
    app.update();
    assert_eq!(mesh(&mut app), first);
    app.world_mut().resource_mut::<BrushRing>().at = Some(Vec3::X);
    app.update();
    assert_ne!(mesh(&mut app), first);
    assert!(ring(&mut app).is_some());
    // Nowhere, and of no size: hidden, no fault.
    for (at, radius) in [(Vec3::NAN, 9.0), (Vec3::ZERO, f32::NAN), (Vec3::X, -1.0)] {
        let mut shown = app.world_mut().resource_mut::<BrushRing>();
        (shown.at, shown.brush.radius) = (Some(at), radius);
        app.update();
        assert!(ring(&mut app).is_none(), "{at} {radius}");
    }
}
