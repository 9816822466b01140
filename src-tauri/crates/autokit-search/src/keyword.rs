//! BM25F over an inverted index that supports updates in place.
//!
//! For a query term `t` and a card `d`, with the count `n` of `t` in field `f`, the field's length
//! `l` in terms and its mean `m` over cards that have the field:
//!
//! ```text
//! tf(t, d) = sum over f of  weight_f * n / (1 - b + b * l / m)
//! score(t, d) = idf(t) * tf * (k1 + 1) / (tf + k1)
//! idf(t) = ln(1 + (N - df + 0.5) / (df + 0.5))
//! ```
//!
//! (Robertson, Zaragoza & Taylor, "Simple BM25 extension to multiple weighted fields", CIKM 2004;
//! Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009.)
//!
//! Two things differ from the textbook. The document frequency of a term counts only cards that have it in
//! what they say about the tool itself: a server with fifty tools does not make the words of its name, or of
//! the gazetteer entry for that name, common, and words that are common among capabilities are not made rare
//! by being rare in server names. Also, a query term matches index terms that share at least
//! [`FAMILY_PREFIX`] leading letters and [`FAMILY_SHARE`] of the longer one (`summaris`, `summar`; `creat`,
//! `creation`), at that share of their score; only the best match of such a family counts per card. The
//! concepts that words mean ([`autokit_vocabulary::synonyms`]) are treated as variants of each word: a card that uses
//! another name for a concept matches those words, at [`CONCEPT_SHARE`] of their score.

use std::sync::Arc;

use autokit_vocabulary::synonyms::MARK;
use autokit_vocabulary::text::QueryTerm;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::analysis::{AnalyzedTexts, Counts};
use crate::bitset::BitSet;
use crate::document::Field;
use crate::query::QueryConcept;
use crate::stored::{Plain, packed};

/// Saturation of term counts.
const K1: f32 = 1.2;
/// Length normalisation of every field.
const B: f32 = 0.75;
/// Field weights, in the order of [`Field::ALL`].
const WEIGHTS: [f32; Field::COUNT] = [0.5, 2.0, 1.0, 1.0, 0.5, 0.5, 1.0];
/// Leading letters that terms of a family share at least.
const FAMILY_PREFIX: usize = 4;
/// Share of the longer term that terms of a family have in common at least.
const FAMILY_SHARE: f32 = 0.6;
/// Weight of a concept's score relative to that of the query words that mean it, together.
const CONCEPT_SHARE: f32 = 0.7;

#[derive(Clone, Copy, Debug)]
struct Posting {
    slot: u32,
    counts: Counts,
}

impl Plain for Posting {
    const WIDTH: usize = 8;

    fn write(&self, out: &mut Vec<u8>) {
        self.slot.write(out);
        self.counts.0.write(out);
    }

