//! A folder for the files of one test.

use std::{env, fs, path::PathBuf, process};

/// A new, empty folder that is removed afterwards.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("bevy_erode-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).expect("a new folder");
        Self(path)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
