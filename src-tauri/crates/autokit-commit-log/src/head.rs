//! The head of the commit log, stored outside the store.
//!
//! The store can lose its newest commits without noticing: its log is replayed up to the first unreadable
//! record. So the number and hash of the last acknowledged commit are also written to a small separate file,
//! and compared when the library opens.
//!
//! The file has two slots that are written alternately, in place. An interrupted write spoils one slot; the
//! other still holds the previous state. Nothing is allocated after the file was created, so that the head
//! can be written even when the disk is full.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use autokit_toolcard::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest, Sha256};

/// Bytes of a slot: one page, so that writing a slot never touches the other.
const SLOT: u64 = 4096;

/// The end of the store's log: its newest segment and that segment's length in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogPosition {
    /// Number of the segment.
    pub segment: u64,
    /// Its length in bytes.
    pub length: u64,
}

/// The file of the head cannot be read or written.
#[derive(Debug)]
pub struct HeadError {
    /// The file.
    pub path: PathBuf,
    /// The system's error.
    pub source: io::Error,
}

impl fmt::Display for HeadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.source)
    }
}

impl std::error::Error for HeadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// Acknowledged commits that the store no longer has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingCommits {
    /// Number of the first that is missing.
    pub first: u64,
    /// Number of the last that is missing.
    pub last: u64,
    /// Time of the newest commit that is still there, if there is one.
    #[serde(deserialize_with = "time_if_known")]
    pub since: Option<Timestamp>,
    /// When the loss was noticed.
    pub noticed_at: Timestamp,
}

/// Reads a time that earlier versions wrote as an empty text if there was none.
fn time_if_known<'de, D>(deserializer: D) -> Result<Option<Timestamp>, D::Error>
where
    D: Deserializer<'de>,
{
    Ok(Option::<String>::deserialize(deserializer)?.and_then(|text| text.parse().ok()))
}

/// Whether the store is closed, open, or failed a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoreState {
    /// Nobody has it open.
    #[default]
    Closed,
    /// Somebody has it open, or had when they ended.
    Open,
    /// A write failed; everything in the store's log after this position was refused.
    Failed(LogPosition),
}

/// The last acknowledged commit and the state of the store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Number of writes of this file; the slot with the higher number is newer.
    pub generation: u64,
    /// Number of the last acknowledged commit; 0 before the first.
    pub seq: u64,
    /// Its hash, hexadecimal; empty before the first.
    pub hash: String,
    /// Number of cards after it.
    pub cards: u64,
    /// Number of the last commit when the library was last closed cleanly.
    pub closed_at: u64,
    /// State of the store.
    pub state: StoreState,
    /// Losses that nobody has accepted yet.
    pub losses: Vec<MissingCommits>,
    /// When the library was opened without a head; set until somebody accepts that changes may be missing.
    #[serde(default)]
    pub missing_since: Option<Timestamp>,
}

/// The open head file.
#[derive(Debug)]
pub struct HeadFile {
    path: PathBuf,
    file: File,
    head: Head,
}

impl HeadFile {
    /// Opens or creates the file. The flag returned with it says whether it held a readable head.
    ///
    /// # Errors
    /// When it cannot be created or read.
    pub fn open(path: &Path) -> Result<(HeadFile, bool), HeadError> {
        let failed = |source| HeadError { path: path.to_owned(), source };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(failed)?;
        let known = read_slots(&mut file).map_err(failed)?;
        if file.metadata().map_err(failed)?.len() < 2 * SLOT {
            // Both slots are written once, so that later writes allocate nothing.
            let mut blank = vec![0; 2 * SLOT as usize];
            file.seek(SeekFrom::Start(0)).map_err(failed)?;
            if let Some(head) = &known {
                blank[..SLOT as usize].copy_from_slice(&encode(head).map_err(failed)?);
            }
            file.write_all(&blank).and_then(|()| file.sync_all()).map_err(failed)?;
        }
        let found = known.is_some();
        Ok((HeadFile { path: path.to_owned(), file, head: known.unwrap_or_default() }, found))
    }

    /// Reads the head without writing anything; `None` when there is no readable head.
    pub fn peek(path: &Path) -> Option<Head> {
        read_slots(&mut File::open(path).ok()?).ok().flatten()
    }

