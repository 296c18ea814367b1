//! Colors of the ground by material, slope and height. `colors.wgsl` says the
//! same to the GPU.

use super::overlay::Overlay;
use crate::settings::Setting;
use bevy::{math::Vec2, prelude::*, render::render_resource::ShaderType};

/// Colors of the ground, in linear RGB.
#[derive(Reflect, Clone, Debug, PartialEq)]
#[reflect(Default)]
pub struct Palette {
    /// Bare bedrock on moderate slopes.
    pub rock: LinearRgba,
    /// Bare bedrock on cliffs.
    pub cliff: LinearRgba,
    /// Soil that was there from the beginning.
    pub soil: LinearRgba,
    /// Plants on gentle, low ground.
    pub grass: LinearRgba,
    /// What was deposited since the beginning.
    pub deposit: LinearRgba,
    /// Snow on gentle, high ground.
    pub snow: LinearRgba,
    /// Height above which snow lies, as a share of the land's relief; above 1
    /// there is none.
    pub snow_line: f32,
    /// Relief of the lowest land that has snow; on half as much again it
    /// reaches down to the snow line. units: m
    pub snow_relief: f32,
    /// Thickness at which a deposit hides what is below. units: m
    pub deposit_cover: f32,
    /// Change of height that [`Overlay::Change`] shows in full color. units: m
    #[reflect(@Setting::new("m", 0.01..=100.0).label("full color")
        .about("Change of height that is shown in full color"))]
    pub overlay_range: f32,
    /// Depth that [`Overlay::Depth`] shows in full color. units: m
    #[reflect(@Setting::new("m", 0.01..=100.0).label("full color")
        .about("Depth that is shown in full color"))]
    pub depth_range: f32,
    /// Speed that [`Overlay::Velocity`] shows in full color. units: m/s
    #[reflect(@Setting::new("m/s", 0.01..=100.0).label("full color")
        .about("Speed that is shown in full color"))]
    pub velocity_range: f32,
    /// Discharge that [`Overlay::Discharge`] shows in full color. units: m²/s
    #[reflect(@Setting::new("m²/s", 0.01..=100.0).label("full color")
        .about("Discharge that is shown in full color"))]
    pub discharge_range: f32,
    /// Share of sediment that [`Overlay::Sediment`] shows in full color.
    #[reflect(@Setting::new("", 0.01..=100.0).label("full color")
        .about("Share of sediment that is shown in full color"))]
    pub sediment_range: f32,
    /// Thickness of fresh deposits that [`Overlay::River`] shows in full
    /// color. units: m
    #[reflect(@Setting::new("m", 0.01..=100.0).label("full color")
        .about("Thickness of fresh deposits that is shown in full color"))]
    pub fresh_range: f32,
}

impl Default for Palette {
    fn default() -> Self {
        let color = |hex: u32| {
            let [_, r, g, b] = hex.to_be_bytes();
            LinearRgba::from(Srgba::rgb_u8(r, g, b))
        };
        Self {
            rock: color(0x8a8378),
            cliff: color(0x5f5a55),
            soil: color(0x7a6448),
            grass: color(0x5d6b3a),
            deposit: color(0xb09a74),
            snow: color(0xf2f4f7),
            snow_line: 0.78,
            snow_relief: 140.0,
            deposit_cover: 1.2,
            overlay_range: 8.0,
            depth_range: 5.0,
            velocity_range: 4.0,
            discharge_range: 10.0,
            sediment_range: 0.1,
            fresh_range: 4.0,
        }
    }
}

/// Blotches and bars, 0 to 1, that keep colors from being flat. They depend on
/// the place alone, so they are made once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Variation {
    blotch: f32,
    bars: f32,
}

impl Variation {
    /// The variation at a horizontal place in metres.
    #[inline]
    pub fn at(place: Vec2) -> Self {
        let noise = |size: f32| value_noise(place / size);
        Self {
            blotch: noise(23.0) * 0.6 + noise(7.0) * 0.4,
            bars: noise(41.0) * 0.7 + noise(5.0) * 0.3,
        }
    }
}

/// What the color of the ground at a vertex depends on.
#[derive(Clone, Copy, Debug, Default)]
pub struct GroundSample {
    /// Natural variation of the place.
    pub variation: Variation,
    /// Height as a share of the land's relief at the start.
    pub relative_height: f32,
    /// The land's relief at the start. units: m
    pub relief: f32,
    /// Upward part of the normal: 1 is flat.
    pub up: f32,
    /// How the ground around lies: from −1 on a crest to 1 in a gully.
    pub hollow: f32,
    /// Thickness of loose ground. units: m
    pub soil: f32,
    /// Change of the ground since the start. units: m
    pub change: f32,
    /// Depth of water. units: m
    pub water: f32,
    /// What the overlay [measures](Overlay::measure), in its unit.
    pub measure: f32,
}

