//! Splits documents into terms, field by field, before they are added to the index.
//!
//! Nothing here depends on the index, so that many documents can be analyzed in parallel.

use autokit_vocabulary::Vocabulary;
use autokit_vocabulary::synonyms::Reader;
use autokit_vocabulary::text::{Analyzer, each_word};

use crate::directions::{DirectionReader, Directions};
use crate::document::{Document, Field};

/// Counts of a term in the seven fields, four bits each, saturating at 15.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts(pub(crate) u32);

impl Counts {
    const BITS: usize = 4;
    const CAP: u32 = (1 << Counts::BITS) - 1;

    pub(crate) fn get(self, field: usize) -> u32 {
        self.0 >> (Counts::BITS * field) & Counts::CAP
    }

    /// Returns the fields that have the term, in order, each with its count.
    #[inline]
    pub(crate) fn iter(self) -> impl Iterator<Item = (usize, u32)> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let field = rest.trailing_zeros() as usize / Counts::BITS;
            let count = (rest != 0).then(|| rest >> (Counts::BITS * field) & Counts::CAP)?;
            rest &= !(Counts::CAP << (Counts::BITS * field));
            Some((field, count))
        })
    }

    fn increment(&mut self, field: usize) {
        if self.get(field) < Counts::CAP {
            self.0 += 1 << (Counts::BITS * field);
        }
    }

    /// Whether the term occurs in what the card says about the tool itself.
    pub(crate) fn in_capability(self) -> bool {
        (Field::Name as usize..Field::Known as usize).any(|field| self.get(field) > 0)
    }
}

/// Analyzed documents, ready to be added to the index.
#[derive(Debug)]
pub(crate) struct AnalyzedTexts {
    /// Distinct terms.
    pub(crate) terms: Vec<Box<str>>,
    /// One per document, in order.
    pub(crate) documents: Vec<AnalyzedText>,
}

/// An analyzed document: its terms by number, and the lengths of its fields.
#[derive(Debug)]
pub(crate) struct AnalyzedText {
    pub(crate) counts: Vec<(u32, Counts)>,
    pub(crate) lengths: [u16; Field::COUNT],
    pub(crate) directions: Directions,
}

impl AnalyzedTexts {
    pub(crate) fn new(documents: &[Document<'_>], vocabulary: &Vocabulary) -> AnalyzedTexts {
        let thesaurus = vocabulary.thesaurus();
        let mut analyzer = Analyzer::with(thesaurus);
        // For each term, the last document it occurred in and its index in that document's counts.
        let mut position_of: Vec<(u32, u32)> = Vec::new();
        let mut analyzed = Vec::with_capacity(documents.len());
        let mut reader = Reader::for_cards(thesaurus);
        let concepts = &thesaurus.concepts;
        let mut found: Vec<u32> = Vec::new();
        let mut directions = DirectionReader::default();
        for (at, document) in documents.iter().enumerate() {
            let mut text = AnalyzedText {
                counts: Vec::new(),
                lengths: [0; Field::COUNT],
                directions: Directions::default(),
            };
            let mut add = |field: Field, words: &str| {
                let says_what_it_does = !matches!(field, Field::Provider | Field::Parameters);
                if says_what_it_does {
                    directions.read(words, &mut analyzer, &mut text.directions);
                }
                let field = field as usize;
                let mut count = |term: u32, text: &mut AnalyzedText| {
                    if position_of.len() <= term as usize {
                        position_of.resize(term as usize + 1, (u32::MAX, 0));
                    }
                    let (document, index) = &mut position_of[term as usize];
                    if *document != at as u32 {
                        *document = at as u32;
                        *index = text.counts.len() as u32;
                        text.counts.push((term, Counts::default()));
                    }
                    text.counts[*index as usize].1.increment(field);
                };
                reader.start_text();
                each_word(words, |word, _, is_compound| {
                    let entry = analyzer.look_up(word);
                    if !is_compound {
                        reader.read(word, entry, &mut |concept, _, _| found.push(concept));
                    }
                    // Concepts are counted in addition to words and do not make the field longer.
                    for concept in found.drain(..) {
                        if says_what_it_does {
                            directions.read_concept(concept, thesaurus, &mut analyzer, &mut text.directions);
                        }
                        count(analyzer.term_id(&concepts[concept as usize].term), &mut text);
                    }
                    if let Some(term) = entry.term {
                        text.lengths[field] = text.lengths[field].saturating_add(1);
                        count(term, &mut text);
                    }
                });
            };
            add(Field::Provider, document.provider);
            add(Field::Name, document.name);
            add(Field::Description, document.description);
            for parameter in &document.parameters {
                add(Field::Parameters, parameter.name);
                add(Field::Parameters, parameter.description);
            }
            for words in document.aliases.iter().chain(&document.keywords) {
                add(Field::Keywords, words);
            }
            for ask in &document.asks_for {
                add(Field::AsksFor, ask);
            }
            for what in document.known(vocabulary) {
                add(Field::Known, what);
            }
            analyzed.push(text);
        }
        AnalyzedTexts { terms: analyzer.into_terms(), documents: analyzed }
    }
}
