//! Directions: what a tool turns into what.
//!
//! "Turn speech into text" and "turn text into speech" have the same words, and the embeddings of the two lie closer
//! together than either lies to the description of a tool. So requests and cards are read for what stands before and
//! after a "to", and among the best cards those that go the other way are lowered. Measured in [`crate::fusion`].

use std::cmp::Ordering;
use std::hash::{Hash as _, Hasher as _};

use rustc_hash::{FxHashMap, FxHasher};
use serde::{Deserialize, Serialize};

use autokit_vocabulary::synonyms::Thesaurus;
use autokit_vocabulary::text::{Analyzer, each_word};

use crate::stored::{Plain, packed};

/// How many of the best cards are compared with the direction of a request.
pub(crate) const COMPARED: usize = 20;

/// Raises a card that goes the way of the request, in units of cosine.
const SAME: f32 = 0.03;
/// Lowers a card that only goes the other way.
const REVERSED: f32 = -0.08;

/// Most words on either side of a "to" that count.
const REACH: usize = 5;

/// Stems by their hashes, so that an index need not keep texts; 0 is no stem.
type Side = [u32; REACH];

/// What is turned, and into what: the words on both sides of a "to".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Change {
    from: Side,
    to: Side,
}

impl Change {
    /// Returns how many words the changes have in common before times after.
    fn in_common(&self, other: &Change) -> usize {
        words_in_common(&self.from, &other.from) * words_in_common(&self.to, &other.to)
    }

    fn reversed(&self) -> Change {
        Change { from: self.to, to: self.from }
    }
}

fn words_in_common(a: &Side, b: &Side) -> usize {
    a.iter().filter(|word| **word != 0 && b.contains(word)).count()
}

impl Plain for Change {
    const WIDTH: usize = 2 * 4 * REACH;

    fn write(&self, out: &mut Vec<u8>) {
        for word in self.from.iter().chain(&self.to) {
            word.write(out);
        }
    }

    fn read(bytes: &[u8]) -> Change {
        let side = |bytes: &[u8]| std::array::from_fn(|at| u32::read(&bytes[4 * at..4 * at + 4]));
        let (from, to) = bytes.split_at(4 * REACH);
        Change { from: side(from), to: side(to) }
    }
}

/// The changes that a text speaks of, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Directions(#[serde(with = "packed")] Vec<Change>);

impl Directions {
    fn add(&mut self, change: Change) {
        if !self.0.contains(&change) {
            self.0.push(change);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns its size on the heap, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.0.capacity() * size_of::<Change>()
    }

    /// Returns by how much a request in these directions moves a card with those, in units of cosine.
    pub(crate) fn shift(&self, card: &Directions) -> f32 {
        let (mut same, mut reversed) = (0, 0);
        for wanted in &self.0 {
            for change in &card.0 {
                same += wanted.in_common(change);
                reversed += wanted.in_common(&change.reversed());
            }
        }
        match same.cmp(&reversed) {
            Ordering::Greater => SAME,
            Ordering::Equal => 0.0,
            Ordering::Less => REVERSED,
        }
    }
}

/// A word of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Stem(u32),
    StopWord,
    /// "to": from what is before to what is after.
    Forward,
    /// "from", "out of": from what is after to what is before.
    Backward,
    /// "out", which may go on with "of".
    Out,
}

/// Reads directions out of texts, with the stems of the caller's analyzer.
#[derive(Debug, Default)]
pub(crate) struct DirectionReader {
    sentence: Vec<Token>,
    /// Those of concepts that were met, by number.
    concepts: FxHashMap<u32, Vec<Change>>,
}

impl DirectionReader {
    /// Adds the directions of a text.
    pub(crate) fn read(&mut self, text: &str, analyzer: &mut Analyzer<'_>, found: &mut Directions) {
        let mut end = 0;
        each_word(text, |word, range, is_compound| {
            if is_compound {
                return;
            }
            // Pairs of characters of a script without spaces overlap.
            let between = text.get(end..range.start).unwrap_or_default();
            if between.contains(['.', '!', '?', ';', ':', '\n']) {
                self.end_sentence(found);
            }
            end = range.end;
            // "md2html", and what is left of "text2speech" once it is split before digits.
            match word.split_once('2') {
                Some((before, after))
                    if before.len() != 1 && after.len() > 1 && is_name(before) && is_name(after) =>
                {
                    if !before.is_empty() {
                        self.push(before, analyzer);
                    }
                    self.sentence.push(Token::Forward);
                    self.push(after, analyzer);
                }
                _ => self.push(word, analyzer),
            }
        });
        self.end_sentence(found);
    }

