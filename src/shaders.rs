//! WGSL that drawing and computing share.

use bevy::{prelude::*, shader::load_shader_library};

/// Makes it known. Once is enough, twice does no harm.
pub(crate) fn load(app: &mut App) {
    load_shader_library!(app, "view/colors.wgsl");
}
