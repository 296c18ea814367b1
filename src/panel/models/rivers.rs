//! Settings of every `MeanderingRiver`.

use super::{ModelSettings, edit};
use crate::{
    models::meander::{CurveSignal, Friction, MeanderingRiver, SidewaysRule},
    panel::{
        ErosionPanel,
        rows::{Row, Rows, numbers},
    },
};
use bevy::prelude::*;
use bevy_egui::egui::{CollapsingHeader, Ui};

/// All rivers below each other.
pub(super) fn show(ui: &mut Ui, world: &mut World) {
    let mut rivers: Vec<Entity> = world
        .query_filtered::<Entity, With<MeanderingRiver>>()
        .iter(world)
        .collect();
    rivers.sort();
    for (number, entity) in rivers.into_iter().enumerate() {
        let Some(river) = world.get::<MeanderingRiver>(entity) else {
            continue;
        };
        let title = format!("{} {}", MeanderingRiver::NAME, number + 1);
        let section = CollapsingHeader::new(title).id_salt(entity);
        let shown = section.show(ui, |ui| edit(ui, river));
        shown.header_response.on_hover_text(MeanderingRiver::ABOUT);
        if let Some(edited) = shown.body_returned.flatten() {
            world.entity_mut(entity).insert(edited);
            world.resource_mut::<ErosionPanel>().fault = None;
        }
    }
}

impl ModelSettings for MeanderingRiver {
    const NAME: &'static str = "River";
    const ABOUT: &'static str = "A river that wanders: it cuts its outer banks, fills its inner ones \
                                 and breaks through necks";

    fn show(&mut self, rows: &mut Rows) {
        let usual = Self::default();
        numbers!(rows, self, &usual;
            seed, "", 0..=9999, "Same seed, same river";
            radius, "m", 1.0..=100.0, "Reach of a water particle, half the width of a stream";
            rest_density, "1/m²", 0.0001..=1.0, "Water denser than this pushes apart";
            stiffness, "m⁴/s²", 0.0..=1000.0, "Pressure for each particle/m² beyond that";
            viscosity, "1/(m²·s)", 0.0..=10.0, "How strongly neighbors share their velocity";
            gravity, "m/s²", 0.0..=30.0, "Pull down the slope";
            drag, "1/s", 0.0..=1.0, "Slows water on the ground";
        );
        friction(rows, &mut self.friction);
        numbers!(rows, self, &usual;
            coriolis, "1/s", -0.1..=0.1, "Turns water to the left, or to the right below zero";
        );
        curve(rows, &mut self.curve);
        numbers!(rows, self, &usual;
            curve_start, "1/m", 0.0..=0.1, "Straighter water does not cut sideways";
            curve_full, "1/m", 0.0001..=1.0, "From here on sideways cutting is at its full";
            erosion, "m/m", 0.0..=0.1, "Cut for each metre that water runs past, at full water";
            threshold, "m/s", 0.0..=10.0, "Slower water does not cut";
            sideways, "", 0.0..=2.0, "Share of a cut that goes sideways, in a full bend";
            ahead, "", 0.0..=2.0, "Share that goes into what stands in the water's way";
            downward, "", 0.0..=2.0, "Share of a cut that goes down";
            depth, "m", 0.1..=50.0, "Water does not dig deeper than this below the floodplain";
            grading, "m", 0.0..=5000.0, "Way along the stream over which its bed falls evenly";
            interval, "s", 0.05..=60.0, "Time between two looks at the ground";
        );
        let rules = [
            (
                SidewaysRule::Advance,
                "advance",
                "A bank moves by its height, as a whole",
            ),
            (
                SidewaysRule::TwoPoints,
                "two points",
                "The paper's: two points are cut at once",
            ),
        ];
        rows.choice("rule", &mut self.rule, rules);
        numbers!(rows, self, &usual;
            softness, "", 0.0..=10.0, "Fresh deposits are cut so many times faster";
            hardening, "1/s", 0.0..=0.1, "Share of fresh deposits that hardens in a second";
            talus, "", 0.05..=5.0, "Steepest slope that stands; steeper banks cave in";
            smoothing, "s", 0.0..=60.0, "Smooths the ground under water once in a while; 0: never";
            capacity, "m³", 1.0..=5000.0, "Most that a sediment particle carries";
            reach, "m", 0.0..=100.0, "A cut looks so far for a particle that carries it";
            follow, "1/s", 0.0..=10.0, "How quickly sediment takes on the water's velocity";
            attraction, "1/s", 0.0..=10.0, "Pull towards the inner bank, for each m/s of the water";
            settling_speed, "m/s", 0.0..=20.0, "Slower sediment in the middle of the stream settles";
            lifetime, "s", 1.0..=10_000.0, "Older sediment settles wherever it may";
            saturation, "m³", 1.0..=10_000.0, "Most sediment in reach of full water";
            settling, "1/s", 0.0..=10.0, "Share of a particle that settles in a second";
            bar_edge, "", 0.0..=10.0, "Sediment settles where there is less water: at the edge";
        );
        rows.switch(
            "level_bars",
            &mut self.level_bars,
            "Deposits rise to the floodplain and not above",
        );
        numbers!(rows, self, &usual;
            merging, "m", 0.0..=100.0, "Sediment particles that are nearer become one";
        );
        rows.switch(
            "recirculate",
            &mut self.recirculate,
            "What leaves with the water is fed in again at the source",
        );
        numbers!(rows, self, &usual;
            feed, "m³", 0.0..=1000.0, "Most of it that comes in with a particle of water";
            particle_volume, "m³", 0.001..=10_000.0, "Water of one particle";
            neck, "m", 0.0..=500.0, "Narrower land between two reaches is cut through; 0: never";
            neck_way, "m", 8.0..=5000.0, "Only where the way round is at least so long";
            course_interval, "s", 0.1..=600.0, "Time between two looks at the river's course";
            plug, "m", 0.0..=200.0, "Length of a plug in a mouth of an old bend";
        );
    }
}

