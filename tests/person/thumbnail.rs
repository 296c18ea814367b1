//! Small pictures, and whether one looks like another.

use crate::screen::SIZE;
use std::path::Path;

/// Each pixel is the mean of so many of the screen's along both sides.
const SHRINK: u32 = 5;
const WIDTH: usize = (SIZE.0 / SHRINK) as usize;
const HEIGHT: usize = (SIZE.1 / SHRINK) as usize;
/// Sides of the pieces that are compared by their mean. They forgive a blade of
/// grass, an edge and another renderer's rounding, but no missing lake.
const PIECE: (usize, usize) = (8, 6);
/// Most that the mean of a piece may differ in any channel, of 255.
const TOLERANCE: f64 = 26.0;
/// Most that all pieces may differ on average.
const MEAN_TOLERANCE: f64 = 6.0;

/// A picture of 96 × 54 pixels.
#[derive(Clone, Debug, PartialEq)]
pub struct Thumbnail(Vec<[u8; 3]>);

impl Thumbnail {
    /// Of the screen as Xvfb keeps it: a header (XWD), a table of colors, then
    /// rows of blue, green, red and nothing.
    pub fn of_dump(bytes: &[u8]) -> Self {
        let word = |i: usize| {
            let bytes = bytes[4 * i..4 * i + 4].try_into().expect("four bytes");
            u32::from_be_bytes(bytes) as usize
        };
        let (header, width, height) = (word(0), word(4), word(5));
        let (bits, row, colors) = (word(11), word(12), word(19));
        let size = (width as u32, height as u32);
        assert_eq!((size, bits), (SIZE, 32), "the screen's format");
        let first = header + 12 * colors;
        let at = |x: usize, y: usize, channel: usize| {
            f64::from(bytes[first + y * row + 4 * x + 2 - channel])
        };
        let side = SHRINK as usize;
        let mean = |x: usize, y: usize, channel: usize| {
            let rows = (0..side).flat_map(|j| (0..side).map(move |i| (x * side + i, y * side + j)));
            let sum: f64 = rows.map(|(x, y)| at(x, y, channel)).sum();
            (sum / (side * side) as f64).round() as u8
        };
        let pixels = (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (x, y)));
        Self(
            pixels
                .map(|(x, y)| [0, 1, 2].map(|channel| mean(x, y, channel)))
                .collect(),
        )
    }

    pub fn read(path: &Path) -> Self {
        let picture = image::open(path);
        let picture = picture.unwrap_or_else(|error| {
            panic!(
                "{}: {error}; RENEW_THUMBNAILS=1 makes it anew",
                path.display()
            )
        });
        let picture = picture.to_rgb8();
        assert_eq!(picture.dimensions(), (WIDTH as u32, HEIGHT as u32));
        Self(picture.pixels().map(|pixel| pixel.0).collect())
    }

    pub fn save(&self, path: &Path) {
        let bytes = self.0.iter().flatten().copied().collect();
        image::RgbImage::from_raw(WIDTH as u32, HEIGHT as u32, bytes)
            .expect("as many as there are pixels")
            .save(path)
            .expect("the thumbnail can be written");
    }

    /// Whether another picture looks the same.
    pub fn compare(&self, other: &Self) -> Result<(), String> {
        let (columns, rows) = (WIDTH / PIECE.0, HEIGHT / PIECE.1);
        let pieces = (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y)));
        let differences: Vec<f64> = pieces
            .map(|at| {
                let (ours, theirs) = (self.mean(at), other.mean(at));
                let channels = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs());
                channels.fold(0.0, f64::max)
            })
            .collect();
        let most = differences.iter().copied().fold(0.0, f64::max);
        let mean = differences.iter().sum::<f64>() / differences.len() as f64;
        if most <= TOLERANCE && mean <= MEAN_TOLERANCE {
            return Ok(());
        }
        let place = differences.iter().position(|value| *value == most);
        let place = place.unwrap_or_default();
        let at = (
            place % columns * PIECE.0 * SHRINK as usize,
            place / columns * PIECE.1 * SHRINK as usize,
        );
        Err(format!(
            "pieces differ by {mean:.1} of 255 on average (at most {MEAN_TOLERANCE}), that at {at:?} \
             by {most:.1} (at most {TOLERANCE})"
        ))
    }

    /// The mean color of a piece.
    fn mean(&self, (x, y): (usize, usize)) -> [f64; 3] {
        let mut sum = [0.0; 3];
        for j in 0..PIECE.1 {
            for i in 0..PIECE.0 {
                let pixel = self.0[(y * PIECE.1 + j) * WIDTH + x * PIECE.0 + i];
                for (sum, value) in sum.iter_mut().zip(pixel) {
                    *sum += f64::from(value);
                }
            }
        }
        sum.map(|sum| sum / (PIECE.0 * PIECE.1) as f64)
    }

    /// The same with other pixels.
    pub fn map(&self, change: impl Fn(usize, usize, [u8; 3]) -> [u8; 3]) -> Self {
        let pixels = self.0.iter().enumerate();
        Self(
            pixels
                .map(|(i, pixel)| change(i % WIDTH, i / WIDTH, *pixel))
                .collect(),
        )
    }

    /// A pixel.
    pub fn at(&self, x: usize, y: usize) -> [u8; 3] {
        self.0[y * WIDTH + x]
    }
}
