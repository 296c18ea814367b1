//! The ages of a land, to go back and forth between: snapshots of one run.

use super::{AgeingSolver, solver::set_years};
use crate::{
    models::plugin::{ModelState, advance_model},
    schedule::{ErosionStep, ErosionStepSystems, ErosionSystems},
    terrain::{Grid, Terrain},
};
use bevy::{ecs::schedule::InternedScheduleLabel, prelude::*};
use thiserror::Error;

/// Bytes of a cell in a snapshot: bedrock with its low part, and soil.
const CELL_BYTES: usize = 3 * size_of::<f32>();

/// Snapshots of a land while it ages: to show it at any age, and to go on from there.
///
/// As a resource it records what [`Ageing`](super::Ageing) does to the terrain, and
/// [`ShowAge`] messages show another age. Its memory is bounded: when it is full, the
/// snapshot whose neighbors are nearest to each other in time is dropped. Ages between snapshots
/// are interpolated; at a snapshot the land is exactly what it was.
///
/// ```
/// use bevy::math::UVec2;
/// use bevy_erode::{models::ageing::{AgeTimeline, Ageing, AgeingSolver}, prelude::*};
///
/// let mut land = Terrain::generate(&Fbm::seeded(1), UVec2::splat(64), 10.0)?;
/// let mut solver = AgeingSolver::new(Ageing::default(), land.grid())?;
/// let mut timeline = AgeTimeline::default();
/// timeline.record(&land, 0.0);
/// for _ in 0..10 {
///     solver.age(&mut land, 5_000.0);
///     timeline.record(&land, solver.years());
/// }
/// timeline.show(&mut land, 20_000.0)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Resource, Clone, Debug)]
pub struct AgeTimeline {
    /// Most bytes that snapshots take; the first and the last are always kept.
    pub budget: usize,
    grid: Option<Grid>,
    /// From young to old.
    snapshots: Vec<Snapshot>,
}

impl Default for AgeTimeline {
    /// 256 MiB: 21 snapshots of 1024² cells.
    fn default() -> Self {
        Self {
            budget: 256 << 20,
            grid: None,
            snapshots: Vec::new(),
        }
    }
}

#[derive(Clone, Debug)]
struct Snapshot {
    years: f64,
    bedrock: Vec<f32>,
    bedrock_low: Vec<f32>,
    soil: Vec<f32>,
}

/// Why an age cannot be shown.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum TimelineError {
    /// Nothing was recorded.
    #[error("no age was recorded yet, expected at least one")]
    Empty,
    /// The snapshots are of another terrain.
    #[error("the timeline is of {timeline}, found a terrain of {terrain}")]
    OtherGrid {
        /// Size of the recorded land.
        timeline: String,
        /// Size of the terrain.
        terrain: String,
    },
    /// The age is no number.
    #[error("expected a number of years, found {0}")]
    NotAnAge(f64),
}

impl AgeTimeline {
    /// An empty timeline of so many bytes at most.
    pub fn with_budget(bytes: usize) -> Self {
        Self {
            budget: bytes,
            ..Self::default()
        }
    }

    /// Ages of all snapshots, from young to old. units: yr
    pub fn ages(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        self.snapshots.iter().map(|snapshot| snapshot.years)
    }

    /// The oldest age; 0 when nothing was recorded. units: yr
    pub fn oldest(&self) -> f64 {
        self.snapshots.last().map_or(0.0, |snapshot| snapshot.years)
    }

    /// Memory of all snapshots. units: bytes
    pub fn bytes(&self) -> usize {
        let cells = self.snapshots.iter().map(|snapshot| snapshot.soil.len());
        cells.sum::<usize>() * CELL_BYTES
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.snapshots.clear();
        self.grid = None;
    }

    /// Records the land as it is at an age. Later ages are forgotten: the land has
    /// taken another way. A terrain of another size starts anew. units: yr
    pub fn record(&mut self, terrain: &Terrain, years: f64) {
        if !years.is_finite() {
            return;
        }
        if !self.grid.is_some_and(|grid| grid.matches(terrain.grid())) {
            self.clear();
            self.grid = Some(*terrain.grid());
        }
        self.snapshots.retain(|snapshot| snapshot.years < years);
        self.snapshots.push(Snapshot {
            years,
            bedrock: terrain.bedrock().to_vec(),
            bedrock_low: terrain.bedrock_low().to_vec(),
            soil: terrain.soil().to_vec(),
        });
        while self.snapshots.len() > 2 && self.bytes() > self.budget {
            self.thin_out();
        }
    }

