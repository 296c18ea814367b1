//! What the passes that draw know of chunks, and how ground and water are drawn.

use super::super::shader_module::{WgslType, shader_module};
use crate::view::{
    colors::PaletteUniform,
    liquid::vertex::{self, WIDEST_STREAM},
    overlay::MIN_STREAM_DEPTH,
    water::foam,
};
use bevy::math::*;

/// Vertices of a workgroup.
pub(super) const VERTICES_PER_GROUP: u32 = 64;

impl WgslType for PaletteUniform {
    const NAME: &'static str = "Palette";
}

shader_module! {
    pub(in crate::gpu) static CONSTANTS = "bevy_erode::gpu::view::constants";
    constants {
        VERTICES_PER_GROUP: u32 = VERTICES_PER_GROUP;
    }
    /// A chunk's mesh, and what it shows.
    struct Chunk {
        /// Where its vertices begin in the slab, and how many they are.
        first_vertex: u32,
        vertices: u32,
        /// Its first cell, and its quads along x and y.
        cell: UVec2,
        quads: UVec2,
        /// Levels of detail, four bits each: its own, west, east, north and south;
        /// then the corners north-west, north-east, south-west, south-east.
        edges: u32,
        corners: u32,
    }
}

shader_module! {
    pub(in crate::gpu) static GROUND_LOOK = "bevy_erode::gpu::view::ground_look";
    import "bevy_erode::view::colors::Palette";
    constants {
        /// More than any deposit: the stream itself. Shallower ones are not shown.
        STREAM: f32 = 3.0e38;
        SEEN_STREAM: f32 = MIN_STREAM_DEPTH;
    }
    /// How the ground is drawn.
    struct GroundLook as look at (1, 0) {
        /// The length of a vertex, and where things lie in it. units: words
        stride: u32,
        position: u32,
        normal: u32,
        layers: u32,
        color: u32,
        /// 0 ground, 1 change, 2 depth, 3 velocity, 4 discharge, 5 sediment, 6 river.
        overlay: u32,
        /// Whether all chunks are to be drawn, changed or not.
        all: u32,
        /// What the overlay shows in full color, in its unit.
        range: f32,
        palette: PaletteUniform,
        /// Steps of the overlay's colors, in sRGB.
        stops: [Vec4; 5],
        /// First cell and size of the box that rivers are in.
        rivers: UVec4,
    }
}

shader_module! {
    pub(in crate::gpu) static WATER_LOOK = "bevy_erode::gpu::view::water_look";
    constants {
        /// A dry vertex beside water lies at least this far below the ground, and at
        /// most that far where the land falls away. units: m
        SINK: Vec2 = vertex::SINK.into();
        /// Speeds between which water counts as running more and more. units: m/s
        RUNS: Vec2 = vertex::RUNNING.into();
        /// Depths between which a brook of one cell spreads over its banks more and
        /// more. units: m
        BROOK: Vec2 = vertex::BROOK.into();
        /// Cells to either side that a rule looks at, and in which a coarse vertex
        /// looks for a stream, at most.
        WIDEST: i32 = vertex::WIDEST as i32;
        WIDEST_STREAM: i32 = WIDEST_STREAM as i32;
        /// Where water breaks: see `view::water::foam`.
        GRAVITY: f32 = foam::GRAVITY;
        ROUGHNESS: f32 = foam::ROUGHNESS;
        SPARE: f32 = foam::SPARE;
        STEEPEST: f32 = foam::STEEPEST;
        CRITICAL: Vec2 = foam::CRITICAL.into();
        MOVING: Vec2 = foam::MOVING.into();
        THICK: Vec2 = foam::THICK.into();
        WHITE: Vec2 = foam::WHITE.into();
        STILL: f32 = foam::STILL;
    }
    /// How water is drawn.
    struct WaterLook as look at (1, 0) {
        /// The length of a vertex, and where things lie in it. units: words
        stride: u32,
        position: u32,
        normal: u32,
        /// Depth and share of sediment.
        load: u32,
        velocity: u32,
        /// White, and brighter by its foam.
        color: u32,
        /// Whether all chunks are to be drawn, changed or not.
        all: u32,
        /// Depth above which water is drawn. units: m
        thinnest: f32,
        /// Speed that water loses where it is all white. units: m/s
        foam_speed: f32,
        /// First cell and size of the box that rivers are in.
        rivers: UVec4,
    }
}
