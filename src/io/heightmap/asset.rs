//! Heightmaps as assets.

use super::{Heightmap, HeightmapError, HeightmapOptions, MAX_BYTES};
use bevy::{
    asset::{AssetLoader, AsyncReadExt, LoadContext, io::Reader},
    prelude::*,
};

/// Lets the asset server load [`Heightmap`]s; see [`HeightmapLoader`].
/// [`ErosionPlugin`](crate::ErosionPlugin) adds it. It does nothing in an app
/// without Bevy's `AssetPlugin`.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeightmapPlugin;

impl Plugin for HeightmapPlugin {
    fn build(&self, app: &mut App) {
        register(app);
    }

    fn finish(&self, app: &mut App) {
        // The asset plugin may have come later.
        register(app);
    }
}

fn register(app: &mut App) {
    let world = app.world();
    if world.contains_resource::<AssetServer>() && !world.contains_resource::<Assets<Heightmap>>() {
        app.init_asset::<Heightmap>()
            .register_asset_loader(HeightmapLoader);
    }
}

/// Loads [`Heightmap`]s of any format by the asset server. Its settings are
/// [`HeightmapOptions`], in code or in a `.meta` file that names the loader
/// `bevy_erode::io::HeightmapLoader`.
///
/// A `.png`, `.exr` or `.tif` that is loaded as a `Handle<Heightmap>` is a
/// heightmap; one that is loaded without a type stays an image.
///
/// ```no_run
/// # use bevy::prelude::*; use bevy_erode::prelude::*;
/// # use bevy_erode::io::VerticalRange;
/// #[derive(Resource)]
/// struct Alps(Handle<Heightmap>);
///
/// fn load(mut commands: Commands, assets: Res<AssetServer>) {
///     let settings = |options: &mut HeightmapOptions| {
///         options.vertical = Some(VerticalRange::new(400.0, 4800.0).into());
///         options.cell_size = Some(30.0);
///     };
///     let builder = assets.load_builder().with_settings(settings);
///     commands.insert_resource(Alps(builder.load("alps.png")));
/// }
///
/// fn open(mut commands: Commands, alps: Res<Alps>, maps: Res<Assets<Heightmap>>) -> Result {
///     if let Some(map) = maps.get(&alps.0) {
///         commands.insert_resource(map.clone().into_terrain()?);
///         commands.remove_resource::<Alps>();
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, TypePath)]
#[type_path = "bevy_erode::io"]
pub struct HeightmapLoader;

impl AssetLoader for HeightmapLoader {
    type Asset = Heightmap;
    type Settings = HeightmapOptions;
    type Error = HeightmapError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        options: &HeightmapOptions,
        context: &mut LoadContext<'_>,
    ) -> Result<Heightmap, HeightmapError> {
        let path = context.path().path().to_path_buf();
        let mut bytes = Vec::new();
        // One byte more than the limit, to notice a longer file.
        let mut reader = AsyncReadExt::take(reader, MAX_BYTES + 1);
        let read = AsyncReadExt::read_to_end(&mut reader, &mut bytes).await;
        read.map_err(|error| HeightmapError::File {
            path: path.clone(),
            error,
        })?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(HeightmapError::File {
                path,
                error: std::io::ErrorKind::FileTooLarge.into(),
            });
        }
        Heightmap::read_named(&path, &bytes, options)
    }

    /// Only extensions that no other loader has: images loaded without a type stay
    /// images.
    fn extensions(&self) -> &[&str] {
        &[
            "r16",
            "r32",
            "r32f",
            "heightmap.png",
            "heightmap.exr",
            "heightmap.tif",
            "heightmap.tiff",
        ]
    }
}
