//! Reading and writing the lines of a bundle's files.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use autokit_toolcard::{Author, CardId, CardKey, Problem, Rejected, read_card};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::value::RawValue;

use crate::bundle::Bundle;
use crate::content::{
    BundleCard, BundleContents, BundleFile, BundleInfo, CardLine, HistoryLine, Manifest, PastRevision,
    Provenance, ReadCardLine, RevisionMeta, VectorLine,
};
use crate::error::{Error, Result};
use crate::limits;
use crate::sign::Signature;

fn raw(text: &str) -> io::Result<&RawValue> {
    serde_json::from_str(text).map_err(io::Error::from)
}

/// Writes one file of a bundle, with a line for each card that has content for it.
pub(crate) fn write_part(part: BundleFile, contents: &BundleContents, out: &mut dyn Write) -> io::Result<()> {
    for entry in &contents.cards {
        match part {
            BundleFile::Cards => write_card(entry, out)?,
            BundleFile::History => {
                for past in &entry.history {
                    write_past(&entry.id, past, out)?;
                }
            }
            BundleFile::Vectors => {
                let Some(vectors) = &entry.vectors else { continue };
                let bytes: Vec<u8> = vectors.iter().flat_map(|value| value.to_le_bytes()).collect();
                let line = VectorLine { id: entry.id.clone(), data: STANDARD.encode(bytes).into() };
                write_line(&line, out)?;
            }
        }
    }
    Ok(())
}

pub(crate) fn write_card(entry: &BundleCard, out: &mut dyn Write) -> io::Result<()> {
    let body = entry.card.to_json();
    let line = CardLine {
        id: entry.id.clone(),
        revision: sanitized_revision(&entry.revision),
        ancestors: entry.ancestors.clone(),
        provenance: sanitized_provenance(&entry.provenance),
        card: raw(&body)?,
    };
    write_line(&line, out)
}

pub(crate) fn write_past(id: &CardId, past: &PastRevision, out: &mut dyn Write) -> io::Result<()> {
    write_line(
        &HistoryLine { id: id.clone(), revision: sanitized_revision(&past.revision), card: raw(&past.body)? },
        out,
    )
}