    fn read(bytes: &[u8]) -> Posting {
        Posting { slot: u32::read(&bytes[..4]), counts: Counts(u32::read(&bytes[4..])) }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Term {
    #[serde(with = "shared_text")]
    text: Arc<str>,
    /// Sorted by slot.
    #[serde(with = "packed")]
    postings: Vec<Posting>,
    /// Number of cards with the term outside the provider and the gazetteer entries.
    capability_cards: u32,
}

/// An index term that a query term matches.
#[derive(Debug)]
struct TermVariant {
    term: u32,
    /// Weight of its score: 1 for the term itself.
    share: f32,
    /// For a concept, the information content of the query word that means it.
    concept_information: Option<f32>,
}

impl TermVariant {
    /// Returns the match of a query term in a card that has the index term with this score. `weight` is the
    /// term's own information content, times the variant's share.
    fn matched_term(&self, score: f32, weight: f32) -> TermMatch {
        TermMatch {
            score,
            information: self.concept_information.unwrap_or(weight),
            via_concept: self.concept_information.is_some(),
        }
    }
}

/// The match of a query term in a card.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct TermMatch {
    score: f32,
    /// Information content of the query that it matches.
    information: f32,
    /// Whether the match is through a concept, in which case it is no coincidence, see [`crate::fusion`].
    via_concept: bool,
}

impl TermMatch {
    fn or(self, other: TermMatch) -> TermMatch {
        TermMatch {
            score: self.score.max(other.score),
            information: self.information.max(other.information),
            via_concept: if other.score > self.score { other.via_concept } else { self.via_concept },
        }
    }
}

/// A query resolved against the index. Valid until the index changes.
///
/// A query is scored as several groups of terms at once: the whole query and each of its clauses.
#[derive(Debug)]
pub(crate) struct ResolvedQuery {
    terms: Vec<ResolvedTerm>,
    groups: usize,
    weights: FieldWeights,
    /// Sum of the inverse document frequencies of each group's terms.
    information: Vec<f32>,
}

#[derive(Debug)]
struct ResolvedTerm {
    /// The term itself first, then by similarity, then its concepts.
    variants: Vec<TermVariant>,
    /// The groups that contain the term, and how often.
    uses: Vec<(usize, f32)>,
}

/// Lengths of a field whose weights are computed once for a query.
const USUAL_LENGTHS: usize = 256;

/// Weights of the fields by their length, `weight / (1 - b + b * length / mean)`.
#[derive(Debug)]
struct FieldWeights {
    /// `b / mean` of each field.
    scales: [f32; Field::COUNT],
    usual: Vec<[f32; Field::COUNT]>,
}

impl FieldWeights {
    fn new(scales: [f32; Field::COUNT]) -> FieldWeights {
        let weights = |length| std::array::from_fn(|field| field_weight(&scales, field, length));
        FieldWeights { scales, usual: (0..USUAL_LENGTHS as u16).map(weights).collect() }
    }

    /// Computes the weighted count of a term in a card.
    #[inline]
    fn tf(&self, counts: Counts, lengths: &[u16; Field::COUNT]) -> f32 {
        // Most terms are in one or two fields.
        counts
            .iter()
            .map(|(field, count)| {
                let length = lengths[field];
                let usual = self.usual.get(usize::from(length)).map(|weights| weights[field]);
                count as f32 * usual.unwrap_or_else(|| field_weight(&self.scales, field, length))
            })
            .sum()
    }
}

fn field_weight(scales: &[f32; Field::COUNT], field: usize, length: u16) -> f32 {
    WEIGHTS[field] / (1.0 - B + scales[field] * f32::from(length))
}

/// Computes `tf (k1 + 1) / (tf + k1)`.
#[inline]
fn saturated(tf: f32) -> f32 {
    tf * (K1 + 1.0) / (tf + K1)
}

/// Postings scored at a time, so that their divisions are done side by side.
const AT_ONCE: usize = 16;

/// Where a word of the query was found in a card.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Match {
    pub(crate) field: Field,
    /// Index into the query's terms.
    pub(crate) query_term: usize,
    pub(crate) term: Arc<str>,
}

/// Returns the share of a query's information content that the matched words carry, 0 to 1.
fn coverage(information: f32, matched: f32) -> f32 {
    if information > 0.0 { (matched / information).min(1.0) } else { 0.0 }
}

/// Keyword scores of all cards, by slot.
#[derive(Clone, Debug)]
pub(crate) struct KeywordScores {
    sums: Vec<Sum>,
    /// Information content of the query.
    information: f32,
}

impl KeywordScores {
    /// Returns the plain BM25F score of every slot.
    pub(crate) fn bm25(&self) -> impl Iterator<Item = f32> + '_ {
        self.sums.iter().map(|sum| sum.total)
    }

    /// Returns the BM25F score of a slot with the coincidence discount, see [`crate::fusion`].
    #[inline]
    pub(crate) fn evidence(&self, slot: u32) -> f32 {
        let sum = self.sums[slot as usize];
        crate::fusion::keyword_evidence(sum.total, sum.largest, coverage(self.information, sum.matched))
    }
}

/// Number of postings and sums from which on several threads are faster than one.
const PARALLEL_FROM: usize = 1 << 15;

/// What a query's words in a card add up to.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    total: f32,
    largest: f32,
    matched: f32,
}

/// Explains the keyword match of one card.
#[derive(Debug)]
pub(crate) struct Explanation {
    /// Plain BM25F.
    pub(crate) bm25: f32,
    /// Share of the query's information content that the card's words carry, 0 to 1.
    pub(crate) coverage: f32,
    /// Every field of every matched term, in the order of the query.
    pub(crate) matches: Vec<Match>,
}

