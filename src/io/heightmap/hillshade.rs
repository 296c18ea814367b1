//! A heightmap as a picture: its hillshade (shaded relief).

use super::{Heightmap, HeightmapError, atomic};
use ::png::{BitDepth, ColorType, Encoder};
use bevy::math::{UVec2, Vec3};
use std::{io::Write, path::Path};

/// The longer side of a picture is brought into this range. units: pixels
const SIDE: (f32, f32) = (768.0, 1600.0);
/// Heights are exaggerated by this factor: land seen from straight above looks flat.
const EXAGGERATION: f32 = 1.4;

/// Where the sun stands: north-west (rows run south), 40° up. Right, down, up.
const SUN: Vec3 = Vec3::new(-0.542, -0.542, 0.643);
const SUN_COLOR: Vec3 = Vec3::new(1.62, 1.48, 1.26);
const SKY_COLOR: Vec3 = Vec3::new(0.30, 0.39, 0.54);

impl Heightmap {
    /// The hillshade: the heights seen from above, lit by sun and sky, as a PNG of
    /// 768 to 1600 pixels along its longer side. `color` gives the color of a
    /// cell by its index, in linear RGB.
    ///
    /// # Errors
    /// When the cell size is not known, or a height is not finite.
    pub fn hillshade(&self, color: impl Fn(usize) -> [f32; 3]) -> Result<Vec<u8>, HeightmapError> {
        self.check()?;
        let cell_size = self.cell_size.ok_or(HeightmapError::NeedsCellSize)?;
        crate::terrain::Grid::new(self.size, cell_size)?;
        let shaded = self.shade(EXAGGERATION / cell_size, color);
        self.encode_cells(&shaded)
    }

    /// [`hillshade`](Self::hillshade) as a file. An old file of that name stays as it
    /// was until the new one is complete.
    ///
    /// # Errors
    /// When the file cannot be written; otherwise as [`hillshade`](Self::hillshade).
    pub fn write_hillshade(
        &self,
        path: impl AsRef<Path>,
        color: impl Fn(usize) -> [f32; 3],
    ) -> Result<(), HeightmapError> {
        write(path.as_ref(), &self.hillshade(color)?)
    }

    /// A picture of the cells in colors of their own, without light: a PNG of the size of
    /// a [`hillshade`](Self::hillshade). `color` gives the color of a cell by its
    /// index, in linear RGB.
    ///
    /// # Errors
    /// When a height is not finite.
    pub fn picture(&self, color: impl Fn(usize) -> [f32; 3]) -> Result<Vec<u8>, HeightmapError> {
        self.check()?;
        let cells = (0..self.values.len()).map(|cell| Vec3::from(color(cell)));
        self.encode_cells(&cells.collect::<Vec<_>>())
    }

    /// [`picture`](Self::picture) as a file. An old file of that name stays as it was
    /// until the new one is complete.
    ///
    /// # Errors
    /// When the file cannot be written; otherwise as [`picture`](Self::picture).
    pub fn write_picture(
        &self,
        path: impl AsRef<Path>,
        color: impl Fn(usize) -> [f32; 3],
    ) -> Result<(), HeightmapError> {
        write(path.as_ref(), &self.picture(color)?)
    }

    /// Colors of the cells as a PNG of a usable size.
    fn encode_cells(&self, cells: &[Vec3]) -> Result<Vec<u8>, HeightmapError> {
        let long = self.size.max_element() as f32;
        let scale = long.clamp(SIDE.0, SIDE.1) / long;
        let size = (self.size.as_vec2() * scale).round().as_uvec2();
        let size = size.max(UVec2::ONE);
        encode(size, &resize(cells, self.size, size))
    }

    /// Colors in their light. `rise` makes height differences those in cells.
    fn shade(&self, rise: f32, color: impl Fn(usize) -> [f32; 3]) -> Vec<Vec3> {
        let field = Field {
            width: self.size.x as usize,
            height: self.size.y as usize,
            heights: &self.values,
            rise,
        };
        // Ground that lies below its surroundings sees less of the sky: by how
        // much, at the scale of gullies and of valleys.
        let long = field.width.max(field.height);
        let gully = (long / 200).max(1);
        let valley = (long / 24).max(3);
        let (near, far) = (field.blurred(gully), field.blurred(valley));
        let light = |cell: usize| {
            let sunk = |blurred: &[f32], radius: usize| {
                (blurred[cell] - field.heights[cell]) * rise / radius as f32
            };
            let hollow = 0.9 * sunk(&near, gully) + 1.6 * sunk(&far, valley);
            let (x, y) = (cell % field.width, cell / field.width);
            Vec3::from(color(cell)) * field.light(x, y, 1.0 - 0.45 * hollow.tanh())
        };
        (0..field.heights.len()).map(light).collect()
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), HeightmapError> {
    let written = atomic::write(path, |file: &mut dyn Write| file.write_all(bytes));
    written.map_err(|error| HeightmapError::File {
        path: path.into(),
        error,
    })
}

struct Field<'a> {
    width: usize,
    height: usize,
    heights: &'a [f32],
    /// From height differences to differences in cells.
    rise: f32,
}

