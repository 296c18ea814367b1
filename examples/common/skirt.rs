//! A skirt around the terrain: rock, soil above it, and the water at the border, so
//! that the terrain looks like a block and not like a sheet.

use bevy::{
    asset::RenderAssetUsages,
    camera::visibility::NoFrustumCulling,
    light::NotShadowCaster,
    mesh::{Indices, PrimitiveTopology},
    prelude::*,
};
use bevy_erode::view::{GroundMaterial, Palette, TerrainViewState, WaterView};
use bevy_erode::{prelude::*, terrain::TerrainCursor};

/// How deep the block is below the lowest land, as a share of its longer side.
const DEPTH: f32 = 0.05;

/// Updates the skirt when the terrain changes.
pub fn build(app: &mut App) {
    app.add_systems(Update, update_skirt.after(ErosionSystems::Output));
}

/// What the skirt was built from.
#[derive(Default)]
struct Built {
    parts: Option<[(Entity, Handle<Mesh>); 2]>,
    shown: Option<(TerrainCursor, bool)>,
}

fn update_skirt(
    mut commands: Commands,
    mut built: Local<Built>,
    terrain: Option<Res<Terrain>>,
    view: Res<TerrainView>,
    water_view: Res<WaterView>,
    state: Res<TerrainViewState>,
    chunks: Query<&MeshMaterial3d<GroundMaterial>, With<TerrainChunk>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut standard: ResMut<Assets<StandardMaterial>>,
) {
    let (Some(terrain), Some(ground_material)) = (terrain, chunks.iter().next()) else {
        return;
    };
    let wet = view.overlay == Overlay::None && !view.before && water_view.visible;
    let shown = Some((TerrainCursor::at(&terrain), wet));
    let is_new = built.shown != shown || view.is_changed();
    let parts = built.parts.get_or_insert_with(|| {
        let handles = [meshes.reserve_handle(), meshes.reserve_handle()];
        let water = standard.add(StandardMaterial {
            base_color: water_view.deep.with_alpha(0.75).into(),
            perceptual_roughness: 0.3,
            alpha_mode: AlphaMode::Blend,
            ..default()
        });
        let mut spawn = |name: &str, mesh: &Handle<Mesh>| {
            let part = commands.spawn((
                Name::new(name.to_owned()),
                Mesh3d(mesh.clone()),
                Transform::default(),
                NoFrustumCulling,
            ));
            part.id()
        };
        let rock = spawn("skirt of the ground", &handles[0]);
        let sea = spawn("skirt of the water", &handles[1]);
        commands
            .entity(sea)
            .insert((MeshMaterial3d(water), NotShadowCaster));
        let [first, second] = handles;
        [(rock, first), (sea, second)]
    });
    // Another terrain may have another material.
    commands.entity(parts[0].0).insert(ground_material.clone());
    if !is_new {
        return;
    }
    let before = view.before.then(|| state.baseline().ground.as_slice());
    let outline = Outline::of(&terrain, before);
    let walls = [
        outline.rock(&view.palette),
        outline.water(wet, water_view.min_depth),
    ];
    for ((entity, mesh), wall) in parts.iter().zip(walls) {
        let seen = match wall.positions.is_empty() {
            true => Visibility::Hidden,
            false => Visibility::Inherited,
        };
        commands.entity(*entity).insert(seen);
        if seen != Visibility::Hidden {
            let _ = meshes.insert(mesh.id(), wall.mesh());
        }
    }
    built.shown = shown;
}

/// A vertex of the border, in order around the terrain.
struct Post {
    place: Vec3,
    /// Which way the side looks.
    out: Vec3,
    soil: f32,
    water: f32,
}

struct Outline {
    /// Of each side, its posts from one corner to the next.
    sides: [Vec<Post>; 4],
    bottom: f32,
}