/// Inverted index by slot.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct KeywordIndex {
    terms: Vec<Term>,
    free: Vec<u32>,
    /// How many terms were ever removed; after a removal, a cached id may denote another term.
    removed_terms: u64,
    /// See [`KeywordIndex::find_terms`].
    #[serde(skip)]
    by_text: FxHashMap<Arc<str>, u32>,
    #[serde(skip)]
    by_prefix: FxHashMap<[char; FAMILY_PREFIX], Vec<u32>>,
    /// Terms of each card, for its removal.
    cards: Vec<CardTerms>,
    /// Lengths of each card's fields in terms.
    #[serde(with = "packed")]
    lengths: Vec<[u16; Field::COUNT]>,
    count: u32,
    /// Sum of field lengths, and number of cards with the field.
    totals: [(u64, u32); Field::COUNT],
}

/// The terms of a card.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct CardTerms(#[serde(with = "packed")] Box<[u32]>);

/// Serializes a shared text.
mod shared_text {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<str>, D::Error> {
        <&str>::deserialize(deserializer).map(Arc::from)
    }
}

/// Returns the leading letters by which a term is found as a variant; `None` for terms that are not
/// inflected: short terms, those with digits, and concepts.
fn prefix(text: &str) -> Option<[char; FAMILY_PREFIX]> {
    if text.starts_with(MARK) || text.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    let mut chars = text.chars();
    let mut key = ['\0'; FAMILY_PREFIX];
    for c in &mut key {
        *c = chars.next()?;
    }
    Some(key)
}

impl KeywordIndex {
    /// Inserts documents in order. `make_room` returns the slot for each, after emptying it if it is
    /// occupied.
    pub(crate) fn insert_all(
        &mut self,
        texts: AnalyzedTexts,
        mut make_room: impl FnMut(&mut KeywordIndex, usize) -> u32,
    ) {
        // Terms are interned on first use, because emptying a slot may free some in between.
        let mut ids: Vec<Option<(u32, u64)>> = vec![None; texts.terms.len()];
        for (at, text) in texts.documents.into_iter().enumerate() {
            let slot = make_room(self, at);
            let card_terms: Vec<u32> = text
                .counts
                .into_iter()
                .map(|(term, counts)| {
                    let id = match ids[term as usize] {
                        Some((id, removed_terms)) if removed_terms == self.removed_terms => id,
                        _ => self.intern(&texts.terms[term as usize]),
                    };
                    ids[term as usize] = Some((id, self.removed_terms));
                    self.add_posting(id, Posting { slot, counts });
                    id
                })
                .collect();
            if self.cards.len() <= slot as usize {
                self.cards.resize_with(slot as usize + 1, CardTerms::default);
                self.lengths.resize(slot as usize + 1, [0; Field::COUNT]);
            }
            for (total, length) in self.totals.iter_mut().zip(text.lengths) {
                total.0 += u64::from(length);
                total.1 += u32::from(length > 0);
            }
            self.cards[slot as usize] = CardTerms(card_terms.into());
            self.lengths[slot as usize] = text.lengths;
            self.count += 1;
        }
    }

    fn add_posting(&mut self, id: u32, posting: Posting) {
        let term = &mut self.terms[id as usize];
        term.capability_cards += u32::from(posting.counts.in_capability());
        match term.postings.last() {
            Some(last) if last.slot > posting.slot => {
                let at = term.postings.partition_point(|p| p.slot < posting.slot);
                term.postings.insert(at, posting);
            }
            _ => term.postings.push(posting),
        }
    }

    /// Removes the document in a slot.
    pub(crate) fn remove(&mut self, slot: u32) {
        let terms = std::mem::take(&mut self.cards[slot as usize]);
        let lengths = std::mem::take(&mut self.lengths[slot as usize]);
        for (total, length) in self.totals.iter_mut().zip(lengths) {
            total.0 -= u64::from(length);
            total.1 -= u32::from(length > 0);
        }
        for &id in &terms.0 {
            let term = &mut self.terms[id as usize];
            if let Ok(at) = term.postings.binary_search_by_key(&slot, |p| p.slot) {
                term.capability_cards -= u32::from(term.postings[at].counts.in_capability());
                term.postings.remove(at);
            }
            if term.postings.is_empty() {
                self.remove_term(id);
            }
        }
        self.count -= 1;
    }

