//! `erode rivers`.

use super::{erode, make_hills, names, report};
use crate::folder::Folder;
use serde_json::Value;

#[test]
fn rivers_are_written_as_data_fields_and_a_picture() {
    let folder = Folder::new("cli-rivers");
    make_hills(&folder, "land.exr");
    let line = "rivers land.exr --onset 800 --runoff 1 --out rivers.geojson --fields fields \
                --preview rivers.png";
    let report = report(&folder, line);
    let count = report["rivers"].as_u64().expect("a number");
    assert!(count > 3, "{report}");
    let text = std::fs::read_to_string(folder.file("rivers.geojson")).expect("written");
    let read: Value = serde_json::from_str(&text).expect("JSON");
    let features = read["features"].as_array().expect("a list");
    let lakes = report["lakes"].as_u64().expect("a number");
    assert_eq!(features.len() as u64, count + lakes);
    assert_eq!(
        names(&folder.file("fields")),
        [
            "area.png",
            "basin.png",
            "basin_colors.png",
            "direction.png",
            "discharge.png",
            "lake_depth.png",
            "order.png",
            "width.png"
        ]
    );
    let orders = image::open(folder.file("fields/order.png")).expect("a picture");
    let orders = orders.to_luma16();
    let highest = orders.pixels().map(|pixel| u64::from(pixel.0[0])).max();
    assert_eq!(highest, report["highest_order"].as_u64());
    let picture = image::open(folder.file("rivers.png"))
        .expect("a picture")
        .to_rgb8();
    let blue = picture
        .pixels()
        .filter(|pixel| i32::from(pixel.0[2]) > i32::from(pixel.0[0]) + 60);
    assert!(blue.count() > 500);

    let said = erode(&folder, "rivers land.exr");
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(
        said.out.contains("rivers,") && said.out.contains("basins"),
        "{}",
        said.out
    );
}

#[test]
fn wrong_rivers_are_refused() {
    let folder = Folder::new("cli-rivers-wrong");
    make_hills(&folder, "land.exr");
    for (line, code, words) in [
        ("rivers land.exr --runoff -1", 2, "RiverSettings.runoff"),
        ("rivers land.exr --preview view.jpg", 2, ".png"),
        ("rivers land.exr --out none/rivers.geojson", 1, "no folder"),
        ("rivers none.exr", 1, "none.exr"),
    ] {
        let run = erode(&folder, line);
        assert_eq!(run.code, Some(code), "{line}: {}", run.err);
        assert!(run.err.contains(words), "{line}: {}", run.err);
    }
    assert_eq!(names(&folder.file("")), ["land.exr"]);
}
