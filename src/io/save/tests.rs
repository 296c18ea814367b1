//! Files that are whole but lie: their checksums are right, what they say is
//! not. A reader that only trusted checksums would fall for them.

use super::*;
use crate::{
    forcing::{Rain, RainPattern, RainSolver},
    models::{
        Solver,
        droplet::{DropletSolver, Droplets},
        lava::{Lava, LavaSolver},
        meander::{MeanderingRiver, RiverStretch, Rivers, TerrainRiver},
        pipe::{PipeModel, PipeSolver},
    },
};
use bevy::{math::UVec2, prelude::*};
use rand::Rng;
use rand_pcg::Pcg32;

/// A small state with memories of all kinds.
fn state() -> SavedState {
    let size = UVec2::new(13, 9);
    let cells = size.element_product() as usize;
    let heights = (0..cells).map(|cell| (cell % 11) as f32).collect();
    let lava = (0..cells).map(|cell| if cell % 4 == 0 { 2.0 } else { 0.0 });
    let lava = lava.collect();
    let mut terrain = Terrain::from_heights(size, 2.0, heights)
        .and_then(|land| land.with_layer(crate::terrain::Layer::Water, vec![0.5; cells]))
        .and_then(|land| land.with_soil_depth(0.5))
        .and_then(|land| land.with_layer(crate::terrain::Layer::Lava, lava))
        .expect("valid");
    let grid = *terrain.grid();
    let droplets = Droplets {
        rate: 1.0,
        ..Droplets::seeded(1).with_streams()
    };
    let rain = Rain::mm_per_hour(900.0).with_pattern(RainPattern::blue_noise(1));
    let mut droplets = DropletSolver::new(droplets, &grid).expect("valid");
    let mut pipe = PipeSolver::new(PipeModel::as_published(), &grid).expect("valid");
    pipe.step(&mut terrain, 0.1);
    pipe.set_settings(PipeModel::default()).expect("valid");
    let mut rain = RainSolver::new(rain, &grid).expect("valid");
    let mut lava = LavaSolver::new(Lava::default(), &grid).expect("valid");
    let (river, stretch, place) = small_river();
    let mut river = TerrainRiver::new(river, stretch, &place, &terrain).expect("valid");
    for _ in 0..3 {
        river.step(&mut terrain, 0.5);
        lava.step(&mut terrain, 0.5);
        rain.step(&mut terrain, 0.5);
        droplets.step(&mut terrain, 0.5);
        pipe.step(&mut terrain, 0.5);
    }
    let mut state = SavedState::of(&terrain)
        .and_then(|state| state.with_solver(&droplets, &terrain))
        .and_then(|state| state.with_solver(&pipe, &terrain))
        .and_then(|state| state.with_solver(&rain, &terrain))
        .and_then(|state| state.with_solver(&lava, &terrain))
        .and_then(|state| state.with_river(&river, &terrain))
        .expect("valid");
    state.clock = Some(Clock {
        context: Default::default(),
        elapsed: core::time::Duration::from_secs(3),
        delta: core::time::Duration::from_millis(15),
    });
    state.sources.push(Placed {
        at: (1.0, 2.0, 3.0),
        component: WaterSource::default(),
    });
    state.vents.push(Placed {
        at: (1.0, 2.0, 3.0),
        component: LavaSource::default(),
    });
    state
}

/// A river for a land of 26 m × 18 m.
fn small_river() -> (MeanderingRiver, RiverStretch, Transform) {
    let settings = MeanderingRiver {
        radius: 2.0,
        reach: 2.0,
        merging: 1.0,
        particle_volume: 2.0,
        capacity: 2.0,
        ..MeanderingRiver::default()
    };
    let stretch = RiverStretch {
        length: 20.0,
        width: 12.0,
        inflow: 10.0,
    };
    let place = Transform::from_xyz(-10.0, 0.0, 0.0).looking_to(Vec3::X, Vec3::Y);
    (settings, stretch, place)
}

