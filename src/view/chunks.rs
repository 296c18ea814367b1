//! Keeps the chunk entities and their meshes in step with the terrain.
//!
//! Dirty chunks are copied, built on the async task pool, and swapped in all at
//! once when the last of them is ready: neighbours always show the same moment,
//! and water and lava the same as the ground below them, so no crack opens
//! between them.
//! Chunks that change their level of detail are taken along a few at a time.

use super::{
    Overlay, TerrainView,
    brush_ring::{BrushRing, draw_ring},
    coat::Coat,
    ground::{self, GroundExtension, GroundMaterial},
    lava::{self, LavaChunk, LavaMaterial, LavaView},
    levels::{Levels, choose_levels},
    liquids::Liquids,
    mesh::{Baseline, ChunkSource, wet_look},
    river::{RiverView, draw_particles},
    steam::{Steam, SteamView, raise_steam},
    swap::{MeshAndBounds, MeshSwap, free, triangles},
    water::{
        self, Liquid, WaterChunk, WaterExtension, WaterMaterial, WaterView,
        mesh::{WaterChunkSource, is_near_water},
    },
};
use crate::{parallel::Workers, schedule::ErosionSystems, terrain::Terrain};
use bevy::{
    camera::{primitives::Aabb, visibility::NoAutoAabb},
    ecs::schedule::InternedScheduleLabel,
    math::*,
    prelude::*,
    tasks::{AsyncComputeTaskPool, Task, futures::check_ready},
};
use std::collections::BTreeSet;

/// Chunks that one task builds: small enough to spread, large enough to pay.
const CHUNKS_PER_TASK: usize = 8;

/// Draws the terrain. [`ErosionPlugin`](crate::ErosionPlugin) adds it.
pub struct TerrainViewPlugin {
    /// The schedule that [`ErosionSystems`] run in.
    pub schedule: InternedScheduleLabel,
}

impl Plugin for TerrainViewPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<TerrainView>()
            .init_resource::<WaterView>()
            .init_resource::<LavaView>()
            .init_resource::<TerrainViewState>()
            .register_type::<TerrainView>()
            .register_type::<TerrainChunk>()
            .register_type::<WaterView>()
            .register_type::<WaterChunk>()
            .register_type::<LavaView>()
            .register_type::<LavaChunk>()
            .add_systems(
                self.schedule,
                (
                    mix_water,
                    mix_lava,
                    lay_out_chunks,
                    choose_levels,
                    // In this order, the next build starts in the frame in
                    // which the last one is shown.
                    finish_rebuild,
                    start_rebuild,
                )
                    .chain()
                    .in_set(ErosionSystems::Output)
                    // A server may have the feature but no renderer.
                    .run_if(resource_exists::<Assets<Mesh>>)
                    .run_if(resource_exists::<Assets<StandardMaterial>>),
            );
        app.init_resource::<BrushRing>()
            .init_resource::<RiverView>()
            .init_resource::<SteamView>()
            .init_resource::<Steam>()
            .register_type::<BrushRing>()
            .register_type::<RiverView>()
            .register_type::<SteamView>()
            .add_systems(
                self.schedule,
                // All make meshes and materials.
                (
                    draw_ring,
                    draw_particles,
                    // Each has images of its own.
                    raise_steam.ambiguous_with(crate::masks::paint_images),
                )
                    .chain()
                    .in_set(ErosionSystems::Output)
                    .run_if(resource_exists::<Assets<Mesh>>)
                    .run_if(resource_exists::<Assets<StandardMaterial>>),
            );
        #[cfg(feature = "picking")]
        super::picking::build(app);
        ground::build(app);
        water::build(app);
        lava::build(app);
    }
}

/// A piece of the ground: 64 × 64 quads, fewer at the far border.
///
/// [The guide](crate::guide::view) has an example.
#[derive(Component, Reflect, Clone, Copy, Debug, PartialEq, Eq)]
#[reflect(Component)]
pub struct TerrainChunk {
    /// Column and row of the chunk.
    pub coord: UVec2,
}

