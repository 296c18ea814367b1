//! The material that the view puts on its chunks.

use bevy::{pbr::Material, prelude::*};

/// A material of our own; or a plain one, where the app's plugins came in an
/// order that left no place for ours: nothing should be unseen for that.
#[derive(Clone, Debug)]
pub(super) enum Coat<M: Material> {
    Own(Handle<M>),
    Plain(Handle<StandardMaterial>),
}

impl<M: Material> Coat<M> {
    /// Puts it on a chunk.
    pub fn dress(&self, chunk: &mut EntityCommands) {
        match self {
            Coat::Own(handle) => chunk.insert(MeshMaterial3d(handle.clone())),
            Coat::Plain(handle) => chunk.insert(MeshMaterial3d(handle.clone())),
        };
    }

    /// Brings changed settings to it.
    pub fn change(&self, materials: Option<&mut Assets<M>>, change: impl FnOnce(&mut M)) {
        if let (Coat::Own(handle), Some(materials)) = (self, materials)
            && let Some(mut material) = materials.get_mut(handle)
        {
            change(&mut material);
        }
    }
}
