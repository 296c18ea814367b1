//! Meshes that the view computes itself, and one entity whose mesh is replaced
//! again and again: the brush's ring, particles of rivers, steam.

use bevy::{
    asset::RenderAssetUsages,
    camera::visibility::NoFrustumCulling,
    ecs::system::SystemParam,
    light::{NotShadowCaster, NotShadowReceiver},
    mesh::{Indices, PrimitiveTopology},
    prelude::*,
};

/// A mesh of triangles, without normals or any other attribute yet.
pub(super) fn triangle_mesh(positions: Vec<[f32; 3]>, indices: Indices) -> Mesh {
    Mesh::new(
        PrimitiveTopology::TriangleList,
        RenderAssetUsages::default(),
    )
    .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
    .with_inserted_indices(indices)
}

/// Draws a mesh by an entity with a marker of its own, anywhere on the land,
/// without shadows.
#[derive(SystemParam)]
pub(super) struct DynamicMesh<'w, 's, M: Component + Default> {
    commands: Commands<'w, 's>,
    meshes: ResMut<'w, Assets<Mesh>>,
    materials: ResMut<'w, Assets<StandardMaterial>>,
    drawn: Query<'w, 's, Drawn, With<M>>,
}

type Drawn = (
    &'static mut Mesh3d,
    &'static MeshMaterial3d<StandardMaterial>,
    &'static mut Visibility,
);

impl<M: Component + Default> DynamicMesh<'_, '_, M> {
    pub fn is_shown(&self) -> bool {
        let mut drawn = self.drawn.iter();
        drawn.any(|(.., visibility)| *visibility != Visibility::Hidden)
    }

    pub fn hide(&mut self) {
        for (.., mut visibility) in &mut self.drawn {
            visibility.set_if_neq(Visibility::Hidden);
        }
    }

    /// Shows this mesh in place of the last. The material is only made for the
    /// first.
    pub fn show(&mut self, name: &str, mesh: Mesh, material: impl FnOnce() -> StandardMaterial) {
        // A new asset, not an old one changed: for one that changed, Bevy looks
        // at every mesh there is.
        let mesh = self.meshes.add(mesh);
        if self.drawn.is_empty() {
            self.commands.spawn((
                Name::new(name.to_owned()),
                M::default(),
                Mesh3d(mesh),
                MeshMaterial3d(self.materials.add(material())),
                Visibility::default(),
                NoFrustumCulling,
                NotShadowCaster,
                NotShadowReceiver,
            ));
            return;
        }
        for (mut shown, _, mut visibility) in &mut self.drawn {
            shown.0 = mesh.clone();
            visibility.set_if_neq(Visibility::Inherited);
        }
    }

    /// Gives it another color.
    pub fn set_color(&mut self, color: Color) {
        for (_, material, _) in &self.drawn {
            if let Some(mut material) = self.materials.get_mut(&material.0) {
                material.base_color = color;
            }
        }
    }
}
