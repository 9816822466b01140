//! A bundle as a single ZIP file.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};

use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use crate::bundle::Bundle;
use crate::content::{BundleContents, BundleFile, FORMAT, FileChecksum, Manifest, VERSION};
use crate::error::{Error, Result};
use crate::limits;
use crate::lines::{BundleReader, check_label, check_note, sanitized_info, write_part};
use crate::secrets::refuse_secrets;
use crate::sign::{Signature, SigningKey};

/// Name of the manifest.
pub(crate) const MANIFEST: &str = "bundle.json";
/// Name of the signature file.
pub(crate) const SIGNATURE: &str = "signature.json";

/// A writer that counts and hashes what is written to it.
struct HashingWriter {
    hash: Sha256,
    bytes: u64,
}

impl Write for HashingWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl BundleContents {
    fn has(&self, part: BundleFile) -> bool {
        match part {
            BundleFile::Cards => true,
            BundleFile::History => self.history,
            BundleFile::Vectors => self.vectors.is_some(),
        }
    }

    /// The manifest without the list of files.
    pub(crate) fn manifest(&self) -> Manifest {
        Manifest {
            format: FORMAT.to_owned(),
            version: VERSION,
            about: sanitized_info(&self.about),
            cards: self.cards.len() as u32,
            history: self.history,
            vectors: self.vectors.clone(),
            names: self.names.clone(),
            synonyms: self.synonyms.clone(),
            files: Vec::new(),
        }
    }

    /// The manifest with the checksums of the files.
    pub(crate) fn with_checksums(&self) -> io::Result<Manifest> {
        let mut manifest = self.manifest();
        for part in BundleFile::ALL.into_iter().filter(|part| self.has(*part)) {
            // Each file is serialized twice, here and when it is written, rather than kept: a large library
            // would fill the memory.
            let mut sum = HashingWriter { hash: Sha256::new(), bytes: 0 };
            write_part(part, self, &mut sum)?;
            let sha256 = hex::encode(sum.hash.finalize());
            manifest.files.push(FileChecksum { name: part.name().to_owned(), bytes: sum.bytes, sha256 });
        }
        Ok(manifest)
    }
}

/// Writes a bundle as one file and returns its digest. The same content gives the same bytes.
///
/// # Errors
/// [`Error::Secrets`] when the bundle would contain an API key or password; [`Error::Io`].
pub fn write_file(
    out: impl Write + Seek,
    contents: &BundleContents,
    key: Option<&SigningKey>,
) -> Result<String> {
    refuse_secrets(contents)?;
    let manifest = contents.with_checksums()?.to_text();
    let mut zip = ZipWriter::new(out);
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644)
        .large_file(true);
    let begin = |zip: &mut ZipWriter<_>, name: &str| {
        zip.start_file(name, options).map_err(|error| Error::Io(io::Error::other(error)))
    };
    begin(&mut zip, MANIFEST)?;
    zip.write_all(manifest.as_bytes())?;
    if let Some(key) = key {
        begin(&mut zip, SIGNATURE)?;
        zip.write_all(key.sign(manifest.as_bytes(), &contents.about.author).to_text().as_bytes())?;
    }
    for part in BundleFile::ALL.into_iter().filter(|part| contents.has(*part)) {
        begin(&mut zip, part.name())?;
        let mut out = io::BufWriter::with_capacity(64 << 10, &mut zip);
        write_part(part, contents, &mut out)?;
        out.flush()?;
    }
    zip.finish().map_err(|error| Error::Io(io::Error::other(error)))?;
    Ok(digest_of(manifest.as_bytes()))
}

/// Returns the SHA-256 in hexadecimal that identifies a bundle or a file.
pub fn digest_of(manifest: &[u8]) -> String {
    hex::encode(Sha256::digest(manifest))
}

