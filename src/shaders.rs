//! WGSL that drawing and computing share.

use bevy::{prelude::*, shader::load_shader_library};

/// Registers it as a library for imports. It may be called more than once.
pub(crate) fn load(app: &mut App) {
    load_shader_library!(app, "view/colors.wgsl");
}
