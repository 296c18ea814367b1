//! Slides soil and breaks bedrock, in place, in bands of rows. Plain Rust.
//!
//! A cell's new state needs its neighbors' old ones. Each band keeps a few
//! rolling rows of the old ground, and the rows beyond its edges are saved
//! before any band starts; so all bands run at once and memory is read and
//! written once. Both cells of a pair compute the flow between them from the
//! same numbers by the same operations: what one loses the other gains.

use super::Thermal;
use crate::{
    models::{Solver, least, most, rows::Rows},
    parallel::Workers,
    schedule::ErosionStepSystems,
    terrain::{Grid, Layer, LayerGroup, SettingsError, TILE, Terrain, TerrainCursor, add_exactly},
};
use bevy::prelude::SystemSet;
use multiversion::multiversion;

/// Largest share of a height difference that one substep may move along an axis.
const MAX_SHARE: f32 = 0.2;
/// Passes in a step; beyond it slides are slower than asked for.
const MAX_SUBSTEPS: u32 = 64;
/// Height of what lies beyond the border: nothing flows up there, and nothing
/// comes down because its share of loose soil is zero.
pub(crate) const WALL: f32 = 1e30;
/// 1.5 · 2²³: a number so large that its last place is one.
const ROUNDER: f32 = 12_582_912.0;
/// Largest share of a cell's soil that slides in a sub-step. All of it, rounded up
/// in the sums, would be more than there is: soil out of nothing.
pub(crate) const NEARLY_ALL: f32 = 1.0 - 1e-6;
const BAND: usize = TILE as usize;
/// Weights of the isotropic nine-point Laplacian.
const AXIS: f32 = 2.0 / 3.0;
const DIAGONAL: f32 = 1.0 / 6.0;

/// Runs [`Thermal`] on a terrain.
#[derive(Clone, Debug)]
pub struct ThermalSolver {
    settings: Thermal,
    grid: Grid,
    /// Deepest soil (m) of a terrain at a revision, known from the last substep.
    deepest: Option<(TerrainCursor, f32)>,
}

/// Constants of one sub-step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Substep {
    /// Largest stable height difference along an axis and a diagonal. units: m
    pub stable: [f32; 2],
    /// Shares of the excess that move along an axis and a diagonal.
    pub share: [f32; 2],
    /// Largest stable slope of bedrock as a fall to an axis neighbor. units: m
    pub rock_stable: f32,
    /// Bedrock broken for each metre of fall beyond that.
    pub breaking: f32,
    pub shelter: f32,
    /// Adding and subtracting it rounds a flow to a multiple of the quantum.
    rounder: f32,
    /// Half the quantum: what a flow loses before it is rounded, so that it is
    /// rounded towards zero.
    half_quantum: f32,
}

impl Solver for ThermalSolver {
    type Settings = Thermal;

    const NAME: &'static str = "Thermal";
    const KEY: &'static str = "thermal";
    const READS: &'static [Layer] = &[Layer::Bedrock, Layer::Soil, Layer::Hardness];
    const WRITES: &'static [Layer] = &[Layer::Bedrock, Layer::Soil];

    fn step_set() -> impl SystemSet {
        ErosionStepSystems::Thermal
    }

    fn new(settings: Thermal, grid: &Grid) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            settings,
            grid: *grid,
            deepest: None,
        })
    }

    fn check_settings(settings: &Thermal) -> Result<(), SettingsError> {
        settings.check()
    }

    fn settings(&self) -> &Thermal {
        &self.settings
    }

    fn set_settings(&mut self, settings: Thermal) -> Result<(), SettingsError> {
        settings.check()?;
        self.settings = settings;
        Ok(())
    }

    fn step_on(&mut self, workers: Workers, terrain: &mut Terrain, dt: f32) {
        if !(self.grid.matches(terrain.grid()) && dt > 0.0 && dt.is_finite()) {
            return;
        }
        let (substeps, substep) = self.plan(dt);
        for _ in 0..substeps {
            let same = |cursor: TerrainCursor| !cursor.peek(terrain).changed(LayerGroup::Ground);
            let deepest = match self.deepest {
                Some((cursor, deepest)) if same(cursor) => deepest,
                _ => deepest_of(&workers, terrain.soil()),
            };
            let quantum = quantum(deepest);
            let substep = Substep {
                rounder: ROUNDER * quantum,
                half_quantum: 0.5 * quantum,
                ..substep
            };
            self.substep(&workers, terrain, &substep);
        }
    }
}

