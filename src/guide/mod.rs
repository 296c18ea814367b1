//! The guide: how to use the crate, one page per topic.
//!
//! | start here | |
//! |---|---|
//! | [Getting started](getting_started) | a terrain, a model, a camera; time; settings; solvers without an app |
//! | [Terrain and layers](terrain) | layers, cells and positions, landforms, borders, the ledger |
//! | [Models](models) | which model does what, main settings, cost |
//! | [Rain, sources and seasons](forcing) | what brings water and takes it away |
//! | [Rivers](rivers) | meandering rivers |
//! | [River networks](river_network) | rivers, lakes and basins as data |
//! | [Lava](lava) | vents, flow, steam |
//! | [Ageing](ageing) | geological time: from noise to a world in three passes |
//!
//! | in a game | |
//! |---|---|
//! | [Edits, brushes and undo](edits) | let players dig and build |
//! | [Queries and gameplay](queries) | heights, water, rays |
//! | [Change tracking](change_tracking) | follow what changes |
//! | [Physics colliders](physics) | avian and rapier |
//! | [View and materials](view) | looks, overlays, your own material, level of detail, picking |
//! | [Masks](masks) | wear, deposit, flow, wetness for materials and plants |
//! | [Determinism and multiplayer](determinism) | replays and lockstep |
//!
//! | files and tools | |
//! |---|---|
//! | [Files](files) | heightmaps and saved states |
//! | [Scenes and presets](scenes) | a terrain with models and weather in one file |
//! | [Gallery](gallery) | what the scenes look like |
//! | [Examples](examples) | what they show, their keys and options |
//! | [Baking and the command line](baking) | erosion ahead of time |
//! | [Tuning panel](panel) | every setting, live |
//!
//! | under the hood | |
//! |---|---|
//! | [GPU](gpu) | backends, the mirror, read-back |
//! | [Plugins and schedule](schedule) | system sets, clock, pace, diagnostics, messages |
//! | [Writing your own model](custom_models) | the `Solver` trait |
//! | [Performance](performance) | what costs what |
//! | [Troubleshooting](troubleshooting) | answers to frequent questions |
//!
//! These modules are empty: they exist only in the documentation.

/// Makes an empty module of each Markdown file of this folder.
macro_rules! pages {
    ($($page:ident)*) => {
        $(
            #[doc = include_str!(concat!(stringify!($page), ".md"))]
            pub mod $page {}
        )*
    };
}

pages! {
    getting_started
    terrain
    models
    forcing
    rivers
    river_network
    lava
    ageing
    edits
    queries
    change_tracking
    physics
    view
    masks
    determinism
    files
    scenes
    gallery
    examples
    baking
    panel
    gpu
    schedule
    custom_models
    performance
    troubleshooting
}