/// How far the drawn terrain has come.
#[derive(Resource, Default)]
pub struct TerrainViewState {
    seen: Seen,
    /// How everything was painted.
    painted: TerrainView,
    pub(super) levels: Levels,
    chunks: UVec2,
    ground: Vec<GroundPiece>,
    ground_coat: Option<Coat<GroundMaterial>>,
    water: Liquids<WaterMaterial>,
    lava: Liquids<LavaMaterial>,
    baseline: Baseline,
    /// Chunks whose ground changed.
    dirty: BTreeSet<usize>,
    /// Chunks whose water changed.
    dirty_water: BTreeSet<usize>,
    /// Chunks whose lava changed.
    dirty_lava: BTreeSet<usize>,
    /// Chunks where the ground below and around water or lava changed, if there
    /// is any.
    dirty_bed: BTreeSet<usize>,
    /// Chunks whose ground may look wetter or drier than it did.
    damp: BTreeSet<usize>,
    building: Vec<Task<Vec<Built>>>,
    /// Meshes that are drawn no more, for the next build's thread to free: to wake
    /// one for that alone takes longer.
    old: Vec<Mesh>,
    /// The GPU writes the ground's vertices itself.
    painted_elsewhere: bool,
    rebuilt: u64,
    water_rebuilt: u64,
}

/// The terrain and the revisions of it that were looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    terrain: u64,
    ground: u64,
    water: u64,
    lava: u64,
}

impl Seen {
    fn of(terrain: &Terrain) -> Self {
        Self {
            terrain: terrain.id.get(),
            ground: terrain.revision(),
            water: terrain.water_revision(),
            lava: terrain.lava_revision(),
        }
    }
}

struct GroundPiece {
    entity: Entity,
    mesh: Handle<Mesh>,
    /// How wet it looked when it was last built.
    wet_look: u64,
    /// The revision of the water at which there was none.
    dry_at: Option<u64>,
    triangles: usize,
}

impl GroundPiece {
    /// Whether there is no water, without a look at it.
    fn is_known_dry(&self, terrain: &Terrain, chunk: UVec2) -> bool {
        let newest = || terrain.newest_water_around(chunk);
        !terrain.has_streams() && self.dry_at.is_some_and(|seen| newest() <= seen)
    }
}

/// What is to be built of a chunk, and its cells.
struct Job {
    number: usize,
    ground: Option<ChunkSource>,
    water: Option<WaterChunkSource>,
    /// The chunk's water is to be drawn anew, or not at all if there is none.
    with_water: bool,
    lava: Option<WaterChunkSource>,
    with_lava: bool,
}

/// What was built of a chunk.
struct Built {
    number: usize,
    /// With how wet it looks, and the revision at which it was dry, if it was.
    ground: Option<(MeshAndBounds, u64, Option<u64>)>,
    water: Option<Option<MeshAndBounds>>,
    lava: Option<Option<MeshAndBounds>>,
}

impl TerrainViewState {
    /// Whether all meshes show the terrain as it is, as finely as they should.
    pub fn is_settled(&self, terrain: &Terrain) -> bool {
        let dirty = [&self.dirty, &self.damp, &self.dirty_bed];
        let liquid = [&self.dirty_water, &self.dirty_lava];
        let mut dirty = dirty.iter().chain(&liquid);
        self.seen == Seen::of(terrain)
            && dirty.all(|dirty| dirty.is_empty())
            && self.building.is_empty()
            && self.levels.is_settled()
    }

    /// The level of detail that a chunk is drawn at: every 2^level-th vertex.
    pub fn level(&self, chunk: UVec2) -> Option<u8> {
        let inside = chunk.cmplt(self.chunks).all();
        let number = chunk.y * self.chunks.x + chunk.x;
        self.levels.level(number as usize).filter(|_| inside)
    }

