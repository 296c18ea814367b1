//! Settings of `Droplets`.

use super::ModelSettings;
use crate::{
    models::droplet::{Droplets, PublishedDroplets, Streams},
    panel::rows::{Rows, numbers},
};

impl ModelSettings for Droplets {
    const NAME: &'static str = "Droplets";
    const ABOUT: &'static str = "Drops of water slide downhill, cut and deposit";

    fn show(&mut self, rows: &mut Rows) {
        numbers!(rows, self, Droplets::default();
            seed, "", 0..=9999, "Same seed, same landscape";
            rate, "1/(m²·s)", 0.0..=1.0, "Drops that fall on a square metre in a second";
        );
        rows.optional(
            ("published", "the source's own method"),
            &mut self.published,
            PublishedDroplets::default,
            "T. Power's method, literally: it loses mass and makes spikes",
            published,
        );
        // It knows nothing of the other settings.
        if self.published.is_some() {
            return;
        }
        numbers!(rows, self, Droplets::default();
            volume, "m³", 0.1..=100.0, "Water in a drop when it falls";
            radius, "m", 0.0..=24.0, "Radius over which a drop cuts and fills";
            gravity, "m/s²", 0.1..=30.0, "Gravity";
            friction, "1/s", 0.0..=5.0, "Friction with the ground";
            capacity, "s/m", 0.0..=10.0, "Sediment that water carries at 1 m/s on a slope of 1";
            max_concentration, "", 0.01..=1.0, "Largest share of sediment in the water";
            erosion, "1/s", 0.0..=5.0, "How fast a drop fills up to its capacity";
            deposition, "1/s", 0.0..=5.0, "How fast a drop lets fall what is too much";
            evaporation, "1/s", 0.0..=0.2, "How fast a drop evaporates";
            min_volume, "", 0.0..=0.5, "A drop ends when less of its water is left";
            max_steps, "", 1..=2048, "A drop ends after so many steps";
            bedrock_erodibility, "", 0.0..=1.0, "How readily bedrock is cut, where soil is 1";
        );
        rows.optional(
            ("streams", "streams"),
            &mut self.streams,
            Streams::default,
            "Drops join into streams and run out of hollows",
            streams,
        );
    }
}

fn streams(rows: &mut Rows, streams: &mut Streams) {
    numbers!(rows, streams, Streams::default();
        onset, "m²", 10.0..=100_000.0, "Catchment at which run-off is half a stream";
        pull, "1/s", 0.0..=5.0, "How fast a stream takes a drop along";
        power, "", 0.0..=2.0, "How a stream's capacity grows with its catchment";
        memory, "", 0.01..=1.0, "How much of the record a batch renews";
    );
}

fn published(rows: &mut Rows, published: &mut PublishedDroplets) {
    numbers!(rows, published, PublishedDroplets::default();
        time_step, "", 0.1..=2.0, "Δt of the source";
        height_scale, "cells", 1.0..=500.0, "Height of one unit of the source's heightmap";
        density, "", 0.1..=10.0, "Density of water";
        friction, "", 0.0..=0.45, "The source says 0.05 to 0.30";
        deposition_rate, "", 0.0..=1.0, "The source says 0.10 to 0.50";
        evaporation_rate, "", 0.001..=0.45, "The source says 0.01 to 0.05";
        min_water, "", 0.001..=0.5, "A drop ends below this";
    );
}
