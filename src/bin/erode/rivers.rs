//! The rivers of a land: as GeoJSON, as fields and as a picture.

use crate::{
    args::RiversArgs,
    failure::Failure,
    input, job,
    output::{at, check_folder, check_writable, ending, is_whole},
    preview,
    report::print,
    scenes,
};
use bevy::tasks::{ComputeTaskPool, TaskPoolBuilder};
use bevy_erode::drainage::network::{RiverField, RiverNetwork, RiverSettings};
use bevy_erode::io::{HeightmapFormat, Vertical, VerticalRange};
use bevy_erode::prelude::*;
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The largest number that files of 16 bits hold.
const MOST_OF_16_BITS: f32 = 65_535.0;

/// What `erode rivers IN …` does.
pub fn run(args: &RiversArgs) -> Result<(), Failure> {
    let settings = settings(args)?;
    if let Some(out) = &args.out {
        check_writable("--out", out)?;
    }
    if let Some(preview) = &args.preview {
        let is_png = preview
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("png"));
        if !is_png {
            let preview = preview.display();
            let reason = "expected a file name that ends in .png";
            return Err(Failure::usage(format!("--preview {preview}: {reason}")));
        }
        check_writable("--preview", preview)?;
    }
    if let Some(fields) = &args.fields {
        check_folder("--fields", fields)?;
    }
    if let Some(threads) = args.threads {
        // This thread works, too.
        let others = usize::from(threads) - 1;
        ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(others).build());
    }
    let scene = match scenes::is_scene(&args.source) {
        true => Some(scenes::read(&args.source)?),
        false => None,
    };
    let land = input::read(&args.source, &args.input, scene.as_ref())?;
    let terrain = job::shape(land.terrain, None, args.borders)?;
    let network = RiverNetwork::of(&terrain, &settings).map_err(Failure::usage)?;

    if let Some(out) = &args.out {
        let written = network.write_geojson(out);
        written.map_err(|error| Failure::failed(format!("{}: {error}", out.display())))?;
    }
    let mut fields = Vec::new();
    if let Some(folder) = &args.fields {
        fields = write_fields(&network, folder, args.field_format)?;
    }
    if let Some(preview) = &args.preview {
        let drawn = preview::write_rivers(&terrain, &network, preview);
        drawn.map_err(|error| at(preview, error))?;
    }
    match (args.json, args.quiet) {
        (true, _) => {
            let report = report(args, &network, fields);
            print(&serde_json::to_string_pretty(&report).map_err(Failure::failed)?)
        }
        (false, true) => Ok(()),
        (false, false) => print(&summary(&args.source, &network)),
    }
}

fn settings(args: &RiversArgs) -> Result<RiverSettings, Failure> {
    let mut settings = RiverSettings::default();
    if let Some(runoff) = args.runoff {
        settings.runoff = runoff;
    }
    if let Some(area) = args.onset {
        settings = settings.with_onset_area(area);
    }
    settings.check().map_err(Failure::usage)?;
    Ok(settings)
}

fn write_fields(
    network: &RiverNetwork,
    folder: &Path,
    format: HeightmapFormat,
) -> Result<Vec<Value>, Failure> {
    fs::create_dir_all(folder)
        .map_err(|error| Failure::failed(format!("{}: {error}", folder.display())))?;
    let mut reports = Vec::new();
    for field in RiverField::ALL {
        let map = Heightmap::from_rivers(network, field);
        let highest = map.values.iter().copied().fold(0.0, f32::max);
        // Numbers of basins and the like stay what they are, as long as there is room.
        let vertical = match is_whole(format) {
            true if field.is_whole() && highest <= MOST_OF_16_BITS => Vertical::METRES,
            true if highest > 0.0 => Vertical::Range(VerticalRange::new(0.0, highest)),
            true => Vertical::Range(VerticalRange::new(0.0, 1.0)),
            false => Vertical::METRES,
        };
        let name = field.name().replace(' ', "_");
        let path = folder.join(format!("{name}.{}", ending(format)));
        let written = map.write_file(&path, format, vertical);
        written.map_err(|error| at(&path, error))?;
        reports.push(json!({
            "field": name,
            "file": path.display().to_string(),
            "unit": field.unit(),
            "highest": highest,
        }));
    }
    let path = folder.join("basin_colors.png");
    let picture = Heightmap::from_rivers(network, RiverField::Basin);
    let written = picture.write_picture(&path, |cell| network.basin_color(cell));
    written.map_err(|error| at(&path, error))?;
    Ok(reports)
}

fn summary(source: &str, network: &RiverNetwork) -> String {
    let basins = network.basins().iter();
    let largest = basins.map(|basin| basin.area).fold(0.0, f64::max);
    let rivers = network.rivers().iter();
    let widest = rivers.map(|river| river.width()).fold(0.0, f32::max);
    let volume: f64 = network.lakes().iter().map(|lake| lake.volume).sum();
    format!(
        "{source}: {} rivers, {:.1} km in all, up to order {} and {widest:.1} m wide\n\
         {} lakes of {volume:.0} m³, {} basins, the largest of {:.3} km²\n\
         a river begins where {:.0} m² drain together",
        network.rivers().len(),
        network.total_length() / 1000.0,
        network.highest_order(),
        network.lakes().len(),
        network.basins().len(),
        largest / 1e6,
        f64::from(network.onset()) * network.grid().cell_area(),
    )
}

fn report(args: &RiversArgs, network: &RiverNetwork, fields: Vec<Value>) -> Value {
    let name = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    json!({
        "source": args.source,
        "rivers": network.rivers().len(),
        "length": network.total_length(),
        "highest_order": network.highest_order(),
        "lakes": network.lakes().len(),
        "basins": network.basins().len(),
        "onset": f64::from(network.onset()) * network.grid().cell_area(),
        "out": name(&args.out),
        "fields": fields,
        "preview": name(&args.preview),
    })
}