impl ThermalSolver {
    /// How many sub-steps a step is split into, and their constants.
    pub(crate) fn plan(&self, dt: f32) -> (u32, Substep) {
        let l = self.grid.cell_size();
        let whole = self.settings.mobility * dt / (l * l);
        let substeps = ((whole / MAX_SHARE).ceil() as u32).clamp(1, MAX_SUBSTEPS);
        let share = (whole / substeps as f32).min(MAX_SHARE);
        let tangent = |degrees: f32| libm::tan(f64::from(degrees).to_radians()) as f32;
        let soil = tangent(self.settings.soil_angle) * l;
        let substep = Substep {
            stable: [soil, soil * core::f32::consts::SQRT_2],
            share: [share * AXIS, share * DIAGONAL],
            rock_stable: tangent(self.settings.bedrock_angle) * l,
            // A quarter of the excess at most, so that a cliff cannot tip over.
            breaking: (self.settings.breaking * dt / (substeps as f32 * l)).min(0.25),
            shelter: self.settings.shelter,
            rounder: 0.0,
            half_quantum: 0.0,
        };
        (substeps, substep)
    }

    fn substep(&mut self, workers: &Workers, terrain: &mut Terrain, substep: &Substep) {
        let (width, height) = (self.grid.width(), self.grid.height());
        let halos: Vec<Halo> = (0..height)
            .step_by(BAND)
            .map(|first| Halo::save(terrain, first, (first + BAND).min(height)))
            .collect();
        let tiles_x = width.div_ceil(BAND);
        let mut results = vec![BandResult::default(); halos.len()];
        let datum = terrain.datum();
        let layers = terrain.layers_mut();
        let mut hardness = layers
            .hardness
            .map(|hardness| hardness.chunks(BAND * width));
        let jobs: Vec<Band> = layers
            .bedrock
            .chunks_mut(BAND * width)
            .zip(layers.bedrock_low.chunks_mut(BAND * width))
            .zip(layers.soil.chunks_mut(BAND * width))
            .zip(&halos)
            .zip(&mut results)
            .map(|((((bedrock, rest), soil), halo), result)| {
                result.changed = vec![false; tiles_x];
                Band {
                    width,
                    datum,
                    bedrock,
                    rest,
                    soil,
                    hardness: hardness.as_mut().and_then(Iterator::next),
                    halo,
                    result,
                }
            })
            .collect();
        workers.each(jobs, |band| weather_band(band, substep));

        // Bands are summed in their order, so the ledger does not depend on
        // who was first.
        let moved: f64 = results.iter().map(|result| result.moved).sum();
        terrain.account.solids.moved += moved * self.grid.cell_area();
        let changed = results.iter().flat_map(|result| &result.changed);
        let changed: Vec<usize> = changed
            .enumerate()
            .filter_map(|(tile, changed)| changed.then_some(tile))
            .collect();
        if !changed.is_empty() {
            terrain.mark_tiles(changed);
        }
        let deepest = results.iter().map(|result| result.deepest);
        let deepest = deepest.fold(0.0, most);
        self.deepest = Some((TerrainCursor::at(terrain), deepest));
    }
}

/// The step in which flows are counted: the last place of the deepest soil, and
/// one more in reserve. A smaller flow would vanish from deep soil and yet
/// arrive on thin soil: mass out of nothing.
fn quantum(deepest: f32) -> f32 {
    // Its power of two, by the exponent's bits.
    let power = f32::from_bits(most(deepest, f32::MIN_POSITIVE).to_bits() & 0x7F80_0000);
    most(power * (4.0 * f32::EPSILON), f32::MIN_POSITIVE)
}

fn deepest_of(workers: &Workers, soil: &[f32]) -> f32 {
    let chunk = soil.len().div_ceil(16).max(1);
    let mut deepest = vec![0.0f32; soil.len().div_ceil(chunk)];
    workers.each(soil.chunks(chunk).zip(&mut deepest), |(soil, deepest)| {
        let bits = soil.iter().map(|soil| soil.to_bits());
        *deepest = f32::from_bits(bits.max().unwrap_or_default());
    });
    deepest.into_iter().fold(0.0, most)
}

/// Old rows around a band: ground of the two above and the two below (with a
/// wall cell at each end), soil of the nearest of them.
struct Halo {
    ground: [Vec<f32>; 4],
    soil: [Vec<f32>; 2],
}