/// How dark water makes the ground that it wets, 0 to 1, by its depth in metres.
#[inline]
pub(super) fn wetness(depth: f32) -> f32 {
    ramp(depth, 0.0, 0.05)
}

/// How the ground around lies, from −1 on a crest to 1 in a gully, by how far it
/// lies below the mean of the cells beside it, in cells.
#[inline]
pub(super) fn hollow(below: f32) -> f32 {
    let bent = 4.0 * below.clamp(-1e6, 1e6);
    bent / (1.0 + bent.abs())
}

/// A palette for shaders, with the land that it paints; `colors.wgsl` has its twin.
#[derive(ShaderType, Reflect, Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PaletteUniform {
    rock: Vec4,
    cliff: Vec4,
    soil: Vec4,
    grass: Vec4,
    deposit: Vec4,
    snow: Vec4,
    lowest: f32,
    relief: f32,
    snow_line: f32,
    deposit_cover: f32,
}

impl PaletteUniform {
    /// The palette for a land of some lowest height and relief above it.
    pub fn new(palette: &Palette, lowest: f32, relief: f32) -> Self {
        let color = |color: LinearRgba| Vec4::new(color.red, color.green, color.blue, 1.0);
        Self {
            rock: color(palette.rock),
            cliff: color(palette.cliff),
            soil: color(palette.soil),
            grass: color(palette.grass),
            deposit: color(palette.deposit),
            snow: color(palette.snow),
            lowest,
            relief,
            snow_line: palette.snow_line_of(relief),
            deposit_cover: palette.deposit_cover,
        }
    }
}

impl Palette {
    /// The color of a vertex.
    #[inline]
    pub fn color(&self, sample: &GroundSample, overlay: Overlay) -> LinearRgba {
        let base = self.ground(sample);
        match overlay {
            Overlay::None => base,
            Overlay::Change => self.change(base, sample),
            _ => self.measured(base, sample, overlay),
        }
    }

    /// The measure that an overlay shows in full color, in its unit.
    #[inline]
    pub fn range(&self, overlay: Overlay) -> f32 {
        match overlay {
            Overlay::None | Overlay::Change => self.overlay_range,
            Overlay::Depth => self.depth_range,
            Overlay::Velocity => self.velocity_range,
            Overlay::Discharge => self.discharge_range,
            Overlay::Sediment => self.sediment_range,
            Overlay::River => self.fresh_range,
        }
    }

    /// The share of a land's relief above which snow lies: low hills have none.
    #[inline]
    fn snow_line_of(&self, relief: f32) -> f32 {
        let least = self.snow_relief.max(1e-3);
        self.snow_line + ramp(relief, 1.5 * least, least)
    }

    fn ground(&self, sample: &GroundSample) -> LinearRgba {
        // Blotches keep borders between colors from being lines.
        let Variation { blotch, bars } = sample.variation;
        let vary = blotch - 0.5;
        let steep = ramp(sample.up + vary * 0.10, 0.86, 0.66);
        let mut color = self.rock.mix(&self.cliff, steep);
        // Beds of the rock show on steep ground.
        let bed = value_noise(Vec2::new(sample.relative_height * 60.0, 0.0));
        color = shade(color, 1.0 + (bed - 0.5) * 0.22 * (0.3 + steep));

        let gentle = ramp(sample.up + vary * 0.12, 0.78, 0.93);
        let low = ramp(sample.relative_height + vary * 0.25, 0.75, 0.40);
        let old_soil = sample.soil - sample.change.max(0.0);
        let grass = shade(self.grass, 0.8 + 0.4 * bars);
        let earth = self.soil.mix(&grass, gentle * low);
        // Plants take hold on bare gentle ground too, a little.
        let cover = ramp(old_soil, 0.0, 0.4).max(gentle * low * 0.75);
        color = color.mix(&earth, cover);

        // Deposits are never one color: bars of gravel, damp and overgrown parts.
        let fresh = ramp(sample.change.min(sample.soil), 0.02, self.deposit_cover);
        let overgrown = ramp(bars + vary * 0.3, 0.25, 0.65) * gentle * low * 0.85;
        let deposit = shade(self.deposit, 0.86 + 0.28 * bars).mix(&grass, overgrown);
        color = color.mix(&deposit, fresh * (0.75 + 0.2 * blotch));

        // Wind sweeps crests bare, gullies keep their snow.
        let line = self.snow_line_of(sample.relief);
        let lies = sample.relative_height + vary * 0.12 + 0.03 * sample.hollow;
        let high = ramp(lies, line, line + 0.08);
        let holds = ramp(sample.up + vary * 0.1, 0.62, 0.80);
        color = color.mix(&self.snow, high * holds);
        let wet = wetness(sample.water);
        let open = openness(sample.hollow);
        shade(color, (1.0 + vary * 0.16) * (1.0 - 0.35 * wet) * open)
    }

