//! Settings of `Lava`.

use super::ModelSettings;
use crate::{
    models::lava::Lava,
    panel::rows::{Rows, numbers},
};

impl ModelSettings for Lava {
    const NAME: &'static str = "Lava";
    const ABOUT: &'static str = "Lava flows, piles up and freezes to bedrock";

    fn show(&mut self, rows: &mut Rows) {
        numbers!(rows, self, Lava::default();
            viscosity, "Pa·s", 1.0..=100_000.0, "How thick-flowing fresh lava is";
            stiffening, "", 1.0..=1000.0, "How many times as stiff it is when about to freeze";
            yield_strength, "Pa", 0.0..=100_000.0, "Stress below which it does not flow at all";
            density, "kg/m³", 100.0..=5000.0, "Mass of a cubic metre";
            gravity, "m/s²", 0.1..=30.0, "Gravity";
            cooling, "m/s", 0.0..=0.1, "Thickness of fresh lava that would be cold in a second";
            edge_cooling, "", 0.0..=10.0, "How much more is lost for each side without lava";
            steam, "", 0.0..=10.0, "Water boiled off by a volume that turns to rock";
            max_substeps, "", 1..=64,
                "Most parts of a step; beyond it time slows down for the lava";
        );
    }
}