fn write_line(line: &impl serde::Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

/// Collects what is read from a bundle, line by line.
#[derive(Debug, Default)]
pub(crate) struct BundleReader {
    pub(crate) cards: Vec<BundleCard>,
    pub(crate) rejected: Vec<Rejected>,
    /// Index of each card in `cards`.
    index: HashMap<CardId, usize>,
    /// Rejected cards; their history and vectors are skipped.
    refused: HashSet<CardId>,
    keys: HashMap<CardKey, usize>,
    lines: usize,
}

impl BundleReader {
    /// Reads one line of a file.
    pub(crate) fn read_line(&mut self, part: BundleFile, number: usize, text: &str) -> Result<()> {
        let damaged = |why: String| Error::Damaged {
            file: part.name().to_owned(),
            why: format!("line {number}: {why}"),
        };
        let syntax = |error: serde_json::Error| damaged(without_position(&error));
        // Empty lines compress to almost nothing: skipping them would let a small file cost unbounded time.
        if text.trim().is_empty() {
            return Err(Error::Damaged {
                file: part.name().to_owned(),
                why: format!("line {number} is empty"),
            });
        }
        match part {
            BundleFile::Cards => self.read_card(serde_json::from_str(text).map_err(syntax)?).map_err(damaged),
            BundleFile::History => {
                self.read_past(serde_json::from_str(text).map_err(syntax)?).map_err(damaged)
            }
            BundleFile::Vectors => {
                self.read_vectors(&serde_json::from_str(text).map_err(syntax)?).map_err(damaged)
            }
        }
    }

    pub(crate) fn read_card(&mut self, line: ReadCardLine<'_>) -> Result<(), String> {
        self.lines += 1;
        if self.lines > limits::CARDS {
            return Err(format!("more than {} cards", limits::CARDS));
        }
        let position = self.lines;
        let name = line.card.get().contains("\"name\"").then(|| name_in(line.card)).flatten();
        let reject = |this: &mut BundleReader, problems| {
            this.refused.insert(line.id.clone());
            this.rejected.push(Rejected { position, name: name.clone(), problems });
        };
        let (revision, provenance) = match metadata(&line) {
            Ok(metadata) => metadata,
            Err(why) => {
                reject(self, vec![Problem::error("", why)]);
                return Ok(());
            }
        };
        if self.index.contains_key(&line.id) || self.refused.contains(&line.id) {
            let why = format!("has the id {} of another card of this bundle", line.id);
            self.rejected.push(Rejected { position, name, problems: vec![Problem::error("", why)] });
            return Ok(());
        }
        match read_card(line.card.get()) {
            Err(problems) => reject(self, problems),
            Ok((card, warnings)) => {
                if let Some(first) = self.keys.insert(card.key(), position) {
                    self.keys.insert(card.key(), first);
                    let why = format!("repeats item {first}: the same provider and name");
                    reject(self, vec![Problem::error("", why)]);
                    return Ok(());
                }
                self.index.insert(line.id.clone(), self.cards.len());
                self.cards.push(BundleCard {
                    position,
                    id: line.id,
                    card,
                    revision,
                    ancestors: line.ancestors,
                    history: Vec::new(),
                    provenance,
                    vectors: None,
                    warnings,
                });
            }
        }
        Ok(())
    }

    /// Turns what was read into a bundle; fails if the number of cards differs from the manifest.
    pub(crate) fn finish(
        self,
        manifest: Manifest,
        digest: String,
        signature: Option<Signature>,
    ) -> Result<Bundle> {
        let expected = manifest.cards as usize;
        if self.lines != expected {
            let why = format!("{} cards instead of {expected}", self.lines);
            return Err(Error::Damaged { file: BundleFile::Cards.name().to_owned(), why });
        }
        let contents = BundleContents {
            about: manifest.about,
            cards: self.cards,
            history: manifest.history,
            vectors: manifest.vectors,
            names: manifest.names,
            synonyms: manifest.synonyms,
        };
        Ok(Bundle { contents, rejected: self.rejected, digest, signature })
    }

    /// The card a line belongs to, or `None` if that card was rejected. Fails for an unknown id.
    fn entry(&mut self, id: &CardId) -> Result<Option<&mut BundleCard>, String> {
        match self.index.get(id) {
            Some(at) => Ok(Some(&mut self.cards[*at])),
            None if self.refused.contains(id) => Ok(None),
            None => Err(format!("card {:?} is not in this bundle", shortened(id.as_str()))),
        }
    }

    pub(crate) fn read_past(&mut self, line: HistoryLine<'_>) -> Result<(), String> {
        check_revision(&line.revision)?;
        let wrong = |problems: Vec<Problem>| problems.first().map_or_else(String::new, ToString::to_string);
        let (card, _) = read_card(line.card.get()).map_err(wrong)?;
        let Some(entry) = self.entry(&line.id)? else { return Ok(()) };
        if entry.history.len() >= limits::REVISIONS {
            return Err(format!("a card has more than {} earlier revisions", limits::REVISIONS));
        }
        entry.history.push(PastRevision { revision: line.revision, body: card.to_json() });
        Ok(())
    }

    pub(crate) fn read_vectors(&mut self, line: &VectorLine<'_>) -> Result<(), String> {
        let bytes = STANDARD.decode(line.data.as_bytes()).map_err(|error| error.to_string())?;
        if !bytes.len().is_multiple_of(4) || bytes.len() / 4 > limits::VECTOR_NUMBERS {
            return Err(format!("vectors of {} bytes", bytes.len()));
        }
        let values: Vec<f32> = bytes
            .chunks_exact(4)
            .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]))
            .collect();
        if values.iter().any(|value| !value.is_finite()) {
            return Err("vectors with invalid numbers".to_owned());
        }
        if let Some(entry) = self.entry(&line.id)? {
            entry.vectors = Some(values);
        }
        Ok(())
    }
}

/// The name of a card that may be invalid, for the message.
fn name_in(raw: &RawValue) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Named {
        name: String,
    }
    serde_json::from_str::<Named>(raw.get()).ok().map(|named| shortened(&named.name))
}

fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}

/// An error without its position, which in a single very long line helps nobody.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

/// Parses and checks the metadata of a card: its newest revision and its provenance.
fn metadata(line: &ReadCardLine<'_>) -> Result<(RevisionMeta, Provenance), String> {
    check_id(&line.id)?;
    let wrong =
        |part: &str, error: &serde_json::Error| format!("has an invalid {part}: {}", without_position(error));
    let revision: RevisionMeta =
        serde_json::from_str(line.revision.get()).map_err(|error| wrong("revision", &error))?;
    let provenance: Provenance =
        serde_json::from_str(line.provenance.get()).map_err(|error| wrong("provenance", &error))?;
    check_revision(&revision)?;
    check_provenance(&provenance)?;
    Ok((revision, provenance))
}

