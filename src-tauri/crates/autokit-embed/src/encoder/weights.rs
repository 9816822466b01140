//! Reads tensors from a safetensors file.
//!
//! The file is mapped: what is looked up by row, as word embeddings are, is read from disk only where a text needs it.

use std::collections::BTreeSet;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memmap2::Mmap;
use safetensors::Dtype;
use safetensors::tensor::Metadata;

use crate::delta::Delta;
use crate::error::{Error, Result};

/// Length in bytes of the format's length prefix.
const PREFIX: usize = 8;
/// Largest accepted table of contents. No real model comes near this; a damaged length prefix usually exceeds
/// it.
const MAX_HEADER: usize = 100 << 20;

/// An open safetensors file.
pub(crate) struct Weights {
    path: PathBuf,
    map: Arc<Mmap>,
    contents: Metadata,
    /// Offset of the tensors' bytes in the file.
    data_at: usize,
    /// Common prefix of the tensors' names, e.g. `bert.`.
    prefix: &'static str,
    /// Added to the weights as they are read.
    delta: Option<Arc<Delta>>,
    /// Weights to which the delta was added.
    changed: Mutex<BTreeSet<String>>,
}

impl Weights {
    /// Opens the file and checks that its table of contents is complete and covers the file exactly.
    pub(crate) fn open(path: &Path, delta: Option<Arc<Delta>>) -> Result<Self> {
        let bad = |reason: String| Error::BadWeights { path: path.to_path_buf(), reason };
        let file = File::open(path).map_err(Error::io("opening", path))?;
        // SAFETY: nobody changes a model's file in place: the store adds files by renaming and removes them by name.
        // Whoever truncates one in a folder of their own while it is in use ends this process, without undefined results.
        let map = unsafe { Mmap::map(&file) }.map_err(Error::io("mapping", path))?;
        let size = map.len();
        let Some(prefix) = map.first_chunk::<PREFIX>() else {
            return Err(bad(format!("it has only {size} bytes")));
        };
        let header = usize::try_from(u64::from_le_bytes(*prefix)).unwrap_or(usize::MAX);
        if header > MAX_HEADER || header > size - PREFIX {
            return Err(bad("it is truncated or not a safetensors file".to_owned()));
        }
        let contents: Metadata = serde_json::from_slice(&map[PREFIX..PREFIX + header])
            .map_err(|e| bad(format!("its table of contents is malformed: {e}")))?;
        let data_at = PREFIX + header;
        let expected = data_at + contents.data_len();
        if expected != size {
            return Err(bad(format!("it has {size} bytes, its table of contents says {expected}")));
        }
        Ok(Self {
            path: path.to_path_buf(),
            map: Arc::new(map),
            contents,
            data_at,
            prefix: "",
            delta,
            changed: Mutex::default(),
        })
    }

    /// Makes names be looked up with the first of `prefixes` under which `name` exists.
    pub(crate) fn detect_prefix(&mut self, prefixes: &[&'static str], name: &str) {
        self.prefix =
            prefixes.iter().find(|p| self.contents.info(&format!("{p}{name}")).is_some()).unwrap_or(&"");
    }

    /// Returns where a tensor is in the file. It must be f32 of exactly this shape.
    fn find(&self, name: &str, shape: &[usize]) -> Result<Range<usize>> {
        let bad = |reason: String| Error::BadWeights { path: self.path.clone(), reason };
        let name = format!("{}{name}", self.prefix);
        let info = self.contents.info(&name).ok_or_else(|| bad(format!("it has no tensor named {name}")))?;
        if info.dtype != Dtype::F32 {
            return Err(bad(format!("{name} is {:?}, and only F32 is supported", info.dtype)));
        }
        if info.shape != shape {
            return Err(bad(format!("{name} is {:?}, the configuration says {shape:?}", info.shape)));
        }
        let (from, to) = info.data_offsets;
        Ok(self.data_at + from..self.data_at + to)
    }

    /// Returns a matrix whose rows stay in the file until they are looked up; none of its numbers is read yet.
    pub(crate) fn table(&self, name: &str, shape: [usize; 2]) -> Result<Table> {
        let at = self.find(name, &shape)?;
        let weight = name.strip_suffix(".weight").unwrap_or(name);
        if self.delta.as_deref().is_some_and(|delta| delta.weights().any(|changed| changed == weight)) {
            let reason = format!("deltas of {weight} are not supported");
            return Err(Error::BadWeights { path: self.path.clone(), reason });
        }
        Ok(Table { map: Arc::clone(&self.map), at, row_bytes: shape[1] * size_of::<f32>() })
    }

    /// Reads a tensor, which must be f32 of exactly this shape, with its delta.
    pub(crate) fn read(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let bad = |reason: String| Error::BadWeights { path: self.path.clone(), reason };
        let at = self.find(name, shape)?;
        let mut numbers: Vec<f32> = numbers(&self.map[at]).collect();
        if let Some(at) = numbers.iter().position(|x| !x.is_finite()) {
            return Err(bad(format!("{name} contains a number that is not finite at {at}")));
        }
        if let (Some(delta), Some(weight)) = (&self.delta, name.strip_suffix(".weight"))
            && delta.add_to(weight, &mut numbers, shape).map_err(bad)?
        {
            self.changed().insert(weight.to_owned());
        }
        Ok(numbers)
    }

    fn changed(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that the delta was made for this network: that all of it was added.
    pub(crate) fn check_delta(&self) -> Result<()> {
        let delta = self.delta.as_deref();
        let changed = self.changed();
        match delta.and_then(|delta| delta.weights().find(|weight| !changed.contains(*weight))) {
            None => Ok(()),
            Some(weight) => Err(Error::BadWeights {
                path: self.path.clone(),
                reason: format!("the delta changes {weight}, which the network does not have"),
            }),
        }
    }
}

/// A matrix in a mapped file.
pub(crate) struct Table {
    map: Arc<Mmap>,
    at: Range<usize>,
    row_bytes: usize,
}

impl Table {
    /// Returns the numbers of a row.
    ///
    /// # Panics
    /// When there is no such row.
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = f32> + '_ {
        numbers(&self.map[self.at.clone()][row * self.row_bytes..(row + 1) * self.row_bytes])
    }
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = f32> + '_ {
    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes))
}
