//! Small plots: lines over axes, with capital letters of three by five dots.

use bevy::math::DVec2;
use image::{Rgb, RgbImage};

pub const WIDTH: u32 = 900;
pub const HEIGHT: u32 = 440;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;

/// Colors of lines, one after the other.
pub const COLORS: [[u8; 3]; 6] = [
    [26, 84, 176],
    [214, 122, 22],
    [40, 140, 70],
    [170, 40, 120],
    [120, 90, 60],
    [60, 150, 170],
];

pub struct Plot {
    picture: RgbImage,
    x: (f64, f64),
    y: (f64, f64),
}

impl Plot {
    /// Empty axes with grid lines.
    pub fn new(title: &str, x: (f64, f64, f64), y: (f64, f64, f64)) -> Self {
        let mut plot = Self {
            picture: RgbImage::from_pixel(WIDTH, HEIGHT, Rgb([255; 3])),
            x: (x.0, x.1),
            y: (y.0, y.1),
        };
        plot.letters(LEFT, 14.0, title, [60; 3]);
        let steps = |(low, high, step): (f64, f64, f64)| {
            let count = ((high - low) / step + 1e-6) as usize;
            (0..=count).map(move |i| low + i as f64 * step)
        };
        for value in steps(y) {
            plot.line(
                &[DVec2::new(x.0, value), DVec2::new(x.1, value)],
                0,
                [222; 3],
            );
            let at = plot.place(DVec2::new(x.0, value));
            plot.letters(8.0, at.y - 5.0, &short(value), [60; 3]);
        }
        for value in steps(x) {
            plot.line(
                &[DVec2::new(value, y.0), DVec2::new(value, y.1)],
                0,
                [236; 3],
            );
            let at = plot.place(DVec2::new(value, y.0));
            plot.letters(at.x - 10.0, at.y + 12.0, &short(value), [60; 3]);
        }
        plot
    }

    fn place(&self, at: DVec2) -> DVec2 {
        let (width, height) = (f64::from(WIDTH), f64::from(HEIGHT));
        let x = (at.x - self.x.0) / (self.x.1 - self.x.0);
        let y = (at.y - self.y.0) / (self.y.1 - self.y.0);
        DVec2::new(
            LEFT + x * (width - LEFT - RIGHT),
            height - BOTTOM - y * (height - TOP - BOTTOM),
        )
    }

    fn dot(&mut self, at: DVec2, reach: i64, color: [u8; 3]) {
        for (i, j) in (-reach..=reach).flat_map(|i| (-reach..=reach).map(move |j| (i, j))) {
            let (x, y) = (at.x as i64 + i, at.y as i64 + j);
            if (0..i64::from(WIDTH)).contains(&x) && (0..i64::from(HEIGHT)).contains(&y) {
                self.picture.put_pixel(x as u32, y as u32, Rgb(color));
            }
        }
    }

    /// A line, thicker by `reach`.
    pub fn line(&mut self, points: &[DVec2], reach: i64, color: [u8; 3]) {
        for pair in points.windows(2) {
            let (from, to) = (self.place(pair[0]), self.place(pair[1]));
            let count = from.distance(to).ceil().max(1.0) as usize;
            for i in 0..=count {
                self.dot(from.lerp(to, i as f64 / count as f64), reach, color);
            }
        }
    }

    /// A mark at a place.
    pub fn mark(&mut self, at: DVec2, color: [u8; 3]) {
        let at = self.place(at);
        for i in -6i64..=6 {
            self.dot(at + DVec2::new(i as f64, i as f64), 1, color);
            self.dot(at + DVec2::new(i as f64, -i as f64), 1, color);
        }
    }

    /// Words at a place of the plot.
    pub fn words(&mut self, at: DVec2, text: &str, color: [u8; 3]) {
        let at = self.place(at);
        self.letters(at.x, at.y, text, color);
    }

    fn letters(&mut self, x: f64, y: f64, text: &str, color: [u8; 3]) {
        for (i, letter) in text.to_uppercase().chars().enumerate() {
            for (bit, on) in dots(letter).into_iter().enumerate() {
                if on {
                    let at = DVec2::new((bit % 3) as f64 * 2.0, (bit / 3) as f64 * 2.0);
                    let at = at + DVec2::new(x + i as f64 * 8.0, y);
                    for (i, j) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)] {
                        self.dot(at + DVec2::new(i, j), 0, color);
                    }
                }
            }
        }
    }

    pub fn into_picture(self) -> RgbImage {
        self.picture
    }
}

/// A number in a short form.
fn short(value: f64) -> String {
    if value.abs() >= 1000.0 {
        format!("{}K", (value / 1000.0).round())
    } else if value.fract().abs() < 1e-9 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}

/// Fifteen dots of a letter, row by row.
fn dots(letter: char) -> [bool; 15] {
    let bits: u16 = match letter {
        '0' => 0b111_101_101_101_111,
        '1' => 0b010_110_010_010_111,
        '2' => 0b111_001_111_100_111,
        '3' => 0b111_001_011_001_111,
        '4' => 0b101_101_111_001_001,
        '5' => 0b111_100_111_001_111,
        '6' => 0b111_100_111_101_111,
        '7' => 0b111_001_010_010_010,
        '8' => 0b111_101_111_101_111,
        '9' => 0b111_101_111_001_111,
        'A' => 0b010_101_111_101_101,
        'B' => 0b110_101_110_101_110,
        'C' => 0b011_100_100_100_011,
        'D' => 0b110_101_101_101_110,
        'E' => 0b111_100_110_100_111,
        'F' => 0b111_100_110_100_100,
        'G' => 0b011_100_101_101_011,
        'H' => 0b101_101_111_101_101,
        'I' => 0b111_010_010_010_111,
        'J' => 0b001_001_001_101_010,
        'K' => 0b101_101_110_101_101,
        'L' => 0b100_100_100_100_111,
        'M' => 0b101_111_111_101_101,
        'N' => 0b110_101_101_101_101,
        'O' => 0b010_101_101_101_010,
        'P' => 0b110_101_110_100_100,
        'Q' => 0b010_101_101_110_011,
        'R' => 0b110_101_110_101_101,
        'S' => 0b011_100_010_001_110,
        'T' => 0b111_010_010_010_010,
        'U' => 0b101_101_101_101_111,
        'V' => 0b101_101_101_101_010,
        'W' => 0b101_101_111_111_101,
        'X' => 0b101_101_010_101_101,
        'Y' => 0b101_101_010_010_010,
        'Z' => 0b111_001_010_100_111,
        '.' => 0b000_000_000_000_010,
        ',' => 0b000_000_000_010_100,
        '-' => 0b000_000_111_000_000,
        '/' => 0b001_001_010_100_100,
        ':' => 0b000_010_000_010_000,
        _ => 0,
    };
    core::array::from_fn(|i| bits >> (14 - i) & 1 == 1)
}
