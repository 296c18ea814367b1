//! Ctrl-C: neither the output nor a temporary file is left.

use super::{make_hills, names, program};
use crate::folder::Folder;
use std::{
    fs,
    io::{BufRead, BufReader, Read},
    process::{Command, Stdio},
};

#[test]
fn an_interrupted_bake_leaves_nothing() {
    let folder = Folder::new("cli-interrupt");
    make_hills(&folder, "land.png");
    fs::write(folder.file("out.png"), "old").expect("writable");
    // More than anybody waits for.
    let line = "land.png --model droplets --droplets 9000000000000 --out out.png \
                    --masks masks --preview view.png --json";
    let mut child = program(&folder)
        .args(line.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    let mut said = BufReader::new(child.stderr.take().expect("piped"));
    let mut first = String::new();
    said.read_line(&mut first).expect("a line");
    assert!(first.starts_with("pass 1 of 1: droplets"), "{first}");

    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status();
    assert!(sent.expect("sent").success());
    let code = child.wait().expect("ended").code();
    let mut rest = String::new();
    said.read_to_string(&mut rest).expect("text");
    assert_eq!(code, Some(130), "{rest}");
    assert!(rest.contains("interrupted; nothing was written"), "{rest}");
    let mut out = String::new();
    let stdout = child.stdout.as_mut().expect("piped");
    stdout.read_to_string(&mut out).expect("text");
    assert_eq!(out, "", "no report");
    assert_eq!(names(&folder.file("")), ["land.png", "out.png"]);
    assert_eq!(fs::read(folder.file("out.png")).expect("there"), b"old");
}
