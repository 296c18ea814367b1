//! What goes wrong is said by file, option and reason, and leaves nothing.

use super::{erode, make_hills, names, program};
use crate::folder::Folder;
use std::fs;

const THERMAL: &str = "--model thermal --seconds 1";

/// Runs lines that must fail: with this code, and all these words said.
fn fail(folder: &Folder, code: i32, cases: &[(String, &[&str])]) {
    let before = names(&folder.file(""));
    for (line, words) in cases {
        let run = erode(folder, line);
        assert_eq!(run.code, Some(code), "{line}: {}{}", run.out, run.err);
        assert!(run.err.starts_with("error: "), "{line}: {}", run.err);
        for word in *words {
            assert!(
                run.err.contains(word),
                "{line}: `{word}` is not in: {}",
                run.err
            );
        }
        assert_eq!(run.out, "", "{line}");
    }
    assert_eq!(names(&folder.file("")), before, "nothing was written");
}

/// A line on the land that is there.
fn on_land(rest: &str) -> String {
    format!("land.png --out out.png {rest}")
}

#[test]
fn files_that_do_not_do() {
    let folder = Folder::new("cli-bad-files");
    make_hills(&folder, "land.png");
    make_hills(&folder, "land.r16");
    fs::write(folder.file("text.png"), "no picture").expect("writable");
    fs::write(folder.file("text.foo"), "no picture").expect("writable");
    fs::write(folder.file("text.erode"), "no state").expect("writable");
    fs::write(folder.file("text.ron"), "(title: 3)").expect("writable");
    fs::write(
        folder.file("wrong.ron"),
        "(\n models: (thermal: (shelter: -1)))",
    )
    .expect("writable");
    let png = fs::read(folder.file("land.png")).expect("there");
    fs::write(folder.file("cut.png"), &png[..png.len() / 2]).expect("writable");
    let state = fs::read(folder.file("land.png")).expect("there");
    fs::write(folder.file("cut.erode"), &state[..40]).expect("writable");
    let bake = |file: &str| format!("{file} {THERMAL} --out out.png");
    fail(
        &folder,
        1,
        &[
            (bake("none.png"), &["none.png: ", "No such file"]),
            (bake("none.erode"), &["none.erode: ", "No such file"]),
            (bake("none.ron"), &["none.ron: ", "No such file"]),
            (bake("."), &[".: "]),
            (bake("text.png"), &["text.png: ", "PNG"]),
            (bake("cut.png"), &["cut.png: ", "PNG"]),
            (
                bake("text.foo"),
                &["text.foo: ", "expected PNG, EXR or TIFF", "--input-format"],
            ),
            (bake("text.erode"), &["text.erode: ", "not a saved state"]),
            (bake("cut.erode"), &["cut.erode: "]),
            (bake("text.ron"), &["text.ron:1:9", "title"]),
            (
                bake("land.r16 --size 64x63 --range 0 1"),
                &["land.r16: ", "8192 bytes", "64 × 63"],
            ),
            (
                on_land(&format!("{THERMAL} --size 32x32")),
                &["land.png: ", "64 × 64", "32 × 32"],
            ),
            (
                on_land(&format!("{THERMAL} --preset none.ron")),
                &["none.ron: ", "No such file"],
            ),
            (
                on_land(&format!("{THERMAL} --preset wrong.ron")),
                &["wrong.ron:2:", "models.thermal.shelter", "was -1"],
            ),
            ("info none.png".into(), &["none.png: ", "No such file"]),
            ("info text.erode".into(), &["text.erode: "]),
        ],
    );
    fail(
        &folder,
        2,
        &[
            (bake("land.r16"), &["land.r16: ", "--size"]),
            (
                bake("land.r16 --size 64x64"),
                &["land.r16: ", "--range", "--scale"],
            ),
            (
                bake("land.r16 --size 64x64 --range 0 9"),
                &["land.r16: ", "--cell-size"],
            ),
            (
                bake("land.r16 --size 64x64 --range 9 0"),
                &["land.r16: ", "--range", "lowest < highest"],
            ),
            (
                bake("land.r16 --size 64x64 --scale 0"),
                &["land.r16: ", "--scale", "found 0"],
            ),
            (bake("scene:none"), &["scene `none`", "seasons"]),
            (
                bake("scene:seasons --cell-size 3"),
                &["--cell-size", "scene:seasons"],
            ),
            (bake("scene:seasons --soil 3"), &["--soil", "scene:seasons"]),
            (bake("text.erode --range 0 3"), &["--range", "text.erode"]),
            ("scenes none".into(), &["scene `none`", "seasons"]),
        ],
    );
}

