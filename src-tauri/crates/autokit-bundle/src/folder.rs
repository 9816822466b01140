//! A bundle as a folder: one file per card, in a stable order and layout, so that diffs are readable.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use autokit_toolcard::CardId;
use sha2::{Digest, Sha256};

use crate::bundle::Bundle;
use crate::content::{
    BundleCard, BundleContents, BundleFile, CardLine, FORMAT, HistoryLine, ReadCardLine, VectorLine,
};
use crate::error::{Error, Result};
use crate::file::{MANIFEST, SIGNATURE, digest_of, read_manifest};
use crate::limits;
use crate::lines::{BundleReader, write_card, write_part, write_past};
use crate::secrets::refuse_secrets;
use crate::sign::{Signature, SigningKey};

/// Folder of the cards.
const CARDS: &str = "cards";
/// Folder of the cards' earlier revisions.
const HISTORY: &str = "history";
/// Marks a folder as ours with an export still in progress. It is written before anything else and removed
/// after everything else.
const UNFINISHED: &str = ".autokit-unfinished";
/// Prefix and suffix of temporary files, by which the remains of an interrupted export are recognised.
const PARTIAL: (&str, &str) = (".autokit-", ".tmp");

/// The name of a card's file, without extension. Ids that some file system would alter are replaced by a name
/// made from their hash. A card's id is always read from the file, never from its name.
fn file_name(id: &CardId) -> String {
    const LONGEST: usize = 120;
    const RESERVED: [&str; 6] = ["con", "prn", "aux", "nul", "com", "lpt"];
    let text = id.as_str();
    let plain = text.len() <= LONGEST
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-._".contains(&b))
        && !text.starts_with('.')
        && !text.ends_with('.');
    let stem = text.split('.').next().unwrap_or(text).trim_end_matches(|c: char| c.is_ascii_digit());
    if plain && !RESERVED.contains(&stem) {
        text.to_owned()
    } else {
        format!("card-{}", hex::encode(&Sha256::digest(text.as_bytes())[..16]))
    }
}

/// Writes a bundle into a folder and returns its digest. Files of cards that are no longer in the bundle are
/// removed; anything else in the folder stays.
///
/// # Errors
/// [`Error::Secrets`]; [`Error::Place`] when the folder holds files that are not ours, or links;
/// [`Error::Newer`] when a later version wrote it; [`Error::Io`]. With any error but the last, nothing was
/// changed.
pub fn write_folder(dir: &Path, contents: &BundleContents, key: Option<&SigningKey>) -> Result<String> {
    refuse_secrets(contents)?;
    let existing = check_target(dir)?;
    let sealed = contents.with_checksums()?.to_text();
    fs::create_dir_all(dir)?;
    put(&dir.join(UNFINISHED), format!("{FORMAT}\n").as_bytes())?;
    fs::create_dir_all(dir.join(CARDS))?;
    if contents.history {
        fs::create_dir_all(dir.join(HISTORY))?;
    }
    let mut written = BTreeSet::new();
    for entry in &contents.cards {
        let name = file_name(&entry.id);
        let card = format!("{CARDS}/{name}.json");
        put(&dir.join(&card), &pretty(entry)?)?;
        written.insert(card);
        if !entry.history.is_empty() {
            let mut lines = Vec::new();
            for past in &entry.history {
                write_past(&entry.id, past, &mut lines)?;
            }
            let history = format!("{HISTORY}/{name}.jsonl");
            put(&dir.join(&history), &lines)?;
            written.insert(history);
        }
    }
    if contents.vectors.is_some() {
        let mut lines = Vec::new();
        write_part(BundleFile::Vectors, contents, &mut lines)?;
        put(&dir.join(BundleFile::Vectors.name()), &lines)?;
        written.insert(BundleFile::Vectors.name().to_owned());
    }
    if let Some(key) = key {
        let signature = key.sign(sealed.as_bytes(), &contents.about.author).to_text();
        put(&dir.join(SIGNATURE), signature.as_bytes())?;
        written.insert(SIGNATURE.to_owned());
    }
    for name in existing.difference(&written) {
        remove(&dir.join(name))?;
    }
    put(&dir.join(MANIFEST), contents.manifest().to_text().as_bytes())?;
    // Last: once this file is gone, the folder is a complete bundle.
    remove(&dir.join(UNFINISHED))?;
    Ok(digest_of(sealed.as_bytes()))
}