/// Header and body of a file.
fn unpack(bytes: &[u8]) -> (String, Vec<u32>) {
    let container::Opened { header, mut body } = container::open(bytes).expect("whole");
    let words = body.length() as usize / 4;
    let header = header.to_owned();
    (header, body.words(words, |word| word).expect("a body"))
}

/// A file of them, with checksums that are right.
fn pack(header: &str, body: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let length = 4 * body.len() as u64;
    let written = container::write(&mut bytes, header, length, |writer| {
        writer.words(body.len(), |word| body[word])
    });
    written.expect("writable");
    bytes
}

/// Whatever is believed must be fit to go on with.
fn try_to_go_on(bytes: &[u8]) -> bool {
    let Ok(state) = SavedState::from_bytes(bytes) else {
        return false;
    };
    let mut droplets: Option<DropletSolver> = state.solver().expect("it was checked");
    let mut pipe: Option<PipeSolver> = state.solver().expect("it was checked");
    let mut rain: Option<RainSolver> = state.solver().expect("it was checked");
    let mut lava: Option<LavaSolver> = state.solver().expect("it was checked");
    let mut rivers = state.rivers().expect("it was checked");
    let mut terrain = state.into_terrain();
    for model in [PipeModel::default(), PipeModel::as_published()] {
        if let Some(rain) = &mut rain {
            rain.step(&mut terrain, 0.5);
        }
        for river in &mut rivers {
            river.step(&mut terrain, 0.1);
        }
        if let Some(lava) = &mut lava {
            lava.step(&mut terrain, 0.5);
        }
        if let Some(droplets) = &mut droplets {
            droplets.step(&mut terrain, 0.5);
        }
        if let Some(pipe) = &mut pipe {
            pipe.step(&mut terrain, 0.5);
            pipe.set_settings(model).expect("valid");
            pipe.step(&mut terrain, 0.5);
        }
    }
    true
}

#[test]
fn packing_changes_nothing() {
    let bytes = state().to_bytes().expect("writable");
    let (header, body) = unpack(&bytes);
    assert_eq!(pack(&header, &body), bytes);
    assert!(try_to_go_on(&bytes));
}

#[test]
fn lying_headers() {
    let (header, body) = unpack(&state().to_bytes().expect("writable"));
    let mut random = Pcg32::new(50, 1);
    let mut below = |limit: usize| random.next_u32() as usize % limit.max(1);
    let symbols = b"0123456789-.e(),:\"[]N";
    let mut believed = 0;
    for _ in 0..6000 {
        let mut text = header.clone().into_bytes();
        for _ in 0..1 + below(3) {
            let place = below(text.len());
            match below(3) {
                0 => text[place] = symbols[below(symbols.len())],
                1 => text.insert(place, symbols[below(symbols.len())]),
                _ => {
                    text.remove(place);
                }
            }
        }
        let Ok(text) = String::from_utf8(text) else {
            continue;
        };
        believed += u32::from(try_to_go_on(&pack(&text, &body)));
    }
    assert!(believed > 0, "some changes are harmless");
}

#[test]
fn lying_bodies() {
    let (header, body) = unpack(&state().to_bytes().expect("writable"));
    let mut random = Pcg32::new(51, 1);
    let mut believed = 0;
    for round in 0..4000 {
        let mut body = body.clone();
        for _ in 0..1 + round % 3 {
            let place = random.next_u32() as usize % body.len();
            body[place] = match random.next_u32() % 6 {
                0 => 0,
                1 => u32::MAX,
                2 => f32::NAN.to_bits(),
                3 => 0x7fff_ffff,
                4 => body[place] ^ 1 << (random.next_u32() % 32),
                _ => random.next_u32(),
            };
        }
        believed += u32::from(try_to_go_on(&pack(&header, &body)));
    }
    assert!(believed > 0, "some changes are harmless");
    // Longer and shorter than the header says.
    assert!(!try_to_go_on(&pack(&header, &body[1..])));
    assert!(!try_to_go_on(&pack(&header, &[&body[..], &[0]].concat())));
}

