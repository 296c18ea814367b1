//! Mountains from octaves of noise.

use super::noise_stack::{Dice, MAX_OCTAVES, Stack, soft_limit, usual_range};
use super::{Checks, Landform, LandformError, Sampler, builders};
use bevy::{
    math::DVec2,
    prelude::{Reflect, ReflectDefault},
};

/// The settings all fractal lands share, and what they share in code.
macro_rules! fractal_land {
    (
        $(#[$doc:meta])*
        $name:ident {
            feature_size: $feature_size:literal,
            height: $height:literal,
            octaves: $octaves:literal,
            roughness: $roughness:literal,
        }
    ) => {
        $(#[$doc])*
        ///
        /// [The guide](crate::guide::terrain) has an example.
        #[derive(Clone, Debug, PartialEq, Reflect)]
        #[reflect(Default)]
        #[cfg_attr(
            feature = "serialize",
            derive(serde::Serialize, serde::Deserialize),
            serde(default, deny_unknown_fields)
        )]
        pub struct $name {
            /// Another seed gives another land of the same character.
            pub seed: u32,
            /// The typical distance from one crest of the largest features to the next, units: m.
            pub feature_size: f64,
            /// Nearly all land (98 of 100 parts) lies between 0 and this elevation, units: m.
            pub height: f64,
            /// How many layers of ever finer detail, 1 to 32.
            pub octaves: u32,
            /// How strong each octave is compared with the one before, 0 to 1.
            pub roughness: f64,
            /// How many times finer each octave is than the one before, more than 1 and at most 8.
            pub lacunarity: f64,
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    seed: 1,
                    feature_size: $feature_size,
                    height: $height,
                    octaves: $octaves,
                    roughness: $roughness,
                    lacunarity: 2.0,
                }
            }
        }

        impl $name {
            /// The default land with its own seed.
            #[must_use]
            pub fn seeded(seed: u32) -> Self {
                Self { seed, ..Self::default() }
            }

            builders! {
                with_seed => seed: u32,
                with_feature_size => feature_size: f64,
                with_height => height: f64,
                with_octaves => octaves: u32,
                with_roughness => roughness: f64,
                with_lacunarity => lacunarity: f64,
            }

            fn stack(&self, salt: u32, wavelength: f64) -> Stack {
                Stack::new(
                    &mut Dice::new(self.seed, salt),
                    wavelength,
                    self.octaves,
                    self.roughness,
                    self.lacunarity,
                )
            }

            /// Stretches a noise so that its usual range becomes 0 to `height`.
            fn spanning<'a>(
                &self,
                noise: impl Fn(DVec2) -> f64 + Send + Sync + 'a,
            ) -> Sampler<'a> {
                let (low, high) = usual_range(&noise, self.feature_size);
                let scale = self.height / (high - low).max(f64::MIN_POSITIVE);
                Box::new(move |point| (noise(point) - low) * scale)
            }

            fn check_fields(&self) -> Result<(), LandformError> {
                Checks(stringify!($name))
                    .positive("feature_size", self.feature_size)?
                    .not_negative("height", self.height)?
                    .count("octaves", self.octaves, 1, MAX_OCTAVES)?
                    .within("roughness", self.roughness, 0.0, 1.0)?
                    .that(
                        self.lacunarity > 1.0 && self.lacunarity <= 8.0,
                        "lacunarity",
                        || format!("must be more than 1 and at most 8, was {}", self.lacunarity),
                    )?
                    .done()
            }
        }
    };
}

fractal_land! {
    /// Rolling mountains: plain fractional Brownian motion.
    Fbm {
        feature_size: 900.0,
        height: 250.0,
        octaves: 10,
        roughness: 0.45,
    }
}

impl Landform for Fbm {
    fn check(&self) -> Result<(), LandformError> {
        self.check_fields()
    }

    fn sampler(&self, _extent: DVec2) -> Sampler<'_> {
        let stack = self.stack(0xfb, self.feature_size);
        self.spanning(move |point| stack.fbm(point))
    }
}

fractal_land! {
    /// Alpine mountains: sharp connected crests with spurs, smooth valleys between.
    Ridged {
        feature_size: 500.0,
        height: 250.0,
        octaves: 10,
        roughness: 0.45,
    }
}

impl Landform for Ridged {
    fn check(&self) -> Result<(), LandformError> {
        self.check_fields()
    }

    fn sampler(&self, _extent: DVec2) -> Sampler<'_> {
        // The noise crosses zero twice per wavelength, and each time makes a crest.
        let stack = self.stack(0x41d6e, self.feature_size * 2.0);
        // Ridges alone all rise to one height, like a web. A broad swell under them makes ranges:
        // it lifts some massifs and lets the crests between them sink.
        let mut dice = Dice::new(self.seed, 0x5e11);
        let swell = Stack::new(&mut dice, self.feature_size * 2.5, 2, 0.4, 2.0);
        self.spanning(move |point| {
            let uplift = 0.5 + 0.5 * soft_limit(1.5 * swell.fbm(point));
            0.5 * uplift + (0.3 + 0.7 * uplift) * stack.ridged(point)
        })
    }
}

fractal_land! {
    /// Rounded hills that meet in sharp valleys.
    Billow {
        feature_size: 400.0,
        height: 180.0,
        octaves: 9,
        roughness: 0.42,
    }
}

impl Landform for Billow {
    fn check(&self) -> Result<(), LandformError> {
        self.check_fields()
    }

    fn sampler(&self, _extent: DVec2) -> Sampler<'_> {
        // Folding the noise makes two hills of every wavelength.
        let stack = self.stack(0xb1110, self.feature_size * 2.0);
        self.spanning(move |point| stack.billow(point))
    }
}
