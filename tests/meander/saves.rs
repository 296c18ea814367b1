//! Rivers that are saved go on where they were, to the last bit.

use super::stretch::{STEP, advance, assert_balanced, land, start, stretch, upper_end};
use super::*;
use crate::{app::create_app, files::hostile::torment};
use bevy::prelude::*;
use bevy_erode::models::meander::TerrainRiver;
use bevy_erode::prelude::*;
use bevy_erode::{
    models::meander::{RiverStretch, Rivers},
    terrain::landform::TiltedPlane,
};
use core::time::Duration;
use rand::Rng;
use rand_pcg::Pcg32;

/// The river that it remembers to be, on a terrain of its own.
fn again(river: &TerrainRiver, terrain: &Terrain) -> (TerrainRiver, Terrain) {
    let other = terrain.clone();
    let memory = river.save_state(terrain);
    let settings = river.river().settings().clone();
    let recalled =
        TerrainRiver::load_state(settings, *river.stretch(), river.place(), &memory, terrain);
    let first = recalled.expect("it was remembered");
    assert!(first.save_state(terrain) == memory, "on the same terrain");
    // The file's way, onto another terrain.
    let saved = SavedState::of(&other).and_then(|state| state.with_river(river, terrain));
    let bytes = saved.and_then(|state| state.to_bytes()).expect("writable");
    let loaded = SavedState::from_bytes(&bytes).expect("readable");
    let mut rivers = loaded.rivers().expect("it was checked");
    let river = rivers.pop().expect("there is one");
    assert!(rivers.is_empty());
    let other = loaded.into_terrain();
    assert_eq!(other.state_hash(), terrain.state_hash());
    assert_eq!(other.ledger(), terrain.ledger());
    assert!(river.save_state(&other) == memory, "after loading");
    (river, other)
}

fn assert_same(a: (&TerrainRiver, &Terrain), b: (&TerrainRiver, &Terrain), when: &str) {
    assert_eq!(a.1.state_hash(), b.1.state_hash(), "{when}");
    assert_eq!(a.1.ledger(), b.1.ledger(), "{when}");
    let [one, other] = [a.0, b.0].map(TerrainRiver::river);
    assert_eq!(one.water(), other.water(), "{when}");
    assert_eq!(one.sediment(), other.sediment(), "{when}");
    assert_eq!(one.ledger(), other.ledger(), "{when}");
    assert_eq!(one.water_ledger(), other.water_ledger(), "{when}");
    assert_eq!(one.tally(), other.tally(), "{when}");
    assert_eq!(one.cutoffs(), other.cutoffs(), "{when}");
    assert_eq!(one.lakes(), other.lakes(), "{when}");
    assert_eq!(one.ground(), other.ground(), "{when}");
    // All of it, by its bits.
    assert!(a.0.save_state(a.1) == b.0.save_state(b.1), "{when}");
}

/// Both ways, side by side.
fn goes_on(mut river: TerrainRiver, mut terrain: Terrain, steps: usize) {
    let (mut other_river, mut other) = again(&river, &terrain);
    let before = terrain.state_hash();
    for step in 0..steps {
        advance(&mut river, &mut terrain, 1);
        advance(&mut other_river, &mut other, 1);
        if step % 50 == 0 || step + 1 == steps {
            let when = format!("step {step}");
            assert_same((&river, &terrain), (&other_river, &other), &when);
        }
    }
    assert_ne!(terrain.state_hash(), before, "something happened since");
    assert_balanced(&other);
}

#[test]
fn in_the_middle_of_its_work() {
    let mut terrain = land().with_soil_depth(0.5).expect("valid");
    let hardness = (0..64 * 128).map(|cell| (cell % 7) as f32 / 8.0).collect();
    terrain = terrain
        .with_layer(Layer::Hardness, hardness)
        .expect("valid");
    let mut river = start(&terrain);
    river.pass_water_on(true);
    // Neither at a look at the ground nor at one at its course.
    advance(&mut river, &mut terrain, 733);
    assert!(river.river().sediment().len() > 10);
    goes_on(river, terrain, 300);
}

#[test]
fn as_it_begins_and_after_it_was_written_back() {
    let mut terrain = land();
    let mut river = start(&terrain);
    goes_on(river.clone(), terrain.clone(), 60);
    advance(&mut river, &mut terrain, 400);
    river.write_back(&mut terrain);
    goes_on(river, terrain, 100);
}

#[test]
fn while_others_change_the_ground() {
    let mut terrain = land();
    let mut river = start(&terrain);
    advance(&mut river, &mut terrain, 402);
    // What it has not seen yet: so deep that the floodplain is another.
    let mut soil = terrain.soil().to_vec();
    for soil in &mut soil[70 * 64 + 20..70 * 64 + 44] {
        *soil += 3.0;
    }
    terrain.set_layer(Layer::Soil, soil).expect("valid");
    goes_on(river, terrain, 200);
}

