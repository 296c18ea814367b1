//! The network of an app's terrain, kept up to date in the background.

use super::{RiverNetwork, RiverSettings};
use crate::{
    parallel::Workers,
    schedule::ErosionSystems,
    terrain::{Borders, Grid, SettingsError, Terrain, TerrainCursor},
};
use bevy::{
    ecs::schedule::InternedScheduleLabel,
    platform::time::Instant,
    prelude::*,
    tasks::{AsyncComputeTaskPool, Task, TaskPool, futures::check_ready},
};
use core::time::Duration;
use std::{collections::BTreeSet, sync::Arc};

/// Tiles that a frame copies at most: a quarter of a million cells.
const TILES_PER_FRAME: usize = 64;

/// The river network of the app's terrain, a resource: insert it and it follows the ground.
///
/// Changed tiles of the ground are copied, a few in each frame, and the network is made of
/// the copy by one thread of Bevy's async compute pool, so no frame waits. While the
/// ground goes on changing, this happens at most once in [`interval`](Self::interval); while
/// it rests, nothing is done. [`RiverMapUpdated`] tells when there is a new network.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_erode::drainage::network::{RiverMap, RiverMapUpdated, RiverSettings};
///
/// fn setup(mut commands: Commands) {
///     commands.insert_resource(RiverMap::new(RiverSettings::default().with_runoff(1.0)));
/// }
///
/// fn name_rivers(mut news: MessageReader<RiverMapUpdated>, map: Res<RiverMap>) {
///     if news.read().last().is_some() && let Some(network) = map.network() {
///         println!("{} rivers, {} lakes", network.rivers().len(), network.lakes().len());
///     }
/// }
/// # let mut app = App::new();
/// # app.add_systems(Startup, setup).add_systems(PostUpdate, name_rivers);
/// ```
#[derive(Resource, Debug)]
pub struct RiverMap {
    /// What counts as a river. A change makes a new network.
    pub settings: RiverSettings,
    /// Least time between the starts of two networks, by the real clock.
    pub interval: Duration,
    network: Option<Arc<RiverNetwork>>,
    error: Option<SettingsError>,
    copy: GroundCopy,
    work: Work,
    started: Option<Instant>,
    /// What the newest network was made with, or failed with.
    used: Option<(RiverSettings, Borders)>,
    /// Whether that is not what is asked for now.
    is_outdated: bool,
}

/// A new network is in the [`RiverMap`].
///
/// [The guide](crate::guide::river_network) has an example.
#[derive(Message, Clone, Copy, Debug, PartialEq)]
pub struct RiverMapUpdated {
    /// Number of rivers.
    pub rivers: usize,
    /// Number of lakes.
    pub lakes: usize,
    /// How long it took, from the first tile that was copied.
    pub took: Duration,
}

/// The ground as far as it was seen.
#[derive(Debug, Default)]
struct GroundCopy {
    cursor: TerrainCursor,
    grid: Option<Grid>,
    /// Empty while a task has it.
    heights: Vec<f32>,
    /// Tiles that changed since they were copied, by number.
    changed: BTreeSet<usize>,
}

/// What is under way.
#[derive(Debug, Default)]
enum Work {
    #[default]
    None,
    /// Tiles are being copied; these are left.
    Copying(Vec<usize>),
    /// A network is being made; the copy comes back with it.
    Running(Task<(RiverNetwork, Vec<f32>)>),
}

impl Default for RiverMap {
    fn default() -> Self {
        Self::new(RiverSettings::default())
    }
}

impl RiverMap {
    /// A map with these settings, at most two networks a second.
    pub fn new(settings: RiverSettings) -> Self {
        Self {
            settings,
            interval: Duration::from_millis(500),
            network: None,
            error: None,
            copy: GroundCopy::default(),
            work: Work::None,
            started: None,
            used: None,
            is_outdated: true,
        }
    }

    /// The same with another time between networks.
    pub fn with_interval(self, interval: Duration) -> Self {
        Self { interval, ..self }
    }

    /// The newest network; none until the first is made.
    pub fn network(&self) -> Option<&RiverNetwork> {
        self.network.as_deref()
    }

    /// The newest network, to keep: a new one does not change it.
    pub fn shared(&self) -> Option<Arc<RiverNetwork>> {
        self.network.clone()
    }

    /// Why there is no network of the present settings, if they are wrong.
    pub fn error(&self) -> Option<&SettingsError> {
        self.error.as_ref()
    }

    /// Whether a network is being made, or one is due.
    pub fn is_busy(&self) -> bool {
        let is_due = self.is_outdated || !self.copy.changed.is_empty();
        is_due || !matches!(self.work, Work::None)
    }

    /// Notes what changed, and does the next piece of work. Gives the news of a network that
    /// was finished.
    fn follow(&mut self, terrain: &Terrain, settings_touched: bool) -> Option<RiverMapUpdated> {
        self.notice(terrain, settings_touched);
        match &mut self.work {
            Work::None => {
                self.begin(terrain);
                None
            }
            Work::Copying(tiles) => {
                let now = tiles.split_off(tiles.len().saturating_sub(TILES_PER_FRAME));
                for tile in now {
                    self.copy.take(terrain, tile);
                }
                if tiles.is_empty() {
                    self.start(terrain);
                }
                None
            }
            Work::Running(task) => {
                let (network, heights) = check_ready(task)?;
                self.work = Work::None;
                self.copy.heights = heights;
                let news = RiverMapUpdated {
                    rivers: network.rivers().len(),
                    lakes: network.lakes().len(),
                    took: self.started.map_or(Duration::ZERO, |began| began.elapsed()),
                };
                self.network = Some(Arc::new(network));
                Some(news)
            }
        }
    }

