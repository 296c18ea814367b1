//! Constants of a dispatch, and where things lie in the notes.

use crate::{
    models::{
        pipe::{PublishedPipe, Step},
        shallow_water::{Exchange, Motion},
    },
    terrain::{Border, Borders, Grid},
};
use bevy::{math::*, render::render_resource::ShaderType};

/// Words of the notes that stand before all others.
const HEADER: u32 = 16;
/// Terms of the books; each is two words.
pub(super) const TERMS: u32 = 10;
/// Cells along a side of a workgroup.
pub(super) const GROUP: u32 = 16;

/// Constants of a dispatch; `state.wgsl` says what they mean.
#[derive(ShaderType, Clone, Copy, Debug, Default)]
pub(super) struct Job {
    pub size: UVec2,
    pub tiles: UVec2,
    pub borders: UVec4,
    pub seas: Vec4,
    pub cell_size: f32,
    pub datum: f32,
    pub dt: f32,
    pub zero: u32,
    pub pace: UVec2,
    pub deepest: UVec2,
    pub tile_states: UVec2,
    pub edges: UVec2,
    pub lost: u32,
    pub ground_changed: u32,
    pub water_changed: u32,
    pub repaint: u32,
    pub books: u32,
    pub per_length: f32,
    pub push: f32,
    pub drag: f32,
    pub calm: f32,
    pub gravity: f32,
    pub gradient: f32,
    pub capacity: f32,
    pub full_depth: f32,
    pub min_sine_squared: f32,
    pub rounding: f32,
    pub soil_share: f32,
    pub rock_per_soil: f32,
    pub fall_share: f32,
    pub courant: f32,
    pub rest: Vec2,
    pub share: Vec2,
    pub rock_rest: f32,
    pub breaking: f32,
    pub shelter: f32,
    pub rain: f32,
    pub drying: f32,
    pub has_hardness: u32,
    pub has_rain_map: u32,
    pub count: u32,
    pub creeps: u32,
    pub by_columns: u32,
    pub is_second: u32,
    pub is_first: u32,
    pub keep: f32,
    pub conduct: f32,
    pub regolith_depth: f32,
    pub steady: f32,
    pub fastest: UVec2,
    pub lacking: u32,
    pub rim: u32,
    pub drops: DropConstants,
    pub published: PublishedConstants,
}

/// Constants of a batch of drops.
#[derive(ShaderType, Clone, Copy, Debug, Default)]
pub(crate) struct DropConstants {
    pub rates: Vec4,
    /// Set for each part of a batch.
    pub count: u32,
    pub places: u32,
    pub account: u32,
    pub weights: u32,
    pub reach: u32,
    pub pitch: u32,
    pub max_steps: u32,
    pub steps_per_leg: u32,
    pub lifetime_load: i32,
    pub per_cell: f32,
    pub gravity: f32,
    pub capacity: f32,
    pub max_load: f32,
    pub min_volume: f32,
    pub bedrock_erodibility: f32,
    pub units_per_metre_at_peak: f32,
    pub layer: f32,
    pub unit: f32,
}

/// Constants of a step of the source's own pipe model.
#[derive(ShaderType, Clone, Copy, Debug, Default)]
pub(super) struct PublishedConstants {
    shares: Vec4,
    per_area: f32,
    cells: f32,
}

/// Where the parts of the notes lie, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotesLayout {
    size: UVec2,
    tiles: UVec2,
}

impl NotesLayout {
    pub const PACE: [usize; 2] = [0, 1];
    pub const LOST: usize = 2;
    const DEEPEST: [usize; 2] = [3, 4];
    /// What drops took up and carried away, each in two halves.
    pub const DROPS: u32 = 5;
    /// Of shallow water: the largest change of a level in this solve and in the
    /// one before, in turns, and whether a cell gave more than it had.
    const FASTEST: [u32; 2] = [9, 10];
    const LACKING: u32 = 11;

    pub fn new(grid: &Grid) -> Self {
        Self {
            size: grid.size(),
            tiles: grid.tiles(),
        }
    }

    fn tile_count(&self) -> u32 {
        self.tiles.element_product()
    }

    pub fn tile_states(&self, copy: usize) -> u32 {
        HEADER + copy as u32 * self.tile_count()
    }

    pub fn ground_changed(&self) -> u32 {
        HEADER + 2 * self.tile_count()
    }

    pub fn water_changed(&self) -> u32 {
        HEADER + 3 * self.tile_count()
    }

    /// Tiles that changed since they were last painted.
    pub fn repaint(&self) -> u32 {
        HEADER + 4 * self.tile_count()
    }

    /// Discharges over the west border, then over the north border.
    pub fn edges(&self, copy: usize) -> u32 {
        HEADER + 5 * self.tile_count() + copy as u32 * self.size.element_sum()
    }

