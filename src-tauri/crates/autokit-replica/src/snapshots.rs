//! The snapshots of a library, as the process that has it open sees them.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::snapshot::{self, Content};

/// Name of the file with the number of the clean close that the snapshots are of: every process that opens the library,
/// of whatever version, raises it.
const GENERATION: &str = "generation";

/// Snapshots in a folder.
#[derive(Debug)]
pub struct Snapshots {
    folder: PathBuf,
    /// Whether they are of the state in which the library was last closed.
    valid: bool,
    /// See [`Snapshots::is_changed`].
    changed: AtomicBool,
    state: Mutex<State>,
}

/// Whether there are snapshots of the current state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Files may be there, but none was read.
    Unknown,
    /// They were read or written.
    Current,
    /// They were removed.
    Removed,
}

impl Snapshots {
    /// Those in this folder. `closed` is the number of the last close, if it was clean.
    pub fn new(folder: PathBuf, closed: Option<u64>) -> Snapshots {
        let generation = fs::read_to_string(folder.join(GENERATION)).ok();
        let valid = closed.is_some_and(|closed| generation == Some(closed.to_string()));
        Snapshots { folder, valid, changed: AtomicBool::new(false), state: Mutex::new(State::Unknown) }
    }

    /// Returns the content of a snapshot with this key, if there is one of the state in which the library was last closed.
    pub fn read(&self, name: &str, key: &str) -> Option<Content> {
        if self.valid { snapshot::read(&self.folder.join(name), key) } else { None }
    }

    /// Notes that what was read is what the library has.
    pub fn set_current(&self) {
        *self.state.lock().expect("no holder panics") = State::Current;
    }

    /// Whether there are snapshots of the current state.
    pub fn is_current(&self) -> bool {
        *self.state.lock().expect("no holder panics") == State::Current
    }

    /// Whether this process began to change something that they are made of.
    pub fn is_changed(&self) -> bool {
        self.changed.load(Ordering::Acquire)
    }

    /// Removes them before something changes that they were made of.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn remove(&self) -> io::Result<()> {
        self.changed.store(true, Ordering::Release);
        let mut state = self.state.lock().expect("no holder panics");
        if *state != State::Removed {
            snapshot::remove_all(&self.folder)?;
            *state = State::Removed;
        }
        Ok(())
    }

    /// Writes snapshots, each with its name and key, of a library that this process has not changed. None is left if a
    /// change began meanwhile.
    ///
    /// # Errors
    /// When a file cannot be written or removed.
    pub fn write(&self, files: &[(&str, String, &[u8])]) -> io::Result<()> {
        *self.state.lock().expect("no holder panics") = State::Unknown;
        if !self.valid {
            // Of an earlier state, and the next number would hold for them as well.
            snapshot::remove_all(&self.folder)?;
        }
        for (name, key, content) in files {
            snapshot::write(&self.folder.join(name), key, content)?;
        }
        let mut state = self.state.lock().expect("no holder panics");
        if self.is_changed() {
            snapshot::remove_all(&self.folder)?;
            *state = State::Removed;
        } else {
            *state = State::Current;
        }
        Ok(())
    }

    /// Notes the number of the clean close that the current ones are of, after the library was closed.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn keep(&self, closed: u64) -> io::Result<()> {
        if self.is_current() { fs::write(self.folder.join(GENERATION), closed.to_string()) } else { Ok(()) }
    }
}
