//! Makes a network of a ground.

use super::{
    Basin, NONE, River, RiverEnd, RiverLake, RiverNetwork, RiverPoint, RiverSettings, RiverStart,
    RunoffPattern, SECONDS_PER_YEAR, Water, nearest::SegmentTiles, receiver,
};
use crate::{
    drainage::routing::{OUTLET, Reach, Routing},
    parallel::Workers,
    terrain::{Border, Borders, Grid},
};
use core::f64::consts::SQRT_2;
use std::collections::BTreeMap;

/// [`Routing::covers`] counts lakes from here; what is below is dry or a sea.
const FIRST_LAKE: u32 = 5;
/// Channels are many if they are more than one in so many cells.
const MANY_CHANNELS: usize = 32;
/// Points up and down a river over which its slope is taken.
const SLOPE_REACH: usize = 2;

/// Makes a network. The settings must be checked.
pub(super) fn build(
    workers: Workers,
    grid: Grid,
    borders: Borders,
    ground: Vec<f32>,
    settings: &RiverSettings,
) -> RiverNetwork {
    let mut routing = Routing::new(grid.width(), grid.height());
    routing.route(workers, &ground, borders, None);
    let upstream = count_upstream(workers, &routing);
    let water = water_of(workers, &routing, &grid, settings);
    let (basin, outlets) = find_basins(workers, &routing);
    let (mut lakes, lake) = find_lakes(workers, &routing, &ground, &upstream, settings);

    let basins: Vec<Basin> = outlets
        .iter()
        .map(|&outlet| Basin {
            outlet,
            at_sea: match routing.receiver(outlet as usize) {
                Some(next) => is_sea(&routing, next),
                None => is_beside_sea(&grid, &borders, outlet as usize),
            },
            area: f64::from(upstream[outlet as usize]) * grid.cell_area(),
            discharge: water.through(outlet as usize, upstream[outlet as usize]),
        })
        .collect();
    for lake in &mut lakes {
        let exit = lake.exit as usize;
        lake.area = f64::from(lake.cells) * grid.cell_area();
        lake.volume *= grid.cell_area();
        lake.catchment = f64::from(upstream[exit]) * grid.cell_area();
        lake.discharge = water.through(exit, upstream[exit]);
        lake.basin = basin[exit];
        let home = basins.get(lake.basin as usize);
        lake.outlet = home.map_or(lake.exit, |basin| basin.outlet);
    }

    let onset = settings.onset_on(&grid);
    let channels = find_channels(workers, &routing, &upstream, &basin, onset);
    let (orders, inflows) = order_channels(&routing, &channels, &basin);
    let plan = Plan {
        routing: &routing,
        grid: &grid,
        settings,
        ground: &ground,
        upstream: &upstream,
        water: &water,
        orders: &orders,
        inflows: &inflows,
        basin: &basin,
        lake: &lake,
        onset,
    };
    let rivers = plan.rivers(&channels, &mut lakes);
    let tiles = SegmentTiles::new(&grid, &rivers);
    let toward = routing.directions().to_vec();
    RiverNetwork {
        settings: settings.clone(),
        grid,
        onset,
        ground,
        toward,
        upstream,
        water,
        orders,
        basin,
        lake,
        basins,
        lakes,
        rivers,
        tiles,
    }
}

/// How many cells drain through each cell, itself included.
fn count_upstream(workers: Workers, routing: &Routing) -> Vec<u32> {
    let (toward, order) = (routing.directions(), routing.order());
    let (reach, size) = (Reach::new(routing.size().0), order.band_cells());
    let mut counts = vec![1u32; toward.len()];
    let parts = counts.chunks_mut(size).zip(order.bands()).enumerate();
    workers.each(parts, |(band, (counts, cells))| {
        let start = band * size;
        for &cell in cells {
            let cell = cell as usize;
            if toward[cell] < OUTLET {
                counts[reach.step(cell, toward[cell]) - start] += counts[cell - start];
            }
        }
    });
    for &cell in order.trunk() {
        let cell = cell as usize;
        if toward[cell] < OUTLET {
            counts[reach.step(cell, toward[cell])] += counts[cell];
        }
    }
    counts
}

fn water_of(workers: Workers, routing: &Routing, grid: &Grid, settings: &RiverSettings) -> Water {
    let each = f64::from(settings.runoff) * grid.cell_area() / SECONDS_PER_YEAR;
    let RunoffPattern::Map(weights) = &settings.pattern else {
        return Water::Even(each);
    };
    let sum: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
    // Their mean is 1.
    let share = each * weights.len() as f64 / sum.max(f64::MIN_POSITIVE);
    let mut flow = Vec::new();
    routing.accumulate(workers, Some(weights), &mut flow);
    Water::Map(flow.iter().map(|flow| (flow * share) as f32).collect())
}

