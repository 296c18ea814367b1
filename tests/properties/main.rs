//! Random settings: never a panic, never a non-finite value, never a negative layer.

mod described;

use bevy::math::{UVec2, Vec3};
use bevy_erode::forcing::edits::{EditAction, TerrainHistory};
use bevy_erode::{
    models::{AnyModel, BUILT_IN},
    parallel::Workers,
    prelude::*,
};
use proptest::{prelude::*, test_runner::RngSeed};

/// So many cases, always the same ones. `PROPTEST_RNG_SEED` gives others.
fn cases(cases: u32) -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: match usual.rng_seed {
            RngSeed::Random => RngSeed::Fixed(1),
            seed => seed,
        },
        ..usual
    }
}

/// Mostly usual values, sometimes anything at all.
fn any_or(usual: impl Strategy<Value = f32> + 'static) -> BoxedStrategy<f32> {
    prop_oneof![
        30 => usual,
        1 => any::<f32>(),
        1 => prop_oneof![Just(0.0), Just(f32::NAN), Just(f32::INFINITY), Just(-1.0)],
    ]
    .boxed()
}

/// A model of the table with random settings.
fn any_model() -> impl Strategy<Value = AnyModel> {
    (0..BUILT_IN.len(), described::draws()).prop_map(|(index, draws)| {
        let mut model = BUILT_IN[index].default_model();
        described::fill_all(model.settings_mut(), draws);
        // The methods of two sources, literally, lose or make water.
        if let Some(pipe) = model.get_mut::<PipeModel>() {
            pipe.published = None;
        }
        if let Some(water) = model.get_mut::<ShallowWater>() {
            water.published = None;
        }
        // Not so many that a case takes minutes.
        if let Some(droplets) = model.get_mut::<Droplets>() {
            droplets.max_steps = droplets.max_steps.min(200);
        }
        if let Some(pipe) = model.get_mut::<PipeModel>() {
            pipe.max_substeps = pipe.max_substeps.min(20);
        }
        model
    })
}

fn border() -> impl Strategy<Value = Border> {
    prop_oneof![
        Just(Border::Wall),
        Just(Border::Open),
        (-400.0f32..400.0).prop_map(|level| Border::Sea { level }),
    ]
}

prop_compose! {
    fn borders()(west in border(), east in border(), north in border(), south in border()) -> Borders {
        Borders { west, east, north, south }
    }
}

prop_compose! {
    /// Small lands with cliffs, at any altitude and cell size.
    fn terrain()(width in 1u32..40, height in 1u32..40)(
        heights in prop::collection::vec(-300.0f32..300.0, (width * height) as usize),
        soil in prop::collection::vec(0.0f32..3.0, (width * height) as usize),
        altitude in prop_oneof![Just(0.0f32), Just(8000.0), -1e6f32..1e6],
        cell_size in 0.05f32..50.0,
        width in Just(width),
        height in Just(height),
    ) -> Terrain {
        let heights = heights.iter().map(|h| h + altitude).collect();
        Terrain::from_heights(UVec2::new(width, height), cell_size, heights)
            .and_then(|terrain| terrain.with_layer(Layer::Soil, soil))
            .expect("a valid terrain")
    }
}

fn action() -> impl Strategy<Value = EditAction> {
    let matter = || {
        prop_oneof![
            Just(Matter::Soil),
            Just(Matter::Rock),
            Just(Matter::Water),
            Just(Matter::Lava)
        ]
    };
    prop_oneof![
        Just(EditAction::Raise),
        Just(EditAction::Lower),
        Just(EditAction::Smooth),
        (-300.0f32..300.0).prop_map(|height| EditAction::Flatten { height }),
        (any::<u32>(), 0.1f32..30.0)
            .prop_map(|(seed, feature_size)| EditAction::Noise { seed, feature_size }),
        matter().prop_map(EditAction::Add),
        matter().prop_map(EditAction::Remove),
        (0.0f32..1.0).prop_map(|value| EditAction::SetHardness { value }),
    ]
}

prop_compose! {
    /// An edit of a land that is so many metres wide.
    fn edit(wide: f32)(
        action in action(),
        from in prop::array::uniform2(-wide..wide),
        to in prop::array::uniform2(-wide..wide),
        is_square in any::<bool>(),
        radius in any_or(0.0f32..wide),
        strength in any_or(0.0f32..5.0),
        by_hand in any::<bool>(),
        stroke in 0u64..4,
    ) -> TerrainEdit {
        let brush = match is_square {
            true => Brush::square(radius),
            false => Brush::circle(radius),
        };
        let place = |at: [f32; 2]| Vec3::new(at[0], 0.0, at[1]);
        let edit = TerrainEdit::new(action, place(to), brush)
            .drawn_from(place(from))
            .with_strength(strength)
            .in_stroke(stroke);
        if by_hand { edit.by_hand() } else { edit }
    }
}