impl Outline {
    fn of(terrain: &Terrain, before: Option<&[f32]>) -> Self {
        let grid = terrain.grid();
        let last = grid.size() - 1;
        let ground = |cell: usize| match before.and_then(|before| before.get(cell)) {
            Some(&ground) => ground,
            None => terrain.ground(cell),
        };
        let post = |x: u32, y: u32, out: Vec3| {
            let cell = grid.index(x, y);
            let mut place = grid.cell_center(x, y);
            place.y = grid.origin().y + ground(cell);
            Post {
                place,
                out,
                soil: terrain.soil()[cell],
                water: terrain.water()[cell],
            }
        };
        // Each side runs to the right as seen from outside.
        let sides: [Vec<Post>; 4] = [
            (0..=last.x).map(|x| post(x, last.y, Vec3::Z)).collect(),
            (0..=last.y)
                .rev()
                .map(|y| post(last.x, y, Vec3::X))
                .collect(),
            (0..=last.x)
                .rev()
                .map(|x| post(x, 0, Vec3::NEG_Z))
                .collect(),
            (0..=last.y).map(|y| post(0, y, Vec3::NEG_X)).collect(),
        ];
        let posts = sides.iter().flatten();
        let lowest = posts.fold(f32::INFINITY, |low, post: &Post| low.min(post.place.y));
        let extent = grid.size().max_element() as f32 * grid.cell_size();
        Self {
            sides,
            bottom: lowest - DEPTH * extent,
        }
    }

    /// Soil and the rock below it, down to the bottom.
    fn rock(&self, palette: &Palette) -> Wall {
        let mut wall = Wall::default();
        for side in &self.sides {
            let foot = |post: &Post| post.place.with_y(post.place.y - post.soil);
            wall.strip(side, |post| {
                let color = palette.soil.mix(&palette.cliff, 0.2);
                (post.place, foot(post), color, post.soil)
            });
            wall.strip(side, |post| {
                let bottom = post.place.with_y(self.bottom);
                (foot(post), bottom, palette.cliff, 0.0)
            });
        }
        wall
    }

    /// The water at the border, if it is seen.
    fn water(&self, wet: bool, thinnest: f32) -> Wall {
        let mut wall = Wall::default();
        for side in self.sides.iter().filter(|_| wet) {
            for pair in side.windows(2) {
                if pair.iter().any(|post| post.water > thinnest) {
                    wall.strip(pair, |post| {
                        let level = post.place + Vec3::Y * post.water;
                        (level, post.place, LinearRgba::WHITE, 0.0)
                    });
                }
            }
        }
        wall
    }
}

/// Upright strips, with the attributes of the ground's own meshes.
#[derive(Default)]
struct Wall {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    layers: Vec<Vec2>,
    colors: Vec<[f32; 4]>,
    indices: Vec<u32>,
}

impl Wall {
    /// Adds a strip along some posts: upper and lower end, color and soil of each.
    fn strip(&mut self, posts: &[Post], look: impl Fn(&Post) -> (Vec3, Vec3, LinearRgba, f32)) {
        let first = self.positions.len() as u32;
        for post in posts {
            let (upper, lower, color, soil) = look(post);
            for place in [upper, lower] {
                self.positions.push(place);
                self.normals.push(post.out);
                // Soil goes on to its lower end as it was from the start.
                self.layers.push(Vec2::new(2.0 * soil, 0.0));
                self.colors.push([color.red, color.green, color.blue, 0.75]);
            }
        }
        for at in 1..posts.len() as u32 {
            let [a, b, c, d] = [2 * at - 2, 2 * at - 1, 2 * at, 2 * at + 1].map(|i| first + i);
            self.indices.extend([a, b, c, c, b, d]);
        }
    }

    fn mesh(self) -> Mesh {
        let uvs = vec![[0.0, 0.0]; self.positions.len()];
        Mesh::new(
            PrimitiveTopology::TriangleList,
            RenderAssetUsages::default(),
        )
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, self.positions)
        .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, self.normals)
        .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, uvs)
        .with_inserted_attribute(Mesh::ATTRIBUTE_UV_1, self.layers)
        .with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, self.colors)
        .with_inserted_indices(Indices::U32(self.indices))
    }
}
