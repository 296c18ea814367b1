//! Meandering rivers, simulated ahead of time and measured: sinuosity, wavelength, what
//! they cut, cut-offs and oxbow lakes.
//!
//! `cargo run --example meander -- --seeds 5 --steps 100000 --out pictures/meander`
//! prints a line for each look at a river and medians over the seeds, and writes
//! into the folder: `looks.csv` with all lines; plans of each look (water blue,
//! lakes dark blue, fresh deposits like sand); `series.png`, from a straight
//! channel over bends to oxbow lakes; `perspective.png`; `sinuosity.png`, over
//! time, with cut-offs as crosses; `cross_sections.png` of grown bends. Where the
//! water does not come to the lower end, sinuosity and wavelength are `NaN`.

mod draw;
mod plot;

use bevy::math::DVec2;
use bevy_erode::{
    bake::{BakeProgress, RiverBake},
    models::meander::*,
};
use clap::Parser;
use draw::Land;
use image::RgbImage;
use plot::{COLORS, Plot};
use std::{error::Error, fmt::Write, path::PathBuf};

/// Time of a step. units: s
const STEP: f64 = 0.1;
/// Pictures of a series.
const SERIES: usize = 5;
/// Half of a cross-section. units: m
const ACROSS: f64 = 60.0;

/// Grows meandering rivers ahead of time.
#[derive(Parser)]
struct Cli {
    /// How many rivers
    #[arg(long, default_value_t = 1)]
    seeds: u64,

    /// The first one's seed
    #[arg(long, default_value_t = 1)]
    first: u64,

    /// Steps of 0.1 s
    #[arg(long, default_value_t = 50_000)]
    steps: u64,

