//! Pictures of tiny lands, by their pixels.

use super::{erode, names, report};
use crate::folder::Folder;
use image::RgbImage;

/// Cells along a side of the lands.
const CELLS: u32 = 8;

fn open(folder: &Folder) -> RgbImage {
    let picture = image::open(folder.file("view.png")).expect("a picture");
    picture.to_rgb8()
}

/// A picture of a plane that falls towards a compass direction.
fn plane(folder: &Folder, slope: f64, downhill: f64, style: &str) -> RgbImage {
    let land = format!("generate tilted-plane --set slope={slope} --set downhill={downhill}");
    let files = format!("--size {CELLS}x{CELLS} --out land.r32 --preview view.png");
    report(folder, &format!("{land} {files} --preview-style {style}"));
    open(folder)
}

/// The one color of a picture, which must be even.
fn only_color(picture: &RgbImage) -> [u8; 3] {
    let first = picture.get_pixel(0, 0).0;
    for pixel in picture.pixels() {
        let is_same = pixel.0.iter().zip(first).all(|(a, b)| a.abs_diff(b) <= 1);
        assert!(is_same, "{:?} and {first:?}", pixel.0);
    }
    first
}

/// The color in the middle of a cell.
fn cell_color(picture: &RgbImage, x: u32, y: u32) -> [i32; 3] {
    let (wide, high) = picture.dimensions();
    let pixel = picture.get_pixel(
        (2 * x + 1) * wide / (2 * CELLS),
        (2 * y + 1) * high / (2 * CELLS),
    );
    pixel.0.map(i32::from)
}

#[test]
fn a_hillshade_is_gray_and_brighter_towards_the_light() {
    let folder = Folder::new("cli-hillshade");
    // Light comes from the north-west.
    let [facing, level, averted] = [(0.5, 315.0), (0.0, 0.0), (0.5, 135.0)].map(|plane_of| {
        let picture = plane(&folder, plane_of.0, plane_of.1, "hillshade");
        let [red, green, blue] = only_color(&picture);
        assert!(red == green && green == blue, "{plane_of:?}");
        red
    });
    assert!(facing > 230 && averted < 110, "{facing}, {averted}");
    assert!((180..195).contains(&level), "{level}");
    // Light from the side lights both alike, and less than the level.
    let sides = [45.0, 225.0].map(|side| only_color(&plane(&folder, 0.5, side, "hillshade")));
    assert!(sides[0][0].abs_diff(sides[1][0]) <= 1, "{sides:?}");
    assert!(averted < sides[0][0] && sides[0][0] < level, "{sides:?}");
}

#[test]
fn a_slope_map_tells_slopes_apart() {
    let folder = Folder::new("cli-slope");
    let is_near = |color: [u8; 3], expected: [u8; 3]| {
        color.iter().zip(expected).all(|(a, b)| a.abs_diff(b) <= 3)
    };
    // Between the colors of the guide: white at 0°, green at 15°, yellow at 30°, red
    // at 45°, violet at 60°.
    for (degrees, expected) in [
        (0.0_f64, [255, 255, 255]),
        (10.0, [153, 211, 151]),
        (40.0, [228, 107, 51]),
        (52.5, [150, 44, 88]),
    ] {
        // From whichever side.
        for downhill in [0.0, 200.0] {
            let slope = degrees.to_radians().tan();
            let color = only_color(&plane(&folder, slope, downhill, "slope"));
            assert!(is_near(color, expected), "{degrees}°: {color:?}");
        }
    }
}

#[test]
fn water_is_blue_where_it_is_wet_and_darker_where_it_is_deep() {
    let folder = Folder::new("cli-water");
    // The plane falls to the east, and dips into a lake in the middle.
    let scene = "(
        terrain: (
            landform: TiltedPlane(slope: 0.5, downhill: 90.0, base: 0.0),
            size: (8, 8), cell_size: 2.0, lake: 0.0,
        ),
        seconds: 0.0,
    )";
    std::fs::write(folder.file("lake.ron"), scene).expect("writable");
    let draw = |style: &str| {
        let files = "--out out.r32 --preview view.png";
        report(
            &folder,
            &format!("lake.ron {files} --preview-style {style}"),
        );
        open(&folder)
    };
    let (water, shade) = (draw("water"), draw("hillshade"));
    for y in 0..CELLS {
        for x in 0..CELLS {
            let [red, green, blue] = cell_color(&water, x, y);
            match x < CELLS / 2 {
                true => {
                    let gray = cell_color(&shade, x, y)[0];
                    for value in [red, green, blue] {
                        assert!((value - gray).abs() <= 2, "({x}, {y}): {value}, not {gray}");
                    }
                }
                false => assert!(
                    blue > green && blue > red + 30,
                    "({x}, {y}): {red} {green} {blue}"
                ),
            }
        }
    }
    let (shallow, deep) = (cell_color(&water, 4, 4), cell_color(&water, 7, 4));
    assert!(deep[0] + 20 < shallow[0], "{deep:?} {shallow:?}");
    // No style but this and the relief shows water.
    let slopes = draw("slope");
    assert_eq!(cell_color(&slopes, 1, 4), cell_color(&slopes, 6, 4));
}

#[test]
fn the_relief_is_what_is_drawn_without_a_style() {
    let folder = Folder::new("cli-styles");
    let draw = |rest: &str| {
        let land = "generate ridged --seed 4 --size 32x24 --out land.r32 --preview view.png";
        report(&folder, &format!("{land} {rest}"));
        open(&folder)
    };
    let usual = draw("");
    assert_eq!(usual.dimensions(), (768, 576));
    assert!(draw("--preview-style relief") == usual);
    for style in ["hillshade", "slope", "water"] {
        let other = draw(&format!("--preview-style {style}"));
        assert_eq!(other.dimensions(), usual.dimensions());
        assert!(other != usual, "{style}");
    }

    let before = names(&folder.file(""));
    for (line, words) in [
        (
            "--preview other.png --preview-style oil",
            &["oil", "relief", "water"][..],
        ),
        ("--preview-style slope", &["--preview <PNG>"]),
    ] {
        let run = erode(&folder, &format!("generate fbm --out other.r32 {line}"));
        assert_eq!(run.code, Some(2), "{line}: {}", run.err);
        for word in words {
            assert!(run.err.contains(word), "{line}: {}", run.err);
        }
    }
    assert_eq!(names(&folder.file("")), before);
}