/// Checks an id. Ids become parts of file names and URLs, so only alphanumerics, `-`, `.` and `_` are
/// allowed.
fn check_id(id: &CardId) -> Result<(), String> {
    let text = id.as_str();
    let fits = text.len() <= limits::ID_BYTES
        && text.starts_with(char::is_alphanumeric)
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '.' | '_'));
    if fits { Ok(()) } else { Err(format!("has the invalid id {:?}", shortened(text))) }
}

fn check_revision(revision: &RevisionMeta) -> Result<(), String> {
    check_label("author", &revision.author.0, limits::LABEL_CHARS)?;
    check_label("reason", &revision.reason, limits::NOTE_CHARS)
}

fn check_provenance(provenance: &Provenance) -> Result<(), String> {
    check_label("author", &provenance.author.0, limits::LABEL_CHARS)?;
    check_label("licence", provenance.licence.as_deref().unwrap_or_default(), limits::LABEL_CHARS)
}

/// Checks a single-line text. A line break would start a new line in a listing that looks as if it came from
/// the program.
pub(crate) fn check_label(what: &str, text: &str, limit: usize) -> Result<(), String> {
    check_text(what, text, limit, false)
}

/// Checks a text that may have several lines.
pub(crate) fn check_note(what: &str, text: &str) -> Result<(), String> {
    check_text(what, text, limits::NOTE_CHARS, true)
}

fn check_text(what: &str, text: &str, limit: usize, lines: bool) -> Result<(), String> {
    if text.chars().count() > limit {
        return Err(format!("has a {what} of more than {limit} characters"));
    }
    match text.chars().find(|c| is_control(*c, lines)) {
        Some(c) => Err(format!("has a {what} with the control character U+{:04X}", u32::from(c))),
        None => Ok(()),
    }
}

/// Whether a character is a control character or line separator. With `lines`, line feeds and tabs are not.
fn is_control(c: char, lines: bool) -> bool {
    let separator = matches!(c, '\u{2028}' | '\u{2029}');
    (c.is_control() || separator) && !(lines && matches!(c, '\n' | '\t'))
}

/// Makes a text valid for [`check_label`], or for [`check_note`] if it may have `lines`, by replacing control
/// characters with spaces: the user's own input is repaired rather than refused.
pub(crate) fn sanitized(text: &str, lines: bool) -> String {
    // Line endings of other systems remain line breaks.
    let text = if lines { text.replace("\r\n", "\n") } else { text.to_owned() };
    text.chars().map(|c| if is_control(c, lines) { ' ' } else { c }).collect()
}

pub(crate) fn sanitized_info(about: &BundleInfo) -> BundleInfo {
    BundleInfo {
        name: sanitized(&about.name, false),
        author: sanitized(&about.author, false),
        created_at: about.created_at,
        licence: about.licence.as_deref().map(|licence| sanitized(licence, false)),
        note: sanitized(&about.note, true),
    }
}

fn sanitized_revision(revision: &RevisionMeta) -> RevisionMeta {
    RevisionMeta {
        author: Author(sanitized(&revision.author.0, false)),
        reason: sanitized(&revision.reason, false),
        ..revision.clone()
    }
}

fn sanitized_provenance(provenance: &Provenance) -> Provenance {
    Provenance {
        author: Author(sanitized(&provenance.author.0, false)),
        licence: provenance.licence.as_deref().map(|licence| sanitized(licence, false)),
        ..provenance.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_is_one_line() {
        for text in ["a\nb", "a\tb", "\u{1b}[2K", "a\u{85}b", "a\u{2028}b", "a\u{2029}b", "\0", "\r"] {
            assert!(check_label("name", text, 50).is_err(), "{text:?}");
            assert_eq!(check_label("name", &sanitized(text, false), 50), Ok(()));
            assert_eq!(check_note("note", &sanitized(text, true)), Ok(()));
        }
        assert_eq!(check_note("note", "a\n\tb"), Ok(()));
        assert!(check_note("note", "a\u{1b}b").is_err() && check_note("note", "a\rb").is_err());
        assert_eq!(sanitized("a\r\nb\u{7}", true), "a\nb ");
        assert_eq!(check_label("name", "Jos\u{e9} 日本語 👩\u{200d}💻", 50), Ok(()));
    }
}
