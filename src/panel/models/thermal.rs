//! Settings of `Thermal`.

use super::ModelSettings;
use crate::{
    models::thermal::Thermal,
    panel::rows::{Rows, numbers},
};

impl ModelSettings for Thermal {
    const NAME: &'static str = "Thermal weathering";
    const ABOUT: &'static str = "Steep slopes crumble and slide";

    fn show(&mut self, rows: &mut Rows) {
        numbers!(rows, self, Thermal::default();
            soil_angle, "°", 0.0..=89.0, "Steepest slope on which soil rests";
            bedrock_angle, "°", 0.0..=89.0, "Steepest slope on which bedrock stands";
            mobility, "m²/s", 0.0..=50.0, "How fast soil slides where it is too steep";
            breaking, "m/s", 0.0..=1.0, "Bedrock broken in a second, bare and one unit too steep";
            shelter, "m", 0.01..=5.0, "Soil of this thickness halves the breaking";
        );
    }
}