    /// Triangles of all meshes, of the ground, water and lava.
    pub fn triangles(&self) -> usize {
        let ground = self.ground.iter().map(|piece| piece.triangles);
        let liquid = self.water.pieces.iter().chain(&self.lava.pieces).flatten();
        let liquid = liquid.map(|piece| piece.triangles);
        ground.sum::<usize>() + liquid.sum::<usize>()
    }

    /// Meshes of the ground built so far.
    pub fn rebuilt(&self) -> u64 {
        self.rebuilt
    }

    /// Meshes of water built so far.
    pub fn water_rebuilt(&self) -> u64 {
        self.water_rebuilt
    }

    /// The entity that draws a chunk's ground.
    pub fn chunk(&self, coord: UVec2) -> Option<Entity> {
        let inside = coord.cmplt(self.chunks).all();
        let number = (coord.y * self.chunks.x + coord.x) as usize;
        let piece = self.ground.get(number).filter(|_| inside);
        piece.map(|piece| piece.entity)
    }

    /// The ground as it was when the view first saw this terrain.
    pub fn baseline(&self) -> &Baseline {
        &self.baseline
    }

    /// Chunks and the meshes of their ground.
    #[cfg(feature = "gpu")]
    pub(crate) fn ground_meshes(&self) -> impl Iterator<Item = (UVec2, AssetId<Mesh>)> + '_ {
        let pieces = self.ground.iter().enumerate();
        pieces.map(|(number, piece)| (self.coord(number), piece.mesh.id()))
    }

    /// Chunks and the meshes of their water, where there are any.
    #[cfg(feature = "gpu")]
    pub(crate) fn water_meshes(&self) -> impl Iterator<Item = (UVec2, AssetId<Mesh>)> + '_ {
        let pieces = self.water.pieces.iter().enumerate();
        pieces.filter_map(|(number, piece)| {
            let mesh = piece.as_ref()?.mesh.as_ref()?;
            Some((self.coord(number), mesh.id()))
        })
    }

    /// The levels of detail of a chunk and of those around it.
    #[cfg(feature = "gpu")]
    pub(crate) fn detail(&self, chunk: UVec2) -> super::ChunkDetail {
        let number = chunk.y * self.chunks.x + chunk.x;
        self.levels.detail(number as usize)
    }

    /// Says whether the GPU writes the vertices itself.
    #[cfg(feature = "gpu")]
    pub(crate) fn set_painted_elsewhere(&mut self, elsewhere: bool) {
        if self.painted_elsewhere != elsewhere {
            self.dirty_water.extend(0..self.ground.len());
        }
        if self.painted_elsewhere && !elsewhere {
            self.dirty.extend(0..self.ground.len());
        }
        self.painted_elsewhere = elsewhere;
    }

    fn coord(&self, number: usize) -> UVec2 {
        UVec2::new(number as u32 % self.chunks.x, number as u32 / self.chunks.x)
    }

    /// Forgets the terrain that was drawn.
    fn clear(&mut self, commands: &mut Commands) {
        let ground = self.ground.drain(..).map(|piece| piece.entity);
        for entity in ground {
            commands.entity(entity).try_despawn();
        }
        *self = Self {
            water: self.water.cleared(commands),
            lava: self.lava.cleared(commands),
            rebuilt: self.rebuilt,
            water_rebuilt: self.water_rebuilt,
            ..default()
        };
    }
}

/// Whether the view draws water: not over an overlay, nor in the past.
fn draws_water(view: &TerrainView, water_view: &WaterView) -> bool {
    water_view.visible && view.overlay == Overlay::None && !view.before
}

/// Whether it draws lava, in the same way.
fn draws_lava(view: &TerrainView, lava_view: &LavaView) -> bool {
    lava_view.visible && view.overlay == Overlay::None && !view.before
}

