//! A terrain in its parts, for files: split without loss, and joined again only if
//! the parts fit each other.

use super::{
    Borders, Flow, Grid, LavaPlanes, Layer, Ledger, MAX_DISCHARGE, StreamPatch, Terrain,
    TerrainError, TerrainId, check_layer, raycast::HeightBounds, shift::Window,
    tiles::TileRevisions,
};
use bevy::math::{IVec2, UVec2, Vec3};

/// Largest low part of a two-float sum, in size: less than the last place of the
/// largest thickness or elevation. units: m
const MAX_LOW_PART: f32 = 1e3;
/// Largest depth, speed and deposit of a river. units: m, m/s
const MAX_STREAM: f32 = 1e9;

/// All of a terrain but its planes.
#[derive(Clone, Debug)]
pub(crate) struct TerrainParts {
    pub grid: Grid,
    /// The grid's origin before the window first moved. units: m
    pub window_start: Vec3,
    /// How far the window has moved since. units: tiles
    pub window_moved: IVec2,
    pub borders: Borders,
    pub datum: f32,
    pub account: Ledger,
    pub hardness: bool,
    pub flow: bool,
    pub lava: bool,
    /// First cell and size, in cells, of the box of each stream.
    pub streams: Vec<[UVec2; 2]>,
    /// Newest revision of the ground and of the water.
    pub revisions: [u64; 2],
}

impl TerrainParts {
    /// How long each of the [`Terrain::planes`] is.
    pub fn plane_lengths(&self) -> Vec<usize> {
        let cells = self.grid.cells();
        let mut lengths = vec![cells; 6 + usize::from(self.hardness)];
        if self.flow {
            lengths.extend([cells, cells, self.grid.height(), self.grid.width()]);
        }
        if self.lava {
            lengths.extend([cells; 3]);
        }
        for [_, size] in &self.streams {
            lengths.extend([size.x as usize * size.y as usize; 4]);
        }
        lengths
    }

    /// Whether all streams lie on the land.
    pub fn streams_fit(&self) -> bool {
        let land = self.grid.size();
        self.streams.iter().all(|&[first, size]| {
            let least = size.cmpge(UVec2::ONE).all() && size.cmple(land).all();
            least && first.cmple(land.saturating_sub(size)).all()
        })
    }

    /// The window, if it lies where the grid does.
    fn window(&self) -> Result<Window, TerrainError> {
        let window = Window::restored(self.window_start, self.window_moved, &self.grid);
        window.ok_or(TerrainError::Saved(
            "the origin must be where the window began, moved by whole tiles",
        ))
    }

    /// How many tiles each of the [`Terrain::tile_revisions`] has.
    pub fn tiles(&self) -> usize {
        self.grid.tiles().element_product() as usize
    }
}

impl Terrain {
    pub(crate) fn parts(&self) -> TerrainParts {
        TerrainParts {
            grid: self.grid,
            window_start: self.window.start,
            window_moved: self.window.moved,
            borders: self.borders,
            datum: self.datum,
            account: self.account,
            hardness: self.hardness.is_some(),
            flow: self.flow.is_some(),
            lava: self.lava.is_some(),
            streams: (self.streams.iter())
                .map(|stream| [stream.first, stream.size])
                .collect(),
            revisions: [self.tiles.current(), self.water_tiles.current()],
        }
    }

    /// All planes there are, in the order in which they are put together again.
    pub(crate) fn planes(&self) -> Vec<&[f32]> {
        let mut planes: Vec<&[f32]> = vec![&self.bedrock, &self.soil, &self.water, &self.suspended];
        planes.extend(self.hardness.as_deref());
        planes.extend([&self.bedrock_low[..], &self.water_low]);
        if let Some(flow) = &self.flow {
            planes.extend([&flow.east[..], &flow.south]);
            planes.extend([&flow.west_border[..], &flow.north_border]);
        }
        if let Some(lava) = &self.lava {
            planes.extend([&lava.depth[..], &lava.low, &lava.heat]);
        }
        planes.extend(self.streams.iter().flat_map(|stream| stream.planes()));
        planes
    }

    /// The revision of each tile's last change, of ground and of water.
    pub(crate) fn tile_revisions(&self) -> [&[u64]; 2] {
        [self.tiles.last(), self.water_tiles.last()]
    }

