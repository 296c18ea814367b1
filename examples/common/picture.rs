//! Pictures as small files: shrunk to smooth their edges, and in 256 colors.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufWriter},
    path::Path,
};

use image::{RgbImage, imageops};

/// Most colors of a palette.
const COLORS: usize = 256;

type Rgb = [u8; 3];

/// Halves a picture that was drawn at twice its size.
pub fn halve(picture: &RgbImage) -> RgbImage {
    let (width, height) = picture.dimensions();
    imageops::resize(
        picture,
        width / 2,
        height / 2,
        imageops::FilterType::Triangle,
    )
}

/// Writes a PNG of 256 colors: a third of what all colors would take.
pub fn save_with_palette(picture: &RgbImage, path: &Path) -> io::Result<()> {
    let palette = Palette::of(picture);
    let file = BufWriter::new(File::create(path)?);
    let mut encoder = png::Encoder::new(file, picture.width(), picture.height());
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    encoder.set_filter(png::Filter::NoFilter);
    encoder.set_palette(palette.colors.concat());
    let mut writer = encoder.write_header()?;
    let pixels: Vec<u8> = picture
        .pixels()
        .map(|pixel| palette.places[&pixel.0])
        .collect();
    writer.write_image_data(&pixels)?;
    Ok(writer.finish()?)
}

/// The colors that serve a picture best, by median cut.
struct Palette {
    colors: Vec<Rgb>,
    /// Where each color of the picture went.
    places: HashMap<Rgb, u8>,
}

impl Palette {
    fn of(picture: &RgbImage) -> Self {
        let mut counts: HashMap<Rgb, u64> = HashMap::new();
        for pixel in picture.pixels() {
            *counts.entry(pixel.0).or_default() += 1;
        }
        // In a fixed order: the same picture gives the same file.
        let mut all: Vec<(Rgb, u64)> = counts.into_iter().collect();
        all.sort_unstable();
        let mut cuts = vec![Cut::new(all)];
        while cuts.len() < COLORS {
            let widest =
                (0..cuts.len()).max_by(|&a, &b| (cuts[a].gain()).total_cmp(&cuts[b].gain()));
            let Some(widest) = widest.filter(|&i| cuts[i].colors.len() > 1) else {
                break;
            };
            let half = cuts[widest].split();
            cuts.push(half);
        }
        let colors = cuts.iter().map(Cut::mean).collect();
        let places = cuts.iter().zip(0..=u8::MAX).flat_map(|(cut, place)| {
            let all = cut.colors.iter();
            all.map(move |(color, _)| (*color, place))
        });
        Self {
            colors,
            places: places.collect(),
        }
    }
}

/// Colors that become one, and how often each is there.
struct Cut {
    colors: Vec<(Rgb, u64)>,
    /// The channel in which they differ most, and how much all of them do.
    axis: usize,
    spread: f64,
}

impl Cut {
    fn new(colors: Vec<(Rgb, u64)>) -> Self {
        let total = colors.iter().map(|(_, count)| *count as f64).sum::<f64>();
        let spread = |axis: usize| {
            let sum = |power: i32| {
                let terms = colors.iter();
                let terms = terms.map(|(c, n)| f64::from(c[axis]).powi(power) * *n as f64);
                terms.sum::<f64>() / total
            };
            (sum(2) - sum(1).powi(2)) * total
        };
        let spreads = [0, 1, 2].map(spread);
        let axis = (0..3).max_by(|&a, &b| spreads[a].total_cmp(&spreads[b]));
        let axis = axis.unwrap_or_default();
        Self {
            colors,
            axis,
            spread: spreads[axis],
        }
    }

    /// The variance that splitting it would remove; −1 where it cannot be split.
    fn gain(&self) -> f64 {
        match self.colors.len() {
            1 => -1.0,
            _ => self.spread,
        }
    }

    /// Keeps the darker half and returns the other.
    fn split(&mut self) -> Self {
        let axis = self.axis;
        self.colors
            .sort_unstable_by_key(|(color, _)| (color[axis], *color));
        let total: u64 = self.colors.iter().map(|(_, count)| count).sum();
        let mut sum = 0;
        let half = self.colors.iter().position(|(_, count)| {
            sum += count;
            2 * sum >= total
        });
        let at = half.unwrap_or_default() + 1;
        let rest = self.colors.split_off(at.min(self.colors.len() - 1));
        *self = Self::new(core::mem::take(&mut self.colors));
        Self::new(rest)
    }

    fn mean(&self) -> Rgb {
        let total: u64 = self.colors.iter().map(|(_, count)| count).sum();
        let channel = |axis: usize| {
            let sum: u64 = (self.colors.iter())
                .map(|(color, count)| u64::from(color[axis]) * count)
                .sum();
            ((sum + total / 2) / total.max(1)) as u8
        };
        [0, 1, 2].map(channel)
    }
}