impl Halo {
    fn save(terrain: &Terrain, first: usize, end: usize) -> Self {
        let (width, height) = (terrain.grid().width(), terrain.grid().height());
        let row = |y: Option<usize>| {
            y.filter(|&y| y < height)
                .map(|y| y * width..(y + 1) * width)
        };
        let ground = |y: Option<usize>| {
            let mut padded = vec![WALL; width + 2];
            if let Some(span) = row(y) {
                ground_row(
                    &mut padded,
                    &terrain.bedrock()[span.clone()],
                    &terrain.soil()[span],
                    terrain.datum(),
                );
            }
            padded
        };
        let soil = |y: Option<usize>| match row(y) {
            Some(span) => terrain.soil()[span].to_vec(),
            None => vec![0.0; width],
        };
        let above = |rows: usize| first.checked_sub(rows);
        Self {
            ground: [
                ground(above(2)),
                ground(above(1)),
                ground(Some(end)),
                ground(Some(end + 1)),
            ],
            soil: [soil(above(1)), soil(Some(end))],
        }
    }
}

#[derive(Clone, Debug, Default)]
struct BandResult {
    changed: Vec<bool>,
    /// Sum of thicknesses taken up. units: m
    moved: f64,
    /// Deepest soil afterwards. units: m
    deepest: f32,
}

struct Band<'a> {
    width: usize,
    datum: f32,
    bedrock: &'a mut [f32],
    rest: &'a mut [f32],
    soil: &'a mut [f32],
    hardness: Option<&'a [f32]>,
    halo: &'a Halo,
    result: &'a mut BandResult,
}

/// Ground of a row above the datum into a padded buffer. The low part of
/// bedrock is left out: it matters only to sums.
#[inline(always)]
fn ground_row(padded: &mut [f32], bedrock: &[f32], soil: &[f32], datum: f32) {
    let inner = padded[1..=bedrock.len()].iter_mut();
    for ((ground, bedrock), soil) in inner.zip(bedrock).zip(soil) {
        *ground = (bedrock - datum) + soil;
    }
}

/// The four faces that a cell shares with later neighbors (east, south,
/// south-east, south-west), a row of each. The last one's index is that of the
/// western cell, so that all four at one index lie within the same two columns.
/// First the signed excess of the rise over the stable one, then the flow into the
/// face's own cell.
type Faces<'a> = [&'a mut [f32]; 4];

#[multiversion(targets("x86_64+avx2", "x86_64+sse4.1"))]
fn weather_band(band: Band, substep: &Substep) {
    let width = band.width;
    let rows = band.soil.len() / width;
    // Rings of old rows. Row y of the band (−2 … rows + 1) stands at (y + 2) % 4.
    let mut scratch = vec![0.0; 19 * Rows::pitch(width + 2)];
    let mut scratch = Rows::of(&mut scratch, width + 2);
    let mut ground: [_; 4] = scratch.take();
    ground.iter_mut().for_each(|row| row.fill(WALL));
    // Faces south of rows −2 … rows at (y + 2) % 3, loose shares of rows
    // −1 … rows at (y + 1) % 2.
    let mut faces: [Faces; 3] = [scratch.take(), scratch.take(), scratch.take()];
    let loose: [_; 2] = scratch.take();
    let [slides] = scratch.take();
    let slides = &mut slides[..width];

    // `ahead` counts ground rows; excesses and loose shares follow one row
    // behind, flows and changes two rows behind.
    for ahead in 0..rows + 4 {
        let newest = &mut ground[ahead % 4];
        match ahead {
            0 | 1 => newest.copy_from_slice(&band.halo.ground[ahead]),
            _ if ahead < rows + 2 => {
                let span = (ahead - 2) * width..(ahead - 1) * width;
                ground_row(
                    newest,
                    &band.bedrock[span.clone()],
                    &band.soil[span],
                    band.datum,
                );
            }
            _ => newest.copy_from_slice(&band.halo.ground[ahead - rows]),
        }
        let Some(row) = ahead.checked_sub(1) else {
            continue;
        };
        let pair = [row, ahead].map(|i| &ground[i % 4][..]);
        excess_row(pair, substep, &mut faces[row % 3]);
        // Loose share of row `ahead − 3` of the band (−1 … rows).
        let Some(row) = ahead.checked_sub(2) else {
            continue;
        };
        let soil = match row {
            0 => &band.halo.soil[0][..],
            row if row <= rows => &band.soil[(row - 1) * width..row * width],
            _ => &band.halo.soil[1][..],
        };
        loose_row(
            [&faces[row % 3], &faces[(row + 1) % 3]],
            soil,
            substep,
            &mut loose[row % 2][1..=width],
            slides,
        );
        if (1..=rows).contains(&row) {
            band.result.moved += sum(slides);
        }
        // Flows south of row `ahead − 4`, whose southern neighbor has its share now.
        let Some(row) = ahead.checked_sub(3) else {
            continue;
        };
        let pair = [row % 2, (row + 1) % 2].map(|i| &loose[i][..]);
        flow_row(pair, substep, &mut faces[(row + 1) % 3]);
        let Some(row) = ahead.checked_sub(4) else {
            continue;
        };
        let span = row * width..(row + 1) * width;
        let ground = [ahead - 3, ahead - 2, ahead - 1].map(|i| &ground[i % 4][..]);
        let broken = break_row(
            ground,
            &mut band.bedrock[span.clone()],
            &mut band.rest[span.clone()],
            &mut band.soil[span.clone()],
            band.hardness.map(|hardness| &hardness[span.clone()]),
            substep,
            slides,
            &mut band.result.changed,
        );
        band.result.moved += broken;
        let deepest = slide_row(
            [&faces[(row + 1) % 3], &faces[(row + 2) % 3]],
            &mut band.soil[span],
            slides,
            &mut band.result.changed,
        );
        band.result.deepest = most(band.result.deepest, deepest);
    }
}