/// Makes the water's material, and brings changed settings to it.
fn mix_water(
    view: Res<WaterView>,
    terrain_view: Res<TerrainView>,
    mut state: ResMut<TerrainViewState>,
    mut standard: ResMut<Assets<StandardMaterial>>,
    mut water: Option<ResMut<Assets<WaterMaterial>>>,
) {
    let water = water.as_deref_mut();
    match &state.water.coat {
        None => {
            let quality = terrain_view.quality;
            let coat = water::default_material(&view, quality, water, &mut standard);
            state.water.coat = Some(coat);
        }
        Some(coat) if view.is_changed() || terrain_view.is_changed() => {
            let look = WaterExtension::new(&view, terrain_view.quality);
            coat.change(water, |material| material.extension = look);
        }
        Some(_) => {}
    }
}

/// The same for lava.
fn mix_lava(
    view: Res<LavaView>,
    mut state: ResMut<TerrainViewState>,
    mut standard: ResMut<Assets<StandardMaterial>>,
    mut lava: Option<ResMut<Assets<LavaMaterial>>>,
) {
    let lava = lava.as_deref_mut();
    match &state.lava.coat {
        None => {
            state.lava.coat = Some(lava::default_material(&view, lava, &mut standard));
        }
        Some(coat) if view.is_changed() => {
            coat.change(lava, |material| material.extension = (&*view).into());
        }
        Some(_) => {}
    }
}

/// Spawns and despawns chunks as terrains come and go, and notes what changed.
fn lay_out_chunks(
    mut commands: Commands,
    terrain: Option<Res<Terrain>>,
    view: Res<TerrainView>,
    water_view: Res<WaterView>,
    lava_view: Res<LavaView>,
    mut state: ResMut<TerrainViewState>,
    meshes: Res<Assets<Mesh>>,
    mut standard: ResMut<Assets<StandardMaterial>>,
    mut ground: Option<ResMut<Assets<GroundMaterial>>>,
) {
    let state = &mut *state;
    let ground = ground.as_deref_mut();
    let Some(terrain) = terrain else {
        if state.seen != Seen::default() {
            state.clear(&mut commands);
        }
        return;
    };
    let seen = Seen::of(&terrain);
    if state.seen.terrain != seen.terrain {
        // Meshes under way show the old terrain: they go too.
        state.clear(&mut commands);
        state.painted = view.clone();
        state.baseline = Baseline::of(&terrain);
        let thinnest = [
            draws_water(&view, &water_view).then_some(water_view.thinnest),
            draws_lava(&view, &lava_view).then_some(lava_view.thinnest),
        ];
        state.levels = Levels::new(&terrain, &state.baseline, thinnest);
        state.chunks = terrain.grid().chunks();
        let look = GroundExtension::new(&view, terrain.grid(), &state.baseline);
        let coat = ground::default_material(look, ground, &mut standard);
        let count = state.chunks.element_product() as usize;
        for number in 0..count {
            let coord = state.coord(number);
            let mesh = meshes.reserve_handle();
            let mut entity = commands.spawn((
                Name::new(format!("terrain chunk {}, {}", coord.x, coord.y)),
                TerrainChunk { coord },
                Mesh3d(mesh.clone()),
                Transform::from_translation(terrain.grid().chunk_corner(coord)),
                // The view knows the bounds; an automatic one would scan every
                // new mesh.
                NoAutoAabb,
            ));
            coat.dress(&mut entity);
            state.ground.push(GroundPiece {
                entity: entity.id(),
                mesh,
                wet_look: 0,
                dry_at: None,
                triangles: 0,
            });
        }
        state.ground_coat = Some(coat);
        state.water.pieces.resize_with(count, || None);
        state.lava.pieces.resize_with(count, || None);
        state.dirty.extend(0..count);
        state.dirty_water.extend(0..count);
        state.dirty_lava.extend(0..count);
    } else {
        if let Some(coat) = state.ground_coat.as_ref().filter(|_| view.is_changed()) {
            let look = GroundExtension::new(&view, terrain.grid(), &state.baseline);
            coat.change(ground, |material| material.extension = look);
        }
        let changed = terrain.chunks_changed_since(state.seen.ground);
        if state.painted_elsewhere {
            let mut changed: BTreeSet<usize> = changed.collect();
            let wet = terrain.water_tiles_changed_since(state.seen.water);
            changed.extend(wet.flat_map(|tile| terrain.grid().chunks_of_tile(tile)));
            state.follow(&mut commands, &terrain, &changed);
        } else {
            state.dirty.extend(changed);
            // Coarse water looks farther over the border than the ground does.
            for tile in terrain.tiles_changed_since(state.seen.ground) {
                state.dirty_bed.extend(terrain.grid().chunks_of_tile(tile));
            }
            for tile in terrain.water_tiles_changed_since(state.seen.water) {
                let chunks = terrain.grid().chunks_of_tile(tile);
                state.damp.extend(chunks.clone());
                state.dirty_water.extend(chunks);
            }
        }
        // Lava is the host's, whoever paints the rest.
        for tile in terrain.lava_tiles_changed_since(state.seen.lava) {
            let chunks = terrain.grid().chunks_of_tile(tile);
            state.dirty_lava.extend(chunks);
        }
    }
    state.seen = seen;
    if view.is_changed() {
        let painted = TerrainView {
            detail: state.painted.detail,
            quality: state.painted.quality,
            ..view.clone()
        };
        if state.painted != painted {
            state.painted = painted;
            state.dirty.extend(0..state.ground.len());
        }
    }
    // Its other settings are the material's, and need no new mesh.
    let shown = (
        draws_water(&view, &water_view),
        water_view.thinnest.to_bits(),
    );
    if state.water.shown != shown {
        state.water.shown = shown;
        state.dirty_water.extend(0..state.ground.len());
    }
    let shown = (draws_lava(&view, &lava_view), lava_view.thinnest.to_bits());
    if state.lava.shown != shown {
        state.lava.shown = shown;
        state.dirty_lava.extend(0..state.ground.len());
    }
}

