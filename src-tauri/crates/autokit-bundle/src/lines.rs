//! The files of a bundle, line by line.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use autokit_toolcard::{CardId, CardKey, Problem, Rejected, read_card};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::value::RawValue;

use crate::Bundle;
use crate::content::{
    CardLine, Contents, Entry, Manifest, Part, Past, PastLine, Provenance, Step, VectorLine,
};
use crate::error::{Error, Result};
use crate::limits;
use crate::sign::Signature;

fn raw(text: &str) -> io::Result<&RawValue> {
    serde_json::from_str(text).map_err(io::Error::from)
}

/// Writes a file of a bundle, one line for each card that has something in it.
pub(crate) fn write_part(part: Part, contents: &Contents, out: &mut dyn Write) -> io::Result<()> {
    for entry in &contents.cards {
        match part {
            Part::Cards => write_card(entry, out)?,
            Part::History => {
                for past in &entry.history {
                    write_past(&entry.id, past, out)?;
                }
            }
            Part::Vectors => {
                let Some(vectors) = &entry.vectors else { continue };
                let bytes: Vec<u8> = vectors.iter().flat_map(|value| value.to_le_bytes()).collect();
                let line = VectorLine { id: entry.id.clone(), data: STANDARD.encode(bytes).into() };
                write_line(&line, out)?;
            }
        }
    }
    Ok(())
}

pub(crate) fn write_card(entry: &Entry, out: &mut dyn Write) -> io::Result<()> {
    let body = entry.card.to_json();
    let line = CardLine {
        id: entry.id.clone(),
        revision: entry.step.clone(),
        ancestors: entry.ancestors.clone(),
        provenance: entry.provenance.clone(),
        card: raw(&body)?,
    };
    write_line(&line, out)
}

pub(crate) fn write_past(id: &CardId, past: &Past, out: &mut dyn Write) -> io::Result<()> {
    write_line(&PastLine { id: id.clone(), revision: past.step.clone(), card: raw(&past.body)? }, out)
}

fn write_line(line: &impl serde::Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

/// What is read of a bundle, line by line.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) cards: Vec<Entry>,
    pub(crate) rejected: Vec<Rejected>,
    /// Where each card is among `cards`.
    at: HashMap<CardId, usize>,
    /// Cards that cannot be taken; what else is said about them is passed over.
    refused: HashSet<CardId>,
    keys: HashMap<CardKey, usize>,
    lines: usize,
}

impl Reading {
    /// Reads a line of a file.
    pub(crate) fn line(&mut self, part: Part, number: usize, text: &str) -> Result<()> {
        let damaged = |why: String| Error::Damaged {
            file: part.name().to_owned(),
            why: format!("line {number}: {why}"),
        };
        // The place in the line is that of one very long line: of no use to anybody.
        let syntax = |error: serde_json::Error| {
            let text = error.to_string();
            damaged(text.split(" at line ").next().unwrap_or_default().to_owned())
        };
        match part {
            Part::Cards => self.card(serde_json::from_str(text).map_err(syntax)?).map_err(damaged),
            Part::History => self.past(serde_json::from_str(text).map_err(syntax)?).map_err(damaged),
            Part::Vectors => self.vectors(&serde_json::from_str(text).map_err(syntax)?).map_err(damaged),
        }
    }