/// By how much the rises across a row's faces exceed the stable ones.
#[inline(always)]
fn excess_row([here, south]: [&[f32]; 2], substep: &Substep, faces: &mut Faces) {
    let count = here.len() - 1;
    let (here, south) = (&here[..count + 1], &south[..count + 1]);
    let [e, s, se, sw] = faces.each_mut().map(|row| &mut row[..count]);
    let excess = |rise: f32, stable: f32| rise - least(most(rise, -stable), stable);
    let [axis, diagonal] = substep.stable;
    for x in 0..count {
        e[x] = excess(here[x + 1] - here[x], axis);
        s[x] = excess(south[x] - here[x], axis);
        se[x] = excess(south[x + 1] - here[x], diagonal);
        sw[x] = excess(south[x] - here[x + 1], diagonal);
    }
}

/// The share of the wanted slide that each cell's soil allows.
#[inline(always)]
fn loose_row(
    [above, below]: [&Faces; 2],
    soil: &[f32],
    substep: &Substep,
    loose: &mut [f32],
    slides: &mut [f32],
) {
    let width = soil.len();
    let [_, north, north_west, north_east] = above.each_ref().map(|row| &row[..width + 2]);
    let [east, south, south_east, south_west] = below.each_ref().map(|row| &row[..width + 2]);
    let (loose, slides) = (&mut loose[..width], &mut slides[..width]);
    for x in 0..width {
        // A face's own cell slides where the excess is negative, the other
        // one where it is positive.
        let pair = |own: f32, others: f32| most(others, 0.0) - least(own, 0.0);
        let along = pair(east[x + 1], east[x]) + pair(south[x + 1], north[x + 1]);
        let across =
            pair(south_east[x + 1], north_west[x]) + pair(south_west[x], north_east[x + 1]);
        let wish = along * substep.share[0] + across * substep.share[1];
        let share = NEARLY_ALL * soil[x] / most(most(wish, soil[x]), 1e-30);
        loose[x] = share;
        slides[x] = share * wish;
    }
}

/// Turns a row's excesses into flows, rounded towards zero to whole quanta.
#[inline(always)]
fn flow_row([here, south]: [&[f32]; 2], substep: &Substep, faces: &mut Faces) {
    let count = here.len() - 1;
    let (here, south) = (&here[..count + 1], &south[..count + 1]);
    let [e, s, se, sw] = faces.each_mut().map(|row| &mut row[..count]);
    let flow = |excess: f32, own: f32, other: f32, share: f32| {
        let loose = if excess > 0.0 { other } else { own };
        let wanted = loose * excess * share;
        let less = wanted - substep.half_quantum.copysign(wanted);
        (less + substep.rounder) - substep.rounder
    };
    let [axis, diagonal] = substep.share;
    for x in 0..count {
        e[x] = flow(e[x], here[x], here[x + 1], axis);
        s[x] = flow(s[x], here[x], south[x], axis);
        se[x] = flow(se[x], here[x], south[x + 1], diagonal);
        sw[x] = flow(sw[x], here[x + 1], south[x], diagonal);
    }
}