/// Whether a sea covers a cell.
#[inline]
fn is_sea(routing: &Routing, cell: usize) -> bool {
    (1..FIRST_LAKE).contains(&routing.covers()[cell])
}

/// Whether the sea lies beyond a cell at the land's edge.
fn is_beside_sea(grid: &Grid, borders: &Borders, cell: usize) -> bool {
    let (x, y) = (cell % grid.width(), cell / grid.width());
    let sides = [
        (x == 0, borders.west),
        (x + 1 == grid.width(), borders.east),
        (y == 0, borders.north),
        (y + 1 == grid.height(), borders.south),
    ];
    let is_sea = |border| matches!(border, Border::Sea { .. });
    sides
        .into_iter()
        .any(|(here, border)| here && is_sea(border))
}

/// The basin of each cell, and the outlets of all basins.
fn find_basins(workers: Workers, routing: &Routing) -> (Vec<u32>, Vec<u32>) {
    let (toward, order) = (routing.directions(), routing.order());
    let (reach, size) = (Reach::new(routing.size().0), order.band_cells());
    let mut found: Vec<Vec<u32>> = vec![Vec::new(); toward.len().div_ceil(size)];
    let parts = found.iter_mut().zip(toward.chunks(size)).enumerate();
    let covers = routing.covers();
    // Most lands have no sea: do not look for one at every cell.
    let seas = covers.iter().any(|cover| (1..FIRST_LAKE).contains(cover));
    workers.each(parts, |(band, (found, toward))| {
        for (place, &direction) in toward.iter().enumerate() {
            let cell = band * size + place;
            let leaves = direction >= OUTLET;
            let ends = match seas {
                false => leaves,
                true => {
                    !is_sea(routing, cell)
                        && (leaves || is_sea(routing, reach.step(cell, direction)))
                }
            };
            if ends {
                found.push(cell as u32);
            }
        }
    });
    let outlets: Vec<u32> = found.into_iter().flatten().collect();

    let mut basin = vec![NONE; toward.len()];
    for (number, &outlet) in outlets.iter().enumerate() {
        basin[outlet as usize] = number as u32;
    }
    // Upstream from the outlets. Cells of the sea stay without a basin.
    for &cell in order.trunk().iter().rev() {
        let cell = cell as usize;
        if basin[cell] == NONE {
            basin[cell] = basin[reach.step(cell, toward[cell])];
        }
    }
    let parts = basin.chunks_mut(size).zip(order.bands()).enumerate();
    workers.each(parts, |(band, (basin, cells))| {
        let start = band * size;
        for &cell in cells.iter().rev() {
            let cell = cell as usize;
            if basin[cell - start] == NONE {
                basin[cell - start] = basin[reach.step(cell, toward[cell]) - start];
            }
        }
    });
    (basin, outlets)
}

/// The lakes that are large enough, and the lake over each cell. Volumes are still sums of
/// depths.
fn find_lakes(
    workers: Workers,
    routing: &Routing,
    ground: &[f32],
    upstream: &[u32],
    settings: &RiverSettings,
) -> (Vec<RiverLake>, Vec<u32>) {
    let mut lakes: Vec<RiverLake> = routing
        .lakes()
        .iter()
        .map(|lake| RiverLake {
            pit: lake.pit,
            spill: lake.spill,
            exit: lake.pit,
            level: lake.level,
            cells: 0,
            area: 0.0,
            volume: 0.0,
            depth: 0.0,
            catchment: 0.0,
            discharge: 0.0,
            basin: NONE,
            outlet: lake.pit,
            river: None,
        })
        .collect();
    let mut plane = vec![NONE; ground.len()];
    if lakes.is_empty() {
        return (lakes, plane);
    }
    for (cell, &cover) in routing.covers().iter().enumerate() {
        if cover < FIRST_LAKE {
            continue;
        }
        let Some(lake) = lakes.get_mut((cover - FIRST_LAKE) as usize) else {
            continue;
        };
        let depth = f64::from(lake.level) - f64::from(ground[cell]);
        lake.cells += 1;
        lake.volume += depth;
        lake.depth = lake.depth.max(depth as f32);
        // All cells of a lake lead to its exit.
        if upstream[cell] > upstream[lake.exit as usize] {
            lake.exit = cell as u32;
        }
    }
    let mut numbers = vec![NONE; lakes.len()];
    let mut kept = Vec::new();
    for (number, lake) in numbers.iter_mut().zip(lakes) {
        let enough = lake.cells >= settings.lake_cells.max(1) && lake.depth >= settings.lake_depth;
        if enough {
            *number = kept.len() as u32;
            kept.push(lake);
        }
    }
    if kept.is_empty() {
        return (kept, plane);
    }
    let size = routing.order().band_cells();
    let parts = plane.chunks_mut(size).zip(routing.covers().chunks(size));
    workers.each(parts, |(plane, covers)| {
        for (here, &cover) in plane.iter_mut().zip(covers) {
            if cover >= FIRST_LAKE {
                *here = numbers[(cover - FIRST_LAKE) as usize];
            }
        }
    });
    (kept, plane)
}

