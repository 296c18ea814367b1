//! Scenes as assets.

use super::{ErosionScene, SceneError};
use bevy::{
    asset::{AssetLoader, LoadContext, io::Reader},
    prelude::*,
};

/// Lets the asset server load [`ErosionScene`]s from files `*.scene.ron`.
/// [`ErosionPlugin`](crate::ErosionPlugin) adds it. It does nothing in an app
/// without Bevy's `AssetPlugin`.
///
/// ```no_run
/// # use bevy::prelude::*; use bevy_erode::prelude::*;
/// #[derive(Resource)]
/// struct Level(Handle<ErosionScene>);
///
/// fn load(mut commands: Commands, assets: Res<AssetServer>) {
///     commands.insert_resource(Level(assets.load("scenes/four_slope_basin.scene.ron")));
/// }
///
/// /// Opens the scene when it is loaded, and again when its file changes.
/// fn open(
///     mut commands: Commands,
///     mut events: MessageReader<AssetEvent<ErosionScene>>,
///     scenes: Res<Assets<ErosionScene>>,
/// ) -> Result {
///     for event in events.read() {
///         if let AssetEvent::Added { id } | AssetEvent::Modified { id } = event
///             && let Some(scene) = scenes.get(*id)
///         {
///             scene.insert(&mut commands)?;
///         }
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ErosionScenePlugin;

impl Plugin for ErosionScenePlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<super::SceneEntity>();
        register_assets(app);
    }

    fn finish(&self, app: &mut App) {
        // The asset plugin may have come later.
        register_assets(app);
    }
}

fn register_assets(app: &mut App) {
    let world = app.world();
    if world.contains_resource::<AssetServer>()
        && !world.contains_resource::<Assets<ErosionScene>>()
    {
        app.init_asset::<ErosionScene>()
            .register_asset_loader(ErosionSceneLoader);
    }
}

/// Reads [`ErosionScene`]s; see [`ErosionScenePlugin`].
#[derive(Clone, Copy, Debug, Default, TypePath)]
pub struct ErosionSceneLoader;

impl AssetLoader for ErosionSceneLoader {
    type Asset = ErosionScene;
    type Settings = ();
    type Error = BevyError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        _settings: &(),
        context: &mut LoadContext<'_>,
    ) -> Result<ErosionScene, BevyError> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).await?;
        let name = context.path().to_string();
        let text = core::str::from_utf8(&bytes).map_err(|error| SceneError {
            file: name.clone(),
            place: None,
            field: String::new(),
            reason: format!("is not text: {error}"),
        })?;
        Ok(ErosionScene::from_ron(&name, text)?)
    }

    fn extensions(&self) -> &[&str] {
        &["scene.ron"]
    }
}