/// Copies the dirty chunks and starts building them, unless a build is under way.
fn start_rebuild(
    terrain: Option<Res<Terrain>>,
    view: Res<TerrainView>,
    water_view: Res<WaterView>,
    lava_view: Res<LavaView>,
    mut state: ResMut<TerrainViewState>,
) {
    let Some(terrain) = terrain else { return };
    if !state.building.is_empty() {
        return;
    }
    let mut dirty = core::mem::take(&mut state.dirty);
    let damp = core::mem::take(&mut state.damp);
    let mut dirty_water = core::mem::take(&mut state.dirty_water);
    // Whether there is water to be seen depends on the water alone: ground that
    // moves where there was none brings none.
    let dirty_bed = core::mem::take(&mut state.dirty_bed);
    let mut dirty_lava = core::mem::take(&mut state.dirty_lava);
    let other_level = state.levels.advance();
    dirty_water.extend(dirty_bed.iter().filter(|n| state.water.shows(**n)));
    dirty_lava.extend(dirty_bed.iter().filter(|n| state.lava.shows(**n)));
    dirty.extend(&other_level);
    dirty_water.extend(&other_level);
    dirty_lava.extend(&other_level);
    let numbers: BTreeSet<usize> = dirty
        .iter()
        .chain(&damp)
        .chain(&dirty_water)
        .chain(&dirty_lava)
        .copied()
        .collect();
    let mut old = core::mem::take(&mut state.old);
    if numbers.is_empty() {
        free(old);
        return;
    }
    let numbers: Vec<usize> = numbers.into_iter().collect();
    let draws_water = draws_water(&view, &water_view);
    let draws_lava = draws_lava(&view, &lava_view);

    let copy = |&number: &usize| {
        let coord = state.coord(number);
        let detail = state.levels.detail(number);
        let looks_other = || {
            view.overlay.shows_water()
                || wet_look(&terrain, coord, detail) != state.ground[number].wet_look
        };
        let with_ground = dirty.contains(&number) || damp.contains(&number) && looks_other();
        let thinnest = water_view.thinnest;
        let water = (draws_water && dirty_water.contains(&number))
            .then(|| match state.painted_elsewhere {
                true => WaterChunkSource::covering_all(&terrain, coord, thinnest, detail),
                false => WaterChunkSource::copy_at(&terrain, coord, thinnest, detail),
            })
            .flatten();
        let lava = (draws_lava && dirty_lava.contains(&number))
            .then(|| {
                let thinnest = lava_view.thinnest;
                WaterChunkSource::copy_of(Liquid::Lava, &terrain, coord, thinnest, detail)
            })
            .flatten();
        Job {
            number,
            ground: with_ground.then(|| {
                let is_dry = state.ground[number].is_known_dry(&terrain, coord);
                let source = (&*terrain, &state.baseline);
                ChunkSource::copy_known(source, &view, coord, detail, is_dry)
            }),
            with_water: water.is_some()
                || state.water.shows(number) && dirty_water.contains(&number),
            water,
            with_lava: lava.is_some() || state.lava.shows(number) && dirty_lava.contains(&number),
            lava,
        }
    };
    let mut shares: Vec<(&[usize], Vec<Job>)> = numbers
        .chunks(CHUNKS_PER_TASK)
        .map(|share| (share, Vec::new()))
        .collect();
    // A brush's few chunks are copied before another thread has woken up.
    let workers = match shares.len() {
        0 | 1 => Workers::serial(),
        _ => Workers::global(),
    };
    workers.each(shares.iter_mut(), |(share, jobs)| {
        jobs.extend(share.iter().map(copy));
        jobs.retain(|job| job.ground.is_some() || job.with_water || job.with_lava);
    });

    let shares: Vec<Vec<Job>> = shares.into_iter().map(|(_, jobs)| jobs).collect();
    for jobs in shares.into_iter().filter(|jobs| !jobs.is_empty()) {
        let view = view.clone();
        let old = core::mem::take(&mut old);
        let build = async move {
            let built = jobs.iter().map(|job| job.build(&view)).collect();
            drop(old);
            built
        };
        state
            .building
            .push(AsyncComputeTaskPool::get().spawn(build));
    }
    free(old);
}

