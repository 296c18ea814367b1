//! Settings as files have them: those of before 0.1's last erosion law are read as
//! what comes nearest.

use super::{PipeModel, PublishedPipe};

/// [`PipeModel`] and the settings that it had before.
#[derive(serde::Deserialize)]
#[serde(default, deny_unknown_fields, rename = "PipeModel")]
pub(super) struct SavedPipe {
    gravity: f32,
    roughness: f32,
    carving: f32,
    threshold: f32,
    carrying: f32,
    settling: f32,
    smoothing: f32,
    bedrock: f32,
    max_substeps: u32,
    published: Option<PublishedPipe>,
    // Gone; not a number where a file does not have them.
    capacity: f32,
    full_depth: f32,
    min_tilt: f32,
    rounding: f32,
    soil_erosion: f32,
    bedrock_erosion: f32,
    deposition: f32,
}

impl Default for SavedPipe {
    fn default() -> Self {
        let model = PipeModel::default();
        Self {
            gravity: model.gravity,
            roughness: model.roughness,
            carving: model.carving,
            threshold: model.threshold,
            carrying: model.carrying,
            settling: model.settling,
            smoothing: model.smoothing,
            bedrock: model.bedrock,
            max_substeps: model.max_substeps,
            published: model.published,
            capacity: f32::NAN,
            full_depth: f32::NAN,
            min_tilt: f32::NAN,
            rounding: f32::NAN,
            soil_erosion: f32::NAN,
            bedrock_erosion: f32::NAN,
            deposition: f32::NAN,
        }
    }
}

/// What the settings that are gone were by default.
const CAPACITY: f32 = 0.5;
const SOIL_EROSION: f32 = 1.0;
const BEDROCK_EROSION: f32 = 0.3;
const DEPOSITION: f32 = 0.5;

impl From<SavedPipe> for PipeModel {
    fn from(saved: SavedPipe) -> Self {
        let known = |value: f32, default: f32| if value.is_nan() { default } else { value };
        let soil_erosion = known(saved.soil_erosion, SOIL_EROSION);
        let bedrock_erosion = known(saved.bedrock_erosion, BEDROCK_EROSION);
        let rock = bedrock_erosion / soil_erosion.max(1e-6) * (SOIL_EROSION / BEDROCK_EROSION);
        let capacity = known(saved.capacity, CAPACITY) / CAPACITY;
        let deposition = known(saved.deposition, DEPOSITION) / DEPOSITION;
        let gone = [
            ("capacity", saved.capacity, "`carving`"),
            (
                "soil_erosion",
                saved.soil_erosion,
                "`carving` and `bedrock`",
            ),
            ("bedrock_erosion", saved.bedrock_erosion, "`bedrock`"),
            ("deposition", saved.deposition, "`settling`"),
            ("full_depth", saved.full_depth, "nothing"),
            ("min_tilt", saved.min_tilt, "nothing"),
            ("rounding", saved.rounding, "`smoothing`, in cells,"),
        ];
        let gone = gone.iter().filter(|(_, value, _)| !value.is_nan());
        let gone: Vec<String> = gone
            .map(|(old, _, new)| format!("`{old}` ({new} now)"))
            .collect();
        if !gone.is_empty() {
            bevy::log::warn!(
                "the pipe model has another erosion law; settings of before are read as the nearest of today: {}",
                gone.join(", ")
            );
        }
        Self {
            gravity: saved.gravity,
            roughness: saved.roughness,
            carving: saved.carving * capacity,
            threshold: saved.threshold,
            carrying: saved.carrying,
            settling: saved.settling * deposition,
            smoothing: saved.smoothing,
            bedrock: saved.bedrock * rock,
            max_substeps: saved.max_substeps,
            published: saved.published,
        }
    }
}