/// Adds and removes the soil that slides; returns the deepest. The whole row is computed in
/// one long loop; only then it is looked at tile by tile, because short loops
/// are slow at their ends.
#[inline(always)]
fn slide_row(
    [above, below]: [&Faces; 2],
    soil: &mut [f32],
    gains: &mut [f32],
    changed: &mut [bool],
) -> f32 {
    let width = soil.len();
    let [_, north, north_west, north_east] = above.each_ref().map(|row| &row[..width + 2]);
    let [east, south, south_east, south_west] = below.each_ref().map(|row| &row[..width + 2]);
    let gains = &mut gains[..width];
    for x in 0..width {
        // Opposite neighbors are added in pairs: mirroring the terrain
        // mirrors the result bit by bit.
        let along = (east[x + 1] - east[x]) + (south[x + 1] - north[x + 1]);
        let across = (south_east[x + 1] - north_west[x]) + (south_west[x] - north_east[x + 1]);
        gains[x] = along + across;
    }
    // Bits of positive numbers are ordered as the numbers are.
    let mut deepest = 0u32;
    let tiles = soil.chunks_mut(BAND).zip(gains.chunks(BAND));
    for ((soil, gains), changed) in tiles.zip(changed) {
        let mut any = 0u32;
        for (soil, gain) in soil.iter_mut().zip(gains) {
            any |= gain.to_bits() << 1;
            // A guard only: flows leave a little of the soil behind.
            *soil = most(*soil + gain, 0.0);
            deepest = deepest.max(soil.to_bits());
        }
        *changed |= any != 0;
    }
    f32::from_bits(deepest)
}

/// Bedrock that breaks into soil; returns the sum of thicknesses broken.
#[inline(always)]
fn break_row(
    [north, here, south]: [&[f32]; 3],
    bedrock: &mut [f32],
    rest: &mut [f32],
    soil: &mut [f32],
    hardness: Option<&[f32]>,
    substep: &Substep,
    broken: &mut [f32],
    changed: &mut [bool],
) -> f64 {
    let width = soil.len();
    let [north, here, south] = [north, here, south].map(|row| &row[..width + 2]);
    let broken = &mut broken[..width];
    for x in 0..width {
        let h = here[x + 1];
        let lowest_axis = least(
            least(here[x], here[x + 2]),
            least(north[x + 1], south[x + 1]),
        );
        let lowest_diagonal = least(least(north[x], south[x + 2]), least(north[x + 2], south[x]));
        let fall = most(
            h - lowest_axis,
            (h - lowest_diagonal) * core::f32::consts::FRAC_1_SQRT_2,
        );
        broken[x] = most(fall - substep.rock_stable, 0.0) * substep.breaking;
    }
    let mut total = 0.0;
    for (tile, changed) in changed.iter_mut().enumerate() {
        let span = tile * BAND..((tile + 1) * BAND).min(width);
        let broken = &mut broken[span.clone()];
        // Most ground is not a cliff: it is neither read nor written any further.
        if broken.iter().fold(0, |any, b| any | b.to_bits()) == 0 {
            continue;
        }
        let soil = &mut soil[span.clone()];
        for (broken, soil) in broken.iter_mut().zip(&*soil) {
            *broken *= substep.shelter / (substep.shelter + soil);
        }
        if let Some(hardness) = hardness {
            for (broken, hardness) in broken.iter_mut().zip(&hardness[span.clone()]) {
                *broken *= 1.0 - hardness;
            }
        }
        let bedrock = bedrock[span.clone()].iter_mut().zip(&mut rest[span]);
        for ((bedrock, rest), (soil, broken)) in bedrock.zip(soil.iter_mut().zip(&mut *broken)) {
            // Deep soil counts in coarser steps: the rock loses what arrives there.
            let new = *soil + *broken;
            *broken = new - *soil;
            *soil = new;
            add_exactly(bedrock, rest, -*broken);
        }
        let sum = sum(broken);
        *changed |= sum > 0.0;
        total += sum;
    }
    total
}

/// Sum in a fixed order of eight lanes.
#[inline(always)]
fn sum(values: &[f32]) -> f64 {
    let mut lanes = [0.0f32; 8];
    let (chunks, tail) = values.as_chunks::<8>();
    for chunk in chunks {
        for lane in 0..8 {
            lanes[lane] += chunk[lane];
        }
    }
    let tail: f32 = tail.iter().sum();
    lanes.iter().map(|&lane| f64::from(lane)).sum::<f64>() + f64::from(tail)
}
