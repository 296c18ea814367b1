//! The program `erode`, by its process.

mod bakes;
mod errors;
mod files;
#[path = "../files/folder.rs"]
mod folder;
#[cfg(unix)]
mod interrupt;
mod previews;
mod rivers;
mod scenes;
mod settings;

use folder::Folder;
use serde_json::Value;
use std::{
    path::Path,
    process::{Command, Output},
};

/// The program, in a folder of its own.
fn program(folder: &Folder) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headless_erode"));
    // It must do without either.
    command.current_dir(folder.file("")).env_remove("DISPLAY");
    command.env("VK_DRIVER_FILES", "/nonexistent");
    command
}

/// What a run gave: exit code, standard output and standard error.
struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).expect("text"),
            err: String::from_utf8(output.stderr).expect("text"),
        }
    }
}

/// Runs the program with a line of arguments, of which none has blanks.
fn erode(folder: &Folder, line: &str) -> Run {
    let output = program(folder).args(line.split_whitespace()).output();
    output.expect("the program starts").into()
}

/// The report of a run that must succeed.
fn report(folder: &Folder, line: &str) -> Value {
    let run = erode(folder, &format!("{line} --json"));
    assert_eq!(run.code, Some(0), "{line}: {}", run.err);
    serde_json::from_str(&run.out).expect("a report")
}

/// Hills of 64 × 64 cells of 4 m, of rough slopes.
fn make_hills(folder: &Folder, name: &str) -> Value {
    let land = "generate fbm --seed 3 --set height=120 --set feature_size=150";
    report(
        folder,
        &format!("{land} --size 64x64 --cell-size 4 --out {name}"),
    )
}

/// Names of all files in a folder, hidden ones too.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into()
        })
        .collect();
    names.sort();
    names
}