    pub(crate) fn card(&mut self, line: CardLine<'_>) -> Result<(), String> {
        self.lines += 1;
        if self.lines > limits::CARDS {
            return Err(format!("more than {} cards", limits::CARDS));
        }
        let position = self.lines;
        let name = line.card.get().contains("\"name\"").then(|| name_in(line.card)).flatten();
        let reject = |this: &mut Reading, problems| {
            this.refused.insert(line.id.clone());
            this.rejected.push(Rejected { position, name: name.clone(), problems });
        };
        let wrong = check_id(&line.id)
            .and_then(|()| check_step(&line.revision))
            .and_then(|()| check_provenance(&line.provenance));
        if let Err(why) = wrong {
            reject(self, vec![Problem::error("", why)]);
            return Ok(());
        }
        if self.at.contains_key(&line.id) || self.refused.contains(&line.id) {
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
                self.at.insert(line.id.clone(), self.cards.len());
                self.cards.push(Entry {
                    position,
                    id: line.id,
                    card,
                    step: line.revision,
                    ancestors: line.ancestors,
                    history: Vec::new(),
                    provenance: line.provenance,
                    vectors: None,
                    warnings,
                });
            }
        }
        Ok(())
    }

    /// What was read, as a bundle.
    pub(crate) fn finished(
        self,
        manifest: Manifest,
        digest: String,
        signature: Option<Signature>,
    ) -> Result<Bundle> {
        let told = manifest.cards as usize;
        if self.lines != told {
            let why = format!("{} cards where {told} are announced", self.lines);
            return Err(Error::Damaged { file: Part::Cards.name().to_owned(), why });
        }
        let contents = Contents {
            about: manifest.about,
            cards: self.cards,
            history: manifest.history,
            vectors: manifest.vectors,
        };
        Ok(Bundle { contents, rejected: self.rejected, digest, signature })
    }

    /// The card a line belongs to; none when that card was refused.
    fn entry(&mut self, id: &CardId) -> Result<Option<&mut Entry>, String> {
        match self.at.get(id) {
            Some(at) => Ok(Some(&mut self.cards[*at])),
            None if self.refused.contains(id) => Ok(None),
            None => Err(format!("there is no card {:?} in this bundle", shortened(id.as_str()))),
        }
    }

    pub(crate) fn past(&mut self, line: PastLine<'_>) -> Result<(), String> {
        check_step(&line.revision)?;
        let wrong = |problems: Vec<Problem>| problems.first().map_or_else(String::new, ToString::to_string);
        let (card, _) = read_card(line.card.get()).map_err(wrong)?;
        let Some(entry) = self.entry(&line.id)? else { return Ok(()) };
        if entry.history.len() >= limits::REVISIONS {
            return Err(format!("a card has more than {} earlier revisions", limits::REVISIONS));
        }
        entry.history.push(Past { step: line.revision, body: card.to_json() });
        Ok(())
    }

    pub(crate) fn vectors(&mut self, line: &VectorLine<'_>) -> Result<(), String> {
        let bytes = STANDARD.decode(line.data.as_bytes()).map_err(|error| error.to_string())?;
        if !bytes.len().is_multiple_of(4) || bytes.len() / 4 > limits::VECTOR_NUMBERS {
            return Err(format!("vectors of {} bytes", bytes.len()));
        }
        let values: Vec<f32> = bytes
            .chunks_exact(4)
            .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]))
            .collect();
        if values.iter().any(|value| !value.is_finite()) {
            return Err("vectors with numbers that are none".to_owned());
        }
        if let Some(entry) = self.entry(&line.id)? {
            entry.vectors = Some(values);
        }
        Ok(())
    }
}

/// The name of a card that may not be one, for the message.
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

/// Ids become parts of file names and addresses: letters, digits and what slugs are made of.
fn check_id(id: &CardId) -> Result<(), String> {
    let text = id.as_str();
    let fits = text.len() <= limits::ID_BYTES
        && text.starts_with(char::is_alphanumeric)
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '.' | '_'));
    if fits { Ok(()) } else { Err(format!("has the id {:?}, which is none", shortened(text))) }
}

fn check_step(step: &Step) -> Result<(), String> {
    label("author", &step.author.0, limits::LABEL_CHARS)?;
    label("time", &step.at, limits::LABEL_CHARS)?;
    label("reason", &step.reason, limits::NOTE_CHARS)?;
    check_time(&step.at)
}

fn check_provenance(provenance: &Provenance) -> Result<(), String> {
    label("author", &provenance.author.0, limits::LABEL_CHARS)?;
    label("licence", provenance.licence.as_deref().unwrap_or_default(), limits::LABEL_CHARS)?;
    check_time(&provenance.at)
}

/// `2026-01-02T03:04:05.678Z`: stamps are compared as text, so they have one shape.
pub(crate) fn check_time(at: &str) -> Result<(), String> {
    let shape = "0000-00-00T00:00:00.000Z";
    let fits = at.len() == shape.len()
        && at.bytes().zip(shape.bytes()).all(|(is, should)| match should {
            b'0' => is.is_ascii_digit(),
            other => is == other,
        });
    if fits { Ok(()) } else { Err(format!("has the time {:?}; it is written as {shape}", shortened(at))) }
}

pub(crate) fn label(what: &str, text: &str, most: usize) -> Result<(), String> {
    if text.chars().count() > most {
        return Err(format!("has a {what} of more than {most} characters"));
    }
    Ok(())
}
