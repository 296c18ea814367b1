//! What a device must offer.

use super::{
    exchange::MAX_ROW,
    pass::all_passes,
    status::{GROUP, StatusLayout},
};
use crate::terrain::Grid;
use bevy::render::render_resource::WgpuLimits;

/// What a device lacks for a terrain of this grid, in words. Nothing, if it will do.
pub(super) fn missing(limits: &WgpuLimits, grid: &Grid) -> Vec<String> {
    let buffers = all_passes().map(|pass| pass.storage_buffers()).max();
    let state = grid.cells() as u64 * 8;
    let status = u64::from(StatusLayout::new(grid).total()) * 4;
    let side = u64::from(grid.size().max_element());
    let needs = [
        (
            "storage buffers in a compute stage",
            u64::from(buffers.unwrap_or_default()),
            u64::from(limits.max_storage_buffers_per_shader_stage),
        ),
        (
            "bytes in a storage buffer",
            state.max(status),
            limits.max_storage_buffer_binding_size,
        ),
        (
            "bytes in a buffer",
            state.max(status),
            limits.max_buffer_size,
        ),
        (
            "invocations in a workgroup",
            u64::from(GROUP * GROUP),
            u64::from(limits.max_compute_invocations_per_workgroup),
        ),
        (
            "bytes of workgroup memory",
            16_000,
            u64::from(limits.max_compute_workgroup_storage_size),
        ),
        (
            "workgroups in a row",
            side.div_ceil(GROUP.into()).max(MAX_ROW.into()),
            u64::from(limits.max_compute_workgroups_per_dimension),
        ),
        (
            "pixels along a texture's side",
            side,
            u64::from(limits.max_texture_dimension_2d),
        ),
    ];
    needs
        .into_iter()
        .filter(|(_, needed, there)| there < needed)
        .map(|(what, needed, there)| format!("{what}: {needed} needed, the device has {there}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy::math::UVec2;

    fn grid(side: u32) -> Grid {
        Grid::new(UVec2::splat(side), 1.0).expect("a grid")
    }

    #[test]
    fn the_defaults_of_webgpu_suffice_up_to_4096() {
        let limits = WgpuLimits::default();
        assert_eq!(missing(&limits, &grid(4096)), Vec::<String>::new());
        let lacks = missing(&limits, &grid(4097));
        assert!(lacks.iter().any(|lack| lack.contains("storage buffer")));
    }

    #[test]
    fn it_says_what_is_missing() {
        let limits = WgpuLimits {
            max_storage_buffers_per_shader_stage: 4,
            ..WgpuLimits::default()
        };
        let lacks = missing(&limits, &grid(64));
        assert_eq!(
            lacks,
            ["storage buffers in a compute stage: 8 needed, the device has 4"]
        );
    }

    #[test]
    fn a_pipe_sub_step_stays_within_its_bounds() {
        let bytes = crate::gpu::bytes_per_cell();
        assert!(bytes <= 100, "{bytes} bytes a cell");
        for pass in all_passes() {
            assert!(pass.storage_buffers() <= 8, "{}", pass.label);
        }
    }
}
