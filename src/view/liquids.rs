//! The chunks of a liquid's surface, beside those of the ground.

use super::{
    coat::Coat,
    swap::{MeshAndBounds, MeshSwap, triangles},
};
use bevy::{
    camera::{primitives::Aabb, visibility::NoAutoAabb},
    light::NotShadowCaster,
    pbr::Material,
    prelude::*,
};

/// The surface of water or lava, in chunks.
pub(super) struct Liquids<M: Material> {
    pub pieces: Vec<Option<LiquidPiece>>,
    pub coat: Option<Coat<M>>,
    /// Whether it is drawn, and what is too thin for it.
    pub shown: (bool, u32),
}

impl<M: Material> Default for Liquids<M> {
    fn default() -> Self {
        Self {
            pieces: Vec::new(),
            coat: None,
            shown: default(),
        }
    }
}

pub(super) struct LiquidPiece {
    pub entity: Entity,
    /// None while the chunk is dry.
    pub mesh: Option<Handle<Mesh>>,
    pub triangles: usize,
}

impl<M: Material> Liquids<M> {
    /// Without any chunks. The material stays: it may be on something of the
    /// game's own.
    pub fn cleared(&mut self, commands: &mut Commands) -> Self {
        for piece in self.pieces.drain(..).flatten() {
            commands.entity(piece.entity).try_despawn();
        }
        Self {
            coat: self.coat.take(),
            ..Self::default()
        }
    }

    /// Whether it is drawn in a chunk.
    pub fn shows(&self, number: usize) -> bool {
        let piece = self.pieces.get(number).and_then(Option::as_ref);
        piece.is_some_and(|piece| piece.mesh.is_some())
    }

    /// Puts the new surface of a chunk in place of the old. Returns the chunk's
    /// entity if it is new.
    pub fn show<'a>(
        &mut self,
        meshes: &mut MeshSwap,
        commands: &'a mut Commands,
        number: usize,
        surface: Option<MeshAndBounds>,
    ) -> Option<EntityCommands<'a>> {
        let slot = self.pieces.get_mut(number)?;
        if let Some(old) = slot.as_mut().and_then(|piece| piece.mesh.take()) {
            meshes.take_out(&old);
            if let Some(piece) = slot.as_mut().filter(|_| surface.is_none()) {
                piece.triangles = 0;
                commands.entity(piece.entity).try_remove::<(Mesh3d, Aabb)>();
            }
        }
        let (mesh, bounds) = surface?;
        let is_new = slot.is_none();
        let piece = slot.get_or_insert_with(|| {
            let mut chunk = commands.spawn((Visibility::default(), NotShadowCaster, NoAutoAabb));
            if let Some(coat) = &self.coat {
                coat.dress(&mut chunk);
            }
            LiquidPiece {
                entity: chunk.id(),
                mesh: None,
                triangles: 0,
            }
        });
        piece.triangles = triangles(&mesh);
        let handle = meshes.add(mesh);
        piece.mesh = Some(handle.clone());
        let mut chunk = commands.entity(piece.entity);
        chunk.try_insert((Mesh3d(handle), bounds));
        is_new.then_some(chunk)
    }
}
