//! A screen of its own with the sandbox on it, a hand on its mouse and keys, and
//! an eye on what it shows.

use crate::thumbnail::Thumbnail;
use std::{
    collections::HashMap,
    env,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// The whole screen, and the window on it.
pub const SIZE: (u32, u32) = (480, 270);
/// So long may anything take that a person waits for.
const PATIENCE: Duration = Duration::from_secs(90);
/// Between two looks.
const BLINK: Duration = Duration::from_millis(60);

/// A child process that ends with the test.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The sandbox's window, alone on a virtual screen.
pub struct Screen {
    // Dropped in this order.
    sandbox: Ending,
    _server: Ending,
    display: String,
    pub folder: PathBuf,
}

/// What the sandbox says of itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said(HashMap<String, String>);

impl Said {
    pub fn word(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    pub fn number(&self, name: &str) -> f64 {
        self.word(name).parse().unwrap_or(f64::NAN)
    }
}

impl Screen {
    /// Starts an X server and the sandbox.
    pub fn open(arguments: &[&str]) -> Self {
        let sandbox = build_sandbox();
        let folder = env::temp_dir().join(format!("bevy_erode_person_{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder for the screen");
        let (server, display) = start_server(&folder);
        let mut command = Command::new(sandbox);
        command
            .args(["--size", &format!("{}x{}", SIZE.0, SIZE.1), "--no-shadows"])
            .args(["--report", "report.txt"])
            .args(arguments)
            .current_dir(&folder)
            .env("DISPLAY", &display)
            .env("BEVY_ASSET_ROOT", env!("CARGO_MANIFEST_DIR"))
            .env_remove("WAYLAND_DISPLAY");
        if env::var_os("XDG_RUNTIME_DIR").is_none() {
            command.env("XDG_RUNTIME_DIR", &folder);
        }
        let sandbox = Ending(command.spawn().expect("the sandbox starts"));
        let mut screen = Self {
            sandbox,
            _server: server,
            display,
            folder,
        };
        screen.wait("it opens its window", |said| said.number("frame") >= 3.0);
        // Nobody else gives it the keys: there is no window manager.
        let title = "bevy_erode: sandbox";
        screen.act(&["search", "--sync", "--name", title, "windowfocus"]);
        screen
    }

    /// Moves the mouse or presses something, by xdotool's words.
    pub fn act(&mut self, words: &[&str]) {
        let done = Command::new("xdotool")
            .args(words)
            .env("DISPLAY", &self.display)
            .output();
        let done = done.expect("xdotool is needed: `apt-get install xdotool`");
        let error = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "xdotool {words:?}: {error}");
    }

    /// Presses a key, such as `z` or `ctrl+z`; others before it are held.
    pub fn key(&mut self, keys: &str) {
        let mut held: Vec<&str> = keys.split('+').collect();
        let key = held.pop().unwrap_or_default();
        let frame = self.said().number("frame");
        for key in &held {
            self.act(&["keydown", key]);
        }
        if !held.is_empty() {
            self.wait_frames(frame + 2.0);
        }
        let frame = self.said().number("frame");
        self.act(&["key", "--delay", "40", key]);
        self.wait_frames(frame + 2.0);
        for key in held.iter().rev() {
            self.act(&["keyup", key]);
        }
    }

    pub fn point(&mut self, (x, y): (u32, u32)) {
        let frame = self.said().number("frame");
        self.act(&["mousemove", &x.to_string(), &y.to_string()]);
        self.wait_frames(frame + 2.0);
    }

    pub fn click(&mut self, at: (u32, u32)) {
        self.point(at);
        for action in ["mousedown", "mouseup"] {
            let frame = self.said().number("frame");
            self.act(&[action, "1"]);
            self.wait_frames(frame + 2.0);
        }
    }

    /// Holds the left button until something has happened.
    pub fn hold(&mut self, at: (u32, u32), what: &str, until: impl Fn(&Said) -> bool) {
        self.point(at);
        self.act(&["mousedown", "1"]);
        self.wait(what, until);
        self.release();
    }

    /// Presses at one place and lets go at another.
    pub fn drag(&mut self, from: (u32, u32), to: (u32, u32)) {
        self.point(from);
        let frame = self.said().number("frame");
        self.act(&["mousedown", "1"]);
        self.wait_frames(frame + 2.0);
        // In steps, by the mouse's own motion: a camera turns by that.
        let step = |from: u32, to: u32| ((f64::from(to) - f64::from(from)) / 5.0).to_string();
        let (across, down) = (step(from.0, to.0), step(from.1, to.1));
        for _ in 0..5 {
            let frame = self.said().number("frame");
            self.act(&["mousemove_relative", "--", &across, &down]);
            self.wait_frames(frame + 2.0);
        }
        self.release();
    }

    fn release(&mut self) {
        let frame = self.said().number("frame");
        self.act(&["mouseup", "1"]);
        self.wait_frames(frame + 3.0);
    }

    /// What the sandbox said last.
    pub fn said(&self) -> Said {
        let text = fs::read_to_string(self.folder.join("report.txt")).unwrap_or_default();
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        Said(lines.map(|(a, b)| (a.into(), b.into())).collect())
    }

    /// Waits until the sandbox says so.
    pub fn wait(&mut self, what: &str, until: impl Fn(&Said) -> bool) -> Said {
        let began = Instant::now();
        loop {
            let said = self.said();
            if until(&said) {
                return said;
            }
            if let Ok(Some(code)) = self.sandbox.0.try_wait() {
                panic!("{what}: the sandbox ended with {code}");
            }
            assert!(
                began.elapsed() < PATIENCE,
                "{what}: waited in vain, {said:?}"
            );
            thread::sleep(BLINK);
        }
    }

    pub fn wait_frames(&mut self, frame: f64) {
        self.wait("frames go on", |said| said.number("frame") >= frame);
    }

    /// Waits until the screen looks as it is kept in `thumbnails`.
    /// With `RENEW_THUMBNAILS=1` it is kept as it looks now.
    pub fn expect_picture(&mut self, name: &str) {
        let settled = self.wait("it is drawn", |said| said.word("drawn") == "true");
        self.wait_frames(settled.number("frame") + 4.0);
        let path = thumbnails().join(format!("{name}.png"));
        if env::var_os("RENEW_THUMBNAILS").is_some() {
            // Pipelines may still be compiled, and the camera comes to rest.
            thread::sleep(Duration::from_secs(3));
            self.look().save(&path);
            return;
        }
        let kept = Thumbnail::read(&path);
        let began = Instant::now();
        loop {
            let seen = self.look();
            let problem = match kept.compare(&seen) {
                Ok(()) => return,
                Err(problem) => problem,
            };
            if began.elapsed() > PATIENCE / 3 {
                let mut said = format!("the picture `{name}` is not as it should be: {problem}");
                let seen_as = env::temp_dir().join(format!("bevy_erode_person_{name}.png"));
                seen.save(&seen_as);
                let _ = write!(said, "; it is kept as {}", seen_as.display());
                panic!("{said}");
            }
            thread::sleep(Duration::from_millis(300));
        }
    }

    /// What is on the screen now.
    pub fn look(&self) -> Thumbnail {
        let path = self.folder.join("Xvfb_screen0");
        let bytes = fs::read(&path).expect("Xvfb keeps the screen in a file");
        Thumbnail::of_dump(&bytes)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Where the pictures are kept.
pub fn thumbnails() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/person/thumbnails")
}

/// Builds the sandbox, so that no old one is tested.
fn build_sandbox() -> PathBuf {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into());
    let mut command = Command::new(cargo);
    command.args(["build", "--locked", "--quiet", "--example", "sandbox"]);
    if cfg!(feature = "avian") {
        // The whole workspace is tested: with its features nothing is built twice.
        command.arg("--workspace");
    }
    let built = command.current_dir(env!("CARGO_MANIFEST_DIR")).status();
    assert!(built.is_ok_and(|code| code.success()), "the sandbox builds");
    let test = env::current_exe().expect("this test has a path");
    let folder = test.ancestors().nth(2).expect("target/debug");
    folder.join("examples").join("sandbox")
}

/// An X server on a display that it finds free itself.
fn start_server(folder: &Path) -> (Ending, String) {
    let number = folder.join("display");
    let log = fs::File::create(&number).expect("writable");
    let screen = format!("{}x{}x24", SIZE.0, SIZE.1);
    let server = Command::new("Xvfb")
        .args([
            "-displayfd",
            "1",
            "-nolisten",
            "tcp",
            "-screen",
            "0",
            &screen,
        ])
        .arg("-fbdir")
        .arg(folder)
        .stdout(log)
        .stderr(Stdio::null())
        .spawn();
    let server = Ending(server.expect("Xvfb is needed: `apt-get install xvfb`"));
    let began = Instant::now();
    loop {
        let text = fs::read_to_string(&number).unwrap_or_default();
        if text.ends_with('\n') {
            return (server, format!(":{}", text.trim()));
        }
        assert!(began.elapsed() < PATIENCE, "Xvfb never said its display");
        thread::sleep(BLINK);
    }
}
