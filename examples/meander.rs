//! Grows meandering rivers ahead of time and says by number what they are like.
//!
//! `cargo run --example meander -- --seeds 5 --steps 60000 --out pictures/meander`
//! prints a line for each look at a river and medians over the seeds, and
//! writes plan views of the ground (dark: deep, yellow: fresh deposits), the
//! water (blue: fast, red: slow) and the sediment (violet) as PNG.

use bevy::math::DVec2;
use bevy_erode::models::meander::*;
use clap::Parser;
use image::{Rgb, RgbImage};
use std::{error::Error, path::PathBuf};

/// Pixels along a cell's side.
const SCALE: u32 = 3;
/// Time of a step. units: s
const STEP: f64 = 0.1;

/// Grows meandering rivers ahead of time.
#[derive(Parser)]
struct Cli {
    /// How many rivers
    #[arg(long, default_value_t = 1)]
    seeds: u64,

    /// Steps of 0.1 s
    #[arg(long, default_value_t = 50_000)]
    steps: u64,

    /// Looks at the river on the way
    #[arg(long, default_value_t = 10)]
    looks: u64,

    /// Random waviness of the channel to start with, in metres
    #[arg(long, default_value_t = 8.0)]
    waviness: f64,

    /// Follow the source literally
    #[arg(long)]
    published: bool,

    /// Folder for the pictures
    #[arg(long, value_name = "DIR", default_value = "pictures/meander")]
    out: PathBuf,
}

fn main() -> Result<(), Box<dyn Error>> {
    let cli = Cli::parse();
    std::fs::create_dir_all(&cli.out)?;
    let mut last = Vec::new();
    for seed in 1..=cli.seeds {
        last.extend(grow(&cli, seed)?);
    }
    let median = |value: fn(&Look) -> f64| {
        let mut values: Vec<f64> = last.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    };
    println!(
        "median of {} rivers: sinuosity {:.2}, wavelength {:.1} widths, outer/inner bank {:.1}, \
         outside {:.1} %",
        last.len(),
        median(|look| look.sinuosity),
        median(|look| look.wavelength),
        median(|look| look.banks),
        median(|look| look.outside) * 100.0,
    );
    Ok(())
}

/// A river at a moment.
struct Look {
    sinuosity: f64,
    /// In channel widths.
    wavelength: f64,
    /// Cut at outer banks for each m³ at inner ones.
    banks: f64,
    /// Share of the water outside the channel.
    outside: f64,
}

/// Grows one river; what it is like at the end, if its water is all connected.
fn grow(cli: &Cli, seed: u64) -> Result<Option<Look>, Box<dyn Error>> {
    let plain = Plain {
        waviness: cli.waviness,
        seed,
        ..Plain::default()
    };
    let settings = if cli.published {
        MeanderingRiver::as_published()
    } else {
        MeanderingRiver::default()
    };
    let mut river = plain
        .river(MeanderingRiver { seed, ..settings })
        .map_err(|error| error as Box<dyn Error>)?;
    let total = river.ledger().total();
    let mut last = None;
    for look in 1..=cli.looks {
        for _ in 0..cli.steps / cli.looks.max(1) {
            river.step(STEP);
        }
        let seen = seen(&river, plain.channel_width);
        let step = look * (cli.steps / cli.looks.max(1));
        let drift = (river.ledger().total() - total) / river.tally().cut.max(1.0);
        let course = seen.as_ref().map_or("broken".to_owned(), |seen| {
            format!(
                "sinuosity {:.2} wavelength {:.1} banks {:.1} outside {:.3}",
                seen.sinuosity, seen.wavelength, seen.banks, seen.outside
            )
        });
        println!(
            "seed {seed} step {step} water {} sediment {} {course} drift {drift:.1e}",
            river.water().len(),
            river.sediment().len(),
        );
        plan(&river).save(cli.out.join(format!("{seed}-{step:07}.png")))?;
        last = seen;
    }
    Ok(last)
}

fn seen(river: &RiverSolver<GridGround>, width: f64) -> Option<Look> {
    let ground = river.ground();
    let (min, max) = ground.bounds();
    let radius = f64::from(river.settings().radius);
    let (from, to) = (DVec2::new(min.x, 0.0), DVec2::new(max.x, 0.0));
    let course = course(river.water(), radius, from, to)?;
    let out = river.water().iter().filter(|water| {
        let point = ground.point_at(water.position);
        ground.plain()[point] - ground.heights()[point] < 1.0
    });
    Some(Look {
        sinuosity: course.sinuosity(),
        wavelength: course.wavelength().unwrap_or(f64::NAN) / width,
        banks: river.tally().outer / river.tally().inner,
        outside: out.count() as f64 / river.water().len().max(1) as f64,
    })
}

/// The river from above.
fn plan(river: &RiverSolver<GridGround>) -> RgbImage {
    let ground = river.ground();
    let size = ground.size() * SCALE;
    let mix = |a: [f64; 3], b: [f64; 3], share: f64| {
        let share = share.clamp(0.0, 1.0);
        core::array::from_fn(|i| a[i] + (b[i] - a[i]) * share)
    };
    let mut picture = RgbImage::from_fn(size.x, size.y, |x, y| {
        let cell = (y / SCALE * ground.size().x + x / SCALE) as usize;
        let depth = (ground.plain()[cell] - ground.heights()[cell]) / 8.0;
        let colour = mix([210.0, 200.0, 150.0], [50.0, 70.0, 95.0], depth);
        let colour: [f64; 3] = mix(colour, [245.0, 225.0, 90.0], ground.soft()[cell] / 8.0);
        Rgb(colour.map(|value| value as u8))
    });
    let mut dot = |at: DVec2, reach: i64, colour: Rgb<u8>| {
        let pixel = (at - ground.bounds().0) / ground.cell_size() * f64::from(SCALE);
        for (x, y) in (-reach..=reach).flat_map(|x| (-reach..=reach).map(move |y| (x, y))) {
            let (x, y) = (pixel.x as i64 + x, pixel.y as i64 + y);
            let inside = (0..i64::from(size.x)).contains(&x) && (0..i64::from(size.y)).contains(&y);
            if inside {
                picture.put_pixel(x as u32, y as u32, colour);
            }
        }
    };
    for sediment in river.sediment() {
        dot(sediment.position, 0, Rgb([150, 40, 160]));
    }
    for water in river.water() {
        let fast = (water.velocity.length() / 10.0).clamp(0.0, 1.0) * 255.0;
        dot(water.position, 1, Rgb([255 - fast as u8, 60, fast as u8]));
    }
    picture
}
