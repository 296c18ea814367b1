//! Pictures of a river: from above as shaded relief, and in perspective.

use bevy::math::{DVec2, DVec3};
use bevy_erode::models::meander::*;
use image::{Rgb, RgbImage};

/// Pixels along a cell's side.
const SCALE: u32 = 2;
/// Water within this distance of a place covers it. units: m
const WET: f64 = 16.0;
/// How many times heights are exaggerated.
const RAISED: f64 = 2.5;

type Color = DVec3;

const MEADOW: Color = Color::new(134.0, 150.0, 88.0);
const EARTH: Color = Color::new(112.0, 92.0, 66.0);
const SAND: Color = Color::new(226.0, 206.0, 148.0);
const STREAM: Color = Color::new(58.0, 118.0, 176.0);
const LAKE: Color = Color::new(38.0, 84.0, 122.0);
const SKY: Color = Color::new(196.0, 214.0, 232.0);

/// The land as it is drawn: colors, and heights above the floodplain (m).
pub struct Land {
    width: usize,
    height: usize,
    /// Size of a pixel. units: m
    pixel: f64,
    min: DVec2,
    heights: Vec<f64>,
    colors: Vec<Color>,
}

impl Land {
    pub fn new(river: &RiverSolver<GridGround>) -> Self {
        let ground = river.ground();
        let size = ground.size() * SCALE;
        let (width, height) = (size.x as usize, size.y as usize);
        let pixel = ground.cell_size() / f64::from(SCALE);
        let min = ground.bounds().0;
        let at =
            |i: usize| min + DVec2::new((i % width) as f64 + 0.5, (i / width) as f64 + 0.5) * pixel;
        let wet = wetness(river, width, height, pixel);
        let mut land = Self {
            width,
            height,
            pixel,
            min,
            heights: Vec::with_capacity(width * height),
            colors: Vec::with_capacity(width * height),
        };
        for (i, wet) in wet.into_iter().enumerate() {
            let place = at(i);
            let cell = ground.point_at(place);
            let level = ground.plain()[cell];
            let here = ground.surface(place).height;
            // The plain falls within a cell too.
            let below = level - ground.heights()[cell];
            let soft = (ground.soft()[cell] / 2.0).clamp(0.0, 1.0);
            let dry = MEADOW.lerp(EARTH, (below / 4.0).clamp(0.0, 1.0));
            let dry = dry.lerp(SAND, 0.85 * soft);
            let lake = river
                .lakes()
                .iter()
                .find(|lake| here < lake.level && lake.holds(place));
            let (color, surface) = match lake {
                Some(lake) => (LAKE, lake.level - level),
                None => (dry.lerp(STREAM, wet), (here - level) + 3.0 * wet),
            };
            land.colors.push(color);
            land.heights.push(surface);
        }
        land
    }

    fn height(&self, x: usize, y: usize) -> f64 {
        self.heights[y.min(self.height - 1) * self.width + x.min(self.width - 1)]
    }

    /// Color in the light of the north-west.
    fn lit(&self, x: usize, y: usize) -> Color {
        let slope = |a: f64, b: f64| RAISED * (b - a) / (2.0 * self.pixel);
        let (left, right) = (self.height(x.saturating_sub(1), y), self.height(x + 1, y));
        let (up, down) = (self.height(x, y.saturating_sub(1)), self.height(x, y + 1));
        let normal = DVec3::new(-slope(left, right), 1.0, -slope(up, down)).normalize();
        let light = normal
            .dot(DVec3::new(-0.45, 0.75, -0.48).normalize())
            .max(0.0);
        self.colors[y * self.width + x] * (0.35 + 0.85 * light)
    }

    /// From above.
    pub fn plan(&self) -> RgbImage {
        RgbImage::from_fn(self.width as u32, self.height as u32, |x, y| {
            pixel(self.lit(x as usize, y as usize))
        })
    }

    /// From a bird that looks down the valley: far columns first would hide
    /// nothing, so each column is drawn from the near to the far.
    pub fn perspective(&self, from: DVec2, width: u32, height: u32) -> RgbImage {
        let mut picture = RgbImage::from_fn(width, height, |_, y| {
            let high = f64::from(y) / f64::from(height);
            pixel(SKY.lerp(Color::splat(240.0), 2.0 * high))
        });
        let (above, tilt, wide) = (260.0, 0.55, 0.95);
        for column in 0..width {
            let side = (f64::from(column) / f64::from(width) - 0.5) * wide;
            let mut free = height as i64;
            let mut far = 60.0;
            while far < 2600.0 && free > 0 {
                let at = from + DVec2::new(1.0, side) * far;
                let place = (at - self.min) / self.pixel;
                let inside = place.x >= 0.0 && place.y >= 0.0;
                let (x, y) = (place.x as usize, place.y as usize);
                if inside && x < self.width && y < self.height {
                    let drop = above - RAISED * self.height(x, y);
                    let row = (drop / far - tilt + 0.5) / wide
                        * f64::from(width)
                        * (f64::from(height) / f64::from(width)).max(0.5);
                    let row = (row + 0.12 * f64::from(height)) as i64;
                    let haze = (far / 4200.0).powi(2);
                    let color = pixel(self.lit(x, y).lerp(SKY, haze.min(0.8)));
                    for y in row.max(0)..free {
                        picture.put_pixel(column, y as u32, color);
                    }
                    free = free.min(row.max(0));
                }
                far *= 1.0018;
            }
        }
        picture
    }
}

/// Share of water on each pixel.
fn wetness(river: &RiverSolver<GridGround>, width: usize, height: usize, pixel: f64) -> Vec<f64> {
    let mut wet = vec![0.0f64; width * height];
    let min = river.ground().bounds().0;
    for own in river.water() {
        let at = (own.position - min) / pixel;
        let reach = (WET / pixel).ceil() as i64;
        for (i, j) in (-reach..=reach).flat_map(|i| (-reach..=reach).map(move |j| (i, j))) {
            let (x, y) = (at.x as i64 + i, at.y as i64 + j);
            if x < 0 || y < 0 || x >= width as i64 || y >= height as i64 {
                continue;
            }
            let off = DVec2::new(x as f64 + 0.5, y as f64 + 0.5).distance(at) * pixel;
            let share = ((WET - off) / 4.0).clamp(0.0, 1.0);
            let cell = &mut wet[y as usize * width + x as usize];
            *cell = cell.max(share);
        }
    }
    wet
}

fn pixel(color: Color) -> Rgb<u8> {
    Rgb(color.to_array().map(|value| value.clamp(0.0, 255.0) as u8))
}

/// Pictures below each other, with a white line between.
pub fn stack(pictures: &[RgbImage]) -> RgbImage {
    let width = pictures.iter().map(RgbImage::width).max().unwrap_or(1);
    let height = pictures.iter().map(|p| p.height() + 4).sum::<u32>().max(5) - 4;
    let mut all = RgbImage::from_pixel(width, height, Rgb([255; 3]));
    let mut y = 0;
    for picture in pictures {
        image::imageops::replace(&mut all, picture, 0, i64::from(y));
        y += picture.height() + 4;
    }
    all
}
