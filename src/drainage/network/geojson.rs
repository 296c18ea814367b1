//! A network as GeoJSON (RFC 7946, but in metres): for maps and other programs.

use super::{RiverEnd, RiverNetwork, RiverStart};
use bevy::math::Vec3;
use serde::Serialize;
use std::{io, path::Path};

/// A collection of features.
#[derive(Serialize)]
struct Collection {
    r#type: &'static str,
    features: Vec<Feature>,
}

#[derive(Serialize)]
struct Feature {
    r#type: &'static str,
    geometry: Geometry,
    properties: Properties,
}

#[derive(Serialize)]
#[serde(tag = "type", content = "coordinates")]
enum Geometry {
    Point([f64; 3]),
    LineString(Vec<[f64; 3]>),
}

/// What is known of a feature. Lengths in m, areas in m², volumes in m³, discharge in m³/s.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Properties {
    River {
        river: usize,
        order: u8,
        width: f32,
        discharge: f32,
        slope: f32,
        length: f32,
        basin: u32,
        start: &'static str,
        end: &'static str,
        downstream: Option<u32>,
        widths: Vec<f32>,
        discharges: Vec<f32>,
        slopes: Vec<f32>,
    },
    Lake {
        lake: usize,
        level: f32,
        area: f64,
        volume: f64,
        depth: f32,
        catchment: f64,
        discharge: f32,
        basin: u32,
        spill: [f64; 3],
        outlet: [f64; 3],
        river: Option<u32>,
    },
}

impl RiverNetwork {
    /// The network as GeoJSON text: a collection with a line for each river, downstream, and
    /// a point at the deepest place of each lake.
    ///
    /// Coordinates are the world's, in metres: x, z and the height of the ground. So the
    /// second number grows to the south. A river's `width`, `discharge` and `slope` are those
    /// of [`River`](super::River), and those of its points are lists in `widths`, `discharges`
    /// and `slopes`.
    ///
    /// # Errors
    /// When a number cannot be written, which no network that was made here has.
    pub fn to_geojson(&self) -> io::Result<String> {
        let rivers = self.rivers.iter().enumerate().map(|(number, river)| {
            let cells = river.points.iter().map(|point| point.cell as usize);
            let line = cells.map(|cell| place(self.position(cell))).collect();
            let points = || river.points.iter();
            Feature {
                r#type: "Feature",
                geometry: Geometry::LineString(line),
                properties: Properties::River {
                    river: number,
                    order: river.order,
                    width: river.width(),
                    discharge: river.discharge(),
                    slope: river.slope(),
                    length: river.length,
                    basin: river.basin,
                    start: match river.start {
                        RiverStart::Source => "source",
                        RiverStart::Junction => "junction",
                        RiverStart::Lake(_) => "lake",
                    },
                    end: match river.end {
                        RiverEnd::Junction => "junction",
                        RiverEnd::Lake(_) => "lake",
                        RiverEnd::Sea => "sea",
                        RiverEnd::Outlet => "outlet",
                    },
                    downstream: river.downstream,
                    widths: points().map(|point| point.width).collect(),
                    discharges: points().map(|point| point.discharge).collect(),
                    slopes: points().map(|point| point.slope).collect(),
                },
            }
        });
        let lakes = self.lakes.iter().enumerate().map(|(number, lake)| Feature {
            r#type: "Feature",
            geometry: Geometry::Point(place(self.position(lake.pit as usize))),
            properties: Properties::Lake {
                lake: number,
                level: self.grid.origin().y + lake.level,
                area: lake.area,
                volume: lake.volume,
                depth: lake.depth,
                catchment: lake.catchment,
                discharge: lake.discharge,
                basin: lake.basin,
                spill: place(self.position(lake.spill as usize)),
                outlet: place(self.position(lake.outlet as usize)),
                river: lake.river,
            },
        });
        let collection = Collection {
            r#type: "FeatureCollection",
            features: rivers.chain(lakes).collect(),
        };
        Ok(serde_json::to_string(&collection)?)
    }

    /// [`to_geojson`](Self::to_geojson) as a file. An old file of that name stays as it was
    /// until the new one is complete.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_geojson(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let text = self.to_geojson()?;
        crate::io::write_file(path.as_ref(), text.as_bytes())
    }
}

fn place(at: Vec3) -> [f64; 3] {
    [at.x, at.z, at.y].map(f64::from)
}
