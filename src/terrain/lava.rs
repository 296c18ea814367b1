//! Molten rock on the ground: a layer that is there only where someone brought
//! lava.

/// Lava, row by row.
#[derive(Clone, Debug)]
pub(crate) struct LavaPlanes {
    /// Thickness. units: m
    pub depth: Vec<f32>,
    /// Low part of `depth`, as with bedrock.
    pub low: Vec<f32>,
    /// Heat, 0 to `depth`; see [`Terrain::lava_heat`](super::Terrain::lava_heat).
    /// units: m
    pub heat: Vec<f32>,
}

impl LavaPlanes {
    /// No lava anywhere.
    pub fn none(cells: usize) -> Self {
        Self::fresh(vec![0.0; cells])
    }

    /// Lava of these thicknesses, as hot as it comes.
    pub fn fresh(depth: Vec<f32>) -> Self {
        Self {
            low: vec![0.0; depth.len()],
            heat: depth.clone(),
            depth,
        }
    }

    /// Whether there is no lava at all.
    pub fn is_empty(&self) -> bool {
        self.depth.iter().all(|depth| *depth == 0.0)
    }
}