/// All cells through which enough drains, each after those that drain into it.
fn find_channels(
    workers: Workers,
    routing: &Routing,
    upstream: &[u32],
    basin: &[u32],
    onset: u32,
) -> Vec<u32> {
    let size = routing.order().band_cells();
    let mut found: Vec<Vec<u32>> = vec![Vec::new(); upstream.len().div_ceil(size)];
    let parts = found.iter_mut().zip(upstream.chunks(size)).enumerate();
    workers.each(parts, |(band, (found, upstream))| {
        for (place, &cells) in upstream.iter().enumerate() {
            if cells >= onset && basin[band * size + place] != NONE {
                found.push((band * size + place) as u32);
            }
        }
    });
    let mut channels: Vec<u32> = found.into_iter().flatten().collect();
    // More drains through a cell than through those that drain into it.
    if channels.len() <= upstream.len() / MANY_CHANNELS {
        channels.sort_unstable_by_key(|&cell| (upstream[cell as usize], cell));
        return channels;
    }
    // Sorting that many takes longer than going through all cells in their order.
    let is_channel = |cell: &u32| {
        let cell = *cell as usize;
        upstream[cell] >= onset && basin[cell] != NONE
    };
    channels.clear();
    let order = routing.order();
    let all = order.bands().flatten().chain(order.trunk());
    channels.extend(all.copied().filter(is_channel));
    channels
}

/// What flows into a channel's cell from other channels.
#[derive(Clone, Copy, Default)]
struct Inflow {
    /// Highest order.
    order: u8,
    /// How many are of that order.
    alike: u8,
    /// How many there are.
    count: u8,
}

/// Strahler's orders, and what flows into each cell.
fn order_channels(routing: &Routing, channels: &[u32], basin: &[u32]) -> (Vec<u8>, Vec<Inflow>) {
    let toward = routing.directions();
    let reach = Reach::new(routing.size().0);
    let mut orders = vec![0u8; toward.len()];
    let mut inflows = vec![Inflow::default(); toward.len()];
    for &cell in channels {
        let cell = cell as usize;
        let here = inflows[cell];
        let order = match here.alike {
            0 => 1,
            1 => here.order,
            _ => here.order.saturating_add(1),
        };
        orders[cell] = order;
        let Some(next) = receiver(toward, reach, cell).filter(|&next| basin[next] != NONE) else {
            continue;
        };
        let inflow = &mut inflows[next];
        inflow.count += 1;
        match order.cmp(&inflow.order) {
            core::cmp::Ordering::Less => {}
            core::cmp::Ordering::Equal => inflow.alike += 1,
            core::cmp::Ordering::Greater => (inflow.order, inflow.alike) = (order, 1),
        }
    }
    (orders, inflows)
}

/// All that is known before rivers are drawn.
struct Plan<'a> {
    routing: &'a Routing,
    grid: &'a Grid,
    settings: &'a RiverSettings,
    ground: &'a [f32],
    upstream: &'a [u32],
    water: &'a Water,
    orders: &'a [u8],
    inflows: &'a [Inflow],
    basin: &'a [u32],
    lake: &'a [u32],
    onset: u32,
}

