//! Large lands, coarse to fine: most years on a land of half the resolution (itself done
//! so), the rest on the whole. What is brought up is the *change*, bilinearly; detail
//! that the coarse land cannot show is damped, since water has not had its say on it.

use super::{Ageing, AgeingSolver, Uplift};
use crate::{
    models::Solver,
    parallel::Workers,
    terrain::{Layer, SettingsError, Terrain},
};
use bevy::math::UVec2;

/// Fewest cells along the shorter side of a coarse land.
const COARSEST: u32 = 256;
/// Share of the years that the finest level of two gets.
const FINE_YEARS: f64 = 0.3;
/// Share of the detail that the coarse land cannot show that is left when it is
/// brought up.
const DETAIL: f64 = 0.2;

/// Says how far it is, 0 to 1, and whether to go on.
type GoOn<'a> = &'a mut dyn FnMut(f64, &Terrain) -> bool;

impl AgeingSolver {
    /// Ages a land by some years, coarse to fine where it has 512² cells or more: faster
    /// than [`age`](Self::age), and with the same look. `go_on` is given the share that is done
    /// and the land, which may be a coarse one, after each step; when it says no, what is
    /// done by then stays. Returns whether all was done. units: yr
    ///
    /// # Errors
    /// When the settings do not suit the land; nothing changes then.
    pub fn age_coarse_to_fine(
        &mut self,
        terrain: &mut Terrain,
        years: f64,
        go_on: &mut dyn FnMut(f64, &Terrain) -> bool,
    ) -> Result<bool, SettingsError> {
        level(self, terrain, years, (0.0, 1.0), go_on)
    }
}

