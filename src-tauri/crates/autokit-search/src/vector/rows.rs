//! The rows of an index: in memory, or in a file where they are many.
//!
//! A large index is read as bytes first, and few of its rows as f32. Of a file that is mapped, the system keeps in memory
//! what is read, as long as there is room for it.

use std::fs::File;
use std::io;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

use memmap2::MmapMut;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::kernel::Lane;
use crate::stored::packed;

/// Bytes of rows from which they are kept in a file: 175,000 vectors of 384 numbers.
const IN_FILE_FROM: usize = 256 << 20;

/// The rows, one after the other.
#[derive(Debug)]
pub(super) struct Rows {
    lanes: Lanes,
    /// Where to make the file; `None` to keep them in memory.
    folder: Option<PathBuf>,
    in_file_from: usize,
}

#[derive(Debug)]
enum Lanes {
    Memory(Vec<Lane>),
    File(MappedLanes),
}

/// Lanes in a file without a name, which goes with them.
#[derive(Debug)]
struct MappedLanes {
    file: File,
    map: MmapMut,
    len: usize,
}

impl Default for Rows {
    fn default() -> Rows {
        Rows { lanes: Lanes::Memory(Vec::new()), folder: None, in_file_from: IN_FILE_FROM }
    }
}

impl Rows {
    /// Keeps the rows in a file in this folder from now on where they are many.
    pub(super) fn keep_large_in(&mut self, folder: &Path) {
        self.folder = Some(folder.to_owned());
        self.make_room(0);
    }

    /// The same from another size on.
    #[cfg(test)]
    pub(super) fn keep_in(&mut self, folder: &Path, in_file_from: usize) {
        self.in_file_from = in_file_from;
        self.keep_large_in(folder);
    }

    /// Whether the rows are in a file.
    #[cfg(test)]
    pub(super) fn are_in_file(&self) -> bool {
        matches!(self.lanes, Lanes::File(_))
    }

    /// Returns the memory in bytes, without the pages of a file.
    pub(super) fn memory(&self) -> usize {
        match &self.lanes {
            Lanes::Memory(lanes) => lanes.capacity() * size_of::<Lane>(),
            Lanes::File(_) => 0,
        }
    }

    /// Makes room for more lanes.
    pub(super) fn reserve(&mut self, more: usize) {
        self.make_room(more);
        if let Lanes::Memory(lanes) = &mut self.lanes {
            lanes.reserve(more);
        }
    }

    /// Adds lanes of zeros.
    pub(super) fn push_zeros(&mut self, count: usize) {
        self.make_room(count);
        match &mut self.lanes {
            Lanes::Memory(lanes) => lanes.resize(lanes.len() + count, Lane::ZERO),
            Lanes::File(mapped) => {
                mapped.len += count;
                let from = mapped.len - count;
                // There may have been others.
                mapped.lanes_mut()[from..].fill(Lane::ZERO);
            }
        }
    }

    /// Removes the lanes from `len` on.
    pub(super) fn truncate(&mut self, len: usize) {
        match &mut self.lanes {
            Lanes::Memory(lanes) => lanes.truncate(len),
            Lanes::File(mapped) => mapped.len = len,
        }
    }

    /// Makes room for more lanes in the file, or moves them into one where they become many. Where the disk is full they
    /// stay in memory, or go back there.
    fn make_room(&mut self, more: usize) {
        let Some(folder) = &self.folder else { return };
        let size = (self.len() + more) * size_of::<Lane>();
        let made = match &mut self.lanes {
            Lanes::Memory(_) if size < self.in_file_from => return,
            Lanes::Memory(lanes) => MappedLanes::create(folder, lanes, size).map(Some),
            Lanes::File(mapped) => mapped.make_room(size).map(|()| None),
        };
        match made {
            Ok(None) => {}
            Ok(Some(mapped)) => self.lanes = Lanes::File(mapped),
            Err(error) => {
                tracing::warn!(%error, "vectors are kept in memory");
                if let Lanes::File(mapped) = &self.lanes {
                    self.lanes = Lanes::Memory(mapped.lanes().to_vec());
                }
                self.folder = None;
            }
        }
    }
}

impl MappedLanes {
    fn create(folder: &Path, lanes: &[Lane], size: usize) -> io::Result<MappedLanes> {
        let file = tempfile::tempfile_in(folder)?;
        allocate(&file, size)?;
        // SAFETY: the file has no name, so nobody else changes it; its space is allocated.
        let map = unsafe { MmapMut::map_mut(&file)? };
        let mut mapped = MappedLanes { file, map, len: lanes.len() };
        mapped.lanes_mut().copy_from_slice(lanes);
        Ok(mapped)
    }

    fn make_room(&mut self, size: usize) -> io::Result<()> {
        if size <= self.map.len() {
            return Ok(());
        }
        allocate(&self.file, size.max(self.map.len() / 2 * 3))?;
        // SAFETY: as above.
        self.map = unsafe { MmapMut::map_mut(&self.file)? };
        Ok(())
    }

    fn lanes(&self) -> &[Lane] {
        assert!(self.len * size_of::<Lane>() <= self.map.len());
        // SAFETY: the map is at least as long, begins with a page and so is aligned, and any bytes are numbers.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast(), self.len) }
    }

    fn lanes_mut(&mut self) -> &mut [Lane] {
        assert!(self.len * size_of::<Lane>() <= self.map.len());
        // SAFETY: as above; the map is borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.map.as_mut_ptr().cast(), self.len) }
    }
}

/// Makes a file this long, with its space on the disk: writing to a mapped page without any ends the process.
#[cfg(target_os = "linux")]
fn allocate(file: &File, size: usize) -> io::Result<()> {
    Ok(rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, size as u64)?)
}

#[cfg(not(target_os = "linux"))]
fn allocate(_: &File, _: usize) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

impl Deref for Rows {
    type Target = [Lane];

    fn deref(&self) -> &[Lane] {
        match &self.lanes {
            Lanes::Memory(lanes) => lanes,
            Lanes::File(mapped) => mapped.lanes(),
        }
    }
}

impl DerefMut for Rows {
    fn deref_mut(&mut self) -> &mut [Lane] {
        match &mut self.lanes {
            Lanes::Memory(lanes) => lanes,
            Lanes::File(mapped) => mapped.lanes_mut(),
        }
    }
}

impl Serialize for Rows {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        packed::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Rows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Rows, D::Error> {
        Ok(Rows { lanes: Lanes::Memory(packed::deserialize(deserializer)?), ..Rows::default() })
    }
}