/// Lists the files of an earlier export in a folder, except `bundle.json`. Those that are not written again
/// will be removed, so the content of each is checked to be ours. A folder that is not a bundle, or where one
/// of our file names is taken by someone else's file or link, is refused.
fn check_target(dir: &Path) -> Result<BTreeSet<String>> {
    let mut ours = BTreeSet::new();
    let names = names_in(dir)?;
    let marked = contains_file(dir, UNFINISHED)?;
    if marked && text_of(&dir.join(UNFINISHED), limits::MANIFEST_BYTES)?.trim() != FORMAT {
        return Err(foreign_file(UNFINISHED));
    }
    if contains_file(dir, MANIFEST)? {
        let manifest = read_manifest(&text_of(&dir.join(MANIFEST), limits::MANIFEST_BYTES)?);
        manifest.map_err(|error| match error {
            Error::Newer { .. } => error,
            _ => foreign_file(MANIFEST),
        })?;
    } else if !marked {
        let is_ignored =
            |name: &&String| name.starts_with('.') || name.starts_with("README") || name.starts_with("LICEN");
        return match names.iter().find(|name| !is_ignored(name)) {
            Some(name) => Err(Error::Place(format!(
                "the folder contains {name:?} but no `{MANIFEST}`, so it is not a bundle; choose an empty folder"
            ))),
            None => Ok(ours),
        };
    }
    ours.extend(names.into_iter().filter(|name| is_partial(name)));
    for (folder, ending) in [(CARDS, ".json"), (HISTORY, ".jsonl")] {
        match fs::symlink_metadata(dir.join(folder)) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => {
                return Err(Error::Place(format!("{folder:?} in the folder is not a folder")));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error.into()),
        }
        for name in names_in(&dir.join(folder))? {
            let card = name.ends_with(ending) && !name.starts_with('.');
            if card || is_partial(&name) {
                ours.insert(format!("{folder}/{name}"));
            }
        }
    }
    for name in [BundleFile::Vectors.name(), SIGNATURE] {
        if contains_file(dir, name)? {
            ours.insert(name.to_owned());
        }
    }
    for name in &ours {
        if !contains_file(dir, name)? || !is_bundle_file(dir, name)? {
            return Err(foreign_file(name));
        }
    }
    Ok(ours)
}

fn foreign_file(name: &str) -> Error {
    Error::Place(format!(
        "{name:?} in the folder was not written by AutoKit; move it away, or choose an empty folder"
    ))
}

/// Whether a name is that of a temporary file.
fn is_partial(name: &str) -> bool {
    name.starts_with(PARTIAL.0) && name.ends_with(PARTIAL.1)
}