    /// Drops the snapshot that is missed least.
    fn thin_out(&mut self) {
        let gap = |place: &usize| {
            let (before, after) = (&self.snapshots[place - 1], &self.snapshots[place + 1]);
            after.years - before.years
        };
        let inner = 1..self.snapshots.len() - 1;
        let least = inner.min_by(|a, b| gap(a).total_cmp(&gap(b)));
        if let Some(place) = least {
            self.snapshots.remove(place);
        }
    }

    /// Gives a terrain the ground that the land had at an age; ages before the first and
    /// after the last snapshot show these. Water, suspended sediment and lava stay. What
    /// the ground gains or loses is recorded as added by edits. units: yr
    ///
    /// # Errors
    /// When nothing was recorded, the terrain has another size, or the age is no number;
    /// nothing changes then.
    pub fn show(&self, terrain: &mut Terrain, years: f64) -> Result<(), TimelineError> {
        let (Some(grid), Some(first)) = (&self.grid, self.snapshots.first()) else {
            return Err(TimelineError::Empty);
        };
        if !grid.matches(terrain.grid()) {
            let named = |grid: &Grid| {
                let size = grid.size();
                format!("{} × {} cells of {} m", size.x, size.y, grid.cell_size())
            };
            return Err(TimelineError::OtherGrid {
                timeline: named(grid),
                terrain: named(terrain.grid()),
            });
        }
        if years.is_nan() {
            return Err(TimelineError::NotAnAge(years));
        }
        let after = self
            .snapshots
            .partition_point(|snapshot| snapshot.years < years);
        let later = self.snapshots.get(after);
        let earlier = after.checked_sub(1).map(|before| &self.snapshots[before]);
        let (a, b) = match (earlier, later) {
            (_, Some(b)) if b.years == years => (b, b),
            (Some(a), Some(b)) => (a, b),
            (None, Some(b)) => (b, b),
            (Some(a), None) => (a, a),
            (None, None) => (first, first),
        };
        let span = b.years - a.years;
        let share = if span > 0.0 {
            (years - a.years) / span
        } else {
            0.0
        };
        terrain.replace_ground(|cell| {
            let rock =
                |of: &Snapshot| f64::from(of.bedrock[cell]) + f64::from(of.bedrock_low[cell]);
            if share == 0.0 {
                return (a.bedrock[cell], a.bedrock_low[cell], a.soil[cell]);
            }
            let mix = |a: f64, b: f64| a + (b - a) * share;
            let bedrock = mix(rock(a), rock(b));
            let soil = mix(a.soil[cell].into(), b.soil[cell].into()) as f32;
            let high = bedrock as f32;
            (high, (bedrock - f64::from(high)) as f32, soil)
        });
        Ok(())
    }
}

/// Asks to show the land at an age of its [`AgeTimeline`]; ageing goes on from there.
#[derive(Message, Clone, Copy, Debug, PartialEq)]
pub struct ShowAge {
    /// units: yr
    pub years: f64,
}

pub(crate) fn build(app: &mut App, schedule: InternedScheduleLabel) {
    app.add_message::<ShowAge>()
        .add_systems(schedule, show_age.in_set(ErosionSystems::Input))
        .add_systems(
            ErosionStep,
            record_age
                .in_set(ErosionStepSystems::Ageing)
                .after(advance_model::<AgeingSolver>),
        );
}

/// Records each new age. The land as it was before it aged comes first.
fn record_age(
    terrain: Option<Res<Terrain>>,
    timeline: Option<ResMut<AgeTimeline>>,
    state: Res<ModelState<AgeingSolver>>,
) {
    let (Some(terrain), Some(mut timeline)) = (terrain, timeline) else {
        return;
    };
    let Some(solver) = state.solver() else {
        return;
    };
    let years = solver.years();
    let known = timeline
        .grid
        .is_some_and(|grid| grid.matches(terrain.grid()));
    if !known || timeline.snapshots.is_empty() || timeline.oldest() < years {
        timeline.record(&terrain, years);
    }
}

pub(crate) fn show_age(
    mut asked: MessageReader<ShowAge>,
    terrain: Option<ResMut<Terrain>>,
    timeline: Option<ResMut<AgeTimeline>>,
    mut state: ResMut<ModelState<AgeingSolver>>,
) {
    let Some(ShowAge { years }) = asked.read().last().copied() else {
        return;
    };
    let (Some(mut terrain), Some(timeline)) = (terrain, timeline) else {
        warn!("no age is shown: there is no terrain, or no AgeTimeline");
        return;
    };
    let years = years.clamp(0.0, timeline.oldest());
    match timeline.show(&mut terrain, years) {
        Ok(()) => {
            if let Some(solver) = state.solver_mut() {
                set_years(solver, years);
            }
        }
        Err(error) => warn!("no age is shown: {error}"),
    }
}