    fn intern(&mut self, text: &str) -> u32 {
        if let Some(&id) = self.by_text.get(text) {
            return id;
        }
        let text: Arc<str> = text.into();
        let term = Term { text: Arc::clone(&text), postings: Vec::new(), capability_cards: 0 };
        let id = if let Some(id) = self.free.pop() {
            self.terms[id as usize] = term;
            id
        } else {
            self.terms.push(term);
            (self.terms.len() - 1) as u32
        };
        self.find_term(id, text);
        id
    }

    /// Makes a term be found by its text.
    fn find_term(&mut self, id: u32, text: Arc<str>) {
        if let Some(key) = prefix(&text) {
            self.by_prefix.entry(key).or_default().push(id);
        }
        self.by_text.insert(text, id);
    }

    /// Restores an index from its serialized form.
    ///
    /// # Errors
    /// When the bytes are not an index.
    pub(crate) fn decode(bytes: &[u8]) -> Result<KeywordIndex, postcard::Error> {
        let mut index: KeywordIndex = postcard::from_bytes(bytes)?;
        index.find_terms();
        Ok(index)
    }

    /// Makes all terms be found by their texts, after they were deserialized.
    fn find_terms(&mut self) {
        self.by_text.reserve(self.terms.len());
        for id in 0..self.terms.len() {
            // Removed terms have no postings.
            if !self.terms[id].postings.is_empty() {
                self.find_term(id as u32, Arc::clone(&self.terms[id].text));
            }
        }
    }

    fn remove_term(&mut self, id: u32) {
        let text = std::mem::replace(&mut self.terms[id as usize].text, "".into());
        self.terms[id as usize].postings = Vec::new();
        self.by_text.remove(&text);
        if let Some(key) = prefix(&text)
            && let Some(ids) = self.by_prefix.get_mut(&key)
        {
            ids.retain(|&other| other != id);
            if ids.is_empty() {
                self.by_prefix.remove(&key);
            }
        }
        self.free.push(id);
        self.removed_terms += 1;
    }

    /// Whether any card has the term.
    pub(crate) fn contains_term(&self, term: &str) -> bool {
        self.by_text.contains_key(term)
    }

    /// Returns the slots of the cards whose name and provider together have all of these terms.
    pub(crate) fn slots_named(&self, terms: &[String]) -> Vec<u32> {
        let named = |posting: &&Posting| {
            [Field::Provider, Field::Name].iter().any(|field| posting.counts.get(*field as usize) > 0)
        };
        let postings = |term: &String| {
            let id = self.by_text.get(term.as_str())?;
            Some(self.terms[*id as usize].postings.iter().filter(named).map(|posting| posting.slot))
        };
        let mut found: Option<Vec<u32>> = None;
        for term in terms {
            let slots: Vec<u32> = postings(term).into_iter().flatten().collect();
            found = Some(match found {
                Some(known) => known.into_iter().filter(|slot| slots.binary_search(slot).is_ok()).collect(),
                None => slots,
            });
        }
        found.unwrap_or_default()
    }

    /// Returns the number of distinct terms.
    pub(crate) fn vocabulary(&self) -> usize {
        self.by_text.len()
    }

    fn idf(&self, cards: u32) -> f32 {
        let (all, with) = (f64::from(self.count), f64::from(cards));
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln() as f32
    }

    fn term_idf(&self, term: &Term) -> f32 {
        self.idf(if term.capability_cards > 0 { term.capability_cards } else { term.postings.len() as u32 })
    }

    /// Returns the index terms that a query term matches: itself and its family.
    fn variants(&self, term: &str) -> Vec<TermVariant> {
        let Some(key) = prefix(term) else {
            let exact = self.by_text.get(term);
            return exact
                .map(|&term| TermVariant { term, share: 1.0, concept_information: None })
                .into_iter()
                .collect();
        };
        let length = term.chars().count();
        let mut found = Vec::new();
        for &id in self.by_prefix.get(&key).into_iter().flatten() {
            let other = &self.terms[id as usize].text;
            let common = term.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
            let share = common as f32 / length.max(other.chars().count()) as f32;
            if share >= FAMILY_SHARE {
                found.push(TermVariant { term: id, share, concept_information: None });
            }
        }
        found
    }