#[test]
fn places_that_cannot_be_written() {
    let folder = Folder::new("cli-bad-places");
    make_hills(&folder, "land.png");
    fs::create_dir(folder.file("folder.png")).expect("a folder");
    let bake = |rest: &str| format!("land.png {THERMAL} {rest}");
    fail(
        &folder,
        1,
        &[
            (
                bake("--out none/out.png"),
                &["--out none/out.png: ", "no folder none"],
            ),
            (
                bake("--out folder.png"),
                &["--out folder.png: ", "is a folder"],
            ),
            (
                bake("--out land.png/out.png"),
                &["--out land.png/out.png: ", "no folder land.png"],
            ),
            (
                bake("--out out.png --masks land.png"),
                &["--masks land.png: ", "not a folder"],
            ),
            (
                bake("--out out.png --masks land.png/m"),
                &["--masks land.png/m: ", "not a folder"],
            ),
            (
                bake("--out out.png --preview none/p.png"),
                &["--preview none/p.png: ", "no folder"],
            ),
            (
                bake("--quiet --out out.png --out-range 500 600"),
                &["out.png: ", "500 to 600", "--out-range"],
            ),
        ],
    );
    // Not even the system's administrator may write there.
    #[cfg(target_os = "linux")]
    fail(
        &folder,
        1,
        &[(bake("--out /proc/out.png"), &["--out /proc/out.png: "])],
    );
    fail(
        &folder,
        2,
        &[
            (bake("--out out.xyz"), &["--out out.xyz: ", "--format"]),
            (bake("--out out"), &["--out out: ", "--format"]),
            (
                bake("--out out.png --format bmp"),
                &["bmp", "--format", "tif16"],
            ),
            (
                bake("--out out.png --mask-format erode"),
                &["--mask-format", "saved state"],
            ),
            (
                bake("--out out.png --preview p.jpg"),
                &["--preview p.jpg: ", ".png"],
            ),
            (
                bake("--out out.png --preview out.png"),
                &["--preview out.png: ", "--out"],
            ),
            (
                bake("--out out.png --out-range 5 5"),
                &["--out-range 5 5: ", "LOWEST < HIGHEST"],
            ),
            (
                bake("--out out.erode --out-range 5 6"),
                &["--out-range: ", "saved state"],
            ),
            (bake(""), &["--out"]),
        ],
    );
}