    /// Puts a terrain together. It goes on as the one that was taken apart.
    pub(crate) fn from_parts(
        parts: TerrainParts,
        planes: Vec<Vec<f32>>,
        [tiles, water_tiles]: [Vec<u64>; 2],
    ) -> Result<Self, TerrainError> {
        let slices: Vec<&[f32]> = planes.iter().map(Vec::as_slice).collect();
        check(&parts, &slices)?;
        let TerrainParts { grid, borders, .. } = parts;
        let restored = |current, last| {
            TileRevisions::restored(&grid, current, last).ok_or(TerrainError::Saved(
                "tile revisions must be one a tile, from 1 to the newest one",
            ))
        };
        // As many as were checked, in the order of `planes`.
        let mut planes = planes.into_iter();
        let mut next = || planes.next().unwrap_or_default();
        Ok(Self {
            id: TerrainId::new(),
            bedrock: next(),
            soil: next(),
            water: next(),
            suspended: next(),
            hardness: parts.hardness.then(&mut next),
            bedrock_low: next(),
            water_low: next(),
            flow: parts.flow.then(|| Flow {
                east: next(),
                south: next(),
                west_border: next(),
                north_border: next(),
            }),
            lava: parts.lava.then(|| LavaPlanes {
                depth: next(),
                low: next(),
                heat: next(),
            }),
            streams: (parts.streams.iter())
                .map(|&[first, size]| StreamPatch {
                    river: StreamPatch::new_number(),
                    first,
                    size,
                    depth: next(),
                    velocity: [next(), next()],
                    fresh: next(),
                })
                .collect(),
            stream_revision: 0,
            borders,
            window: parts.window()?,
            datum: parts.datum,
            tiles: restored(parts.revisions[0], tiles)?,
            bounds: HeightBounds::new(&grid),
            water_tiles: restored(parts.revisions[1], water_tiles)?,
            // No solver counts on these.
            lava_tiles: TileRevisions::new(&grid),
            account: parts.account,
            grid,
        })
    }

    /// Whether a file of this terrain could be read again.
    pub(crate) fn check_saved(&self) -> Result<(), TerrainError> {
        check(&self.parts(), &self.planes())
    }
}

/// Checks everything that comes from a file but the revisions.
fn check(parts: &TerrainParts, planes: &[&[f32]]) -> Result<(), TerrainError> {
    parts.borders.check()?;
    parts.window()?;
    if !(-1e9..=1e9).contains(&parts.datum) {
        return Err(TerrainError::Saved("datum must be within ±1e9 m"));
    }
    if !parts.streams_fit() {
        return Err(TerrainError::Saved(
            "the cells of a river must lie on the grid",
        ));
    }
    let lengths = parts.plane_lengths();
    let as_long = planes.iter().map(|plane| plane.len()).eq(lengths);
    if !as_long {
        return Err(TerrainError::Saved("a layer must have one value a cell"));
    }
    let hardness = parts.hardness.then_some(Layer::Hardness);
    let layers = [Layer::Bedrock, Layer::Soil, Layer::Water, Layer::Suspended];
    let layers: Vec<Layer> = layers.into_iter().chain(hardness).collect();
    let (checked, others) = planes.split_at(layers.len());
    for (layer, values) in layers.into_iter().zip(checked) {
        check_layer(&parts.grid, layer, values)?;
    }
    let (rests, others) = others.split_at(2);
    let (flow, others) = others.split_at(if parts.flow { 4 } else { 0 });
    let (lava, streams) = others.split_at(if parts.lava { 3 } else { 0 });
    // NaN fails the comparison, so it is found too.
    let within = |planes: &[&[f32]], most: f32| {
        let mut values = planes.iter().flat_map(|plane| plane.iter());
        values.all(|value| (-most..=most).contains(value))
    };
    if !within(rests, MAX_LOW_PART) {
        return Err(TerrainError::Saved(
            "low parts of bedrock, water and lava must be within ±1000 m",
        ));
    }
    if !within(flow, MAX_DISCHARGE) {
        return Err(TerrainError::Saved("flow must be within ±1e18 m²/s"));
    }
    if let [depth, rest, heat] = lava {
        check_layer(&parts.grid, Layer::Lava, depth)?;
        if !within(&[rest], MAX_LOW_PART) {
            return Err(TerrainError::Saved(
                "low parts of bedrock, water and lava must be within ±1000 m",
            ));
        }
        let mut heats = heat.iter().zip(*depth);
        if !heats.all(|(heat, depth)| (0.0..=*depth).contains(heat)) {
            return Err(TerrainError::Saved(
                "heat of lava must be 0 to its thickness",
            ));
        }
    }
    let is_thick = |plane: &[f32]| plane.iter().all(|own| (0.0..=MAX_STREAM).contains(own));
    for stream in streams.as_chunks::<4>().0 {
        let [depth, x, z, fresh] = stream;
        if !(is_thick(depth) && within(&[x, z], MAX_STREAM) && is_thick(fresh)) {
            return Err(TerrainError::Saved(
                "depth, velocity and deposit of a river must be within ±1e9",
            ));
        }
    }
    Ok(())
}