/// Whether there is a file of this name. A link or a folder is refused: its target belongs to someone else.
fn contains_file(dir: &Path, name: &str) -> Result<bool> {
    match fs::symlink_metadata(dir.join(name)) {
        Ok(metadata) if metadata.is_file() => Ok(true),
        Ok(_) => Err(Error::Place(format!("{name:?} in the folder is a link or a folder, not a file"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Whether a file's content is what we write under such a name.
fn is_bundle_file(dir: &Path, name: &str) -> Result<bool> {
    let path = dir.join(name);
    let bytes = fs::symlink_metadata(&path)?.len();
    // An empty file may be removed without loss; a power cut can leave one behind.
    if bytes == 0 || name.rsplit('/').next().is_some_and(is_partial) {
        return Ok(true);
    }
    if bytes > limits::UNPACKED_BYTES {
        return Ok(false);
    }
    let text = match text_of(&path, bytes) {
        Ok(text) => text,
        Err(Error::Io(error)) => return Err(error.into()),
        Err(_) => return Ok(false),
    };
    let each = |fits: fn(&str) -> bool| text.lines().all(fits);
    Ok(if name.starts_with(CARDS) {
        serde_json::from_str::<CardLine<'_>>(&text).is_ok()
    } else if name.starts_with(HISTORY) {
        each(|line| serde_json::from_str::<HistoryLine<'_>>(line).is_ok())
    } else if name == SIGNATURE {
        Signature::is_signature_text(&text)
    } else {
        each(|line| serde_json::from_str::<VectorLine<'_>>(line).is_ok())
    })
}

/// The entries of a folder; none if the folder does not exist.
fn entries_of(dir: &Path) -> Result<impl Iterator<Item = io::Result<fs::DirEntry>>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => Some(entries),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error.into()),
    };
    Ok(entries.into_iter().flatten())
}

/// The sorted names in a folder.
fn names_in(dir: &Path) -> Result<Vec<String>> {
    // Our own names are plain ASCII, so the lossy conversion does not change them.
    let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    let mut names = entries_of(dir)?.map(name).collect::<Result<Vec<String>>>()?;
    names.sort();
    Ok(names)
}

fn pretty(entry: &BundleCard) -> Result<Vec<u8>> {
    let mut line = Vec::new();
    write_card(entry, &mut line)?;
    let value: serde_json::Value = serde_json::from_slice(&line).map_err(io::Error::from)?;
    let mut text = serde_json::to_vec_pretty(&value).map_err(io::Error::from)?;
    text.push(b'\n');
    Ok(text)
}

/// Writes a file atomically; leaves a file with the same content alone.
fn put(path: &Path, content: &[u8]) -> io::Result<()> {
    let same = fs::symlink_metadata(path).is_ok_and(|existing| existing.len() == content.len() as u64);
    if same && fs::read(path).is_ok_and(|existing| existing == content) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(PARTIAL.0).suffix(PARTIAL.1).tempfile_in(folder)?;
    file.write_all(content)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
    }
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The files of a folder with this extension and their sizes, sorted by name.
fn files_in(dir: &Path, ending: &str) -> Result<Vec<(String, u64)>> {
    let mut files = Vec::new();
    for entry in entries_of(dir)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if !name.ends_with(ending) || name.starts_with('.') {
            continue;
        }
        // Links are not followed: one could lead to any file the reader may access.
        let metadata = entry.metadata()?;
        if !metadata.is_file() {
            return Err(Error::Foreign { what: format!("{name:?} as something other than a file") });
        }
        files.push((name, metadata.len()));
        if files.len() > limits::CARDS {
            return Err(Error::TooLarge { what: format!("more than {} files", limits::CARDS) });
        }
    }
    files.sort();
    Ok(files)
}

/// Reads a file of at most `most` bytes that is not a link.
fn text_of(path: &Path, most: u64) -> Result<String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_file() {
        return Err(Error::Foreign { what: format!("{name:?} as something other than a file") });
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(Error::TooLarge { what: format!("`{name}` has more than {} KiB", most >> 10) });
    }
    String::from_utf8(bytes).map_err(|_| Error::Damaged { file: name, why: "it is not UTF-8".to_owned() })
}

/// Reads a bundle from a folder.
///
/// # Errors
/// Any variant of [`Error`] except [`Error::Secrets`].
pub fn read_folder(dir: &Path) -> Result<Bundle> {
    if fs::symlink_metadata(dir.join(UNFINISHED)).is_ok() {
        return Err(Error::Unfinished);
    }
    let path = dir.join(MANIFEST);
    if !path.exists() {
        return Err(Error::NotABundle(format!("the folder does not contain `{MANIFEST}`")));
    }
    let mut manifest = read_manifest(&text_of(&path, limits::MANIFEST_BYTES)?)?;
    let mut remaining = limits::UNPACKED_BYTES;
    let mut spend = |bytes: u64| -> Result<()> {
        remaining = remaining.checked_sub(bytes).ok_or_else(|| Error::TooLarge {
            what: format!("more than {} MiB in all", limits::UNPACKED_BYTES >> 20),
        })?;
        Ok(())
    };
    let mut reading = BundleReader::default();
    for folder in [CARDS, HISTORY] {
        // The folder itself must not be a link either.
        if fs::symlink_metadata(dir.join(folder)).is_ok_and(|metadata| !metadata.is_dir()) {
            return Err(Error::Foreign { what: format!("{folder:?} as something other than a folder") });
        }
    }
    let cards = files_in(&dir.join(CARDS), ".json")?;
    // The number in the manifest is stale after branches were merged.
    manifest.cards = cards.len() as u32;
    for (name, bytes) in cards {
        spend(bytes)?;
        let text = text_of(&dir.join(CARDS).join(&name), limits::LINE_BYTES as u64)?;
        let damaged = |why: String| Error::Damaged { file: format!("{CARDS}/{name}"), why };
        let line: ReadCardLine<'_> =
            serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        reading.read_card(line).map_err(damaged)?;
    }
    for (name, bytes) in files_in(&dir.join(HISTORY), ".jsonl")? {
        spend(bytes)?;
        let text = text_of(&dir.join(HISTORY).join(&name), limits::UNPACKED_BYTES.min(bytes + 1))?;
        for (at, line) in text.lines().enumerate() {
            let damaged = |why: String| Error::Damaged {
                file: format!("{HISTORY}/{name}"),
                why: format!("line {}: {why}", at + 1),
            };
            if line.len() > limits::LINE_BYTES {
                return Err(damaged("it is too long".to_owned()));
            }
            if line.trim().is_empty() {
                return Err(damaged("it is empty".to_owned()));
            }
            let line: HistoryLine<'_> =
                serde_json::from_str(line).map_err(|error| damaged(error.to_string()))?;
            reading.read_past(line).map_err(damaged)?;
        }
    }
    let vectors = dir.join(BundleFile::Vectors.name());
    if manifest.vectors.is_some() && vectors.exists() {
        let bytes = fs::symlink_metadata(&vectors)?.len();
        spend(bytes)?;
        for (at, line) in text_of(&vectors, bytes)?.lines().enumerate() {
            reading.read_line(BundleFile::Vectors, at + 1, line)?;
        }
    }
    // The order of the single-file form, independent of file names.
    reading.cards.sort_by(|a, b| a.id.cmp(&b.id));
    let rejected = reading.rejected.len();
    let mut bundle = reading.finish(manifest, String::new(), None)?;
    let sealed = bundle.contents.with_checksums()?.to_text();
    bundle.digest = digest_of(sealed.as_bytes());
    let signature = dir.join(SIGNATURE);
    if signature.exists() {
        if rejected > 0 {
            return Err(Error::Signature("the folder contains cards that cannot be read".to_owned()));
        }
        bundle.signature =
            Some(Signature::check(&text_of(&signature, limits::MANIFEST_BYTES)?, sealed.as_bytes())?);
    }
    Ok(bundle)
}