impl Job {
    fn build(&self, view: &TerrainView) -> Built {
        Built {
            number: self.number,
            ground: (self.ground.as_ref())
                .map(|source| (source.build(view), source.wet_look(), source.dry_at())),
            water: self
                .with_water
                .then(|| self.water.as_ref().map(WaterChunkSource::build)),
            lava: self
                .with_lava
                .then(|| self.lava.as_ref().map(WaterChunkSource::build)),
        }
    }
}

/// Shows the built chunks once all of them are ready.
fn finish_rebuild(
    mut commands: Commands,
    terrain: Option<Res<Terrain>>,
    mut state: ResMut<TerrainViewState>,
    mut meshes: ResMut<Assets<Mesh>>,
) {
    let state = &mut *state;
    let Some(terrain) = terrain else { return };
    if state.building.is_empty() || !state.building.iter().all(Task::is_finished) {
        return;
    }
    let built: Vec<Built> = state
        .building
        .drain(..)
        .flat_map(|mut task| check_ready(&mut task).unwrap_or_default())
        .collect();
    let mut meshes = MeshSwap::new(&mut meshes);
    for Built {
        number,
        ground,
        water,
        lava,
    } in built
    {
        let coord = state.coord(number);
        if let (Some(((mesh, bounds), wet_look, dry_at)), Some(piece)) =
            (ground, state.ground.get_mut(number))
        {
            piece.wet_look = wet_look;
            piece.dry_at = dry_at;
            piece.triangles = triangles(&mesh);
            let sea_level = terrain.grid().origin().y;
            let (lowest, highest) = (bounds.min().y, bounds.max().y);
            state
                .levels
                .note_heights(number, sea_level + lowest, sea_level + highest);
            meshes.take_out(&piece.mesh);
            piece.mesh = meshes.add(mesh);
            let bounds = match state.painted_elsewhere {
                true => bounds_with_room(&terrain, coord),
                false => bounds,
            };
            // A game may have despawned a chunk: that is its right.
            commands
                .entity(piece.entity)
                .try_insert((Mesh3d(piece.mesh.clone()), bounds));
            state.rebuilt += 1;
        }
        if let Some(water) = water {
            let drawn = water.is_some();
            state.levels.note_liquid(number, Liquid::Water, drawn);
            let water = water.map(|(mesh, bounds)| match state.painted_elsewhere {
                true => (mesh, bounds_with_room(&terrain, coord)),
                false => (mesh, bounds),
            });
            state.water_rebuilt += u64::from(water.is_some());
            let corner = terrain.grid().chunk_corner(coord);
            let water = state.water.show(&mut meshes, &mut commands, number, water);
            if let Some(mut chunk) = water {
                let name = Name::new(format!("water chunk {}, {}", coord.x, coord.y));
                let place = Transform::from_translation(corner);
                chunk.insert((name, WaterChunk { coord }, place));
            }
        }
        if let Some(lava) = lava {
            let drawn = lava.is_some();
            state.levels.note_liquid(number, Liquid::Lava, drawn);
            let corner = terrain.grid().chunk_corner(coord);
            let lava = state.lava.show(&mut meshes, &mut commands, number, lava);
            if let Some(mut chunk) = lava {
                let name = Name::new(format!("lava chunk {}, {}", coord.x, coord.y));
                let place = Transform::from_translation(corner);
                chunk.insert((name, LavaChunk { coord }, place));
            }
        }
    }
    state.old = meshes.into_old();
}