/// An edit, or undo and redo.
fn deed() -> impl Strategy<Value = Result<TerrainEdit, bool>> {
    prop_oneof![6 => edit(40.0).prop_map(Ok), 1 => any::<bool>().prop_map(Err)]
}

fn assert_sound(terrain: &Terrain) -> Result<(), TestCaseError> {
    prop_assert!(terrain.bedrock().iter().all(|v| v.is_finite()));
    prop_assert!(terrain.soil().iter().all(|v| v.is_finite() && *v >= 0.0));
    for layer in [terrain.water(), terrain.suspended()] {
        prop_assert!(layer.iter().all(|v| v.is_finite() && *v >= 0.0));
    }
    if let (Some(lava), Some(heat)) = (terrain.lava(), terrain.lava_heat()) {
        prop_assert!(lava.iter().all(|v| v.is_finite() && *v >= 0.0));
        let pairs = heat.iter().zip(lava);
        prop_assert!(
            pairs
                .into_iter()
                .all(|(heat, lava)| (0.0..=*lava).contains(heat))
        );
    }
    let solids = terrain.ledger().solids;
    prop_assert!(solids.drift_of_total().abs() < 1e-6, "{solids:?}");
    Ok(())
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn edits_stay_sound_and_can_be_undone(
        deeds in prop::collection::vec(deed(), 1..25),
        limit in prop_oneof![Just(0usize), Just(300_000), Just(64 << 20)],
        size in (2u32..90, 2u32..90),
        // One after the other, or several at once.
        in_turn in any::<bool>(),
    ) {
        let size = UVec2::new(size.0, size.1);
        let mut terrain = Terrain::flat(size, 1.0)
            .and_then(|terrain| terrain.with_soil_depth(2.0))
            .expect("valid");
        let start = terrain.clone();
        let mut history = TerrainHistory::with_limit(limit);
        for (number, deed) in deeds.into_iter().enumerate() {
            match deed {
                Ok(mut edit) => {
                    if in_turn {
                        edit.stroke = 1 + number as u64 / 3;
                    }
                    let hash = terrain.state_hash();
                    if history.apply(&edit, &mut terrain).is_err() {
                        prop_assert_eq!(terrain.state_hash(), hash);
                    }
                }
                Err(true) => { history.undo(&mut terrain); }
                Err(false) => { history.redo(&mut terrain); }
            }
            assert_sound(&terrain)?;
            prop_assert!(terrain.water().iter().all(|v| v.is_finite() && *v >= 0.0));
            prop_assert!(terrain.ledger().water.drift().abs() < 1e-2);
            prop_assert!(history.bytes() <= limit);
            let solids = terrain.ledger().solids;
            let hand = [solids.carried, solids.lava_carried, terrain.ledger().water.carried];
            prop_assert!(hand.iter().all(|hand| *hand >= -1e-3), "{hand:?}");
        }
        while history.undo(&mut terrain) {
            assert_sound(&terrain)?;
        }
        // Whoever digs in another's heap keeps what was dug; otherwise nothing is
        // left of all that was done.
        if limit > 1 << 20 && in_turn {
            prop_assert_eq!(terrain.soil(), start.soil());
            prop_assert_eq!(terrain.bedrock(), start.bedrock());
            prop_assert_eq!(terrain.water(), start.water());
        }
    }

}

proptest! {
    #![proptest_config(cases(1400))]

    #[test]
    fn models_stay_sound(
        mut model in any_model(),
        mut terrain in terrain(),
        borders in borders(),
        (depth, lava) in (0.0f32..50.0, 0.0f32..50.0),
        dt in any_or(0.001f32..10.0),
    ) {
        let cells = terrain.grid().cells();
        let water = (0..cells).map(|i| if i % 3 == 0 { 0.0 } else { depth });
        terrain.set_layer(Layer::Water, water.collect()).expect("valid");
        if model.entry().writes().contains(&Layer::Lava) {
            let lava = (0..cells).map(|i| if i % 4 == 0 { 0.0 } else { lava });
            terrain.set_layer(Layer::Lava, lava.collect()).expect("valid");
        }
        terrain.set_borders(borders).expect("valid");
        if let Some(droplets) = model.get_mut::<Droplets>() {
            // So few drops that a case takes no longer than those of other models.
            let most = 60.0 / (terrain.grid().cell_area() as f32 * cells as f32 * dt);
            if droplets.rate > most {
                droplets.rate = most;
            }
        }
        match model.solver(terrain.grid()) {
            Ok(mut solver) => {
                prop_assert!(model.check().is_ok());
                for _ in 0..5 {
                    solver.step_on(Workers::global(), &mut terrain, dt);
                }
                assert_sound(&terrain)?;
                let water = terrain.ledger().water;
                prop_assert!(water.drift_of_total().abs() < 1e-6, "{water:?}");
            }
            Err(error) => prop_assert!(error.to_string().contains("must be"), "{error}"),
        }
    }
}
