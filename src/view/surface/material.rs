//! The material that the view puts on the chunks of a layer.

use super::{LayerMaterial, SurfaceLayer};
use bevy::prelude::*;

/// The material of a layer's chunks: its own; or a plain one, where the app's
/// plugins came in an order that left no place for it: nothing should be
/// invisible for that.
pub(super) enum ChunkMaterial<L: SurfaceLayer> {
    Own(Handle<LayerMaterial<L>>),
    Plain(Handle<StandardMaterial>),
}

impl<L: SurfaceLayer> ChunkMaterial<L> {
    /// Makes it.
    pub fn new(
        settings: &L::Settings,
        extension: L::Extension,
        own: Option<&mut Assets<LayerMaterial<L>>>,
        standard: &mut Assets<StandardMaterial>,
    ) -> Self {
        match own {
            Some(materials) => Self::Own(materials.add(LayerMaterial::<L> {
                base: L::base_material(settings),
                extension,
            })),
            None => Self::Plain(standard.add(L::plain_material(settings))),
        }
    }

    /// Puts it on a chunk.
    pub fn insert_on(&self, chunk: &mut EntityCommands) {
        match self {
            Self::Own(handle) => chunk.insert(MeshMaterial3d(handle.clone())),
            Self::Plain(handle) => chunk.insert(MeshMaterial3d(handle.clone())),
        };
    }

    /// Brings changed settings to it.
    pub fn set_extension(
        &self,
        extension: L::Extension,
        own: Option<&mut Assets<LayerMaterial<L>>>,
    ) {
        if let (Self::Own(handle), Some(materials)) = (self, own)
            && let Some(mut material) = materials.get_mut(handle)
        {
            material.extension = extension;
        }
    }
}