impl Plan<'_> {
    /// All rivers, by their first cells.
    fn rivers(&self, channels: &[u32], lakes: &mut [RiverLake]) -> Vec<River> {
        // Where lakes spill enough for a river; of several at one cell, the largest.
        let mut spills: BTreeMap<u32, u32> = BTreeMap::new();
        for (number, lake) in lakes.iter().enumerate() {
            let exit = lake.exit as usize;
            let Some(next) = self.routing.receiver(exit) else {
                continue;
            };
            if self.upstream[exit] >= self.onset && self.lake[next] == NONE {
                let known = spills.entry(next as u32).or_insert(number as u32);
                if lakes[*known as usize].catchment < lake.catchment {
                    *known = number as u32;
                }
            }
        }
        let begins = |cell: &u32| {
            let at = *cell as usize;
            let fresh = self.inflows[at].count != 1 || spills.contains_key(cell);
            fresh && self.lake[at] == NONE && self.routing.receiver(at).is_some()
        };
        let mut starts: Vec<u32> = channels.iter().copied().filter(begins).collect();
        starts.sort_unstable();
        let from = |cell: usize| starts.binary_search(&(cell as u32)).ok();
        for lake in lakes.iter_mut() {
            let next = self.routing.receiver(lake.exit as usize);
            let river = next.filter(|&next| spills.contains_key(&(next as u32)));
            lake.river = river.and_then(from).map(|number| number as u32);
        }
        let leaving = |lake: u32| {
            // Lakes may spill into one another without a river between.
            let mut lake = lakes.get(lake as usize)?;
            loop {
                if lake.river.is_some() {
                    return lake.river;
                }
                let next = self.routing.receiver(lake.exit as usize)?;
                lake = lakes.get(self.lake[next] as usize)?;
            }
        };
        let draw = |&start: &u32| {
            let (end, points) = self.course(start as usize, &spills);
            let last = points.last().map_or(0, |point| point.cell as usize);
            let steps = points
                .windows(2)
                .map(|pair| self.distance(pair[0], pair[1]));
            River {
                order: self.orders[start as usize],
                start: match (spills.get(&start), self.inflows[start as usize].count) {
                    (Some(&lake), _) => RiverStart::Lake(lake),
                    (None, 0) => RiverStart::Source,
                    (None, _) => RiverStart::Junction,
                },
                end,
                length: steps.sum::<f64>() as f32,
                basin: self.basin[start as usize],
                downstream: match end {
                    RiverEnd::Junction => from(last).map(|number| number as u32),
                    RiverEnd::Lake(lake) => leaving(lake),
                    RiverEnd::Sea | RiverEnd::Outlet => None,
                },
                points,
            }
        };
        starts.iter().map(draw).collect()
    }

    /// The way from a river's first cell to its end.
    fn course(&self, start: usize, spills: &BTreeMap<u32, u32>) -> (RiverEnd, Vec<RiverPoint>) {
        let mut points = vec![self.point(start, start)];
        let mut cell = start;
        let end = loop {
            let Some(next) = self.routing.receiver(cell) else {
                break RiverEnd::Outlet;
            };
            let joins = self.inflows[next].count > 1 || spills.contains_key(&(next as u32));
            let end = if self.basin[next] == NONE {
                Some(RiverEnd::Sea)
            } else if self.lake[next] != NONE {
                Some(RiverEnd::Lake(self.lake[next]))
            } else if self.routing.receiver(next).is_none() {
                Some(RiverEnd::Outlet)
            } else {
                joins.then_some(RiverEnd::Junction)
            };
            // The last cell may have the water of others, too.
            let shared = joins || matches!(end, Some(RiverEnd::Sea | RiverEnd::Lake(_)));
            points.push(self.point(next, if shared { cell } else { next }));
            if let Some(end) = end {
                break end;
            }
            cell = next;
        };
        self.set_slopes(&mut points);
        (end, points)
    }

    /// A point on a cell, with the water of the same or another cell.
    fn point(&self, cell: usize, water_of: usize) -> RiverPoint {
        let cover = self.routing.covers()[cell];
        let discharge = self.water.through(water_of, self.upstream[water_of]);
        RiverPoint {
            cell: cell as u32,
            ground: self.ground[cell],
            surface: self.ground[cell].max(self.routing.cover_level(cover)),
            discharge,
            width: self.settings.width_of(discharge),
            slope: 0.0,
        }
    }

    fn set_slopes(&self, points: &mut [RiverPoint]) {
        let last = points.len() - 1;
        for at in 0..points.len() {
            let part = at.saturating_sub(SLOPE_REACH)..=(at + SLOPE_REACH).min(last);
            let (from, to) = (points[*part.start()], points[*part.end()]);
            let steps = points[part].windows(2);
            let length: f64 = steps.map(|pair| self.distance(pair[0], pair[1])).sum();
            let fall = f64::from(from.surface) - f64::from(to.surface);
            points[at].slope = (fall / length.max(f64::MIN_POSITIVE)) as f32;
        }
    }

    /// Distance of neighbors. units: m
    fn distance(&self, from: RiverPoint, to: RiverPoint) -> f64 {
        step_length(self.grid, from.cell as usize, to.cell as usize)
    }
}

/// Distance between the centers of neighbors. units: m
pub(super) fn step_length(grid: &Grid, from: usize, to: usize) -> f64 {
    let width = grid.width();
    let straight = from % width == to % width || from / width == to / width;
    f64::from(grid.cell_size()) * if straight { 1.0 } else { SQRT_2 }
}
