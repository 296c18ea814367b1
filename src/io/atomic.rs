//! Whole files: read within bounds, written so that the old one stays until the
//! new one is complete.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Read, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

/// Reads a file of at most `limit` bytes.
pub(super) fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let about = file.metadata()?;
    // A pipe or a device may never end.
    if !about.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        ));
    }
    if about.len() > limit {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!(
                "file too large: {} bytes, the limit is {limit}",
                about.len()
            ),
        ));
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(about.len() as usize)?;
    // It may grow while it is read.
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes a file under a temporary name in the same folder, and renames it when all
/// of it is on the disk. On an error the old file is unchanged. A symbolic link stays
/// a link: the file that it points to gets the new content. Permissions are kept.
pub(super) fn write<E: From<io::Error>>(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.into());
    let (temporary, file) = create_temporary(path)?;
    // If anything fails before the rename, the temporary file is removed.
    let mut guard = Temporary(Some(temporary.clone()));
    if let Ok(old) = fs::metadata(path) {
        fs::set_permissions(&temporary, old.permissions())?;
    }
    let mut file = BufWriter::with_capacity(1 << 20, file);
    content(&mut file)?;
    let file = file.into_inner().map_err(|error| error.into_error())?;
    file.sync_all()?;
    drop(file);
    fs::rename(&temporary, path)?;
    guard.0 = None;
    // The folder's entry should last too. Not all systems can do that, and the
    // file is complete either way.
    if let Some(folder) = path.parent()
        && let Ok(folder) = File::open(non_empty(folder))
    {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Creates a file beside another, with a name that is not in use. A program that was
/// killed may have left some behind, and have had the same process id.
fn create_temporary(path: &Path) -> io::Result<(PathBuf, File)> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    if path.file_name().is_none() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the path has no file name",
        ));
    }
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".erode-{}-{number}.tmp", std::process::id());
        let temporary = path.with_file_name(name);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary);
        match file {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

fn non_empty(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    }
}

/// Removes a file that did not become the real one.
struct Temporary(Option<PathBuf>);

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    /// A new, empty folder that is removed afterwards.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir(&path).expect("a new folder");
            Self(path)
        }

        fn names(&self) -> Vec<OsString> {
            let entries = fs::read_dir(&self.0).expect("a folder");
            entries
                .map(|entry| entry.expect("an entry").file_name())
                .collect()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_failing_write_leaves_the_old_file() {
        let folder = Folder::new("erode-atomic-fail");
        let path = folder.0.join("land");
        fs::write(&path, "old").expect("writable");
        let result = write(&path, |file| {
            file.write_all(&[7; 4 << 20])?;
            Err(io::Error::other("the disk is full"))
        });
        assert_eq!(result.unwrap_err().to_string(), "the disk is full");
        assert_eq!(fs::read(&path).expect("still there"), b"old");
        assert_eq!(folder.names(), ["land"], "nothing else is left");
    }

    #[test]
    fn a_panicking_write_leaves_the_old_file() {
        let folder = Folder::new("erode-atomic-panic");
        let path = folder.0.join("land");
        fs::write(&path, "old").expect("writable");
        let torn = std::panic::catch_unwind(|| {
            write::<io::Error>(&path, |file| {
                file.write_all(b"half of the ne")?;
                std::panic::panic_any("torn")
            })
        });
        assert!(torn.is_err());
        assert_eq!(fs::read(&path).expect("still there"), b"old");
        assert_eq!(folder.names(), ["land"], "nothing else is left");
    }

    #[test]
    fn a_write_replaces_the_old_file() {
        let folder = Folder::new("erode-atomic-replace");
        let path = folder.0.join("land");
        for content in ["old", "new and longer", ""] {
            write::<io::Error>(&path, |file| file.write_all(content.as_bytes())).expect("writable");
            assert_eq!(fs::read(&path).expect("there"), content.as_bytes());
        }
        assert_eq!(folder.names(), ["land"]);
        let nowhere = folder.0.join("no folder").join("land");
        let error = write::<io::Error>(&nowhere, |_| Ok(())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn reading_is_bounded() {
        let folder = Folder::new("erode-atomic-read");
        let path = folder.0.join("land");
        fs::write(&path, [1; 100]).expect("writable");
        assert_eq!(read(&path, 100).expect("fits").len(), 100);
        assert_eq!(
            read(&path, 99).unwrap_err().kind(),
            io::ErrorKind::FileTooLarge
        );
        assert!(read(&folder.0, 100).is_err(), "a folder is not a file");
    }

    #[test]
    fn what_a_killed_program_left_is_not_in_the_way() {
        let folder = Folder::new("erode-atomic-left");
        let path = folder.0.join("land");
        // Many numbers on from now; other tests take some of them.
        for number in 0..200 {
            let name = format!(".erode-{}-{number}.tmp", std::process::id());
            fs::write(folder.0.join(name), "half").expect("writable");
        }
        write::<io::Error>(&path, |file| file.write_all(b"whole")).expect("writable");
        assert_eq!(fs::read(&path).expect("there"), b"whole");
        assert_eq!(folder.names().len(), 201);
        let long = folder.0.join("l".repeat(250));
        write::<io::Error>(&long, |file| file.write_all(b"long")).expect("a legal name");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = Folder::new("erode-atomic-link");
        let (path, link) = (folder.0.join("land"), folder.0.join("link"));
        fs::write(&path, "old").expect("writable");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("ours");
        symlink(&path, &link).expect("a link");
        write::<io::Error>(&link, |file| file.write_all(b"new")).expect("writable");
        assert_eq!(fs::read(&path).expect("there"), b"new");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        let mode = fs::metadata(&path).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
