//! What the water of particles looks like on the cells of the ground.
//!
//! ```text
//! L   = ground + V·ρ at a particle, then the kernel's mean over its neighbors
//! S   = Σ w·L / Σ w                      level at a cell
//! d   = max(0, S + δ − ground)·edge      edge: 0 … 1 where Σ w is small
//! ```
//!
//! One δ for the river makes Σ d·l² the volume of all its particles: so the
//! surface is smooth across the stream, meets the banks where water would, and
//! holds just the water that there is.

use super::{Ground, grid_ground::GridGround, solver::RiverSolver, water::each_batch};
use crate::parallel::Workers;
use bevy::math::DVec2;
use std::collections::HashSet;

/// Kernel sums between which the edge of a stream fades in.
const EDGE: (f64, f64) = (0.02, 0.3);
/// Halvings of the interval in which δ is looked for.
const HALVINGS: usize = 20;

/// The stream at a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StreamCell {
    pub cell: usize,
    /// units: m
    pub depth: f64,
    /// units: m/s
    pub velocity: DVec2,
}

/// A cell that the water reaches, before its level is set right.
#[derive(Clone, Copy, Debug)]
struct Wet {
    cell: usize,
    /// Level above the ground, below zero on banks.
    above: f64,
    edge: f64,
    velocity: DVec2,
}

impl RiverSolver<GridGround> {
    /// The stream on the cells that it reaches, each once. All depths of the
    /// stream together are the volume of all particles.
    pub(super) fn stream(&mut self, workers: &Workers) -> Vec<StreamCell> {
        self.water.sort();
        let (k, water, ground) = (&self.kernels, &self.water, &self.ground);
        let volume = f64::from(self.settings.particle_volume);
        let raw: Vec<f64> = water
            .particles
            .iter()
            .map(|own| ground.surface(own.position).height + own.density * volume)
            .collect();
        let sum_at = |at: DVec2, runs: [core::ops::Range<usize>; 3], levels: &[f64]| {
            let (mut amount, mut level, mut momentum) = (0.0, 0.0, DVec2::ZERO);
            for run in runs {
                for (own, own_level) in water.particles[run.clone()].iter().zip(&levels[run]) {
                    let square = own.position.distance_squared(at);
                    if square < k.square {
                        let weight = k.weight(square);
                        amount += weight;
                        level += weight * own_level;
                        momentum += weight * own.velocity;
                    }
                }
            }
            (amount, level, momentum)
        };
        let mut levels = Vec::new();
        each_batch(workers, &water.particles, &mut levels, |own| {
            let (amount, level, _) = sum_at(own.position, water.cells.around(own.position), &raw);
            level / amount
        });
        let mut wet = Vec::new();
        for busy in water.cells.busy() {
            ground.points_in(busy.min, busy.max, |cell, at| {
                let (amount, level, momentum) = sum_at(at, busy.runs.clone(), &levels);
                if amount > EDGE.0 {
                    let share = ((amount - EDGE.0) / (EDGE.1 - EDGE.0)).min(1.0);
                    wet.push(Wet {
                        cell,
                        above: level / amount - ground.heights()[cell],
                        edge: share * share * (3.0 - 2.0 * share),
                        velocity: momentum / amount,
                    });
                }
            });
        }
        let area = ground.cell_size() * ground.cell_size();
        let wanted = water.particles.len() as f64 * volume / area;
        let (raise, scale) = level_for(&wet, wanted);
        let cells = wet.into_iter().filter_map(|wet| {
            let depth = (wet.above + raise).max(0.0) * wet.edge * scale;
            (depth > 0.0).then_some(StreamCell {
                cell: wet.cell,
                depth,
                velocity: wet.velocity,
            })
        });
        let mut cells: Vec<StreamCell> = cells.collect();
        // Lakes of the river are seen with it, where the stream is not.
        let streams: HashSet<usize> = cells.iter().map(|own| own.cell).collect();
        for lake in self.lakes() {
            let points = lake.points(ground).into_iter();
            cells.extend(
                points
                    .filter(|(cell, _)| !streams.contains(cell))
                    .map(|(cell, _)| StreamCell {
                        cell,
                        depth: lake.level - ground.heights()[cell],
                        velocity: DVec2::ZERO,
                    }),
            );
        }
        cells
    }
}

/// How much to raise the level (m), and what then to multiply the depths by,
/// which is next to nothing, so that they add up to `wanted` metres.
fn level_for(wet: &[Wet], wanted: f64) -> (f64, f64) {
    let total = |raise: f64| -> f64 {
        let depths = wet
            .iter()
            .map(|wet| (wet.above + raise).max(0.0) * wet.edge);
        depths.sum()
    };
    let highest = wet.iter().fold(0.0, |most: f64, wet| most.max(wet.above));
    let (mut low, mut high) = (-highest, 1.0);
    // So high that it holds at least all.
    while total(high) < wanted && high < 1e6 {
        high *= 2.0;
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if total(middle) < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    let all = total(high);
    (high, if all > 0.0 { wanted / all } else { 0.0 })
}