    fn notice(&mut self, terrain: &Terrain, settings_touched: bool) {
        let changes = self.copy.cursor.changes(terrain).shift_as_replaced();
        let wide = terrain.grid().tiles().x as usize;
        if changes.replaced() || self.copy.grid != Some(*terrain.grid()) {
            self.copy.grid = Some(*terrain.grid());
            self.copy.heights = Vec::new();
            self.copy.changed = all_tiles(terrain);
            // What is under way is of another land.
            self.work = Work::None;
        } else {
            let tiles = changes.ground();
            let tiles = tiles.map(|tile| tile.y as usize * wide + tile.x as usize);
            self.copy.changed.extend(tiles);
        }
        match &self.used {
            // A map of run-off is long: it is compared only where it may differ.
            Some((settings, borders)) => {
                let differs = settings_touched && *settings != self.settings;
                self.is_outdated |= differs || borders != terrain.borders();
            }
            None => self.is_outdated = true,
        }
    }

    /// Begins to copy, if there is anything new and it is time.
    fn begin(&mut self, terrain: &Terrain) {
        if !self.is_outdated && self.copy.changed.is_empty() {
            return;
        }
        let is_early = |began: Instant| began.elapsed() < self.interval;
        if self.started.is_some_and(is_early) {
            return;
        }
        if let Err(error) = self.settings.check_on(terrain.grid()) {
            // Said once: the same settings do not come here before the ground changes.
            if self.error.as_ref() != Some(&error) {
                warn!("no river network: {error}");
            }
            self.error = Some(error);
            self.note_used(terrain);
            self.copy.heights = Vec::new();
            self.copy.changed.clear();
            return;
        }
        self.error = None;
        self.started = Some(Instant::now());
        let cells = terrain.grid().cells();
        if self.copy.heights.len() != cells {
            self.copy.heights = vec![0.0; cells];
            self.copy.changed = all_tiles(terrain);
        }
        let tiles = core::mem::take(&mut self.copy.changed);
        self.work = Work::Copying(tiles.into_iter().collect());
        if let Work::Copying(tiles) = &self.work
            && tiles.is_empty()
        {
            self.start(terrain);
        }
    }

    fn note_used(&mut self, terrain: &Terrain) {
        self.used = Some((self.settings.clone(), *terrain.borders()));
        self.is_outdated = false;
    }

    /// Starts the task.
    fn start(&mut self, terrain: &Terrain) {
        let (grid, borders) = (*terrain.grid(), *terrain.borders());
        let settings = self.settings.clone();
        if settings.check_on(&grid).is_err() {
            // They were changed just now: the next round says so.
            self.work = Work::None;
            self.is_outdated = true;
            return;
        }
        self.note_used(terrain);
        let heights = core::mem::take(&mut self.copy.heights);
        let pool = AsyncComputeTaskPool::get_or_init(TaskPool::new);
        self.work = Work::Running(pool.spawn(async move {
            let ground = heights.clone();
            // One thread: the others are the game's.
            let network = super::build::build(Workers::serial(), grid, borders, ground, &settings);
            (network, heights)
        }));
    }
}

impl GroundCopy {
    /// Copies a tile, by its number.
    fn take(&mut self, terrain: &Terrain, tile: usize) {
        let grid = terrain.grid();
        let (columns, rows) = grid.tile_cells(grid.tile_at(tile));
        for y in rows {
            let row = y * grid.width() + columns.start..y * grid.width() + columns.end;
            let Some(heights) = self.heights.get_mut(row.clone()) else {
                return;
            };
            for (height, cell) in heights.iter_mut().zip(row) {
                *height = terrain.ground(cell);
            }
        }
    }
}

/// The numbers of all tiles.
fn all_tiles(terrain: &Terrain) -> BTreeSet<usize> {
    (0..terrain.grid().tiles().element_product() as usize).collect()
}

pub(crate) fn build(app: &mut App, schedule: InternedScheduleLabel) {
    app.register_type::<RiverSettings>()
        .add_message::<RiverMapUpdated>()
        .add_systems(
            schedule,
            follow_terrain
                .in_set(ErosionSystems::Output)
                .run_if(resource_exists::<RiverMap>),
        );
}

fn follow_terrain(
    terrain: Option<Res<Terrain>>,
    mut map: ResMut<RiverMap>,
    mut news: MessageWriter<RiverMapUpdated>,
) {
    let is_touched = map.is_changed();
    // Flagged as changed only when there is a new network, or none any more.
    let quiet = map.bypass_change_detection();
    let Some(terrain) = terrain else {
        if quiet.copy.grid.is_some() {
            let (settings, interval) = (quiet.settings.clone(), quiet.interval);
            *map = RiverMap::new(settings).with_interval(interval);
        }
        return;
    };
    if let Some(message) = quiet.follow(&terrain, is_touched) {
        map.set_changed();
        news.write(message);
    }
}
