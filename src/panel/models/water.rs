//! Settings of the water models, `PipeModel` and `ShallowWater`.

use super::ModelSettings;
use crate::{
    models::{
        pipe::{PipeModel, PublishedPipe},
        shallow_water::{PublishedShallowWater, ShallowWater},
    },
    panel::rows::{Rows, numbers},
};

impl ModelSettings for PipeModel {
    const NAME: &'static str = "Water (pipe model)";
    const ABOUT: &'static str = "Water flows through virtual pipes, cuts and deposits";

    fn show(&mut self, rows: &mut Rows) {
        rows.optional(
            ("published", "the source's own method"),
            &mut self.published,
            PublishedPipe::default,
            "X. Mei's method, literally: it depends on the step and loses mass",
            published_pipe,
        );
        if self.published.is_some() {
            return;
        }
        numbers!(rows, self, PipeModel::default();
            gravity, "m/s²", 0.1..=30.0, "Gravity";
            roughness, "s/m^⅓", 0.0..=0.2,
                "Manning's roughness of the bed: 0.03 is a clean channel, 0.1 brush";
            capacity, "s/m", 0.0..=10.0,
                "Sediment that a metre of water carries at 1 m/s on a slope of 1";
            rounding, "m", 0.0..=50.0,
                "Beds curved more sharply than one over this are cut no further";
            full_depth, "m", 0.01..=50.0, "Depth beyond which deeper water carries no more";
            min_tilt, "°", 0.0..=20.0, "Water carries on level ground what it would on this slope";
            soil_erosion, "1/s", 0.0..=10.0, "How fast water takes up soil";
            bedrock_erosion, "1/s", 0.0..=10.0, "How fast water takes up bare bedrock";
            deposition, "1/s", 0.0..=10.0, "How fast water lets fall what is too much";
            max_substeps, "", 1..=64,
                "Most parts of a step; beyond it time slows down for the water";
        );
    }
}

fn published_pipe(rows: &mut Rows, published: &mut PublishedPipe) {
    numbers!(rows, published, PublishedPipe::default();
        pipe_area, "m²", 0.01..=100.0, "Cross-section of every pipe";
        gravity, "m/s²", 0.1..=30.0, "Gravity";
        capacity, "s", 0.0..=1.0, "Sediment that water carries at 1 m/s on a cliff";
        dissolving, "", 0.0..=1.0, "Share of what is lacking that a step takes up";
        deposition, "", 0.0..=1.0, "Share of what is too much that a step lets fall";
        evaporation, "1/s", 0.0..=0.5, "Share of the water that dries in a second";
        min_tilt, "°", 0.0..=45.0, "Level ground counts as so steep";
    );
}

impl ModelSettings for ShallowWater {
    const NAME: &'static str = "Water (implicit)";
    const ABOUT: &'static str = "Shallow water in long steps over soft ground";

    fn show(&mut self, rows: &mut Rows) {
        rows.optional(
            ("published", "the source's own method"),
            &mut self.published,
            PublishedShallowWater::default,
            "B. Beneš's method, literally: it depends on the step and makes water at shores",
            published_shallow_water,
        );
        if self.published.is_some() {
            return;
        }
        numbers!(rows, self, ShallowWater::default();
            gravity, "m/s²", 0.1..=30.0, "Gravity";
            roughness, "s/m^⅓", 0.0..=0.2,
                "Manning's roughness of the bed: 0.03 is a clean channel, 0.1 brush";
            damping, "1/s", 0.0..=2.0, "How fast all waves die away";
            regolith_depth, "m", 0.0..=0.5, "Depth to which water softens the ground";
            regolith_roughness, "s/m^⅓", 0.0..=2.0, "The larger, the slower soft ground creeps";
            interval, "s", 0.05..=10.0, "Time between two exchanges with the ground";
            regolith_solves, "", 1..=20, "Parts of the interval in which soft ground creeps";
            steady, "m/s", 0.0..=0.001, "Soft ground that rises and falls slower than this is left";
        );
    }
}

fn published_shallow_water(rows: &mut Rows, published: &mut PublishedShallowWater) {
    numbers!(rows, published, PublishedShallowWater::default();
        gravity, "m/s²", 0.1..=30.0, "Gravity";
        water_damping, "", 0.0..=1.0, "Share of its motion that water loses in a solve";
        regolith_damping, "", 0.0..=1.0, "Share of its motion that regolith loses in a solve";
        regolith_depth, "m", 0.0..=0.1,
            "Depth to which water softens the ground; the source says 0 to 0.01";
        solves, "", 1..=50, "Solves after which water or regolith counts as steady";
        steady, "m/s", 0.0..=0.01, "A level that rises and falls slower than this is steady";
    );
}
