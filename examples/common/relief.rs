//! A shaded relief of a height field, painted by the CPU.

use std::path::Path;

use image::{ImageBuffer, Rgb, RgbImage, imageops};

/// The longer side of a picture is brought into this range. units: pixels
const SIDE: (f32, f32) = (768.0, 1600.0);
/// Heights are raised by this factor: relief from straight above looks flat.
const RELIEF: f32 = 1.4;

/// Where the sun stands: north-west (rows run south), 40° up. Right, down, up.
const SUN: [f32; 3] = [-0.542, -0.542, 0.643];
const SUN_COLOUR: [f32; 3] = [1.62, 1.48, 1.26];
const SKY_COLOUR: [f32; 3] = [0.30, 0.39, 0.54];

/// Writes heights (row by row, in metres) as a picture lit by sun and sky.
/// `colour` gives the colour of a cell by its index, in linear RGB.
pub fn write_relief(
    path: &Path,
    width: usize,
    height: usize,
    cell_size: f32,
    heights: &[f32],
    colour: impl Fn(usize) -> [f32; 3],
) -> Result<(), String> {
    let fail = |why: &str| Err(format!("cannot write {}: {why}", path.display()));
    if width == 0 || height == 0 || heights.len() != width * height {
        return fail(&format!(
            "{} heights for {width} x {height} cells",
            heights.len()
        ));
    }
    if !(cell_size.is_finite() && cell_size > 0.0) {
        return fail(&format!("a cell cannot be {cell_size} m wide"));
    }
    if let Some(bad) = heights.iter().position(|height| !height.is_finite()) {
        return fail(&format!("the height of cell {bad} is {}", heights[bad]));
    }

    let field = Field {
        width,
        height,
        heights,
        rise: RELIEF / cell_size,
    };
    // Ground that lies below its surroundings sees less of the sky: by how
    // much, at the scale of gullies and of valleys.
    let long = width.max(height);
    let gully = (long / 200).max(1);
    let valley = (long / 24).max(3);
    let (near, far) = (field.blurred(gully), field.blurred(valley));

    let shaded = ImageBuffer::<Rgb<f32>, _>::from_fn(width as u32, height as u32, |x, y| {
        let cell = y as usize * width + x as usize;
        let sunk = |blurred: &[f32], radius: usize| {
            (blurred[cell] - heights[cell]) * field.rise / radius as f32
        };
        let hollow = 0.9 * sunk(&near, gully) + 1.6 * sunk(&far, valley);
        let light = field.light(x as usize, y as usize, 1.0 - 0.45 * hollow.tanh());
        let albedo = colour(cell);
        Rgb([0, 1, 2].map(|c| albedo[c] * light[c]))
    });

    let scale = (long as f32).clamp(SIDE.0, SIDE.1) / long as f32;
    let side = |cells: usize| ((cells as f32 * scale).round() as u32).max(1);
    let scaled = imageops::resize(
        &shaded,
        side(width),
        side(height),
        imageops::FilterType::CatmullRom,
    );
    let picture = RgbImage::from_fn(scaled.width(), scaled.height(), |x, y| {
        Rgb(scaled.get_pixel(x, y).0.map(to_srgb))
    });
    picture.save(path).or_else(|error| fail(&error.to_string()))
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
    fn light(&self, x: usize, y: usize, sky: f32) -> [f32; 3] {
        let (left, right) = (x.saturating_sub(1), (x + 1).min(self.width - 1));
        let (up, down) = (y.saturating_sub(1), (y + 1).min(self.height - 1));
        let at = |x: usize, y: usize| self.heights[y * self.width + x];
        let slope_x = (at(right, y) - at(left, y)) * self.rise / (right - left).max(1) as f32;
        let slope_y = (at(x, down) - at(x, up)) * self.rise / (down - up).max(1) as f32;

        let length = (slope_x * slope_x + slope_y * slope_y + 1.0).sqrt();
        let facing = (SUN[2] - slope_x * SUN[0] - slope_y * SUN[1]) / length;
        // Slopes that turn away from the sun fade smoothly into its shadow.
        let sun = (facing + (facing * facing + 0.01).sqrt()) / 2.0;
        let sky = sky * (0.4 + 0.6 / length);
        [0, 1, 2].map(|c| SUN_COLOUR[c] * sun * (0.6 + 0.4 * sky.min(1.0)) + SKY_COLOUR[c] * sky)
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

/// A linear value as a byte of a PNG.
fn to_srgb(linear: f32) -> u8 {
    let linear = linear.clamp(0.0, 1.0);
    let encoded = if linear <= 0.003_130_8 {
        12.92 * linear
    } else {
        1.055 * linear.powf(1.0 / 2.4) - 0.055
    };
    (encoded * 255.0).round() as u8
}
