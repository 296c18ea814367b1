//! Swaps new meshes in for old ones.

use bevy::{camera::primitives::Aabb, prelude::*, tasks::AsyncComputeTaskPool};
use std::sync::Arc;

pub(in crate::view) type MeshAndBounds = (Mesh, Aabb);

/// Puts new meshes in and takes old ones out. Workers allocated those, so workers
/// free them, not the main thread.
pub(in crate::view) struct MeshSwap<'a> {
    meshes: &'a mut Assets<Mesh>,
    old: Vec<Mesh>,
}

impl<'a> MeshSwap<'a> {
    pub fn new(meshes: &'a mut Assets<Mesh>) -> Self {
        Self {
            meshes,
            old: Vec::new(),
        }
    }

    /// What was taken out.
    pub fn into_old(self) -> Vec<Mesh> {
        self.old
    }

    /// A new asset, not an old one changed: for one that changed, Bevy looks at
    /// every mesh there is.
    pub fn add(&mut self, mesh: Mesh) -> Handle<Mesh> {
        self.meshes.add(mesh)
    }

    /// Takes a mesh out that its chunk is about to lose, unless a game keeps a
    /// handle of it beside those of the chunk and of the view.
    pub fn take_out(&mut self, handle: &Handle<Mesh>) {
        if let Handle::Strong(shared) = handle
            && Arc::strong_count(shared) <= 2
        {
            self.old.extend(self.meshes.remove(handle));
        }
    }
}

/// Lets a worker free meshes.
pub(super) fn free(old: Vec<Mesh>) {
    if !old.is_empty() {
        let free = async move { drop(old) };
        AsyncComputeTaskPool::get().spawn(free).detach();
    }
}

pub(super) fn triangles(mesh: &Mesh) -> usize {
    mesh.indices().map_or(0, |indices| indices.len() / 3)
}
