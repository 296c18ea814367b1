//! Scenes as assets.

use super::{ErosionScene, SceneError};
use crate::models::ErosionModels;
use bevy::{
    asset::{AssetLoader, LoadContext, io::Reader},
    prelude::*,
};
use std::sync::{Arc, RwLock};

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
        // So may models.
        let models = ErosionModels::of(app.world());
        if let Some(loader) = app.world().get_resource::<ErosionSceneLoader>()
            && let Ok(mut known) = loader.models.write()
        {
            *known = models;
        }
    }
}

fn register_assets(app: &mut App) {
    let world = app.world();
    if world.contains_resource::<AssetServer>()
        && !world.contains_resource::<Assets<ErosionScene>>()
    {
        let loader = ErosionSceneLoader::default();
        app.init_asset::<ErosionScene>()
            .insert_resource(loader.clone())
            .register_asset_loader(loader);
    }
}

/// Reads [`ErosionScene`]s; see [`ErosionScenePlugin`].
#[derive(Resource, Clone, Debug, Default, TypePath)]
pub struct ErosionSceneLoader {
    /// The app's, once it is complete.
    models: Arc<RwLock<ErosionModels>>,
}

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
            reason: format!("not a scene file: not UTF-8 text: {error}"),
        })?;
        let models = match self.models.read() {
            Ok(models) => models.clone(),
            Err(poisoned) => poisoned.into_inner().clone(),
        };
        Ok(ErosionScene::from_ron_with(&name, text, &models)?)
    }

    fn extensions(&self) -> &[&str] {
        &["scene.ron"]
    }
}
