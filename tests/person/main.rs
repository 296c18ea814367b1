//! The sandbox as a person meets it: a real window on a virtual screen (Xvfb),
//! real events of mouse and keys (xdotool), and a look at what is shown.
//!
//! It needs `Xvfb`, `xdotool` and a Vulkan driver, and fails without them.
//! Pictures are compared with those in `thumbnails`; after a change of looks,
//! `RENEW_THUMBNAILS=1 cargo test --test person` makes them anew: look at them
//! before you keep them.

mod screen;
mod thumbnail;

use screen::{Screen, thumbnails};
use std::fs;
use thumbnail::Thumbnail;

/// Ground in the middle of the picture, and beside the panel.
const GROUND: (u32, u32) = (240, 150);
const BESIDE_PANEL: (u32, u32) = (380, 170);
/// Places of the panel on this small screen: its title bar, and the button that
/// makes a land of another seed.
const PANEL: (u32, u32) = (250, 25);
const NEW_SEED: (u32, u32) = (123, 163);

/// The names of the scenes, in the order of the list.
fn scene_names() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/scenes");
    let files = fs::read_dir(folder).expect("there are scenes");
    let names = files.filter_map(|file| {
        let name = file.ok()?.file_name().into_string().ok()?;
        name.strip_suffix(".scene.ron").map(str::to_owned)
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn a_person_plays_in_the_sandbox() {
    let mut screen = Screen::open(&["--cells", "128"]);
    let land = start(&mut screen);
    paint_and_undo(&mut screen, &land);
    pour_and_take(&mut screen, &land);
    switch_models(&mut screen);
    use_the_panel(&mut screen);
    open_scenes(&mut screen);
    save_and_reload(&mut screen);
}

/// Pauses and makes a land on which nothing has happened yet. Returns its hash.
fn start(screen: &mut Screen) -> String {
    screen.key("space");
    screen.wait("Space pauses", |said| said.word("paused") == "true");
    let first = screen.said().word("hash").to_owned();
    screen.key("r");
    let said = screen.wait("R makes another land", |said| said.word("hash") != first);
    assert_eq!(said.word("models"), "droplets+thermal");
    assert_eq!(said.word("scene"), "none");
    screen.expect_picture("panel");
    screen.key("F1");
    screen.wait("F1 lists the keys", |said| said.word("keys") == "true");
    screen.expect_picture("keys");
    screen.key("F1");
    screen.wait("F1 closes them", |said| said.word("keys") == "false");
    screen.key("Tab");
    screen.wait("Tab hides the panel", |said| said.word("panel") == "false");
    screen.expect_picture("land");
    screen.said().word("hash").to_owned()
}

fn paint_and_undo(screen: &mut Screen, land: &str) {
    screen.key("1");
    screen.wait("1 takes a brush", |said| said.word("tool") == "raise");
    screen.hold(GROUND, "the ground rises", |said| {
        said.number("added") > 2000.0
    });
    let painted = screen.said();
    assert_eq!(painted.number("undo"), 1.0, "one stroke");
    assert_ne!(painted.word("hash"), land);
    assert!(painted.number("drift").abs() < 1e-9);
    let undone = |said: &screen::Said| said.word("hash") == land && said.number("undo") == 0.0;
    screen.key("ctrl+z");
    screen.wait("Ctrl+Z takes it back", undone);
    screen.key("ctrl+shift+z");
    let redone = painted.word("hash").to_owned();
    screen.wait("Ctrl+Shift+Z does it again", |said| {
        said.word("hash") == redone
    });
    screen.key("ctrl+z");
    screen.wait("Ctrl+Z once more", undone);
}

fn pour_and_take(screen: &mut Screen, land: &str) {
    screen.act(&["keydown", "bracketright"]);
    screen.wait("a wider brush", |said| said.number("radius") >= 200.0);
    screen.act(&["keyup", "bracketright"]);
    screen.key("7");
    screen.wait("7 takes water", |said| said.word("tool") == "add water");
    screen.hold(GROUND, "water is poured", |said| said.number("water") > 6e5);
    let poured = screen.said().number("water");
    screen.key("Escape");
    screen.act(&["mousemove", "5", "5"]);
    screen.expect_picture("poured");
    screen.key("8");
    screen.wait("8 takes it up", |said| said.word("tool") == "take water");
    screen.hold(GROUND, "water is taken up", |said| {
        said.number("water") < 0.6 * poured
    });
    screen.key("ctrl+z");
    screen.wait("all of it is back", |said| said.number("water") == poured);
    screen.key("ctrl+z");
    screen.wait("and gone", |said| said.word("hash") == land);
    screen.key("Escape");
    screen.wait("no brush in hand", |said| said.word("tool") == "none");
}

fn switch_models(screen: &mut Screen) {
    for models in [
        "droplets+pipe+thermal",
        "droplets+shallow_water+thermal",
        "droplets+thermal",
    ] {
        screen.key("m");
        screen.wait("M changes the water model", |said| {
            said.word("models") == models
        });
    }
    let before = screen.said();
    screen.key("space");
    let steps = before.number("steps") + 5.0;
    screen.wait("Space lets it run", |said| said.number("steps") > steps);
    screen.key("space");
    let after = screen.wait("and pauses again", |said| said.word("paused") == "true");
    assert!(
        after.number("moved") > before.number("moved"),
        "erosion went on"
    );
}

/// Over the panel nothing is painted and the camera stands still.
fn use_the_panel(screen: &mut Screen) {
    screen.key("Tab");
    screen.wait("Tab shows the panel", |said| said.word("panel") == "true");
    screen.point(BESIDE_PANEL);
    let before = screen.said();
    screen.drag(PANEL, BESIDE_PANEL);
    assert_eq!(
        screen.said().word("camera"),
        before.word("camera"),
        "not turned"
    );
    screen.key("1");
    screen.drag(PANEL, BESIDE_PANEL);
    let after = screen.said();
    assert_eq!(
        after.word("hash"),
        before.word("hash"),
        "nothing is painted"
    );
    assert_eq!(after.word("camera"), before.word("camera"), "nor turned");
    screen.key("Escape");
    // Beside the panel it does turn.
    screen.drag(BESIDE_PANEL, (BESIDE_PANEL.0 + 50, BESIDE_PANEL.1 + 10));
    assert_ne!(
        screen.said().word("camera"),
        before.word("camera"),
        "turned"
    );

    let former = screen.said().word("hash").to_owned();
    screen.click(NEW_SEED);
    screen.wait("a click makes another land", |said| {
        said.word("hash") != former
    });
    screen.key("Tab");
    screen.wait("Tab hides the panel", |said| said.word("panel") == "false");
}

fn open_scenes(screen: &mut Screen) {
    screen.act(&["mousemove", "5", "5"]);
    let names = scene_names();
    for name in &names {
        screen.key("Next");
        screen.wait(&format!("Page Down opens {name}"), |said| {
            said.word("scene") == name && said.word("drawn") == "true"
        });
        assert_eq!(screen.said().word("paused"), "true");
        screen.expect_picture(&format!("scene_{name}"));
    }
    screen.key("Prior");
    let former = &names[names.len() - 2];
    screen.wait("Page Up goes back", |said| said.word("scene") == former);
}

fn save_and_reload(screen: &mut Screen) {
    let run = |screen: &mut Screen| {
        let steps = screen.said().number("steps") + 3.0;
        screen.key("space");
        screen.wait("it runs", |said| said.number("steps") > steps);
        screen.key("space");
        let paused = screen.wait("it pauses", |said| said.word("paused") == "true");
        screen.wait_frames(paused.number("frame") + 2.0);
        screen.said()
    };
    let saved = run(screen);
    screen.key("ctrl+s");
    let file = screen.folder.join("land.erode");
    assert!(file.is_file(), "Ctrl+S saves");
    let later = run(screen);
    assert_ne!(later.word("hash"), saved.word("hash"));
    screen.key("ctrl+o");
    let same = |name: &str| saved.word(name).to_owned();
    let (hash, steps, water) = (same("hash"), same("steps"), same("water"));
    screen.wait("Ctrl+O loads", |said| {
        said.word("hash") == hash && said.word("steps") == steps && said.word("water") == water
    });
    assert_eq!(screen.said().word("models"), saved.word("models"));
}

/// The comparison lets no broken picture pass, and no picture for another.
#[test]
fn a_broken_picture_is_noticed() {
    let read = |name: &str| Thumbnail::read(&thumbnails().join(format!("{name}.png")));
    let mut names = vec![
        "land".to_owned(),
        "poured".into(),
        "panel".into(),
        "keys".into(),
    ];
    names.extend(scene_names().iter().map(|name| format!("scene_{name}")));
    let pictures: Vec<Thumbnail> = names.iter().map(|name| read(name)).collect();
    for (name, picture) in names.iter().zip(&pictures) {
        let slightly = picture.map(|x, y, pixel| {
            pixel.map(|value| value.saturating_add(((x * 7 + y * 5) % 5) as u8))
        });
        assert_eq!(picture.compare(&slightly), Ok(()), "{name}: rounding");
        let sky = picture.at(95, 0);
        let broken = [
            ("black", picture.map(|_, _, _| [0; 3])),
            ("nothing but sky", picture.map(|_, _, _| sky)),
            (
                "half of it is missing",
                picture.map(|x, _, pixel| if x < 48 { pixel } else { [0; 3] }),
            ),
            (
                "no light",
                picture.map(|_, _, pixel| pixel.map(|value| value / 2)),
            ),
            (
                "no color",
                picture.map(|_, _, [r, g, b]| {
                    let gray = ((u16::from(r) + u16::from(g) + u16::from(b)) / 3) as u8;
                    [gray; 3]
                }),
            ),
        ];
        for (how, broken) in broken {
            // The list of keys is gray itself.
            if (name.as_str(), how) == ("keys", "no color") {
                continue;
            }
            assert!(picture.compare(&broken).is_err(), "{name}: {how}");
        }
    }
    // The same land without its water, without the panel, without the list.
    for (with, without) in [("poured", "land"), ("panel", "land"), ("keys", "panel")] {
        assert!(
            read(with).compare(&read(without)).is_err(),
            "{with}: {without}"
        );
    }
}