#[test]
fn a_land_that_is_too_large_for_the_file() {
    let (header, body) = unpack(&state().to_bytes().expect("writable"));
    for size in [
        "(16384,16384)",
        "(16385,1)",
        "(0,0)",
        "(4294967295,4294967295)",
    ] {
        let lie = header.replace("size:(13,9)", &format!("size:{size}"));
        assert_ne!(lie, header);
        assert!(
            SavedState::from_bytes(&pack(&lie, &body)).is_err(),
            "{size}"
        );
    }
    let lie = header.replace("memory:", "memory:9");
    assert!(SavedState::from_bytes(&pack(&lie, &body)).is_err());
}

/// It can be read and written again, but needs an app with that model.
#[test]
fn a_model_that_is_not_known_is_kept_and_named() {
    let (header, body) = unpack(&state().to_bytes().expect("writable"));
    let other = header.replace("\"PipeModel\"", "\"Glacier\"");
    let bytes = pack(&other, &body);
    let state = SavedState::from_bytes(&bytes).expect("readable");
    assert!(state.model_names().any(|name| name == "Glacier"));
    assert_eq!(state.to_bytes().expect("writable"), bytes);

    let mut app = App::new();
    app.add_plugins((MinimalPlugins, crate::ErosionPlugin::default()));
    let error = state.restore(app.world_mut()).unwrap_err();
    assert!(matches!(&error, SaveError::UnknownModel { name, .. } if name == "Glacier"));
    let text = error.to_string();
    assert!(
        text.contains("add_erosion_model") && text.contains("Thermal"),
        "{text}"
    );
    assert!(!app.world().contains_resource::<Terrain>());
    assert!(!app.world().contains_resource::<crate::prelude::Droplets>());
}

/// Takes what is new out of a header.
fn strip(header: &mut String, new: &[&str]) {
    for new in new {
        assert_eq!(header.matches(new).count(), 1, "{new} in {header}");
        *header = header.replace(new, "");
    }
}

#[test]
fn files_of_before_there_was_lava_or_uplift_can_be_read() {
    let terrain = Terrain::flat(UVec2::new(5, 4), 2.0).expect("valid");
    let bytes = SavedState::of(&terrain).and_then(|state| state.to_bytes());
    let (mut header, body) = unpack(&bytes.expect("writable"));
    let new = [
        "lava:false,",
        ",vents:[]",
        "lava:0.0,",
        "lava_carried:0.0,",
        "uplifted:0.0,",
    ];
    strip(&mut header, &new);
    let old = SavedState::from_bytes(&pack(&header, &body)).expect("readable");
    assert_eq!(old.terrain().state_hash(), terrain.state_hash());
    assert!(old.terrain().lava().is_none());
}

/// Such files have rivers written back, and their entities alone.
#[test]
fn rivers_of_older_files_start_anew() {
    let plane = crate::terrain::landform::TiltedPlane::default();
    let plane = plane.with_slope(0.1).with_downhill(90.0);
    let terrain = Terrain::generate(&plane, UVec2::new(13, 9), 2.0).expect("valid");
    let hash = terrain.state_hash();
    let mut world = World::new();
    world.insert_resource(terrain);
    world.spawn(small_river());
    let bytes = SavedState::capture(&mut world).and_then(|state| state.to_bytes());
    let (mut header, body) = unpack(&bytes.expect("writable"));
    strip(&mut header, &["streams:[],", ",running:None"]);
    let old = SavedState::from_bytes(&pack(&header, &body)).expect("readable");
    assert_eq!(old.terrain().state_hash(), hash);
    assert!(old.rivers().expect("none").is_empty());

    let mut app = App::new();
    app.add_plugins((MinimalPlugins, crate::ErosionPlugin::default()));
    app.update();
    old.restore(app.world_mut()).expect("an app with erosion");
    app.insert_resource(ErosionPace::StepsPerTick(1));
    for _ in 0..20 {
        app.update();
    }
    let rivers: Vec<_> = app.world().resource::<Rivers>().iter().collect();
    let [(entity, river)] = rivers[..] else {
        panic!("{} rivers", rivers.len());
    };
    let (settings, stretch, _) = small_river();
    assert_eq!(app.world().get::<MeanderingRiver>(entity), Some(&settings));
    assert_eq!(app.world().get::<RiverStretch>(entity), Some(&stretch));
    assert!(river.carried_water() > 0.0);
}

