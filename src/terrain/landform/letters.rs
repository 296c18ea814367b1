//! Mountains in the shape of letters.

use super::glyphs::{Segment, glyph};
use super::noise_stack::{Dice, Stack};
use super::{Checks, Landform, LandformError, Sampler, builders, smoothstep};
use bevy::{
    math::DVec2,
    prelude::{Reflect, ReflectDefault},
};

/// The longest text: every sample looks at every stroke.
const MAX_CHARACTERS: usize = 32;

/// A mountain range in the shape of letters (Mei et al. 2007, figure 1), in the middle of the land
/// and readable from above with north up.
#[derive(Clone, Debug, PartialEq, Reflect)]
#[reflect(Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Letters {
    /// What to write: A to Z, 0 to 9 and spaces, at most 32 characters. Small letters are written
    /// as capitals.
    pub text: String,
    /// How high the crests rise above the ground, which lies at 0, units: m.
    pub height: f64,
    /// The width of a stroke from foot to foot, units: m.
    pub stroke_width: f64,
    /// The height of a capital letter on the map. A word that is larger than the land is shrunk to
    /// fit as a whole, with its strokes and its height, units: m.
    pub size: f64,
    /// How far crags and gullies change the elevation, 0 for smooth flanks, units: m.
    pub roughness: f64,
    /// Another seed gives other crags.
    pub seed: u32,
}

impl Default for Letters {
    fn default() -> Self {
        Self {
            text: "PG".into(),
            height: 140.0,
            stroke_width: 150.0,
            size: 435.0,
            roughness: 25.0,
            seed: 1,
        }
    }
}

impl Letters {
    /// The default mountains with another text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// The default mountains with their own seed.
    #[must_use]
    pub fn seeded(seed: u32) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }

    builders! {
        with_height => height: f64,
        with_stroke_width => stroke_width: f64,
        with_size => size: f64,
        with_roughness => roughness: f64,
        with_seed => seed: u32,
    }

    /// The strokes in metres from the center, and the factor they were shrunk by.
    fn strokes(&self, extent: DVec2) -> (Vec<Segment>, f64) {
        // Flanks of neighboring letters leave a valley between them.
        let gap = 0.08 + self.stroke_width / self.size;
        let (mut segments, mut pen) = (Vec::new(), 0.0);
        let characters = self.text.chars().take(MAX_CHARACTERS);
        for (strokes, width) in characters.filter_map(glyph) {
            let start = DVec2::new(pen, 0.0);
            segments.extend(strokes.iter().map(|&(a, b)| (a + start, b + start)));
            pen += width + gap;
        }
        let word = DVec2::new((pen - gap).max(0.0), 1.0);
        let fit = extent * 0.95 / (word * self.size + self.stroke_width);
        let shrink = fit.min_element().min(1.0);
        let metres = self.size * shrink;
        for (a, b) in &mut segments {
            *a = (*a - word / 2.0) * metres;
            *b = (*b - word / 2.0) * metres;
        }
        (segments, shrink)
    }
}

impl Landform for Letters {
    fn check(&self) -> Result<(), LandformError> {
        let unknown = self.text.chars().find(|&c| glyph(c).is_none());
        let length = self.text.chars().count();
        Checks("Letters")
            .that(!self.text.trim().is_empty(), "text", || {
                "must have at least one letter".into()
            })?
            .that(length <= MAX_CHARACTERS, "text", || {
                format!("must be at most {MAX_CHARACTERS} characters, was {length}")
            })?
            .that(unknown.is_none(), "text", || {
                let unknown = unknown.unwrap_or_default();
                format!("must be letters A to Z, digits and spaces, had {unknown:?}")
            })?
            .finite("height", self.height)?
            .positive("stroke_width", self.stroke_width)?
            .positive("size", self.size)?
            .not_negative("roughness", self.roughness)?
            .done()
    }

    fn sampler(&self, extent: DVec2) -> Sampler<'_> {
        let (segments, shrink) = self.strokes(extent);
        let half_width = self.stroke_width * shrink / 2.0;
        let mut dice = Dice::new(self.seed, 0x1e_77e4);
        let crags = Stack::new(&mut dice, half_width * 1.4, 8, 0.45, 2.0);
        let mut push = || Stack::new(&mut dice, half_width * 2.5, 4, 0.4, 2.0);
        let (east, south) = (push(), push());
        // Bends the strokes as much as the crags are high, and never beyond recognition.
        let bend = (self.roughness * shrink).min(half_width * 0.4);
        Box::new(move |point| {
            let push = DVec2::new(east.fbm(point), south.fbm(point));
            let bent = point + push * bend;
            let nearest = segments
                .iter()
                .map(|&(a, b)| distance_squared(bent, a, b))
                .fold(f64::INFINITY, f64::min);
            let near = (1.0 - nearest.sqrt() / half_width).max(0.0);
            // Steep at the crest and level at the foot, like a mountain on its scree.
            let flank = near * near.sqrt();
            // Crags belong to the mountain: the plain around it only rolls a little.
            let crag = smoothstep(2.0 * near) * (crags.ridged(point) - 0.4);
            let rough = crag + 0.1 * crags.fbm(point);
            shrink * (self.height * flank + self.roughness * rough)
        })
    }
}

/// The squared distance from a point to the stroke from `a` to `b`.
#[inline]
fn distance_squared(point: DVec2, a: DVec2, b: DVec2) -> f64 {
    let (stroke, from) = (b - a, point - a);
    let length_squared = stroke.length_squared().max(f64::MIN_POSITIVE);
    let along = (from.dot(stroke) / length_squared).clamp(0.0, 1.0);
    (from - stroke * along).length_squared()
}
