//! Masks in an app: fields and images that follow the terrain.

use crate::view::create_app;
use bevy::{math::UVec2, prelude::*};
use bevy_erode::masks::MaskSettings;
use bevy_erode::prelude::*;

fn masked_app(terrain: Terrain, masks: TerrainMasks) -> App {
    let mut app = create_app(terrain);
    app.init_asset::<Image>().insert_resource(masks);
    app.update();
    app
}

fn masks(app: &App) -> &TerrainMasks {
    app.world().resource::<TerrainMasks>()
}

/// A half-precision number, widened.
fn widened(texel: &[u8]) -> f32 {
    let bits = u16::from_le_bytes([texel[0], texel[1]]);
    let (exponent, fraction) = (i32::from(bits >> 10), f32::from(bits & 0x3FF));
    match exponent {
        0 => fraction * 2f32.powi(-24),
        _ => (1.0 + fraction / 1024.0) * 2f32.powi(exponent - 15),
    }
}

fn assert_image_shows_field(app: &App, mask: Mask) {
    let field = masks(app).field(mask).expect("chosen");
    let handle = masks(app).image(mask).expect("an image");
    let image = app.world().resource::<Assets<Image>>().get(&handle);
    let image = image.expect("it is there");
    let size = masks(app).grid().expect("a terrain").size();
    assert_eq!(image.size(), size);
    let data = image.data.as_ref().expect("data");
    assert_eq!(data.len(), 2 * field.len());
    for (texel, &value) in data.chunks(2).zip(field) {
        let shown = widened(texel);
        assert!(
            (shown - value).abs() <= value * 5e-4 + 1e-7,
            "{shown} {value}"
        );
    }
}

#[test]
fn fields_and_images_follow_a_running_model() {
    let chosen = [
        Mask::Wear,
        Mask::Deposit,
        Mask::Slope,
        Mask::Flow,
        Mask::Wetness,
    ];
    let mut app = masked_app(crate::hills(1), TerrainMasks::new(chosen));
    let handle = masks(&app).image(Mask::Wear).expect("an image");
    assert!(masks(&app).image(Mask::SoilDepth).is_none(), "not chosen");
    app.insert_resource(Droplets::default());
    app.insert_resource(PipeModel::default());
    app.insert_resource(Rain::mm_per_hour(4000.0));
    for _ in 0..40 {
        app.update();
    }
    let terrain = app.world().resource::<Terrain>();
    let start = crate::hills(1);
    let wear = masks(&app).field(Mask::Wear).expect("chosen");
    let slope = masks(&app).field(Mask::Slope).expect("chosen");
    for i in 0..terrain.grid().cells() {
        assert_eq!(wear[i], (start.ground(i) - terrain.ground(i)).max(0.0));
        let (x, y) = (i as u32 % 128, i as u32 / 128);
        assert_eq!(slope[i], terrain.slope(x, y).length());
    }
    assert!(wear.iter().any(|&wear| wear > 0.0), "it eroded");
    for mask in chosen {
        assert_image_shows_field(&app, mask);
        let field = masks(&app).field(mask).expect("chosen");
        assert!(field.iter().any(|&v| v > 0.0), "{mask:?} shows something");
    }
    assert_eq!(
        masks(&app).image(Mask::Wear),
        Some(handle),
        "the same image"
    );
}

#[test]
fn a_replaced_terrain_starts_anew_and_a_removed_one_leaves_nothing() {
    let mut app = masked_app(crate::hills(1), TerrainMasks::all());
    app.insert_resource(Droplets::default());
    for _ in 0..10 {
        app.update();
    }
    app.world_mut().remove_resource::<Droplets>();
    let any = |app: &App| {
        let wear = masks(app).field(Mask::Wear).expect("chosen");
        wear.iter().any(|&wear| wear > 0.0)
    };
    assert!(any(&app));
    app.insert_resource(crate::land(2, UVec2::new(70, 30), 2.0));
    app.update();
    assert!(!any(&app), "another land, not yet worn");
    for mask in Mask::ALL {
        assert_image_shows_field(&app, mask);
    }
    app.world_mut().remove_resource::<Terrain>();
    app.update();
    assert!(masks(&app).field(Mask::Wear).is_none());
    assert!(masks(&app).image(Mask::Wear).is_none());
    assert!(masks(&app).grid().is_none());
    app.insert_resource(crate::hills(3));
    app.update();
    assert_image_shows_field(&app, Mask::Slope);
}

#[test]
fn rest_is_not_a_change_and_large_images_wait() {
    let settings = MaskSettings {
        // A land of 128 × 96 cells then waits for 0.117 s; a frame is 0.02 s.
        image_interval: 10.0,
        ..MaskSettings::default()
    };
    let chosen = TerrainMasks::new([Mask::SoilDepth]).with_settings(settings);
    let mut app = masked_app(crate::hills(1), chosen);
    #[derive(Resource, Default)]
    struct Changes(u32);
    app.init_resource::<Changes>().add_systems(
        PostUpdate,
        |masks: Res<TerrainMasks>, mut changes: ResMut<Changes>| {
            changes.0 += u32::from(masks.is_changed());
        },
    );
    for _ in 0..5 {
        app.update();
    }
    let changes = |app: &App| app.world().resource::<Changes>().0;
    assert_eq!(changes(&app), 1, "only when it was inserted");

    for depth in 1..=3 {
        let mut terrain = app.world_mut().resource_mut::<Terrain>();
        let soil = vec![depth as f32; terrain.grid().cells()];
        terrain.set_layer(Layer::Soil, soil).expect("valid");
        app.update();
        assert_eq!(changes(&app), 1 + depth);
        let field = masks(&app).field(Mask::SoilDepth).expect("chosen");
        assert_eq!(field[77], depth as f32, "fields never wait");
    }
    let texel = |app: &App| {
        let handle = masks(app).image(Mask::SoilDepth).expect("an image");
        let image = app.world().resource::<Assets<Image>>().get(&handle);
        widened(&image.and_then(|i| i.data.as_ref()).expect("data")[..2])
    };
    assert_eq!(texel(&app), 1.0, "uploaded once so far");
    for _ in 0..10 {
        app.update();
    }
    assert_eq!(texel(&app), 3.0);
    assert_image_shows_field(&app, Mask::SoilDepth);
}