    /// Returns the head.
    pub fn get(&self) -> &Head {
        &self.head
    }

    /// Changes the head; the change is on disk when this returns.
    ///
    /// # Errors
    /// Returns an error when the head cannot be written; it is then unchanged.
    pub fn update(&mut self, change: impl FnOnce(&mut Head)) -> Result<(), HeadError> {
        let mut next = self.head.clone();
        change(&mut next);
        next.generation += 1;
        let slot = (next.generation % 2) * SLOT;
        let written = encode(&next).and_then(|bytes| {
            self.file.seek(SeekFrom::Start(slot))?;
            self.file.write_all(&bytes)?;
            self.file.sync_data()
        });
        written.map_err(|source| HeadError { path: self.path.clone(), source })?;
        self.head = next;
        Ok(())
    }
}

/// Returns the newer of the readable slots.
fn read_slots(file: &mut File) -> io::Result<Option<Head>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(2 * SLOT).read_to_end(&mut bytes)?;
    let heads = bytes.chunks(SLOT as usize).filter_map(decode);
    Ok(heads.max_by_key(|head| head.generation))
}

/// Encodes a slot: JSON, its checksum, and zeros up to the slot's size.
fn encode(head: &Head) -> io::Result<Vec<u8>> {
    let mut head = head.clone();
    loop {
        let text = serde_json::to_string(&head)?;
        let mut bytes = format!("{text}\n{}\n", hex::encode(Sha256::digest(&text))).into_bytes();
        if bytes.len() <= SLOT as usize {
            bytes.resize(SLOT as usize, 0);
            return Ok(bytes);
        }
        // Two adjacent losses are merged into one that spans both; some thirty fit.
        let Some(last) = head.losses.pop() else {
            return Err(io::Error::other("the head does not fit into its slot"));
        };
        match head.losses.last_mut() {
            Some(before) => before.last = last.last,
            None => return Err(io::Error::other("the head does not fit into its slot")),
        }
    }
}

fn decode(slot: &[u8]) -> Option<Head> {
    let mut lines = slot.split(|byte| *byte == b'\n');
    let (text, checksum) = (lines.next()?, lines.next()?);
    (hex::encode(Sha256::digest(text)).as_bytes() == checksum).then_some(())?;
    serde_json::from_slice(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_write_leaves_the_previous_head() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("head");
        let (mut file, found) = HeadFile::open(&path).expect("made");
        assert!(!found);
        for seq in 1..=3 {
            file.update(|head| head.seq = seq).expect("written");
        }
        drop(file);
        let intact = std::fs::read(&path).expect("read");
        // The third write went to the second slot.
        let newest = SLOT as usize;
        for cut in [0, 1, 17, 60] {
            let mut torn = intact.clone();
            torn[newest + cut..newest + SLOT as usize].fill(0);
            std::fs::write(&path, &torn).expect("written");
            assert_eq!(HeadFile::peek(&path).map(|head| head.seq), Some(2), "cut after {cut} bytes");
        }
        std::fs::write(&path, &intact).expect("written");
        let (file, found) = HeadFile::open(&path).expect("opened");
        assert!(found);
        assert_eq!(file.get().seq, 3);
    }

    #[test]
    fn any_flipped_bit_spoils_its_slot_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("head");
        let (mut file, _) = HeadFile::open(&path).expect("made");
        for seq in 1..=2 {
            file.update(|head| head.seq = seq).expect("written");
        }
        let intact = std::fs::read(&path).expect("read");
        let text = intact.iter().position(|byte| *byte == b'\n').expect("a line") + 65;
        for bit in 0..text * 8 {
            let mut flipped = intact.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, &flipped).expect("written");
            let seq = HeadFile::peek(&path).map(|head| head.seq);
            assert_eq!(seq, Some(1), "bit {bit}");
        }
    }

    #[test]
    fn many_losses_are_merged_into_fewer() {
        let mut head = Head::default();
        for n in 0..200 {
            let at = "2026-11-22T10:00:00.000Z".parse().expect("a time");
            head.losses.push(MissingCommits { first: n, last: n, since: Some(at), noticed_at: at });
        }
        let read = decode(&encode(&head).expect("fits")).expect("read");
        assert_eq!((read.losses[0].first, read.losses.last().expect("one").last), (0, 199));
    }
}
