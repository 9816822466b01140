//! Reads tensors from a safetensors file one at a time, so that the whole file is never in memory.
//!
//! Memory-mapping would be shorter, but a file that is truncated while mapped ends the process.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use safetensors::Dtype;
use safetensors::tensor::Metadata;

use crate::delta::Delta;
use crate::error::{Error, Result};

/// Length in bytes of the format's length prefix.
const PREFIX: u64 = 8;
/// Largest accepted table of contents. No real model comes near this; a damaged length prefix usually exceeds
/// it.
const MAX_HEADER: u64 = 100 << 20;

/// An open safetensors file.
pub(crate) struct Weights {
    path: PathBuf,
    file: File,
    contents: Metadata,
    /// Offset of the tensors' bytes in the file.
    data_at: u64,
    /// Common prefix of the tensors' names, e.g. `bert.`.
    prefix: &'static str,
    /// Added to the weights as they are read.
    delta: Option<Arc<Delta>>,
    /// Weights to which the delta was added.
    changed: BTreeSet<String>,
}

impl Weights {
    /// Opens the file and checks that its table of contents is complete and covers the file exactly.
    pub(crate) fn open(path: &Path, delta: Option<Arc<Delta>>) -> Result<Self> {
        let bad = |reason: String| Error::BadWeights { path: path.to_path_buf(), reason };
        let mut file = File::open(path).map_err(Error::io("opening", path))?;
        let size = file.metadata().map_err(Error::io("reading", path))?.len();
        let mut prefix = [0; PREFIX as usize];
        if size < PREFIX {
            return Err(bad(format!("it has only {size} bytes")));
        }
        file.read_exact(&mut prefix).map_err(Error::io("reading", path))?;
        let header = u64::from_le_bytes(prefix);
        if header > MAX_HEADER || header > size - PREFIX {
            return Err(bad("it is truncated or not a safetensors file".to_owned()));
        }
        let mut json = vec![0; header as usize];
        file.read_exact(&mut json).map_err(Error::io("reading", path))?;
        let contents: Metadata = serde_json::from_slice(&json)
            .map_err(|e| bad(format!("its table of contents is malformed: {e}")))?;
        let data_at = PREFIX + header;
        let expected = data_at + contents.data_len() as u64;
        if expected != size {
            return Err(bad(format!("it has {size} bytes, its table of contents says {expected}")));
        }
        Ok(Self {
            path: path.to_path_buf(),
            file,
            contents,
            data_at,
            prefix: "",
            delta,
            changed: BTreeSet::new(),
        })
    }

    /// Makes names be looked up with the first of `prefixes` under which `name` exists.
    pub(crate) fn detect_prefix(&mut self, prefixes: &[&'static str], name: &str) {
        self.prefix =
            prefixes.iter().find(|p| self.contents.info(&format!("{p}{name}")).is_some()).unwrap_or(&"");
    }

    /// Reads a tensor, which must be f32 of exactly this shape.
    pub(crate) fn read(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let bad = |reason: String| Error::BadWeights { path: self.path.clone(), reason };
        let plain_name = name;
        let name = format!("{}{name}", self.prefix);
        let info = self.contents.info(&name).ok_or_else(|| bad(format!("it has no tensor named {name}")))?;
        if info.dtype != Dtype::F32 {
            return Err(bad(format!("{name} is {:?}, and only F32 is supported", info.dtype)));
        }
        if info.shape != shape {
            return Err(bad(format!("{name} is {:?}, the configuration says {shape:?}", info.shape)));
        }
        let (from, to) = info.data_offsets;
        let mut bytes = vec![0; to - from];
        self.file
            .seek(SeekFrom::Start(self.data_at + from as u64))
            .and_then(|_| self.file.read_exact(&mut bytes))
            .map_err(Error::io("reading", &self.path))?;
        let mut numbers: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
        if let Some(at) = numbers.iter().position(|x| !x.is_finite()) {
            return Err(bad(format!("{name} contains a number that is not finite at {at}")));
        }
        if let (Some(delta), Some(weight)) = (&self.delta, plain_name.strip_suffix(".weight"))
            && delta.add_to(weight, &mut numbers, shape).map_err(bad)?
        {
            self.changed.insert(weight.to_owned());
        }
        Ok(numbers)
    }

    /// Checks that the delta was made for this network: that all of it was added.
    pub(crate) fn check_delta(&self) -> Result<()> {
        let delta = self.delta.as_deref();
        match delta.and_then(|delta| delta.weights().find(|weight| !self.changed.contains(*weight))) {
            None => Ok(()),
            Some(weight) => Err(Error::BadWeights {
                path: self.path.clone(),
                reason: format!("the delta changes {weight}, which the network does not have"),
            }),
        }
    }
}
