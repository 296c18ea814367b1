//! What is in a file.

use crate::{
    args::InfoArgs,
    failure::Failure,
    input::{self, is_state},
    report::{LandReport, as_json, bounds, print},
    scenes,
};
use bevy_erode::io::{HeightmapError, Vertical};
use bevy_erode::prelude::*;
use serde_json::{Value, json};

/// What `erode info FILE` does.
pub fn run(args: &InfoArgs) -> Result<(), Failure> {
    let source = args.source.as_str();
    let (lines, json) = if scenes::is_scene(source) {
        args.input.refuse_for(source, "a scene")?;
        about_scene(source)?
    } else if is_state(source) {
        args.input.refuse_for(source, "a saved state")?;
        about_state(source)?
    } else {
        about_heightmap(args)?
    };
    match args.json {
        true => print(&serde_json::to_string_pretty(&json).map_err(Failure::failed)?),
        false => print(&lines.join("\n")),
    }
}

type About = (Vec<String>, Value);

fn about_scene(source: &str) -> Result<About, Failure> {
    let scene = scenes::read(source)?;
    let terrain = &scene.terrain;
    let (width, height) = terrain.size;
    let lines = vec![
        format!("{source}: {}", scene.title),
        scene.description.clone(),
        format!("{width} × {height} cells of {} m", terrain.cell_size),
        format!(
            "{} s of erosion in steps of {} s",
            scene.seconds, scene.step
        ),
    ];
    let scene = as_json(&scene);
    Ok((
        lines,
        json!({ "kind": "scene", "source": source, "scene": scene }),
    ))
}

fn about_state(source: &str) -> Result<About, Failure> {
    let terrain = input::read_state(source)?.into_terrain();
    let land = LandReport::of(source, &terrain);
    let ledger = terrain.ledger();
    let lines = vec![
        land.to_string(),
        format!("{:.0} m³ of soil", ledger.solids.soil),
        format!(
            "{:.0} m³ of water",
            ledger.water.standing + ledger.water.in_rivers
        ),
        format!(
            "{:.0} m³ of rock and soil moved so far",
            ledger.solids.moved
        ),
    ];
    let json = json!({
        "kind": "state",
        "land": as_json(&land),
        "borders": as_json(terrain.borders()),
        "hardness": terrain.hardness().is_some(),
        "ledger": ledger,
        "state_hash": format!("{:016x}", terrain.state_hash()),
    });
    Ok((lines, json))
}

fn about_heightmap(args: &InfoArgs) -> Result<About, Failure> {
    let source = args.source.as_str();
    let options = args.input.options()?;
    // Numbers can be told of, even if nobody knows what they stand for.
    let read = Heightmap::read_file(source, &options);
    let needs_range = matches!(read, Err(HeightmapError::NeedsRange));
    let map = match needs_range {
        true => {
            let vertical = Some(Vertical::METRES);
            input::read_heightmap(
                source,
                &HeightmapOptions {
                    vertical,
                    ..options
                },
            )?
        }
        false => input::read_heightmap(source, &options)?,
    };
    let (lowest, highest) = bounds(&map.values);
    let [width, height] = map.size.to_array();
    let cells = match map.cell_size {
        Some(size) => format!("{source}: {width} × {height} cells of {size} m"),
        None => format!("{source}: {width} × {height} cells of unknown size"),
    };
    let heights = match needs_range {
        true => {
            format!("integers from {lowest} to {highest}; for metres, give `--range` or `--scale`")
        }
        false => format!("{lowest} m to {highest} m"),
    };
    let json = json!({
        "kind": "heightmap",
        "source": source,
        "size": [width, height],
        "cell_size": as_json(&map.cell_size),
        "lowest": as_json(&lowest),
        "highest": as_json(&highest),
        "metres": !needs_range,
    });
    Ok((vec![cells, heights], json))
}