    fn field_weights(&self) -> FieldWeights {
        FieldWeights::new(self.totals.map(|(sum, cards)| {
            if sum == 0 { 0.0 } else { (f64::from(B) * f64::from(cards) / sum as f64) as f32 }
        }))
    }

    /// Resolves a query: its terms, which include those of its clauses, and the concepts they mean.
    pub(crate) fn resolve(
        &self,
        query: &[QueryTerm],
        clauses: &[Vec<QueryTerm>],
        meanings: &[QueryConcept],
    ) -> ResolvedQuery {
        let mut information = vec![0.0; 1 + clauses.len()];
        let mut terms = Vec::with_capacity(query.len());
        let mut concepts: Vec<Vec<(u32, f32)>> = vec![Vec::new(); query.len()];
        for QueryConcept { concept, terms } in meanings {
            if let Some(&id) = self.by_text.get(&**concept) {
                for &term in terms {
                    concepts[term].push((id, CONCEPT_SHARE / terms.len() as f32));
                }
            }
        }
        for (term, concepts) in query.iter().zip(concepts) {
            let idf = match self.by_text.get(term.term.as_str()) {
                Some(&id) => self.term_idf(&self.terms[id as usize]),
                None if term.is_compound => 0.0,
                None => self.idf(0),
            };
            let mut uses = vec![(0, term.count)];
            for (clause, group) in clauses.iter().zip(1..) {
                if let Some(found) = clause.iter().find(|other| other.term == term.term) {
                    uses.push((group, found.count));
                }
            }
            for &(group, count) in &uses {
                information[group] += count * idf;
            }
            let mut variants = self.variants(&term.term);
            variants.extend(concepts.into_iter().map(|(term, share)| TermVariant {
                term,
                share,
                concept_information: Some(idf),
            }));
            variants.sort_by(|a, b| {
                let text = |r: &TermVariant| &self.terms[r.term as usize].text;
                let by_concept = a.concept_information.is_some().cmp(&b.concept_information.is_some());
                by_concept.then(b.share.total_cmp(&a.share)).then_with(|| text(a).cmp(text(b)))
            });
            terms.push(ResolvedTerm { variants, uses });
        }
        ResolvedQuery { terms, groups: 1 + clauses.len(), weights: self.field_weights(), information }
    }

    /// Scores every card for each group of a query; slots outside `allowed` stay at 0. Cards are divided
    /// among the threads in bands, so that a score does not depend on the number of threads.
    pub(crate) fn score(&self, query: &ResolvedQuery, allowed: Option<&BitSet>) -> Vec<KeywordScores> {
        let slots = self.cards.len();
        let postings: usize = query
            .terms
            .iter()
            .flat_map(|term| &term.variants)
            .map(|variant| self.terms[variant.term as usize].postings.len())
            .sum();
        let mut groups: Vec<Vec<Sum>> = vec![vec![Sum::default(); slots]; query.groups];
        let threads = rayon::current_num_threads();
        if threads < 2 || postings + slots * query.groups < PARALLEL_FROM {
            let mut groups: Vec<&mut [Sum]> = groups.iter_mut().map(Vec::as_mut_slice).collect();
            self.score_band(query, allowed, 0..slots, &mut groups);
        } else {
            let width = slots.div_ceil(threads).max(1);
            let mut bands: Vec<Vec<&mut [Sum]>> = Vec::new();
            for group in &mut groups {
                for (at, part) in group.chunks_mut(width).enumerate() {
                    if at == bands.len() {
                        bands.push(Vec::new());
                    }
                    bands[at].push(part);
                }
            }
            bands.into_par_iter().enumerate().for_each(|(at, mut groups)| {
                let band = at * width..((at + 1) * width).min(slots);
                self.score_band(query, allowed, band, &mut groups);
            });
        }
        let scores = |(sums, &information)| KeywordScores { sums, information };
        groups.into_iter().zip(&query.information).map(scores).collect()
    }