impl Field<'_> {
    /// Light of sun and sky on a cell. `sky`: the share of the sky it sees.
    #[inline]
    fn light(&self, x: usize, y: usize, sky: f32) -> Vec3 {
        let (left, right) = (x.saturating_sub(1), (x + 1).min(self.width - 1));
        let (up, down) = (y.saturating_sub(1), (y + 1).min(self.height - 1));
        let at = |x: usize, y: usize| self.heights[y * self.width + x];
        let slope_x = (at(right, y) - at(left, y)) * self.rise / (right - left).max(1) as f32;
        let slope_y = (at(x, down) - at(x, up)) * self.rise / (down - up).max(1) as f32;

        let length = (slope_x * slope_x + slope_y * slope_y + 1.0).sqrt();
        let facing = SUN.dot(Vec3::new(-slope_x, -slope_y, 1.0)) / length;
        // Slopes that turn away from the sun fade smoothly into its shadow.
        let sun = (facing + (facing * facing + 0.01).sqrt()) / 2.0;
        let sky = sky * (0.4 + 0.6 / length);
        SUN_COLOR * sun * (0.6 + 0.4 * sky.min(1.0)) + SKY_COLOR * sky
    }

    /// Mean heights within `radius` cells, by two passes of running sums.
    fn blurred(&self, radius: usize) -> Vec<f32> {
        let mut rows = vec![0.0; self.heights.len()];
        for y in 0..self.height {
            let line = |x: usize| y * self.width + x;
            running_mean(
                self.width,
                radius,
                |x| self.heights[line(x)],
                |x, mean| rows[line(x)] = mean,
            );
        }
        let mut blurred = vec![0.0; rows.len()];
        for x in 0..self.width {
            let line = |y: usize| y * self.width + x;
            running_mean(
                self.height,
                radius,
                |y| rows[line(y)],
                |y, mean| blurred[line(y)] = mean,
            );
        }
        blurred
    }
}

/// Mean of the values within `radius` of each place, cut at both ends.
#[inline]
fn running_mean(
    count: usize,
    radius: usize,
    get: impl Fn(usize) -> f32,
    mut set: impl FnMut(usize, f32),
) {
    let (mut sum, mut from, mut to) = (0.0_f64, 0, 0);
    for place in 0..count {
        while to < (place + radius + 1).min(count) {
            sum += f64::from(get(to));
            to += 1;
        }
        while from + radius < place {
            sum -= f64::from(get(from));
            from += 1;
        }
        set(place, (sum / (to - from) as f64) as f32);
    }
}

/// The picture at another size, by Catmull and Rom's filter along rows, then
/// along columns.
fn resize(pixels: &[Vec3], from: UVec2, to: UVec2) -> Vec<Vec3> {
    if from == to {
        return pixels.to_vec();
    }
    let (width, new_width) = (from.x as usize, to.x as usize);
    let columns = taps(from.x, to.x);
    let mut rows = Vec::with_capacity(new_width * from.y as usize);
    for row in pixels.chunks_exact(width) {
        rows.extend(columns.iter().map(|tap| tap.gather(|x| row[x])));
    }
    let mut resized = Vec::with_capacity(new_width * to.y as usize);
    for tap in taps(from.y, to.y) {
        resized.extend((0..new_width).map(|x| tap.gather(|y| rows[y * new_width + x])));
    }
    resized
}

/// What a new pixel takes of the old ones along a line.
struct Tap {
    first: usize,
    weights: Vec<f32>,
}

impl Tap {
    #[inline]
    fn gather(&self, pixel: impl Fn(usize) -> Vec3) -> Vec3 {
        let weights = self.weights.iter().enumerate();
        weights
            .map(|(i, weight)| *weight * pixel(self.first + i))
            .sum()
    }
}