fn friction(rows: &mut Rows, friction: &mut Friction) {
    let rough = MeanderingRiver::default().friction;
    let kinds = [
        (rough, "rough", "Grows with the speed, less in deep water"),
        (
            Friction::Linear,
            "linear",
            "The same whatever the speed and depth",
        ),
    ];
    rows.choice("friction", friction, kinds);
    if let (Friction::Rough { speed }, Friction::Rough { speed: usual }) = (friction, rough) {
        rows.inner("friction", |rows| {
            let row = Row {
                field: "speed",
                unit: "m/s",
                range: 0.01..=50.0,
                explanation: "Speed at which it is as strong as the linear one",
            };
            rows.number(row, speed, usual);
        });
    }
}

fn curve(rows: &mut Rows, curve: &mut CurveSignal) {
    let smoothed = MeanderingRiver::default().curve;
    let accumulated = CurveSignal::Accumulated {
        least_turn: 0.0,
        decay: 3.0,
        limit: 1.5,
    };
    let kinds = [
        (smoothed, "smoothed", "The turning rate of the water nearby"),
        (
            accumulated,
            "accumulated",
            "The paper's: a particle adds up its own turns",
        ),
    ];
    rows.choice("curve", curve, kinds);
    rows.inner("curve", |rows| match curve {
        CurveSignal::Smoothed { time } => {
            let row = Row {
                field: "time",
                unit: "s",
                range: 0.0..=60.0,
                explanation: "Time to smooth over",
            };
            rows.number(row, time, 3.0);
        }
        CurveSignal::Accumulated {
            least_turn,
            decay,
            limit,
        } => {
            let row = |field, unit, range, explanation| Row {
                field,
                unit,
                range,
                explanation,
            };
            let least = row(
                "least_turn",
                "rad",
                0.0..=1.0,
                "Smaller turns in a step do not count",
            );
            rows.number(least, least_turn, 0.0);
            let forgets = row("decay", "s", 0.1..=1000.0, "Time in which it forgets");
            rows.number(forgets, decay, 3.0);
            let largest = row("limit", "rad", 0.0..=10.0, "Largest sum");
            rows.number(largest, limit, 1.5);
        }
    });
}