#[test]
fn options_that_cannot_be() {
    let folder = Folder::new("cli-bad-options");
    make_hills(&folder, "land.png");
    let set = |set: &str| on_land(&format!("{THERMAL} --set {set}"));
    fail(
        &folder,
        2,
        &[
            (on_land(""), &["--model"]),
            (
                on_land("--model glacier --seconds 1"),
                &["--model", "`glacier`", "shallow-water"],
            ),
            (
                on_land("--model pipe+shallow-water --seconds 1"),
                &["--model", "only one"],
            ),
            (
                on_land("--model pipe+pipe --seconds 1"),
                &["--model", "twice"],
            ),
            (
                on_land("--model thermal"),
                &["--model thermal: ", "--seconds"],
            ),
            (
                on_land("--model droplets"),
                &["--model droplets: ", "--droplets"],
            ),
            (
                on_land("--model droplets --droplets many"),
                &["--droplets", "many"],
            ),
            (
                on_land("--model droplets --droplets -5"),
                &["--droplets", "-5"],
            ),
            (
                on_land("--model droplets --droplets 5 --seconds 5"),
                &["not both"],
            ),
            (
                on_land("--model droplets --droplets 5 --step 5"),
                &["--step", "--seconds"],
            ),
            (
                on_land("--model thermal --droplets 5"),
                &["--model thermal: ", "--droplets"],
            ),
            (
                on_land("--seconds 5 --model thermal"),
                &["--seconds 5: ", "--model"],
            ),
            (
                on_land("--set a=b --model thermal"),
                &["--set a=b: ", "--model"],
            ),
            (
                on_land("--model thermal --seconds 1 --seconds 2"),
                &["--seconds 2: ", "already"],
            ),
            (
                on_land("--model thermal --seconds -1"),
                &["--seconds", "was -1"],
            ),
            (
                on_land("--model thermal --seconds nan"),
                &["--seconds", "NaN"],
            ),
            (
                on_land("--model thermal --seconds soon"),
                &["--seconds", "not a number"],
            ),
            (
                on_land("--model thermal --seconds 1 --step 0"),
                &["--step", "was 0"],
            ),
            (
                set("soil=3"),
                &[
                    "--set soil=3: ",
                    "no setting `soil`",
                    "soil_angle",
                    "shelter",
                ],
            ),
            (
                set("pipe.gravity=3"),
                &["--set pipe.gravity=3: ", "no model `pipe`", "thermal"],
            ),
            (
                set("soil_angle=steep"),
                &["--set soil_angle=steep: ", "float"],
            ),
            (
                set("soil_angle=400"),
                &["--set soil_angle=400: ", "0 to 89", "was 400"],
            ),
            (
                set("soil_angle=1,shelter:2"),
                &["--set soil_angle=1,shelter:2: "],
            ),
            (set("soil_angle"), &["--set", "found no `=`"]),
            (set("=3"), &["--set", "empty key"]),
            (set("thermal.=3"), &["--set", "empty key"]),
            (
                set("glacier.depth=3"),
                &[
                    "--set glacier.depth=3: ",
                    "no setting `glacier.depth`",
                    "shelter",
                ],
            ),
            (
                set("shelter.depth=3"),
                &["--set shelter.depth=3: ", "`shelter` has no parts"],
            ),
            (
                on_land("--model droplets --seconds 1 --set streams.tides=3"),
                &[
                    "--set streams.tides=3: ",
                    "`streams.tides`",
                    "streams.onset",
                ],
            ),
            (
                on_land("--model droplets --seconds 1 --set droplets.streams.memory=2"),
                &[
                    "--set droplets.streams.memory=2: ",
                    "`streams.memory` must be 0.001 to 1, was 2",
                ],
            ),
            (
                on_land("--model droplets --seconds 1 --set streams.onset=1,pull:2"),
                &["--set streams.onset=1,pull:2: "],
            ),
            (
                on_land("--model droplets --seconds 1 --set streams=Some(3)"),
                &["--set streams=Some(3): "],
            ),
            (
                on_land("--model rain --seconds 1 --set pattern.spacing=3"),
                &["--set pattern.spacing=3: ", "Uniform", "BlueNoise.spacing"],
            ),
            (
                on_land("--model rain+evaporation --seconds 1 --set season.year=3"),
                &[
                    "--set season.year=3: ",
                    "rain.season.year or evaporation.season.year",
                ],
            ),
            (
                on_land("--model rain+evaporation --seconds 1 --set mm_per_hour=3"),
                &[
                    "--set mm_per_hour=3: ",
                    "rain.mm_per_hour or evaporation.mm_per_hour",
                ],
            ),
            (
                on_land(
                    "--model rain --seconds 1 --set pattern=Drops(radius:-1.0,depth:0.1,seed:1)",
                ),
                &["--set pattern=", "was -1"],
            ),
            (
                on_land(&format!("{THERMAL} --cell-size 0")),
                &["--cell-size 0: ", "out of range"],
            ),
            (
                on_land(&format!("{THERMAL} --cell-size wide")),
                &["--cell-size", "wide"],
            ),
            (
                on_land(&format!("{THERMAL} --threads 0")),
                &["--threads", "0"],
            ),
            (on_land(&format!("{THERMAL} --soil -1")), &["--soil"]),
            (
                on_land(&format!("{THERMAL} --borders (west:Hedge)")),
                &["--borders", "Hedge"],
            ),
            (
                on_land(&format!("{THERMAL} --borders (up:Wall)")),
                &["--borders", "up"],
            ),
            (on_land(&format!("{THERMAL} --bogus")), &["--bogus"]),
            (
                "generate swamp --out out.png".into(),
                &["swamp: ", "`Swamp`", "`Ridged`"],
            ),
            (
                "generate fbm --size 0x5 --out out.png".into(),
                &["--size", "0 × 5", "16384"],
            ),
            (
                "generate fbm --size 5x99999 --out out.png".into(),
                &["--size", "5 × 99999"],
            ),
            (
                "generate fbm --size 5 --out out.png".into(),
                &["--size", "512x256"],
            ),
            (
                "generate fbm --cell-size -2 --out out.png".into(),
                &["--cell-size"],
            ),
            (
                "generate fbm --set tall=2 --out out.png".into(),
                &["--set tall=2: ", "`height`"],
            ),
            (
                "generate fbm --set height=-2 --out out.png".into(),
                &["Fbm", "height", "was -2"],
            ),
            (
                "generate fbm --seed 5000000000 --out out.png".into(),
                &["--seed 5000000000: "],
            ),
            (
                "generate fbm --set noise.height=2 --out out.png".into(),
                &["--set noise.height=2: ", "a field of Fbm", "RON"],
            ),
            (
                "generate Fbm(seed:1) --set seed=2 --out out.png".into(),
                &["--set seed=2: ", "RON"],
            ),
            (
                "generate Fbm(sead:1) --out out.png".into(),
                &["Fbm(sead:1): ", "`sead`", "`seed`"],
            ),
        ],
    );
}

