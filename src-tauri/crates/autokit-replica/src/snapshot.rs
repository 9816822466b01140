//! Checksummed files that hold what a process has in memory.
//!
//! A file is a header line, `autokit <key> <length> <checksum>`, and the content. The key says of what state it is, and in
//! what form; whoever opens the file says which one it needs.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::ops::Deref;
use std::path::Path;

/// Longest header, in bytes.
const MAX_HEADER: usize = 1024;

/// The content of a file. It is mapped where a mapped file can be removed, and read elsewhere.
#[derive(Debug)]
pub struct Content {
    #[cfg(unix)]
    bytes: memmap2::Mmap,
    #[cfg(not(unix))]
    bytes: Vec<u8>,
    start: usize,
}

#[cfg(unix)]
fn load(path: &Path) -> io::Result<memmap2::Mmap> {
    let file = File::open(path)?;
    // SAFETY: nobody changes a snapshot in place: it is replaced by renaming and removed by name. Whoever truncates one
    // while it is in use ends this process, without undefined results.
    unsafe { memmap2::MmapOptions::new().populate().map(&file) }
}

#[cfg(not(unix))]
fn load(path: &Path) -> io::Result<Vec<u8>> {
    fs::read(path)
}

impl Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

fn header(key: &str, content: &[u8]) -> String {
    format!("autokit {key} {} {:08x}\n", content.len(), crc32fast::hash(content))
}

/// Returns the content of a file if it was written with this key and is undamaged; `None` otherwise,
/// also if there is no such file.
pub fn read(path: &Path, key: &str) -> Option<Content> {
    let bytes = load(path).ok()?;
    let end = bytes.iter().take(MAX_HEADER).position(|byte| *byte == b'\n')?;
    let expected = format!("autokit {key} {} ", bytes.len() - end - 1);
    let checksum = bytes[..end].strip_prefix(expected.as_bytes())?.to_vec();
    let content = Content { start: end + 1, bytes };
    (format!("{:08x}", crc32fast::hash(&content)).into_bytes() == checksum).then_some(content)
}

/// Writes a file with this key, in place of an earlier one. It is not flushed to the disk: a file that is lost or torn
/// is ignored.
///
/// # Errors
/// When it cannot be written; an earlier file is then unchanged.
pub fn write(path: &Path, key: &str, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(header(key, content).as_bytes())?;
    file.write_all(content)?;
    file.persist(path)?;
    Ok(())
}

/// Removes all snapshots in a folder. Where the system allows to flush a folder, they are gone when this returns even if
/// the power fails.
///
/// # Errors
/// When a file cannot be removed.
pub fn remove_all(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        removed => removed?,
    }
    match folder.parent() {
        Some(parent) if cfg!(unix) => File::open(parent)?.sync_all(),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_undamaged_file_with_the_key_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("snapshots/cards");
        assert!(read(&path, "7").is_none());
        let content: Vec<u8> = (0..1000_u32).flat_map(u32::to_le_bytes).collect();
        write(&path, "7", &content).expect("written");
        assert_eq!(&*read(&path, "7").expect("read"), content);
        assert!(read(&path, "8").is_none());
        let intact = fs::read(&path).expect("read");
        for at in [0, 9, 30, intact.len() - content.len(), intact.len() / 2, intact.len() - 1] {
            let mut damaged = intact.clone();
            damaged[at] ^= 1;
            fs::write(&path, &damaged).expect("written");
            assert!(read(&path, "7").is_none(), "byte {at}");
        }
        for length in [0, 5, 40, intact.len() - 1] {
            fs::write(&path, &intact[..length]).expect("written");
            assert!(read(&path, "7").is_none(), "length {length}");
        }
        fs::write(&path, [&intact[..], b"x"].concat()).expect("written");
        assert!(read(&path, "7").is_none());
        remove_all(&folder.path().join("snapshots")).expect("removed");
        remove_all(&folder.path().join("snapshots")).expect("nothing to remove");
        assert!(!path.exists());
    }
}