fn level(
    solver: &mut AgeingSolver,
    terrain: &mut Terrain,
    years: f64,
    (from, to): (f64, f64),
    go_on: GoOn,
) -> Result<bool, SettingsError> {
    let (mut fine_years, mut begun) = (years, from);
    if terrain.size().min_element() / 2 >= COARSEST {
        fine_years = FINE_YEARS * years;
        let coarse_years = years - fine_years;
        // Cells of half the size cost four times as much.
        let cost = coarse_years / 4.0;
        begun = from + (to - from) * cost / (cost + fine_years);
        let mut below = halved_solver(solver, terrain)?;
        let before = halved(terrain)?;
        let mut coarse = before.clone();
        let is_done = level(&mut below, &mut coarse, coarse_years, (from, begun), go_on)?;
        bring_up(terrain, &before, &coarse);
        solver.take_over(below);
        if !is_done {
            return Ok(false);
        }
    }
    let longest = f64::from(solver.settings().step_years);
    let steps = (fine_years / longest).ceil().max(1.0);
    for step in 1..=steps as u64 {
        solver.age_on(Workers::global(), terrain, fine_years / steps);
        if !go_on(begun + (to - begun) * step as f64 / steps, terrain) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A solver for cells of twice the size, with maps that suit them.
fn halved_solver(solver: &AgeingSolver, terrain: &Terrain) -> Result<AgeingSolver, SettingsError> {
    let size = terrain.size();
    let settings = solver.settings();
    let settings = Ageing {
        rain_map: halved_plane(&settings.rain_map, size),
        uplift: match &settings.uplift {
            Uplift::Map(rates) => Uplift::Map(halved_plane(rates, size)),
            other => other.clone(),
        },
        ..settings.clone()
    };
    let grid = crate::terrain::Grid::new(half(size), 2.0 * terrain.cell_size());
    let grid = grid.map_err(refused)?;
    let mut below = AgeingSolver::new(settings, &grid)?;
    below.hand_on(solver, terrain);
    Ok(below)
}

fn half(size: UVec2) -> UVec2 {
    (size + 1) / 2
}

fn refused(error: crate::terrain::TerrainError) -> SettingsError {
    SettingsError::new("Ageing", "coarse land", error.to_string())
}

/// The land with cells of twice the size.
fn halved(terrain: &Terrain) -> Result<Terrain, SettingsError> {
    let size = terrain.size();
    let plane = |layer: &[f32]| halved_plane(layer, size);
    let land = Terrain::from_heights(
        half(size),
        2.0 * terrain.cell_size(),
        plane(terrain.bedrock()),
    );
    let mut land = land.map_err(refused)?;
    land.set_layer(Layer::Soil, plane(terrain.soil()))
        .map_err(refused)?;
    if let Some(hardness) = terrain.hardness() {
        land.set_layer(Layer::Hardness, plane(hardness))
            .map_err(refused)?;
    }
    land.with_borders(*terrain.borders()).map_err(refused)
}

/// Means of two by two cells; at an odd edge the last cell stands for both.
fn halved_plane(plane: &[f32], size: UVec2) -> Vec<f32> {
    if plane.is_empty() {
        return Vec::new();
    }
    let (width, height) = (size.x as usize, size.y as usize);
    let new = half(size);
    let cells = (0..new.y as usize).flat_map(|y| (0..new.x as usize).map(move |x| (2 * x, 2 * y)));
    cells
        .map(|(x, y)| {
            let (right, below) = ((x + 1).min(width - 1), (y + 1).min(height - 1));
            let at = |x: usize, y: usize| f64::from(plane[y * width + x]);
            ((at(x, y) + at(right, y) + at(x, below) + at(right, below)) * 0.25) as f32
        })
        .collect()
}

/// Gives the fine land the coarse land's change, with its own fine detail damped. What
/// resampling alone changes is booked as left.
fn bring_up(terrain: &mut Terrain, before: &Terrain, after: &Terrain) {
    let (width, coarse) = (terrain.grid().width(), before.size());
    let exact = |land: &Terrain, cell: usize| {
        let (rock, low, soil) = land.ground_parts(cell);
        f64::from(rock) + f64::from(low) + f64::from(soil)
    };
    let old: Vec<f64> = (0..before.grid().cells())
        .map(|cell| exact(before, cell))
        .collect();
    let new: Vec<f64> = (0..after.grid().cells())
        .map(|cell| exact(after, cell))
        .collect();
    let soil = after.soil().to_vec();
    let own: Vec<f64> = (0..terrain.grid().cells())
        .map(|cell| exact(terrain, cell))
        .collect();
    let added = terrain.account.solids.added;
    terrain.replace_ground(|cell| {
        let places = Places::of((cell % width, cell / width), coarse);
        let ground = places.mix(&new) + DETAIL * (own[cell] - places.mix(&old));
        let soil = places.mix(&soil) as f32;
        let rock = ground - f64::from(soil);
        let high = rock as f32;
        (high, (rock - f64::from(high)) as f32, soil)
    });
    let done = after.account.solids;
    let solids = &mut terrain.account.solids;
    let gained = solids.added - added;
    solids.added = added;
    solids.uplifted += done.uplifted;
    solids.moved += done.moved;
    solids.left += done.uplifted - gained;
}

/// The four coarse cells around a fine one, with their weights.
struct Places([(usize, f64); 4]);

impl Places {
    #[inline]
    fn of((x, y): (usize, usize), size: UVec2) -> Self {
        let (width, height) = (size.x as usize, size.y as usize);
        let along = |at: usize, side: usize| {
            let place = ((at as f64 + 0.5) * 0.5 - 0.5).clamp(0.0, (side - 1) as f64);
            let low = place as usize;
            (low, (low + 1).min(side - 1), place - low as f64)
        };
        let (west, east, u) = along(x, width);
        let (north, south, v) = along(y, height);
        Self([
            (north * width + west, (1.0 - u) * (1.0 - v)),
            (north * width + east, u * (1.0 - v)),
            (south * width + west, (1.0 - u) * v),
            (south * width + east, u * v),
        ])
    }

    #[inline]
    fn mix<T: Copy + Into<f64>>(&self, plane: &[T]) -> f64 {
        let value = |&(cell, weight): &(usize, f64)| plane[cell].into() * weight;
        self.0.iter().map(value).sum()
    }
}