/// Absurd settings that drive the land to absurd heights end without a file.
#[test]
fn a_land_that_leaves_all_heights_is_an_error() {
    let folder = Folder::new("cli-diverged");
    let land = "generate fbm --seed 3 --set height=800 --set feature_size=600";
    let files = "--size 32x32 --cell-size 30 --out land.exr";
    assert_eq!(erode(&folder, &format!("{land} {files}")).code, Some(0));
    let pass = "--model rain+pipe --seconds 20 --set mm_per_hour=20000";
    let absurd = "--set pipe.published.capacity=1000 --set pipe.published.dissolving=1";
    let out = "--quiet --out out.png --masks masks";
    fail(
        &folder,
        1,
        &[(
            format!("land.exr {pass} {absurd} {out}"),
            &[
                "pass 1 of 1: rain+pipe, 20 s: ",
                "`Rain+PipeModel`",
                "at cell (",
                " m by ",
                " s, expected -",
            ],
        )],
    );
    // The same with the source's own numbers is no error.
    let sane = format!("land.exr {pass} --set published=() {out}");
    let run = erode(&folder, &sane);
    assert_eq!(run.code, Some(0), "{}", run.err);
}

/// An old file stays as it was when the new one cannot be made.
#[test]
fn a_failure_leaves_the_old_file() {
    let folder = Folder::new("cli-old-file");
    make_hills(&folder, "land.png");
    fs::write(folder.file("out.png"), "old").expect("writable");
    let line = on_land(&format!("{THERMAL} --out-range 500 600"));
    assert_eq!(erode(&folder, &line).code, Some(1));
    assert_eq!(fs::read(folder.file("out.png")).expect("there"), b"old");
    assert_eq!(names(&folder.file("")), ["land.png", "out.png"]);
}

/// Paths with blanks and other letters work, and are said as they are.
#[test]
fn names_may_have_blanks() {
    let folder = Folder::new("cli-blanks");
    make_hills(&folder, "land.png");
    fs::rename(folder.file("land.png"), folder.file("das öde Land.png")).expect("renamed");
    let run = |source: &str| {
        let mut command = program(&folder);
        command
            .arg(source)
            .args(THERMAL.split(' '))
            .args(["--out", "alt und öde.exr", "--quiet"]);
        super::Run::from(command.output().expect("started"))
    };
    let good = run("das öde Land.png");
    assert_eq!(good.code, Some(0), "{}", good.err);
    assert!(folder.file("alt und öde.exr").is_file());
    let bad = run("kein Land.png");
    assert_eq!(bad.code, Some(1));
    assert!(bad.err.contains("kein Land.png: "), "{}", bad.err);
}
