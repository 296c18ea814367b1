//! Ctrl-C: nothing is on the disk before the files are written, and while they
//! are, it waits until they are whole.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held while files are written.
static WRITING: Mutex<Written> = Mutex::new(Written(false));

/// Whether the files are there.
pub struct Written(bool);

/// What a shell says of a program that was interrupted.
const INTERRUPTED: i32 = 130;

/// Ends the program when it is asked to, but not while it writes.
pub fn listen() {
    let end = || {
        let written = lock();
        match written.0 {
            false => eprintln!("\nerror: interrupted; nothing was written"),
            true => eprintln!("\nerror: interrupted; all files were written"),
        }
        std::process::exit(INTERRUPTED);
    };
    // Where the system cannot tell of it, it ends the program itself.
    let _ = ctrlc::set_handler(end);
}

/// Lets nobody end the program until this is dropped.
pub fn hold() -> MutexGuard<'static, Written> {
    lock()
}

impl Written {
    /// Everything was written.
    pub fn complete(&mut self) {
        self.0 = true;
    }
}

fn lock() -> MutexGuard<'static, Written> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}