/// The paper's rules remember other things.
#[test]
fn as_published() {
    let settings = MeanderingRiver {
        seed: 2,
        ..MeanderingRiver::as_published()
    };
    let mut terrain = land();
    let mut river = TerrainRiver::new(settings, stretch(), &upper_end(), &terrain).expect("valid");
    advance(&mut river, &mut terrain, 303);
    goes_on(river, terrain, 100);
}

/// A river round a loop with a narrow neck, on the shared terrain.
fn omega() -> (TerrainRiver, Terrain) {
    let plain = RiverPlain {
        width: 768.0,
        loop_way: 700.0,
        loop_neck: 30.0,
        ..plain(1)
    };
    let ground = plain.ground().expect("valid");
    let heights = ground.heights().iter().map(|height| *height as f32);
    let terrain = Terrain::from_heights(ground.size(), 8.0, heights.collect()).expect("valid");
    let place = Transform::from_xyz(-760.0, 0.0, 0.0).looking_to(Vec3::X, Vec3::Y);
    let stretch = RiverStretch {
        length: 1520.0,
        width: 760.0,
        inflow: 1000.0,
    };
    let river = TerrainRiver::new(settings(1), stretch, &place, &terrain);
    (river.expect("it fits"), terrain)
}

#[test]
fn across_a_cutoff_and_with_its_lake() {
    let (mut river, mut terrain) = omega();
    let mut before = None;
    for _ in 0..600 {
        before = Some((river.clone(), terrain.clone()));
        advance(&mut river, &mut terrain, 10);
        if !river.river().cutoffs().is_empty() {
            break;
        }
    }
    assert_eq!(river.river().cutoffs().len(), 1, "a cut-off");
    assert_eq!(river.river().lakes().len(), 1, "and its lake");
    let (mut early, land) = before.expect("it ran");
    // Remembered before, it breaks through all the same.
    let (mut other, mut other_land) = again(&early, &land);
    let mut land = land;
    // A clone is another terrain, and a river looks at all of it: so both do.
    advance(&mut early, &mut land, 10);
    advance(&mut other, &mut other_land, 10);
    assert_eq!(other.river().cutoffs(), river.river().cutoffs());
    assert_eq!(other_land.state_hash(), terrain.state_hash());
    advance(&mut river, &mut terrain, 43);
    goes_on(river, terrain, 300);
}

/// A river as small as can be, after a while.
fn small() -> (TerrainRiver, Terrain) {
    let plane = TiltedPlane::default().with_slope(0.05).with_downhill(90.0);
    let mut terrain = Terrain::generate(&plane, UVec2::new(17, 9), 8.0).expect("valid");
    let place = Transform::from_xyz(-60.0, 0.0, 0.0).looking_to(Vec3::X, Vec3::Y);
    let stretch = RiverStretch {
        length: 120.0,
        width: 60.0,
        inflow: 2000.0,
    };
    let settings = MeanderingRiver {
        course_interval: 1.0,
        ..settings(1)
    };
    let mut river = TerrainRiver::new(settings, stretch, &place, &terrain).expect("it fits");
    advance(&mut river, &mut terrain, 103);
    assert!(!river.river().sediment().is_empty() && !river.river().water().is_empty());
    (river, terrain)
}

#[test]
fn memories_that_lie() {
    let (river, terrain) = small();
    let memory = river.save_state(&terrain);
    let settings = river.river().settings();
    let (mut tried, mut believed) = (0, 0);
    torment(60, &memory, 6000, |memory| {
        tried += 1;
        let (stretch, place) = (*river.stretch(), river.place());
        let recalled = TerrainRiver::load_state(settings.clone(), stretch, place, memory, &terrain);
        let Ok(mut river) = recalled else {
            return;
        };
        believed += 1;
        let mut terrain = terrain.clone();
        for _ in 0..6 {
            river.step_on(Workers::serial(), &mut terrain, STEP);
        }
        river.write_back(&mut terrain);
        assert!(terrain.ground_heights().iter().all(|own| own.is_finite()));
    });
    assert!(believed > 1000 && believed < tried, "{believed} of {tried}");
    // Of another river, and on another land.
    let other = RiverStretch {
        length: 110.0,
        ..*river.stretch()
    };
    let recall = |stretch, terrain: &Terrain| {
        let settings = settings.clone();
        TerrainRiver::load_state(settings, stretch, river.place(), &memory, terrain)
    };
    assert!(recall(other, &terrain).is_err());
    assert!(recall(*river.stretch(), &land()).is_err());
    assert!(river.save_state(&land()).is_empty());
}