/// Reads a bundle from a single file.
///
/// # Errors
/// Any variant of [`Error`] except [`Error::Secrets`].
pub fn read_file(mut input: impl Read + Seek) -> Result<Bundle> {
    let bytes = input.seek(SeekFrom::End(0))?;
    if bytes > limits::FILE_BYTES {
        return Err(Error::TooLarge { what: format!("more than {} MiB", limits::FILE_BYTES >> 20) });
    }
    let listed = entries_listed(&mut input, bytes)?;
    input.seek(SeekFrom::Start(0))?;
    let mut zip = ZipArchive::new(input).map_err(|error| Error::NotABundle(error.to_string()))?;
    check_names(&mut zip, listed)?;
    let text = read_small_file(&mut zip, MANIFEST)?
        .ok_or_else(|| Error::NotABundle(format!("it does not contain `{MANIFEST}`")))?;
    let manifest = read_manifest(&text)?;
    check_lists(&manifest, &zip)?;
    let signature = read_small_file(&mut zip, SIGNATURE)?
        .map(|signature| Signature::check(&signature, text.as_bytes()))
        .transpose()?;
    let mut reading = BundleReader::default();
    for part in BundleFile::ALL {
        let Some(sum) = manifest.files.iter().find(|file| file.name == part.name()) else { continue };
        let file = zip.by_name(part.name()).map_err(|error| damaged(part.name(), &error))?;
        read_part(part, file, sum, &mut reading)?;
    }
    reading.finish(manifest, digest_of(text.as_bytes()), signature)
}

fn damaged(file: &str, why: &dyn std::fmt::Display) -> Error {
    Error::Damaged { file: file.to_owned(), why: why.to_string() }
}

/// Reads the number of entries from the end-of-central-directory record. Of two entries with the same name
/// the ZIP reader shows only one; the count reveals the other.
fn entries_listed(input: &mut (impl Read + Seek), bytes: u64) -> Result<usize> {
    /// Size of the record plus the longest comment that may follow it.
    const END: u64 = 22 + 65_535;
    input.seek(SeekFrom::Start(bytes.saturating_sub(END)))?;
    let mut tail = Vec::new();
    input.take(END).read_to_end(&mut tail)?;
    let at = tail.windows(4).rposition(|four| four == b"PK\x05\x06");
    let count = at.and_then(|at| tail.get(at + 10..at + 12)).map(|two| u16::from_le_bytes([two[0], two[1]]));
    count.map(usize::from).ok_or_else(|| Error::NotABundle("it is not a ZIP file".to_owned()))
}

fn check_names<R: Read + Seek>(zip: &mut ZipArchive<R>, listed: usize) -> Result<()> {
    if zip.len() != listed {
        return Err(Error::Foreign { what: "two files with the same name".to_owned() });
    }
    for at in 0..zip.len() {
        let file = zip.by_index_raw(at).map_err(|error| Error::NotABundle(error.to_string()))?;
        let name = file.name().map_err(|error| Error::NotABundle(error.to_string()))?.into_owned();
        let known = [MANIFEST, SIGNATURE].contains(&name.as_str())
            || BundleFile::ALL.iter().any(|part| part.name() == name);
        if !known {
            let name: String = name.chars().take(80).collect();
            return Err(Error::Foreign { what: format!("a file {name:?}") });
        }
        if file.is_symlink() || file.is_dir() {
            return Err(Error::Foreign { what: format!("{name:?} as something other than a file") });
        }
        if file.encrypted() {
            return Err(Error::NotABundle(format!("`{name}` is encrypted")));
        }
    }
    Ok(())
}

/// Reads a file of at most [`limits::MANIFEST_BYTES`]; `None` if there is none.
fn read_small_file<R: Read + Seek>(zip: &mut ZipArchive<R>, name: &str) -> Result<Option<String>> {
    let file = match zip.by_name(name) {
        Ok(file) => file,
        Err(zip::result::ZipError::FileNotFound) => return Ok(None),
        Err(error) => return Err(damaged(name, &error)),
    };
    let mut text = Vec::new();
    file.take(limits::MANIFEST_BYTES + 1).read_to_end(&mut text).map_err(|error| damaged(name, &error))?;
    if text.len() as u64 > limits::MANIFEST_BYTES {
        return Err(Error::TooLarge {
            what: format!("`{name}` has more than {} KiB", limits::MANIFEST_BYTES >> 10),
        });
    }
    String::from_utf8(text).map(Some).map_err(|_| damaged(name, &"it is not UTF-8"))
}

