//! A whole run: a land, passes, files.

use crate::{
    args::{BakeArgs, RunArgs},
    failure::Failure,
    input::{self, Land},
    output::Outputs,
    passes::{Amount, Given, Pass},
    progress::{self, Style},
    report::{Drift, LandReport, PassReport, Report, Timings, print},
    scenes, strength,
};
use bevy::tasks::{ComputeTaskPool, TaskPoolBuilder};
use bevy_erode::bake::{BakeError, BakeProgress};
use bevy_erode::{parallel::Workers, prelude::*};
use std::time::Instant;

/// What `erode IN …` does.
pub fn bake(args: BakeArgs) -> Result<(), Failure> {
    let is_scene = scenes::is_scene(&args.source);
    let scene = is_scene.then(|| scenes::read(&args.source)).transpose()?;
    let given = Given {
        preset: read_preset(&args.run)?,
        scene,
    };
    let passes = args.passes.passes(&given, args.run.seed)?;
    if passes.is_empty() {
        return Err(Failure::usage(
            "no model given: give `--age`, or `--model` with `--seconds`, `--runoff` or `--droplets`; see `erode --help`",
        ));
    }
    if args.soil.is_some() && (is_scene || input::is_state(&args.source)) {
        let reason = format!("{} already has a soil layer", args.source);
        return Err(Failure::usage(format!("--soil: {reason}")));
    }
    let notice = given.dropped(&args.source, &passes);
    run(&args.run, passes, || {
        let mut land = input::read(&args.source, &args.input, given.scene.as_ref())?;
        land.terrain = shape(land.terrain, args.soil, args.borders)?;
        land.notice = notice;
        Ok(land)
    })
}

/// Settings for all passes; the defaults if none are asked for.
pub fn read_preset(args: &RunArgs) -> Result<ErosionScene, Failure> {
    match &args.preset {
        Some(source) => scenes::read(source),
        None => Ok(ErosionScene::default()),
    }
}

/// Soil and borders that the command line asks for.
pub fn shape(
    mut terrain: Terrain,
    soil: Option<f32>,
    borders: Option<Borders>,
) -> Result<Terrain, Failure> {
    if let Some(depth) = soil {
        let covered = terrain.with_soil_depth(depth);
        terrain = covered.map_err(|error| Failure::usage(format!("--soil {depth}: {error}")))?;
    }
    if let Some(borders) = borders {
        let bordered = terrain.with_borders(borders);
        terrain = bordered.map_err(|error| Failure::usage(format!("--borders: {error}")))?;
    }
    Ok(terrain)
}

/// Gets the land, runs the passes, writes the files and says what was done.
pub fn run(
    args: &RunArgs,
    passes: Vec<Pass>,
    land: impl FnOnce() -> Result<Land, Failure>,
) -> Result<(), Failure> {
    let began = Instant::now();
    let outputs = Outputs::plan(args)?;
    if let Some(threads) = args.threads {
        // This thread works, too.
        let others = usize::from(threads) - 1;
        ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(others).build());
    }
    let land = land()?;
    let mut terrain = land.terrain;
    let input = LandReport::of(&land.source, &terrain);
    let mut masks = outputs.new_masks();
    if let Some(masks) = &mut masks {
        masks.update(&terrain, 0.0);
    }
    let read = began.elapsed();

    let style = Style::fitting(args.quiet);
    if let Some(notice) = &land.notice {
        style.say(notice);
    }
    let mut reports = Vec::new();
    for (number, pass) in passes.iter().enumerate() {
        let label = format!("pass {} of {}: {pass}", number + 1, passes.len());
        if pass.is_dry(&terrain) {
            style.say(&format!(
                "{label}: there is no water and no rain, so nothing will flow; \
                 add rain with `--model rain+…`"
            ));
        }
        style.say(&format!(
            "{label}: will be {}",
            strength::of(pass, &terrain)
        ));
        let before = terrain.ledger().solids.moved;
        let progress = BakeProgress::default();
        let bake = pass.bake(terrain);
        let (baked, took) = progress::watch(style, &label, &progress, || bake.run(&progress));
        terrain = baked.map_err(|error| {
            let reason = format!("{label}: {error}");
            match error {
                BakeError::Settings(_) => Failure::usage(reason),
                _ => Failure::failed(reason),
            }
        })?;
        if let Some(masks) = &mut masks {
            let seconds = match pass.amount {
                // These pass outside the time of flowing water.
                Amount::Droplets(_) | Amount::Runoff { .. } | Amount::Years(_) => 0.0,
                Amount::Seconds { seconds, .. } => seconds,
            };
            masks.update(&terrain, seconds);
        }
        let moved = terrain.ledger().solids.moved - before;
        reports.push(PassReport::of(pass, terrain.grid(), moved, took));
    }
    let baked = began.elapsed();

    let written = outputs.write(&terrain, masks.as_ref(), land.range)?;
    let total = began.elapsed();
    let ledger = terrain.ledger();
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        input,
        passes: reports,
        output: written.ground,
        masks: written.masks,
        preview: written.preview,
        ledger,
        drift: Drift {
            solids: ledger.solids.drift_of_total(),
            water: ledger.water.drift_of_total(),
        },
        state_hash: format!("{:016x}", terrain.state_hash()),
        threads: Workers::global().count(),
        seconds: Timings {
            read: read.as_secs_f64(),
            bake: (baked - read).as_secs_f64(),
            write: (total - baked).as_secs_f64(),
            total: total.as_secs_f64(),
        },
    };
    if args.json {
        let json = serde_json::to_string_pretty(&report).map_err(Failure::failed)?;
        print(&json)?;
    } else if !args.quiet {
        print(&report.to_string())?;
    }
    Ok(())
}