/// The same of one with a lake, plugs, a grade and former courses, which lie
/// behind its ground.
#[test]
fn memories_that_lie_about_lakes() {
    let (mut river, mut terrain) = omega();
    while river.river().cutoffs().is_empty() && river.river().time() < 600.0 {
        advance(&mut river, &mut terrain, 10);
    }
    assert_eq!(river.river().lakes().len(), 1);
    // It looks at its course with every look at the ground.
    let settings = MeanderingRiver {
        course_interval: 0.5,
        ..river.river().settings().clone()
    };
    let memory = river.save_state(&terrain);
    let (stretch, place) = (*river.stretch(), *river.place());
    let mut random = Pcg32::new(61, 7);
    let mut believed = 0;
    for round in 0..1500 {
        let mut memory = memory.clone();
        let numbers = memory.len() / 8;
        for _ in 0..1 + round % 3 {
            // The end of it: whole numbers and real ones.
            let number = numbers - 1 - random.next_u32() as usize % 3000;
            let end = memory.len() - 8 * (numbers - 1 - number);
            let own = &mut memory[end - 8..end];
            let value = match random.next_u32() % 10 {
                0 => 0,
                1 => 1,
                2 => u64::MAX,
                3 => 1 << 62,
                4 => f64::NAN.to_bits(),
                5 => 1e300f64.to_bits(),
                6 => (-300.0f64).to_bits(),
                7 => u64::from(random.next_u32() % 1000),
                8 => f64::from(random.next_u32() % 2000).to_bits(),
                _ => {
                    own[random.next_u32() as usize % 8] ^= 1 << (random.next_u32() % 8);
                    continue;
                }
            };
            own.copy_from_slice(&value.to_le_bytes());
        }
        let recalled =
            TerrainRiver::load_state(settings.clone(), stretch, &place, &memory, &terrain);
        let Ok(mut river) = recalled else {
            continue;
        };
        believed += 1;
        if believed % 4 == 0 {
            let mut terrain = terrain.clone();
            for _ in 0..4 {
                river.step_on(Workers::serial(), &mut terrain, 0.5);
            }
            river.write_back(&mut terrain);
            assert!(terrain.ground_heights().iter().all(|own| own.is_finite()));
        }
    }
    assert!((100..1400).contains(&believed), "{believed}");
}

fn app() -> App {
    let mut app = create_app();
    app.insert_resource(ErosionPace::StepsPerTick(1))
        .insert_resource(land())
        .insert_resource(PipeModel::default());
    let mut time = app.world_mut().resource_mut::<Time<Erosion>>();
    time.set_step_size(Duration::from_secs_f32(STEP));
    app
}

fn update(app: &mut App, times: usize) {
    for _ in 0..times {
        app.update();
    }
}

fn terrain(app: &App) -> &Terrain {
    app.world().resource::<Terrain>()
}

fn save(app: &mut App) -> Vec<u8> {
    let state = SavedState::capture(app.world_mut()).expect("a state");
    state.to_bytes().expect("writable")
}

fn load(bytes: &[u8], app: &mut App) {
    let state = SavedState::from_bytes(bytes).expect("readable");
    state.restore(app.world_mut()).expect("an app with erosion");
}

/// What all rivers of an app remember, in the order in which they run.
fn memories(app: &App) -> Vec<Vec<u8>> {
    let rivers = app.world().resource::<Rivers>().iter();
    rivers
        .map(|(_, own)| own.save_state(terrain(app)))
        .collect()
}

fn same(a: &App, b: &App, when: &str) {
    assert_eq!(terrain(a).state_hash(), terrain(b).state_hash(), "{when}");
    assert_eq!(terrain(a).ledger(), terrain(b).ledger(), "{when}");
    assert!(memories(a) == memories(b), "{when}");
}

/// Saves an app, and runs it beside one that was new and one that had a river of
/// its own.
fn app_goes_on(app: &mut App) {
    let bytes = save(app);
    let mut fresh = create_app();
    let mut busy = self::app();
    busy.world_mut()
        .spawn((settings(9), stretch(), upper_end()));
    update(&mut busy, 50);
    load(&bytes, &mut fresh);
    load(&bytes, &mut busy);
    for (other, which) in [(&fresh, "new"), (&busy, "over another")] {
        same(app, other, which);
    }
    for _ in 0..3 {
        for app in [&mut *app, &mut fresh, &mut busy] {
            update(app, 67);
        }
        same(app, &fresh, "later");
        same(app, &busy, "later, over another");
    }
    assert_balanced(terrain(&fresh));
}