fn taps(from: u32, to: u32) -> Vec<Tap> {
    let step = from as f32 / to as f32;
    // A smaller picture takes in more than the nearest pixels.
    let spread = step.max(1.0);
    let tap = |number: u32| {
        let center = (number as f32 + 0.5) * step - 0.5;
        let first = (center - 2.0 * spread).ceil().max(0.0) as usize;
        let last = (center + 2.0 * spread).floor().min(from as f32 - 1.0) as usize;
        let weights = (first..=last).map(|at| catmull_rom((at as f32 - center) / spread));
        let weights: Vec<f32> = weights.collect();
        let sum: f32 = weights.iter().sum();
        Tap {
            first,
            weights: weights.into_iter().map(|weight| weight / sum).collect(),
        }
    };
    (0..to).map(tap).collect()
}

#[inline]
fn catmull_rom(x: f32) -> f32 {
    match x.abs() {
        x if x < 1.0 => (1.5 * x - 2.5) * x * x + 1.0,
        x if x < 2.0 => ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0,
        _ => 0.0,
    }
}

fn encode(size: UVec2, pixels: &[Vec3]) -> Result<Vec<u8>, HeightmapError> {
    let failed = |error: ::png::EncodingError| HeightmapError::Encoder {
        format: "PNG",
        reason: error.to_string(),
    };
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, size.x, size.y);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(failed)?;
    let samples = pixels
        .iter()
        .flat_map(|pixel| pixel.to_array().map(to_srgb));
    let samples: Vec<u8> = samples.collect();
    writer.write_image_data(&samples).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(bytes)
}

/// A linear value as a byte of a PNG.
#[inline]
fn to_srgb(linear: f32) -> u8 {
    let linear = linear.clamp(0.0, 1.0);
    let encoded = if linear <= 0.003_130_8 {
        12.92 * linear
    } else {
        1.055 * linear.powf(1.0 / 2.4) - 0.055
    };
    (encoded * 255.0).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resizing_keeps_what_is_even_and_means() {
        let even = vec![Vec3::new(0.2, 0.5, 0.9); 12];
        for to in [(4, 3), (9, 2), (1, 1), (31, 17)] {
            for pixel in resize(&even, UVec2::new(4, 3), to.into()) {
                assert!(pixel.distance(even[0]) < 1e-5, "{to:?}: {pixel}");
            }
        }
        let checks = (0..64 * 64).map(|i| Vec3::splat(((i + i / 64) % 2) as f32));
        let checks: Vec<Vec3> = checks.collect();
        let small = resize(&checks, UVec2::splat(64), UVec2::splat(16));
        let middle = small[8 * 16 + 8].x;
        assert!((middle - 0.5).abs() < 0.02, "{middle}");
    }

    #[test]
    fn slopes_that_face_the_sun_are_brighter() {
        let size = UVec2::new(40, 20);
        // A ridge from north to south: its west side faces the sun.
        let ridge = (0..800_i32).map(|i| 20.0 - (i % 40 - 20).abs() as f32);
        let map = Heightmap::new(size, ridge.collect()).expect("valid");
        let shaded = map.shade(1.0, |_| [0.5; 3]);
        let (west, east) = (shaded[10 * 40 + 8].x, shaded[10 * 40 + 32].x);
        assert!(west > 2.0 * east, "{west} {east}");
    }

    #[test]
    fn pictures_have_a_usable_size_and_bad_maps_are_refused() {
        for (size, expected) in [
            ((8, 4), (768, 384)),
            ((1, 1), (768, 768)),
            ((1700, 1), (1600, 1)),
        ] {
            let size = UVec2::from(size);
            let map = Heightmap::new(size, vec![3.0; size.element_product() as usize]);
            let map = map.expect("valid").with_cell_size(2.0);
            let bytes = map.hillshade(|_| [0.4; 3]).expect("painted");
            let header: Vec<u32> = bytes[16..24]
                .chunks(4)
                .map(|b| b.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
                .collect();
            assert_eq!(header, [expected.0, expected.1]);
        }
        let map = Heightmap::new(UVec2::ONE, vec![1.0]).expect("valid");
        let error = map.hillshade(|_| [0.4; 3]).unwrap_err();
        assert!(matches!(error, HeightmapError::NeedsCellSize), "{error}");
        let error = map
            .with_cell_size(f32::NAN)
            .hillshade(|_| [0.4; 3])
            .unwrap_err();
        assert!(matches!(error, HeightmapError::Terrain(_)), "{error}");
    }
}