/// A file that lies about where its streams are.
#[test]
fn a_stream_beyond_the_land() {
    let (header, body) = unpack(&state().to_bytes().expect("writable"));
    let start = header.find("streams:[").expect("a stream");
    let end = start + header[start..].find(']').expect("its end");
    for box_of_cells in [
        "(first:(0,0),size:(0,5))",
        "(first:(12,0),size:(2,1))",
        "(first:(4294967295,0),size:(1,1))",
        "(first:(0,0),size:(4294967295,4294967295))",
        "",
    ] {
        let lie = [&header[..start + 9], box_of_cells, &header[end..]].concat();
        assert!(
            SavedState::from_bytes(&pack(&lie, &body)).is_err(),
            "{box_of_cells}"
        );
    }
}

/// Cells whose side is no sum of few powers of two, far from the world's origin: their
/// places round.
fn shifting_land() -> Terrain {
    Terrain::flat(UVec2::splat(64), 0.3)
        .and_then(|land| land.with_origin(Vec3::new(1000.1, 7.0, -0.7)))
        .expect("valid")
}

fn bits(terrain: &Terrain) -> [u32; 3] {
    terrain.grid().origin().to_array().map(f32::to_bits)
}

fn shift(terrain: &mut Terrain, by: IVec2) {
    terrain.shift_tiles(by, |new| new.edge).expect("valid");
}

#[test]
fn a_shifted_window_goes_on_from_where_it_began() {
    let mut terrain = shifting_land();
    let mut moved_otherwise = 0;
    for _ in 0..10 {
        shift(&mut terrain, IVec2::new(1, -1));
        let bytes = SavedState::of(&terrain).and_then(|state| state.to_bytes());
        let mut loaded = SavedState::from_bytes(&bytes.expect("writable"))
            .expect("readable")
            .into_terrain();
        assert_eq!(bits(&loaded), bits(&terrain));
        // A window that began where it is now.
        let mut begun = loaded.clone().with_origin(loaded.grid().origin());
        let begun = begun.as_mut().expect("finite");
        let mut next = terrain.clone();
        for land in [&mut next, &mut loaded, begun] {
            shift(land, IVec2::new(1, -1));
        }
        assert_eq!(bits(&loaded), bits(&next));
        moved_otherwise += u32::from(bits(begun) != bits(&next));
    }
    assert!(moved_otherwise > 0, "places have to round for this test");
}

#[test]
fn a_window_is_saved_only_where_it_was_shifted_and_must_fit() {
    let saved = |terrain: &Terrain| {
        let bytes = SavedState::of(terrain).and_then(|state| state.to_bytes());
        unpack(&bytes.expect("writable"))
    };
    let mut terrain = shifting_land();
    // As in older files, which say nothing about it.
    assert!(!saved(&terrain).0.contains("window:"));
    shift(&mut terrain, IVec2::new(3, 0));
    let (header, body) = saved(&terrain);
    let kept = "window:Some((start:(1000.1,7.0,-0.7),moved:(3,0)))";
    assert!(header.contains(kept), "{header}");
    let error = |window: &str| {
        let header = header.replace(kept, window);
        SavedState::from_bytes(&pack(&header, &body)).expect_err(window)
    };
    for window in [
        "window:Some((start:(1000.1,7.0,-0.7),moved:(2,0)))",
        "window:Some((start:(1000.1,8.0,-0.7),moved:(3,0)))",
        "window:Some((start:(NaN,7.0,-0.7),moved:(3,0)))",
        "window:Some((start:(1000.1,7.0,-0.7),moved:(2147483647,0)))",
    ] {
        let error = error(window).to_string();
        assert!(error.contains("where the window began"), "{error}");
    }
    // Without it, the window begins where it is.
    let header = header.replace(&format!("{kept},"), "");
    let loaded = SavedState::from_bytes(&pack(&header, &body)).expect("as older files");
    assert_eq!(bits(loaded.terrain()), bits(&terrain));
}