/// Reads a manifest. Another format version gives [`Error::Newer`] rather than a parse error.
pub(crate) fn read_manifest(text: &str) -> Result<Manifest> {
    #[derive(serde::Deserialize)]
    struct Versioned {
        format: String,
        version: u64,
    }
    let no_bundle = |error: serde_json::Error| Error::NotABundle(format!("`{MANIFEST}`: {error}"));
    let Versioned { format, version } = serde_json::from_str(text).map_err(no_bundle)?;
    if format != FORMAT {
        let format: String = format.chars().take(80).collect();
        return Err(Error::NotABundle(format!("its format is {format:?}, not {FORMAT:?}")));
    }
    if version != u64::from(VERSION) {
        return Err(Error::Newer { found: version });
    }
    let manifest: Manifest = serde_json::from_str(text).map_err(no_bundle)?;
    let about = &manifest.about;
    check_label("name", &about.name, limits::LABEL_CHARS)
        .and_then(|()| check_label("author", &about.author, limits::LABEL_CHARS))
        .and_then(|()| {
            check_label("licence", about.licence.as_deref().unwrap_or_default(), limits::LABEL_CHARS)
        })
        .and_then(|()| check_note("note", &about.note))
        .and_then(|()| about.created_at.map(|_| ()).ok_or_else(|| "has no creation time".to_owned()))
        .and_then(|()| {
            let model = manifest.vectors.as_ref().map_or("", |vectors| vectors.model.as_str());
            check_label("model", model, limits::LABEL_CHARS)
        })
        .map_err(|why| damaged(MANIFEST, &why))?;
    if manifest.names.len() + manifest.synonyms.len() > limits::VOCABULARY {
        return Err(Error::TooLarge { what: format!("more than {} names and synonyms", limits::VOCABULARY) });
    }
    if manifest.cards as usize > limits::CARDS {
        return Err(Error::TooLarge {
            what: format!("{} cards; the limit is {}", manifest.cards, limits::CARDS),
        });
    }
    Ok(manifest)
}

/// Checks that the manifest lists exactly the files in the archive, within the size limit.
fn check_lists<R: Read + Seek>(manifest: &Manifest, zip: &ZipArchive<R>) -> Result<()> {
    let mut names: Vec<&str> = manifest.files.iter().map(|file| file.name.as_str()).collect();
    names.sort_unstable();
    let mut present: Vec<&str> = BundleFile::ALL
        .iter()
        .map(|part| part.name())
        .filter(|name| zip.index_for_name(name).is_some())
        .collect();
    present.sort_unstable();
    if names != present {
        return Err(damaged(MANIFEST, &"its list of files does not match its contents"));
    }
    if !names.contains(&BundleFile::Cards.name()) {
        return Err(Error::NotABundle(format!("it does not contain `{}`", BundleFile::Cards.name())));
    }
    let total = manifest.files.iter().try_fold(0u64, |sum, file| sum.checked_add(file.bytes));
    if total.is_none_or(|total| total > limits::UNPACKED_BYTES) {
        let most = limits::UNPACKED_BYTES >> 20;
        return Err(Error::TooLarge { what: format!("more than {most} MiB when unpacked") });
    }
    Ok(())
}

/// Reads a file line by line and verifies its checksum; stops when it exceeds the size in the manifest.
fn read_part(
    part: BundleFile,
    file: impl Read,
    sum: &FileChecksum,
    reading: &mut BundleReader,
) -> Result<()> {
    let failed = |error: io::Error| damaged(part.name(), &error);
    let mut hash = Sha256::new();
    let mut input = BufReader::with_capacity(64 << 10, file.take(sum.bytes.saturating_add(1)));
    let (mut line, mut number, mut bytes) = (Vec::new(), 0, 0u64);
    loop {
        line.clear();
        let most = limits::LINE_BYTES as u64 + 1;
        let read = input.by_ref().take(most).read_until(b'\n', &mut line).map_err(failed)?;
        if read == 0 {
            break;
        }
        number += 1;
        bytes += read as u64;
        if bytes > sum.bytes {
            return Err(damaged(part.name(), &"it is larger than listed"));
        }
        if line.len() > limits::LINE_BYTES {
            let most = limits::LINE_BYTES >> 10;
            return Err(Error::TooLarge {
                what: format!("line {number} of `{}` has more than {most} KiB", part.name()),
            });
        }
        hash.update(&line);
        let text = std::str::from_utf8(&line)
            .map_err(|_| damaged(part.name(), &format!("line {number} is not UTF-8")))?;
        reading.read_line(part, number, text)?;
    }
    if bytes != sum.bytes || hex::encode(hash.finalize()) != sum.sha256 {
        return Err(damaged(part.name(), &"its checksum does not match"));
    }
    Ok(())
}