    /// Looks at the river on the way
    #[arg(long, default_value_t = 25)]
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
    let mut rivers = Vec::new();
    let mut table = String::from(
        "seed,step,sinuosity,wavelength_widths,outer_by_inner,outside,water,sediment,cutoffs,lakes,drift\n",
    );
    for seed in cli.first..cli.first + cli.seeds {
        rivers.push(grow(&cli, seed, &mut table)?);
        std::fs::write(cli.out.join("looks.csv"), &table)?;
    }
    let last = |value: fn(&Look) -> f64| {
        let ends = rivers.iter().filter_map(|looks| looks.last());
        median(ends.map(value).collect())
    };
    let mean_outside = |looks: &Vec<Look>| {
        looks.iter().map(|look| look.outside).sum::<f64>() / looks.len().max(1) as f64
    };
    let highest = |looks: &Vec<Look>| looks.iter().map(|look| look.sinuosity).fold(0.0, f64::max);
    println!(
        "median of {} rivers: sinuosity {:.2} (highest {:.2}), wavelength {:.1} widths, outer/inner \
         bank {:.1}, outside {:.1} % at the end, {:.1} % in the mean, {} cut-offs",
        rivers.len(),
        last(|look| look.sinuosity),
        median(rivers.iter().map(highest).collect()),
        last(|look| look.wavelength),
        last(|look| look.banks),
        last(|look| look.outside) * 100.0,
        median(rivers.iter().map(mean_outside).collect()) * 100.0,
        last(|look| look.cutoffs.len() as f64),
    );
    plot_sinuosity(&cli, &rivers).save(cli.out.join("sinuosity.png"))?;
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A river at a moment.
struct Look {
    step: u64,
    sinuosity: f64,
    /// In channel widths.
    wavelength: f64,
    /// Cut at outer banks for each m³ at inner ones.
    banks: f64,
    /// Share of the water outside the channel.
    outside: f64,
    /// Steps at which necks were broken through so far.
    cutoffs: Vec<u64>,
}

/// Grows one river.
fn grow(cli: &Cli, seed: u64, table: &mut String) -> Result<Vec<Look>, Box<dyn Error>> {
    let plain = RiverPlain {
        waviness: cli.waviness,
        seed,
        ..RiverPlain::default()
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
    let (mut looks, mut plans) = (Vec::new(), Vec::new());
    for look in 1..=cli.looks {
        let steps = cli.steps / cli.looks.max(1);
        river = RiverBake::new(river, steps)
            .with_step(STEP)
            .run(&BakeProgress::default())?;
        let seen = seen(&river, plain.channel_width, look * steps);
        let drift = (river.ledger().total() - total) / river.tally().cut.max(1.0);
        let line = format!(
            "{seed},{},{:.3},{:.2},{:.2},{:.4},{},{},{},{},{drift:.1e}",
            seen.step,
            seen.sinuosity,
            seen.wavelength,
            seen.banks,
            seen.outside,
            river.water().len(),
            river.sediment().len(),
            seen.cutoffs.len(),
            river.lakes().len(),
        );
        println!("{line}");
        writeln!(table, "{line}")?;
        let plan = Land::new(&river).plan();
        plan.save(cli.out.join(format!("{seed}-{:07}.png", seen.step)))?;
        plans.push(plan);
        looks.push(seen);
    }
    if seed == cli.first {
        let every = plans.len().div_ceil(SERIES).max(1);
        let series: Vec<RgbImage> = plans.iter().rev().step_by(every).rev().cloned().collect();
        draw::stack(&series).save(cli.out.join("series.png"))?;
        let from = DVec2::new(-0.25 * plain.length, 0.0);
        let view = Land::new(&river).perspective(from, 1200, 600);
        view.save(cli.out.join("perspective.png"))?;
        plot_sections(&river).save(cli.out.join("cross_sections.png"))?;
    }
    Ok(looks)
}

fn seen(river: &RiverSolver<GridGround>, width: f64, step: u64) -> Look {
    let ground = river.ground();
    // Water that does not come to the lower end has no sinuosity: it is broken.
    let lower_end = ground.bounds().1.x - 4.0 * f64::from(river.settings().radius);
    let whole = |course: &Centerline| course.points.last().is_some_and(|at| at.x > lower_end);
    let course = river.course().filter(whole);
    let out = river.water().iter().filter(|water| {
        let point = ground.point_at(water.position);
        ground.plain()[point] - ground.heights()[point] < 1.0
    });
    let wavelength = course.as_ref().and_then(Centerline::wavelength);
    Look {
        step,
        sinuosity: course.as_ref().map_or(f64::NAN, Centerline::sinuosity),
        wavelength: wavelength.unwrap_or(f64::NAN) / width,
        banks: river.tally().outer / river.tally().inner,
        outside: out.count() as f64 / river.water().len().max(1) as f64,
        cutoffs: river.cutoffs().iter().map(|cutoff| cutoff.step).collect(),
    }
}

/// Sinuosity over time, with cut-offs as crosses.
fn plot_sinuosity(cli: &Cli, rivers: &[Vec<Look>]) -> RgbImage {
    let steps = cli.steps as f64;
    let highest = rivers.iter().flatten().map(|look| look.sinuosity);
    let top = (highest.fold(1.6, f64::max) * 5.0).ceil() / 5.0;
    let mut plot = Plot::new(
        "sinuosity over steps of 0.1 s; crosses: cut-offs",
        (0.0, steps, (steps / 10.0).max(1.0)),
        (1.0, top, 0.2),
    );
    plot.line(
        &[DVec2::new(0.0, 1.5), DVec2::new(steps, 1.5)],
        0,
        [200, 60, 60],
    );
    for (number, looks) in rivers.iter().enumerate() {
        let color = COLORS[number % COLORS.len()];
        let line: Vec<DVec2> = core::iter::once(DVec2::new(0.0, 1.0))
            .chain(
                looks
                    .iter()
                    .map(|look| DVec2::new(look.step as f64, look.sinuosity)),
            )
            .filter(|at| at.is_finite())
            .collect();
        plot.line(&line, 1, color);
        for &step in looks.last().map_or(&[][..], |look| &look.cutoffs) {
            let after = line.partition_point(|at| at.x < step as f64);
            let at = line.get(after).or(line.last()).map_or(1.0, |at| at.y);
            plot.mark(DVec2::new(step as f64, at), color);
        }
        let label = DVec2::new(
            0.02 * steps,
            top - 0.05 * (top - 1.0) * (number as f64 + 1.0),
        );
        plot.words(label, &format!("seed {}", cli.first + number as u64), color);
    }
    plot.into_picture()
}

/// The ground across the strongest bends, the outer bank on the right.
fn plot_sections(river: &RiverSolver<GridGround>) -> RgbImage {
    let mut plot = Plot::new(
        "across grown bends, M above the plain; right: outer bank; black: mean",
        (-ACROSS, ACROSS, 20.0),
        (-16.0, 4.0, 4.0),
    );
    let Some(course) = river.course() else {
        return plot.into_picture();
    };
    let ground = river.ground();
    let curvature = course.curvature();
    let mut apexes = course.apexes();
    apexes.retain(|(i, _)| (8..course.points.len() - 8).contains(i));
    apexes.sort_by(|a, b| {
        curvature[b.0 - 1]
            .abs()
            .total_cmp(&curvature[a.0 - 1].abs())
    });
    apexes.truncate(10);
    let places: Vec<f64> = (0..=60)
        .map(|i| (f64::from(i) / 30.0 - 1.0) * ACROSS)
        .collect();
    let mut sum = vec![0.0; places.len()];
    for (number, &(i, left)) in apexes.iter().enumerate() {
        let ahead = (course.points[i + 1] - course.points[i - 1]).normalize_or(DVec2::X);
        // The outer bank of a left bend is on the right.
        let outward = ahead.perp() * if left { -1.0 } else { 1.0 };
        let section: Vec<DVec2> = places
            .iter()
            .map(|&off| {
                let at = course.points[i] + outward * off;
                let plain = ground.plain()[ground.point_at(at)];
                DVec2::new(off, (ground.surface(at).height - plain).max(-16.0))
            })
            .collect();
        for (sum, at) in sum.iter_mut().zip(&section) {
            *sum += at.y / apexes.len() as f64;
        }
        plot.line(
            &section,
            0,
            COLORS[number % COLORS.len()].map(|c| c / 2 + 127),
        );
    }
    let mean: Vec<DVec2> = places
        .iter()
        .zip(sum)
        .map(|(x, y)| DVec2::new(*x, y))
        .collect();
    plot.line(&mean, 1, [20; 3]);
    plot.into_picture()
}