    /// A measure of the water over gray land.
    #[inline]
    fn measured(&self, base: LinearRgba, sample: &GroundSample, overlay: Overlay) -> LinearRgba {
        let range = self.range(overlay);
        let share = overlay.share(sample.measure, range);
        let there = ramp(sample.measure, 0.0, 0.002 * range);
        gray(base).mix(&overlay.ramp(share), there)
    }

    #[inline]
    fn change(&self, base: LinearRgba, sample: &GroundSample) -> LinearRgba {
        let gray = gray(base);
        // Square root: thin veils are seen as well.
        let amount = (sample.change.abs() / self.overlay_range.max(1e-6))
            .min(1.0)
            .sqrt();
        let tint = if sample.change < 0.0 {
            LinearRgba::rgb(0.80, 0.06, 0.03)
        } else {
            LinearRgba::rgb(0.04, 0.16, 0.85)
        };
        gray.mix(&tint, amount)
    }
}

#[inline]
fn gray(color: LinearRgba) -> LinearRgba {
    let gray = color.luminance();
    LinearRgba::rgb(gray, gray, gray)
}

#[inline]
fn shade(color: LinearRgba, factor: f32) -> LinearRgba {
    LinearRgba::rgb(
        color.red * factor,
        color.green * factor,
        color.blue * factor,
    )
}

/// How much of the sky lights a place: less in a gully than on a crest.
#[inline]
fn openness(hollow: f32) -> f32 {
    1.0 - hollow * if hollow > 0.0 { 0.32 } else { 0.16 }
}

/// 0 at `from`, 1 at `to` (which may be smaller), smooth between.
#[inline]
pub(super) fn ramp(value: f32, from: f32, to: f32) -> f32 {
    let t = ((value - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Smooth noise from 0 to 1 on a unit lattice.
#[inline]
fn value_noise(at: Vec2) -> f32 {
    let cell = at.floor();
    let t = at - cell;
    let t = t * t * (Vec2::splat(3.0) - 2.0 * t);
    let corner = |dx: i32, dy: i32| {
        let x = (cell.x as i32).wrapping_add(dx);
        let y = (cell.y as i32).wrapping_add(dy);
        let mut hash = (x as u32).wrapping_mul(0x9E37_79B1) ^ (y as u32).wrapping_mul(0x85EB_CA77);
        hash = (hash ^ (hash >> 15)).wrapping_mul(0x2C1B_3C6D);
        hash ^= hash >> 13;
        (hash >> 8) as f32 / (1u32 << 24) as f32
    };
    let blend = |a: f32, b: f32, t: f32| a + (b - a) * t;
    let north = blend(corner(0, 0), corner(1, 0), t.x);
    let south = blend(corner(0, 1), corner(1, 1), t.x);
    blend(north, south, t.y)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How bright a flat summit is on a land of some relief.
    fn summit(relief: f32) -> f32 {
        let sample = GroundSample {
            relative_height: 1.0,
            relief,
            up: 1.0,
            ..GroundSample::default()
        };
        Palette::default().color(&sample, Overlay::None).luminance()
    }

    #[test]
    fn snow_lies_on_mountains_and_not_on_low_hills() {
        assert!(summit(300.0) > 0.6, "{}", summit(300.0));
        assert!(summit(60.0) < 0.4, "{}", summit(60.0));
    }

    #[test]
    fn gullies_are_darker_than_crests() {
        let shade = |below: f32| {
            let sample = GroundSample {
                up: 0.9,
                hollow: hollow(below),
                ..GroundSample::default()
            };
            Palette::default().color(&sample, Overlay::None).luminance()
        };
        assert!(shade(0.5) < 0.85 * shade(0.0) && shade(0.0) < shade(-0.5));
        // However deep the pit, the color stays one.
        assert!(hollow(1e30) <= 1.0 && hollow(-1e30) >= -1.0 && shade(1e30) > 0.0);
    }
}