    /// As [`KeywordIndex::score`], for a range of slots; `groups` are their sums.
    fn score_band(
        &self,
        query: &ResolvedQuery,
        allowed: Option<&BitSet>,
        band: std::ops::Range<usize>,
        groups: &mut [&mut [Sum]],
    ) {
        // The best match of the family by slot, for query terms that match several index terms.
        let mut best: Vec<TermMatch> = Vec::new();
        let mut touched: Vec<usize> = Vec::new();
        for ResolvedTerm { variants, uses } in &query.terms {
            let mut add = |at: usize, matched_term: TermMatch| {
                for &(group, count) in uses {
                    let sum = &mut groups[group][at];
                    sum.total += count * matched_term.score;
                    if !matched_term.via_concept {
                        sum.largest = sum.largest.max(count * matched_term.score);
                    }
                    sum.matched += count * matched_term.information;
                }
            };
            if variants.len() > 1 && best.is_empty() {
                best = vec![TermMatch::default(); band.len()];
            }
            for variant in variants {
                let entry = &self.terms[variant.term as usize];
                let weight = self.term_idf(entry) * variant.share;
                let before = |end: usize| move |posting: &Posting| (posting.slot as usize) < end;
                let postings = &entry.postings[entry.postings.partition_point(before(band.start))..];
                let postings = &postings[..postings.partition_point(before(band.end))];
                for postings in postings.chunks(AT_ONCE) {
                    let mut scores = [0.0; AT_ONCE];
                    for (tf, posting) in scores.iter_mut().zip(postings) {
                        *tf = query.weights.tf(posting.counts, &self.lengths[posting.slot as usize]);
                    }
                    for score in &mut scores {
                        *score = weight * saturated(*score);
                    }
                    for (&score, posting) in scores.iter().zip(postings) {
                        if allowed.is_some_and(|set| !set.contains(posting.slot)) {
                            continue;
                        }
                        let matched_term = variant.matched_term(score, weight);
                        let at = posting.slot as usize - band.start;
                        if variants.len() == 1 {
                            add(at, matched_term);
                        } else {
                            if best[at] == TermMatch::default() {
                                touched.push(at);
                            }
                            best[at] = best[at].or(matched_term);
                        }
                    }
                }
            }
            for at in touched.drain(..) {
                add(at, std::mem::take(&mut best[at]));
            }
        }
    }

    /// Explains what the whole query matches in the card of a slot.
    pub(crate) fn explain(&self, slot: u32, query: &ResolvedQuery) -> Explanation {
        let mut explanation = Explanation { bm25: 0.0, coverage: 0.0, matches: Vec::new() };
        let mut matched = 0.0;
        for (at, ResolvedTerm { variants, uses }) in query.terms.iter().enumerate() {
            let mut best = TermMatch::default();
            let mut has_word = false;
            for variant in variants {
                let entry = &self.terms[variant.term as usize];
                let Ok(posting) = entry.postings.binary_search_by_key(&slot, |p| p.slot) else { continue };
                let counts = entry.postings[posting].counts;
                let weight = self.term_idf(entry) * variant.share;
                let score = weight * saturated(query.weights.tf(counts, &self.lengths[slot as usize]));
                best = best.or(variant.matched_term(score, weight));
                // If the card has the word itself, its concept is not reported.
                if variant.concept_information.is_some() && has_word {
                    continue;
                }
                has_word |= variant.concept_information.is_none();
                for field in Field::ALL {
                    if counts.get(field as usize) > 0 {
                        explanation.matches.push(Match {
                            field,
                            query_term: at,
                            term: Arc::clone(&entry.text),
                        });
                    }
                }
            }
            explanation.bm25 += uses[0].1 * best.score;
            matched += uses[0].1 * best.information;
        }
        explanation.coverage = coverage(query.information[0], matched);
        explanation
    }

    /// Returns the memory in bytes, up to allocator rounding.
    pub(crate) fn memory(&self) -> usize {
        let terms: usize = self
            .terms
            .iter()
            .map(|t| size_of::<Term>() + t.postings.capacity() * size_of::<Posting>() + 3 * t.text.len() + 64)
            .sum();
        let cards: usize = self.cards.iter().map(|terms| 26 + terms.0.len() * 4).sum();
        terms + cards
    }
}
