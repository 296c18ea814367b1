//! What a [`TerrainWrite`](super::TerrainWrite) hands out.

use crate::terrain::{Layer, TerrainError};
use core::ops::Deref;

/// A layer, or some rows of it, row by row. Read it as a slice.
#[derive(Debug)]
pub struct LayerSlice<'a> {
    pub(super) layer: Layer,
    pub(super) is_declared: bool,
    pub(super) values: &'a mut [f32],
}

impl<'a> LayerSlice<'a> {
    /// The values, to be changed.
    ///
    /// # Errors
    /// When the layer was not declared.
    #[inline]
    pub fn write(self) -> Result<&'a mut [f32], TerrainError> {
        match self.is_declared {
            true => Ok(self.values),
            false => Err(TerrainError::UndeclaredLayer(self.layer)),
        }
    }

    /// The values, for as long as the access lasts.
    #[inline]
    pub fn read(self) -> &'a [f32] {
        self.values
    }
}

impl Deref for LayerSlice<'_> {
    type Target = [f32];

    #[inline]
    fn deref(&self) -> &[f32] {
        self.values
    }
}

/// The layers of some rows; see [`TerrainWrite::layers`](super::TerrainWrite::layers).
#[derive(Debug)]
pub struct TerrainLayers<'a> {
    /// Elevation of bedrock. What is too small for an `f32` is kept beside it;
    /// see [`TerrainWrite::transfer`](super::TerrainWrite::transfer). units: m
    pub bedrock: LayerSlice<'a>,
    /// Thickness of loose ground. units: m
    pub soil: LayerSlice<'a>,
    /// Depth of water, that of rivers excepted. units: m
    pub water: LayerSlice<'a>,
    /// Suspended sediment as a thickness. units: m
    pub suspended: LayerSlice<'a>,
    /// Resistance to erosion, 0 to 1. There if the terrain has such a map, or if
    /// it was declared.
    pub hardness: Option<LayerSlice<'a>>,
    /// Thickness of molten rock. There if the terrain has lava, or if it was
    /// declared. units: m
    pub lava: Option<LayerSlice<'a>>,
    /// [Heat](crate::terrain::Terrain::lava_heat) of the lava, 0 to its thickness; belongs to
    /// [`Layer::Lava`]. Where only the thickness is written, new lava is fresh,
    /// and heat goes with what is taken. units: m
    pub lava_heat: Option<LayerSlice<'a>>,
}

/// Discharges, to be written; see
/// [`TerrainWrite::flow_mut`](super::TerrainWrite::flow_mut). units: m²/s
#[derive(Debug)]
pub struct FlowMut<'a> {
    /// Through each cell's east face, positive towards +X, row by row.
    pub east: &'a mut [f32],
    /// Through each cell's south face, positive towards +Z, row by row.
    pub south: &'a mut [f32],
    /// Through the west border, a value a row, positive into the land.
    pub west_border: &'a mut [f32],
    /// Through the north border, a value a column, positive into the land.
    pub north_border: &'a mut [f32],
}