    /// Adds the directions in the names of a concept: "transcribe" means "speech to text".
    pub(crate) fn read_concept(
        &mut self,
        concept: u32,
        thesaurus: &Thesaurus,
        analyzer: &mut Analyzer<'_>,
        found: &mut Directions,
    ) {
        if !self.concepts.contains_key(&concept) {
            let mut changes = Directions::default();
            for name in &thesaurus.concepts[concept as usize].names {
                self.read(name, analyzer, &mut changes);
            }
            self.concepts.insert(concept, changes.0);
        }
        for change in &self.concepts[&concept] {
            found.add(*change);
        }
    }

    fn end_sentence(&mut self, found: &mut Directions) {
        each_change(&self.sentence, |change| found.add(change));
        self.sentence.clear();
    }

    fn push(&mut self, word: &str, analyzer: &mut Analyzer<'_>) {
        self.sentence.push(match word {
            "to" | "into" => Token::Forward,
            "from" => Token::Backward,
            "out" => Token::Out,
            "of" if self.sentence.last() == Some(&Token::Out) => Token::Backward,
            _ => match analyzer.term(word) {
                Some(stem) => Token::Stem(hash(stem)),
                None => Token::StopWord,
            },
        });
    }
}

fn is_name(word: &str) -> bool {
    word.chars().all(char::is_alphabetic)
}

/// Returns a number for a stem that is not 0.
fn hash(stem: &str) -> u32 {
    let mut hasher = FxHasher::default();
    stem.hash(&mut hasher);
    // The upper half is the better mixed one.
    ((hasher.finish() >> 32) as u32).max(1)
}

/// Calls `found` with each change in a sentence that has words on both sides.
fn each_change(sentence: &[Token], mut found: impl FnMut(Change)) {
    for (at, token) in sentence.iter().enumerate() {
        if !matches!(token, Token::Forward | Token::Backward) {
            continue;
        }
        let before = side(sentence[..at].iter().rev());
        let after = side(sentence[at + 1..].iter());
        if before[0] == 0 || after[0] == 0 {
            continue;
        }
        found(match token {
            Token::Forward => Change { from: before, to: after },
            _ => Change { from: after, to: before },
        });
    }
}

/// Returns the stems among the first words of a side.
fn side<'a>(words: impl Iterator<Item = &'a Token>) -> Side {
    let mut side = [0; REACH];
    let stems = words.take(REACH).filter_map(|token| match token {
        Token::Stem(stem) => Some(*stem),
        _ => None,
    });
    for (slot, stem) in side.iter_mut().zip(stems) {
        *slot = stem;
    }
    side
}

#[cfg(test)]
mod tests {
    use super::*;
    use Ordering::{Equal, Greater, Less};

    fn of(text: &str) -> Directions {
        let mut found = Directions::default();
        DirectionReader::default().read(text, &mut Analyzer::new(), &mut found);
        found
    }

    /// Whether a request raises or lowers a card.
    fn moved(request: &Directions, card: &Directions) -> Ordering {
        request.shift(card).total_cmp(&0.0)
    }

    #[test]
    fn a_card_that_goes_the_other_way_is_lowered() {
        for (request, same, reversed) in [
            ("turn speech into text", "speech-to-text", "Text to speech: reads text aloud"),
            ("convert text to speech", "Converts text to natural speech.", "SpeechToText"),
            ("text out of a picture", "Reads text from pictures", "Renders pictures from a text"),
            ("make a html page from markdown", "md2html. Renders Markdown to HTML", "html_to_markdown"),
            ("usd to eur", "Converts usd into eur", "eur2usd"),
        ] {
            let request = of(request);
            assert_eq!(moved(&request, &of(same)), Greater, "{same}");
            assert_eq!(moved(&request, &of(reversed)), Less, "{reversed}");
        }
    }

    #[test]
    fn nothing_is_said_of_cards_that_go_both_ways_or_do_something_else() {
        let request = of("turn speech into text");
        for card in [
            "Converts between speech and text",
            "Text to speech, and speech to text.",
            "Sends messages to a channel",
            "Plays a text. To hear speech, open it",
            "",
        ] {
            assert_eq!(moved(&request, &of(card)), Equal, "{card}");
        }
        assert!(of("I want to know the weather").is_empty());
        assert!(of("p2p, b2b and ec2").is_empty());
    }

    #[test]
    fn a_name_for_a_thing_has_its_direction() {
        let vocabulary = autokit_vocabulary::Vocabulary::shipped();
        let request = crate::QueryPlan::new("dictate a letter");
        assert_eq!(moved(request.directions(), &of("Turns text to speech")), Less);
        let card = crate::Document { name: "scribe", description: "Transcribes talks", ..Default::default() };
        let texts = crate::analysis::AnalyzedTexts::new(&[card], vocabulary);
        assert_eq!(moved(&of("turn text into speech"), &texts.documents[0].directions), Less);
    }
}