/// Bounds of a chunk whose ground the GPU moves: what is known of it is a few
/// frames old, so there is room for what it did since.
fn bounds_with_room(terrain: &Terrain, chunk: UVec2) -> Aabb {
    let grid = terrain.grid();
    let (first, last) = grid.chunk_cells(chunk);
    let (mut lowest, mut highest) = (f32::INFINITY, f32::NEG_INFINITY);
    for y in first.y..=last.y {
        for x in first.x..=last.x {
            let ground = terrain.ground(grid.index(x, y));
            let level = ground + terrain.water_depth(x, y);
            (lowest, highest) = (lowest.min(ground), highest.max(level));
        }
    }
    let room = 2.0 + 0.1 * (highest - lowest);
    let extent = (last - first).as_vec2() * grid.cell_size();
    Aabb::from_min_max(
        Vec3::new(0.0, lowest - room, 0.0),
        Vec3::new(extent.x, highest + room, extent.y),
    )
}

impl TerrainViewState {
    /// Keeps the bounds of chunks that the GPU moves, and finds those that
    /// water comes near to or has gone from.
    fn follow(&mut self, commands: &mut Commands, terrain: &Terrain, changed: &BTreeSet<usize>) {
        let mut near = BTreeSet::new();
        for &number in changed {
            let coord = self.coord(number);
            let bounds = bounds_with_room(terrain, coord);
            let ground = self.ground.get(number).map(|piece| piece.entity);
            let water = self.water.pieces.get(number).and_then(Option::as_ref);
            let water = water.filter(|piece| piece.mesh.is_some());
            for entity in ground.into_iter().chain(water.map(|piece| piece.entity)) {
                commands.entity(entity).try_insert(bounds);
            }
            let to = (coord + 2).min(self.chunks);
            for y in coord.y.saturating_sub(1)..to.y {
                let row = y * self.chunks.x;
                near.extend((coord.x.saturating_sub(1)..to.x).map(|x| (row + x) as usize));
            }
        }
        let thinnest = f32::from_bits(self.water.shown.1);
        near.retain(|&number| {
            let needs_water = || is_near_water(terrain, self.coord(number), thinnest);
            !self.water.shows(number) || !needs_water()
        });
        self.dirty_water.append(&mut near);
    }
}
