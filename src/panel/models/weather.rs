//! Settings of `Rain` and `Evaporation`.

use super::ModelSettings;
use crate::{
    forcing::{Evaporation, Rain, RainPattern, Season},
    panel::rows::{Row, Rows, numbers},
};

impl ModelSettings for Rain {
    const NAME: &'static str = "Rain";
    const ABOUT: &'static str = "Water falls on the land; a water model lets it flow";

    fn show(&mut self, rows: &mut Rows) {
        numbers!(rows, self, Rain::default();
            mm_per_hour, "mm/h", 0.0..=10_000.0,
                "Mean over the land: 10 is rain, 50 a cloudburst, more is a game's";
        );
        pattern(rows, &mut self.pattern);
        season(rows, &mut self.season, Season::default());
    }
}

impl ModelSettings for Evaporation {
    const NAME: &'static str = "Evaporation";
    const ABOUT: &'static str = "Water dries up";

    fn show(&mut self, rows: &mut Rows) {
        numbers!(rows, self, Evaporation::default();
            mm_per_hour, "mm/h", 0.0..=1000.0,
                "Depth that goes into the air wherever there is water";
        );
        season(rows, &mut self.season, Season::default().opposite());
    }
}

/// Where rain falls.
fn pattern(rows: &mut Rows, pattern: &mut RainPattern) {
    let kinds = [
        (RainPattern::Uniform, "even", "Everywhere alike"),
        (RainPattern::drops(0), "drops", "At random places"),
        (
            RainPattern::blue_noise(0),
            "spaced drops",
            "At places that keep a distance from one another",
        ),
    ];
    rows.choice("pattern", pattern, kinds);
    // A map comes from code or a file; it can be left but not made here.
    if let RainPattern::Map(weights) = &*pattern {
        rows.ui.label(format!("map of {} cells", weights.len()));
    }
    let RainPattern::BlueNoise {
        spacing: usual_spacing,
        radius: usual_radius,
        depth: usual_depth,
        ..
    } = RainPattern::blue_noise(0)
    else {
        return;
    };
    rows.inner("pattern", |rows| match pattern {
        RainPattern::Uniform | RainPattern::Map(_) => {}
        RainPattern::Drops {
            radius,
            depth,
            seed,
        } => drops(rows, (radius, usual_radius), (depth, usual_depth), seed),
        RainPattern::BlueNoise {
            spacing,
            radius,
            depth,
            seed,
        } => {
            let row = Row {
                field: "spacing",
                unit: "m",
                range: 0.5..=200.0,
                explanation: "Distance that drops keep from the latest before them",
            };
            rows.number(row, spacing, usual_spacing);
            drops(rows, (radius, usual_radius), (depth, usual_depth), seed);
        }
    });
}

fn drops(rows: &mut Rows, radius: (&mut f32, f32), depth: (&mut f32, f32), seed: &mut u64) {
    let row = Row {
        field: "radius",
        unit: "m",
        range: 0.1..=50.0,
        explanation: "Radius of a drop's splash",
    };
    rows.number(row, radius.0, radius.1);
    let row = Row {
        field: "depth",
        unit: "m",
        range: 0.0001..=1.0,
        explanation: "Water in the middle of a splash: deeper ones fall more rarely",
    };
    rows.number(row, depth.0, depth.1);
    let row = Row {
        field: "seed",
        unit: "",
        range: 0..=9999,
        explanation: "Same seed, same drops",
    };
    rows.number(row, seed, 0);
}

/// Whether something is of a season, and which.
fn season(rows: &mut Rows, season: &mut Option<Season>, first: Season) {
    rows.optional(
        ("season", "in a season"),
        season,
        || first,
        "Only in a part of every year, which may be short",
        |rows, season| {
            numbers!(rows, season, first;
                year, "s", 1.0..=3600.0, "Length of a year";
                start, "", 0.0..=1.0, "When in the year it begins";
                share, "", 0.0..=1.0, "How much of the year it lasts";
            );
        },
    );
}