    /// Here the books begin, and what is always read back ends.
    pub fn books(&self) -> u32 {
        self.edges(2)
    }

    /// Workgroups that have an account.
    pub fn accounts(&self) -> u32 {
        let groups = UVec2::new(self.size.x.div_ceil(GROUP), self.size.y.div_ceil(GROUP));
        groups.element_product()
    }

    /// Words that are ever read back.
    pub fn words(&self) -> u32 {
        self.books() + self.accounts() * TERMS * 2
    }

    /// Faces on the borders in a solve of shallow water: their falls on all four
    /// sides, and three more numbers on two of them.
    fn rim(&self) -> u32 {
        self.words()
    }

    /// As [`edges`](Self::edges), of the regolith.
    fn creep_edges(&self) -> u32 {
        self.rim() + 5 * self.size.element_sum()
    }

    /// All words.
    pub fn total(&self) -> u32 {
        self.creep_edges() + self.size.element_sum()
    }

    /// A job that knows where everything lies. `now` and `deep` tell which of
    /// two copies is the newest, of the state and of the deepest soil.
    pub fn job(&self, grid: &Grid, datum: f32, borders: &Borders, now: usize, deep: usize) -> Job {
        let sides = [borders.west, borders.east, borders.north, borders.south];
        let pair =
            |of: fn(&Self, usize) -> u32, now: usize| UVec2::new(of(self, now), of(self, 1 - now));
        Job {
            size: self.size,
            tiles: self.tiles,
            borders: UVec4::from_array(sides.map(|side| match side {
                Border::Wall => 0,
                Border::Open => 1,
                Border::Sea { .. } => 2,
            })),
            seas: Vec4::from_array(sides.map(|side| match side {
                Border::Sea { level } => level,
                _ => 0.0,
            })),
            cell_size: grid.cell_size(),
            datum,
            pace: pair(|_, copy| Self::PACE[copy] as u32, now),
            deepest: pair(|_, copy| Self::DEEPEST[copy] as u32, deep),
            tile_states: pair(Self::tile_states, now),
            edges: pair(Self::edges, now),
            lost: Self::LOST as u32,
            ground_changed: self.ground_changed(),
            water_changed: self.water_changed(),
            repaint: self.repaint(),
            books: self.books(),
            fastest: Self::FASTEST.into(),
            lacking: Self::LACKING,
            rim: self.rim(),
            ..Job::default()
        }
    }
}

impl Job {
    /// With the constants of a solve of shallow water.
    pub fn with_motion(self, motion: &Motion) -> Self {
        Self {
            keep: motion.keep,
            conduct: motion.conduct,
            push: motion.push,
            drag: motion.drag,
            per_length: motion.per_length,
            is_first: 1,
            ..self
        }
    }

    /// Of the regolith's solves of an exchange, the one of this number; or for
    /// what comes before and after all solves.
    pub fn with_exchange(self, layout: &NotesLayout, exchange: &Exchange, solve: u32) -> Self {
        let [this, last] = match solve % 2 {
            0 => NotesLayout::FASTEST,
            _ => [NotesLayout::FASTEST[1], NotesLayout::FASTEST[0]],
        };
        Self {
            creeps: 1,
            is_first: (solve == 0).into(),
            fastest: UVec2::new(last, this),
            edges: UVec2::splat(layout.creep_edges()),
            regolith_depth: exchange.depth,
            steady: exchange.steady,
            ..self.with_motion(&exchange.creep)
        }
    }

    /// With the constants of a sub-step of the pipe model.
    pub fn with_pipe(self, dt: f32, courant: f32, step: &Step) -> Self {
        Self {
            dt,
            courant,
            per_length: step.per_length,
            push: step.push,
            drag: step.drag,
            calm: step.calm,
            gravity: step.gravity,
            gradient: step.gradient,
            capacity: step.capacity,
            full_depth: step.full_depth,
            min_sine_squared: step.min_sine_squared,
            rounding: step.rounding,
            soil_share: step.soil_share,
            rock_per_soil: step.rock_per_soil,
            fall_share: step.fall_share,
            ..self
        }
    }

    /// With the constants of a step of the source's own pipe model.
    pub fn with_published(self, dt: f32, settings: &PublishedPipe) -> Self {
        let l = self.cell_size;
        let tilt = f64::from(settings.min_tilt).to_radians();
        Self {
            dt,
            push: dt * settings.pipe_area * settings.gravity / l,
            gravity: settings.gravity,
            capacity: settings.capacity,
            published: PublishedConstants {
                shares: Vec4::new(
                    settings.dissolving,
                    settings.deposition,
                    (settings.evaporation * dt).min(1.0),
                    libm::sin(tilt) as f32,
                ),
                per_area: dt / (l * l),
                cells: dt / l,
            },
            ..self
        }
    }
}