#[test]
fn in_an_app_beside_flowing_water() {
    let mut app = app();
    app.world_mut().spawn((settings(3), stretch(), upper_end()));
    update(&mut app, 400);
    assert!(terrain(&app).ledger().water.in_rivers > 1e4);
    let bytes = save(&mut app);
    let mut fresh = create_app();
    load(&bytes, &mut fresh);
    assert!(terrain(&fresh).water_depth(32, 30) > 0.0, "it is seen");
    assert!(save(&mut fresh) == bytes, "what was loaded was saved");
    app_goes_on(&mut app);
}

/// Two that meet, turned out of the grid, one of them on a parent that is turned
/// itself; and a third that has not run yet.
#[test]
fn many_and_on_parents() {
    let mut app = app();
    let world = app.world_mut();
    let narrow = RiverStretch {
        length: 400.0,
        width: 160.0,
        inflow: 700.0,
    };
    let parent = Transform::from_xyz(17.0, 3.0, -300.0)
        .with_rotation(Quat::from_rotation_y(0.7))
        .with_scale(Vec3::splat(1.3));
    let parent = world.spawn(parent).id();
    let way = Quat::from_rotation_y(2.4).normalize();
    let turned = Transform::from_xyz(2.0, 0.0, 1.0).with_rotation(way);
    world.spawn((settings(5), narrow, turned, ChildOf(parent)));
    let second =
        Transform::from_xyz(-20.0, 0.0, -200.0).looking_to(Vec3::new(0.123, 0.0, 0.97), Vec3::Y);
    world.spawn((settings(6), narrow, second));
    update(&mut app, 300);
    assert_eq!(app.world().resource::<Rivers>().iter().count(), 2);
    let third = (settings(7), narrow, upper_end());
    app.world_mut().spawn(third);
    app_goes_on(&mut app);
    assert_eq!(app.world().resource::<Rivers>().iter().count(), 3);
}

#[test]
fn changed_just_before() {
    let (mut app, mut entities) = (app(), Vec::new());
    let narrow = RiverStretch {
        length: 300.0,
        width: 160.0,
        inflow: 700.0,
    };
    for (number, z) in [-500.0, -180.0, 140.0].into_iter().enumerate() {
        let place = Transform::from_xyz(0.0, 0.0, z).looking_to(Vec3::Z, Vec3::Y);
        let river = (settings(number as u64), narrow, place);
        entities.push(app.world_mut().spawn(river).id());
    }
    update(&mut app, 203);
    let world = app.world_mut();
    world
        .get_mut::<RiverStretch>(entities[0])
        .expect("there")
        .inflow = 300.0;
    let mut settings = world.get_mut::<MeanderingRiver>(entities[1]);
    settings.as_mut().expect("there").particle_volume = 500.0;
    let mut place = world.get_mut::<Transform>(entities[2]);
    place.as_mut().expect("there").translation.x = 20.0;
    app_goes_on(&mut app);
}

#[test]
fn one_that_was_just_removed_is_written_back() {
    let mut app = app();
    let narrow = RiverStretch {
        length: 300.0,
        width: 160.0,
        inflow: 700.0,
    };
    let at = |z: f32| Transform::from_xyz(0.0, 0.0, z).looking_to(Vec3::Z, Vec3::Y);
    let removed = (settings(1), narrow, at(-500.0));
    let removed = app.world_mut().spawn(removed).id();
    app.world_mut().spawn((settings(2), narrow, at(-180.0)));
    update(&mut app, 203);
    app.world_mut().despawn(removed);
    let bytes = save(&mut app);
    let mut fresh = create_app();
    load(&bytes, &mut fresh);
    assert_eq!(fresh.world().resource::<Rivers>().iter().count(), 1);
    assert_balanced(terrain(&fresh));
    for times in [1, 100] {
        update(&mut app, times);
        update(&mut fresh, times);
        same(&app, &fresh, "later");
    }
}

/// The same entity keeps its river's state when a state is loaded over it.
#[test]
fn again_and_again_into_the_same_app() {
    let mut app = app();
    let river = (settings(3), stretch(), upper_end());
    let entity = app.world_mut().spawn(river).id();
    update(&mut app, 200);
    let state = SavedState::capture(app.world_mut()).expect("a state");
    let mut hashes = Vec::new();
    for _ in 0..3 {
        state
            .clone()
            .restore(app.world_mut())
            .expect("an app with erosion");
        assert!(app.world().resource::<Rivers>().get(entity).is_some());
        update(&mut app, 60);
        hashes.push(terrain(&app).state_hash());
    }
    assert!(hashes.iter().all(|hash| *hash == hashes[0]), "{hashes:x?}");
}
