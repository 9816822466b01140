//! Scoring of cards: from the keywords and vectors of a request to the best candidates.
//!
//! In a large index cards are first scored with approximate cosines. Each score comes with a bound on its error, and
//! every card whose score could be among the best is scored again exactly, so that the result is the exact one.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

use crate::bitset::BitSet;
use crate::chunks::{ChunkIndex, ClosestChunks};
use crate::constraints::{self, Constraint};
use crate::directions;
use crate::fusion::{self, ASK_ADVANTAGE, ASK_SHARE, CHUNK_SHARE, CLAUSE_SHARE, LOOKUP_SHARE, MEAN_SHARE};
use crate::index::{Mode, Query, SearchIndex};
use crate::keyword::KeywordScores;
use crate::names::NameMatch;
use crate::possible::{Neighbour, TopKCandidates};
use crate::traits::Traits;
use crate::vector::Exactness;

// A card's vector score is a mean of cosines with these weights, and so off by no more than the worst of them. Of the
// clauses the one with the best sum counts, and the best of sums that are off by at most a bound is off by no more.
const _: () = assert!(CHUNK_SHARE + ASK_SHARE <= 1.0 && CLAUSE_SHARE <= 1.0);

/// A card being scored.
#[derive(Clone, Default)]
pub(crate) struct Candidate {
    pub(crate) slot: u32,
    pub(crate) name: Option<NameMatch>,
    pub(crate) keyword: f32,
    pub(crate) vector: f32,
    /// By how much [`Candidate::raw`] may be off.
    pub(crate) bound: f32,
    /// Change by the request's constraints, in units of cosine.
    pub(crate) constraints: f32,
    /// Set if the card finds an identifier that a better one takes.
    pub(crate) lookup: Option<Lookup>,
    /// Change by the direction of the request, in units of cosine.
    pub(crate) direction: f32,
    pub(crate) clause: Option<usize>,
    pub(crate) chunk: Option<u32>,
    pub(crate) ask: Option<u32>,
}

/// How a card is raised for finding an identifier, see `lookups.rs`.
#[derive(Clone, Copy)]
pub(crate) struct Lookup {
    /// By how much, in units of cosine.
    pub(crate) by: f32,
    /// The card that takes the identifier.
    pub(crate) needed_by: u32,
}

impl Candidate {
    fn raw(&self) -> f32 {
        let lookup = self.lookup.map_or(0.0, |lookup| lookup.by);
        self.keyword + self.vector + self.constraints + lookup + self.direction
    }
}

/// Most cards from which the background of a request is taken.
const BACKGROUND_SAMPLE: usize = 256;
/// Fewest cards that have one.
pub(crate) const FEWEST_FOR_BACKGROUND: usize = 50;

/// A request to be scored with keywords and vectors.
struct Request<'a> {
    /// Of the whole request and each of its clauses.
    scores: Vec<KeywordScores>,
    queries: Vec<&'a [f32]>,
    /// Subtracted from the queries.
    shift: Vec<f32>,
    /// Mean cosine of all cards with each query.
    average: Vec<f32>,
    shifts: ConstraintShifts<'a>,
}

/// The pieces of pages and the phrases that are closest to a request.
struct Closest {
    pages: ClosestChunks,
    asks: ClosestChunks,
}

/// By how much a request's constraints move cards: those that contradict them down, those that satisfy them a little
/// up. In units of cosine.
pub(crate) struct ConstraintShifts<'a> {
    pub(crate) demands: &'a [Constraint],
    pub(crate) traits: &'a [Traits],
    /// Cards of vendors that are excluded.
    pub(crate) excluded: BitSet,
}

impl ConstraintShifts<'_> {
    fn of(&self, slot: u32) -> f32 {
        if self.demands.is_empty() {
            return 0.0;
        }
        let excluded = if self.excluded.contains(slot) { constraints::EXCLUDED } else { 0.0 };
        constraints::shift(self.demands, self.traits[slot as usize]) + excluded
    }
}

impl SearchIndex {
    /// Returns the cards nearest to the whole request, best first.
    pub(crate) fn nearest_candidates(&self, query: &Query<'_>, allowed: Option<&BitSet>) -> Vec<Candidate> {
        let Some(whole) = query.vectors.first() else { return Vec::new() };
        let nearest = self.vectors.nearest_with_ties(whole, query.limit, allowed);
        let candidate =
            |found: Neighbour| Candidate { slot: found.key, vector: found.score, ..Candidate::default() };
        let mut candidates: Vec<Candidate> = nearest.into_iter().map(candidate).collect();
        self.keep_best(&mut candidates, query.limit);
        candidates
    }

    /// Returns the best cards by keywords, and by vectors if there are any, best first; and the background of their scores,
    /// see [`crate::verdict`].
    pub(crate) fn best_candidates(
        &self,
        query: &Query<'_>,
        allowed: Option<&BitSet>,
    ) -> (Vec<Candidate>, Option<f32>) {
        let with_vectors =
            query.mode == Mode::Hybrid && !query.vectors.is_empty() && !self.vectors.is_empty();
        // Those that are lowered for their direction make room for as many others.
        let compared = if query.plan.directions().is_empty() { 0 } else { directions::COMPARED };
        let deeper = Query { limit: query.limit.saturating_add(compared), ..*query };
        let (mut candidates, background) = if with_vectors {
            self.hybrid_candidates(&deeper, allowed)
        } else {
            (self.keyword_candidates(&deeper, allowed), None)
        };
        self.keep_best_related(&mut candidates, query);
        (candidates, background)
    }

    /// Returns the cards that may be among the best by keywords, in no order.
    fn keyword_candidates(&self, query: &Query<'_>, allowed: Option<&BitSet>) -> Vec<Candidate> {
        let plan = query.plan;
        let scores = self.keyword.score(&self.keyword.resolve(&plan.terms, &[], &plan.concepts), allowed);
        let bm25: Vec<f32> = scores[0].bm25().collect();
        let shifts = self.constraint_shifts(plan.constraints());
        let named = self.names_in(plan, allowed);
        let candidate = |slot: u32| Candidate {
            slot,
            keyword: fusion::bm25_to_cosine(bm25[slot as usize]),
            constraints: shifts.of(slot),
            ..Candidate::default()
        };
        let mut possible = TopKCandidates::new(query.limit);
        for (slot, _) in bm25.iter().enumerate().filter(|(_, bm25)| **bm25 > 0.0) {
            possible.add(slot as u32, candidate(slot as u32).raw(), 0.0);
        }
        let found = self.with_named_and_finders(possible, &named, allowed);
        let found = found.iter().filter(|slot| bm25[*slot as usize] > 0.0 || named.contains_key(slot));
        found.map(|slot| Candidate { name: named.get(&slot).copied(), ..candidate(slot) }).collect()
    }

    fn hybrid_candidates(
        &self,
        query: &Query<'_>,
        allowed: Option<&BitSet>,
    ) -> (Vec<Candidate>, Option<f32>) {
        // Nothing is saved where every card has to be exact.
        let exactness = if query.limit < self.len() { Exactness::Bounded } else { Exactness::Exact };
        self.hybrid(query, allowed, exactness)
    }

    /// Returns the cards that may be among the best, in no order, with exact scores, and their background.
    fn hybrid(
        &self,
        query: &Query<'_>,
        allowed: Option<&BitSet>,
        exactness: Exactness,
    ) -> (Vec<Candidate>, Option<f32>) {
        let plan = query.plan;
        let clause_terms = if query.vectors.len() > 1 { plan.clause_terms.as_slice() } else { &[] };
        let shift: Vec<f32> = self.vectors.mean().into_iter().map(|x| x * MEAN_SHARE).collect();
        let vectors = plan.vectors(query.vectors);
        let queries: Vec<&[f32]> = vectors.iter().map(|vector| &**vector).collect();
        let request = Request {
            scores: self
                .keyword
                .score(&self.keyword.resolve(&plan.terms, clause_terms, &plan.concepts), allowed),
            average: self.vectors.average(&queries, &shift),
            shifts: self.constraint_shifts(plan.constraints()),
            queries,
            shift,
        };
        let named = self.names_in(plan, allowed);
        let mut candidates = match exactness {
            Exactness::Exact => self.scored(&request, allowed),
            Exactness::Bounded => {
                let possible = self.possible(&request, allowed, query.limit);
                self.scored(&request, Some(&self.with_named_and_finders(possible, &named, allowed)))
            }
        };
        for candidate in &mut candidates {
            candidate.name = named.get(&candidate.slot).copied();
        }
        (candidates, self.background(&request, allowed))
    }

    /// Returns the mean score of the cards in the second tenth of the ranking, without names and constraints, from a
    /// sample of the cards; `None` where there are too few.
    fn background(&self, request: &Request<'_>, allowed: Option<&BitSet>) -> Option<f32> {
        let count = allowed.map_or(self.len(), BitSet::len);
        if count < FEWEST_FOR_BACKGROUND {
            return None;
        }
        let step = count.div_ceil(BACKGROUND_SAMPLE);
        let lives = |slot: &u32| !self.ids[*slot as usize].is_empty();
        let sample: BitSet = match allowed {
            Some(allowed) => allowed.iter().step_by(step).filter(lives).collect(),
            None => (0..self.ids.len() as u32).step_by(step).filter(lives).collect(),
        };
        let mut scores: Vec<f32> = self
            .scored(request, Some(&sample))
            .iter()
            .map(|candidate| fusion::to_score(candidate.keyword + candidate.vector))
            .collect();
        scores.sort_unstable_by(|a, b| b.total_cmp(a));
        let tenth = scores.len() / 10;
        if tenth == 0 {
            return None;
        }
        Some(scores[tenth..2 * tenth].iter().sum::<f32>() / tenth as f32)
    }

    /// Returns the cards that may be among the best `limit` once their scores are exact. Names are left aside: whoever is
    /// among the best of those that are not named is among the best of all by score.
    fn possible(&self, request: &Request<'_>, allowed: Option<&BitSet>, limit: usize) -> TopKCandidates {
        let closest = self.closest(request, allowed, Exactness::Bounded);
        let add = |possible: &mut TopKCandidates, slot: u32, cosines: &[f32], bound: f32| {
            let candidate = request.score(&closest, slot, cosines, bound);
            possible.add(slot, candidate.raw(), candidate.bound);
        };
        let start = |_| TopKCandidates::new(limit);
        let (queries, shift) = (&request.queries, &request.shift);
        let mut parts = self.vectors.fold(queries, shift, allowed, Exactness::Bounded, start, add);
        let mut without_vector = TopKCandidates::new(limit);
        for slot in self.without_vector(allowed) {
            add(&mut without_vector, slot, &request.average, 0.0);
        }
        parts.push(without_vector);
        TopKCandidates::join(parts, limit)
    }

    /// Adds the cards that are named, and those in `allowed` that find what one of all these takes: they may be raised into
    /// the best for that.
    fn with_named_and_finders(
        &self,
        possible: TopKCandidates,
        named: &FxHashMap<u32, NameMatch>,
        allowed: Option<&BitSet>,
    ) -> BitSet {
        let mut found = BitSet::with_len(self.ids.len());
        for slot in possible.into_keys().chain(named.keys().copied()) {
            found.insert(slot);
            self.lookups.for_each_producer(slot, |finder, _| {
                if allowed.is_none_or(|set| set.contains(finder)) {
                    found.insert(finder);
                }
            });
        }
        found
    }

    /// Returns the cards in `allowed` whose vector is not computed yet. They are scored as average ones.
    fn without_vector<'a>(&'a self, allowed: Option<&'a BitSet>) -> impl Iterator<Item = u32> + 'a {
        let slots = (self.vectors.len() < self.len()).then(|| self.slots.values().copied());
        let lacks =
            move |slot: &u32| !self.vectors.contains(*slot) && allowed.is_none_or(|set| set.contains(*slot));
        slots.into_iter().flatten().filter(lacks)
    }

    fn closest(&self, request: &Request<'_>, allowed: Option<&BitSet>, exactness: Exactness) -> Closest {
        let of = |chunks: &ChunkIndex| chunks.closest(&request.queries, &request.shift, allowed, exactness);
        Closest { pages: of(&self.chunks), asks: of(&self.asks) }
    }

    /// Scores all cards in `allowed` exactly.
    fn scored(&self, request: &Request<'_>, allowed: Option<&BitSet>) -> Vec<Candidate> {
        let closest = self.closest(request, allowed, Exactness::Exact);
        let add = |candidates: &mut Vec<Candidate>, slot: u32, cosines: &[f32], bound: f32| {
            candidates.push(request.score(&closest, slot, cosines, bound));
        };
        let (queries, shift) = (&request.queries, &request.shift);
        let parts = self.vectors.fold(queries, shift, allowed, Exactness::Exact, Vec::with_capacity, add);
        let mut candidates = parts.concat();
        for slot in self.without_vector(allowed) {
            add(&mut candidates, slot, &request.average, 0.0);
        }
        candidates
    }

    /// Keeps the best candidates, best first, ties by id.
    fn keep_best(&self, candidates: &mut Vec<Candidate>, limit: usize) {
        self.move_best_first(candidates, limit);
        self.cut(candidates, limit);
    }

    fn cut(&self, candidates: &mut Vec<Candidate>, limit: usize) {
        candidates.truncate(limit);
        candidates.sort_by(|a, b| self.order(a, b));
    }

    /// The same, after raising cards that find an identifier which one of the best takes, and comparing the direction of
    /// the best with that of the request.
    fn keep_best_related(&self, candidates: &mut Vec<Candidate>, query: &Query<'_>) {
        self.move_best_first(candidates, query.limit);
        if self.raise_lookups(candidates, query.limit) {
            self.move_best_first(candidates, query.limit);
        }
        let wanted = query.plan.directions();
        if !wanted.is_empty() {
            self.move_best_first(candidates, directions::COMPARED);
            for candidate in candidates.iter_mut().take(directions::COMPARED) {
                candidate.direction = wanted.shift(&self.directions[candidate.slot as usize]);
            }
            self.move_best_first(candidates, query.limit);
        }
        self.cut(candidates, query.limit);
    }

    fn order(&self, a: &Candidate, b: &Candidate) -> Ordering {
        b.name
            .cmp(&a.name)
            .then(b.raw().total_cmp(&a.raw()))
            .then_with(|| self.ids[a.slot as usize].cmp(&self.ids[b.slot as usize]))
    }

    fn move_best_first(&self, candidates: &mut [Candidate], limit: usize) {
        if candidates.len() > limit {
            candidates.select_nth_unstable_by(limit - 1, |a, b| self.order(a, b));
        }
    }

    /// Raises cards that find an identifier which one of the first `limit` takes to [`LOOKUP_SHARE`] of its score. So
    /// they rank after it, and cards that none of the best needs are not raised into the best. Returns whether any was raised.
    fn raise_lookups(&self, candidates: &mut [Candidate], limit: usize) -> bool {
        if self.lookups.is_empty() {
            return false;
        }
        let mut needed: FxHashMap<u32, (f32, u32)> = FxHashMap::default();
        for candidate in candidates.iter().take(limit).filter(|candidate| candidate.raw() > 0.0) {
            let (raw, slot) = (LOOKUP_SHARE * candidate.raw(), candidate.slot);
            self.lookups.for_each_producer(slot, |finder, _| {
                let known = needed.entry(finder).or_insert((raw, slot));
                if raw.total_cmp(&known.0).then(known.1.cmp(&slot)).is_gt() {
                    *known = (raw, slot);
                }
            });
        }
        if needed.is_empty() {
            return false;
        }
        let mut raised = false;
        // A card that is named ranks first anyway.
        for candidate in candidates.iter_mut().filter(|candidate| candidate.name.is_none()) {
            let Some(&(raw, needed_by)) = needed.get(&candidate.slot) else { continue };
            let by = raw + candidate.constraints.min(0.0) - candidate.raw();
            if by > 0.0 {
                candidate.lookup = Some(Lookup { by, needed_by });
                raised = true;
            }
        }
        raised
    }
}

impl Request<'_> {
    /// Scores a card whose vector has the given cosines with the texts of the request, the first of which is the whole
    /// request and the others its clauses.
    #[inline]
    fn score(&self, closest: &Closest, slot: u32, cosines: &[f32], bound: f32) -> Candidate {
        let (whole, clauses) = (&self.scores[0], &self.scores[1..]);
        let page = closest.pages.of(slot);
        let ask = closest.asks.of(slot);
        let cosine = |of: usize| {
            let tool = match page {
                Some(page) => cosines[of] + CHUNK_SHARE * (page[of].cosine - cosines[of]),
                None => cosines[of],
            };
            match ask {
                Some(ask) => tool + ASK_SHARE * (ask[of].cosine - ASK_ADVANTAGE - cosines[of]),
                None => tool,
            }
        };
        let bounds = [page, ask].into_iter().flatten().flatten().map(|closest| closest.bound);
        let mut candidate = Candidate {
            slot,
            keyword: whole.evidence(slot),
            vector: cosine(0),
            bound: bounds.fold(bound, f32::max),
            constraints: self.shifts.of(slot),
            chunk: page.map(|page| page[0].at),
            ask: ask.map(|ask| ask[0].at),
            ..Candidate::default()
        };
        let best = clauses
            .iter()
            .enumerate()
            .map(|(i, scores)| (i, scores.evidence(slot), cosine(i + 1)))
            .max_by(|a, b| (a.1 + a.2).total_cmp(&(b.1 + b.2)).then(b.0.cmp(&a.0)));
        if let Some((clause, keyword, vector)) = best {
            candidate.keyword += CLAUSE_SHARE * (keyword - candidate.keyword);
            candidate.vector += CLAUSE_SHARE * (vector - candidate.vector);
            candidate.clause = Some(clause);
        }
        candidate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Document, Parameter, Vectors};

    const DIMENSION: usize = 48;

    /// A library large enough to be scored with approximate cosines, in which many cards are nearly the same and some
    /// exactly. Of each kind there are cards with phrases, with pages, and without a vector.
    fn library(cards: usize) -> SearchIndex {
        let mut state = 7_u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        let centres: Vec<Vec<f32>> = (0..13).map(|_| (0..DIMENSION).map(|_| random()).collect()).collect();
        let mut near = |at: usize, spread: f32, rows: usize| -> Vec<f32> {
            (0..rows).flat_map(|_| centres[at % 13].clone()).map(|x| x + spread * random()).collect()
        };
        let ids: Vec<String> = (0..cards).map(|at| format!("card-{:05}", (at * 7) % cards)).collect();
        let names: Vec<String> = (0..cards).map(|at| format!("Tool{at}")).collect();
        let words = ["calendar", "mail", "invoice", "weather", "chess"];
        let descriptions: Vec<String> =
            (0..cards).map(|at| format!("Turns {} into {}", words[at % 5], words[at % 3])).collect();
        let vectors: Vec<Vec<f32>> = (0..cards)
            .map(|at| near(at, if at % 17 == 0 { 0.0 } else { 0.02 }, if at % 3 == 0 { 4 } else { 1 }))
            .collect();
        let parameter = |name| Parameter { name, description: "" };
        let documents: Vec<Document<'_>> = (0..cards)
            .map(|at| Document {
                id: &ids[at],
                provider: ["a", "b"][at % 2],
                name: if at < 200 && at % 90 / 2 == 2 { "search_events" } else { &names[at] },
                parameters: (at % 5 == 0).then(|| parameter("event_id")).into_iter().collect(),
                description: &descriptions[at],
                vectors: (at % 50 != 7).then(|| Vectors::split(&vectors[at], DIMENSION)),
                ..Document::default()
            })
            .collect();
        let mut index = SearchIndex::new();
        index.upsert_all(&documents).unwrap();
        for at in (0..cards).filter(|at| at % 4 == 1 || at % 50 == 7) {
            index.set_chunks(&ids[at], &near(at, 0.1, 4), DIMENSION).unwrap();
        }
        index
    }

    fn vectors(texts: usize, seed: usize) -> Vec<Vec<f32>> {
        let number = |at: usize| ((at * 37) % 19) as f32 - 9.0;
        (0..texts).map(|of| (0..DIMENSION).map(|i| number(i + 3 * seed + of)).collect()).collect()
    }

    /// Everything a result is made of, as a text.
    fn parts(candidates: &[Candidate]) -> Vec<String> {
        let of = |c: &Candidate| {
            format!("{} {:x} {:?} {:?} {:?}", c.slot, c.raw().to_bits(), c.clause, c.chunk, c.ask)
        };
        candidates.iter().map(of).collect()
    }

    #[test]
    fn approximate_cosines_change_no_result() {
        let cards = 9000;
        let index = library(cards);
        assert!(index.chunks.len() > 8192 && index.asks.len() > 8192);
        let texts = [
            "calendar",
            "free mail tool",
            "Tool17 and Tool4",
            "read the weather; write an invoice; play chess games",
            "turn an invoice into a calendar",
        ];
        let (mut looked_up, mut lowered) = (0, 0);
        for (at, text) in texts.into_iter().enumerate() {
            let plan = index.plan(text);
            let vectors = vectors(plan.texts().count(), at);
            for limit in [1, 5, 20, 300, cards] {
                for allowed in
                    [None, Some((0..cards as u32).filter(|slot| slot % 3 != 1).collect::<BitSet>())]
                {
                    let query =
                        Query { plan: &plan, vectors: &vectors, mode: Mode::Hybrid, limit, filter: None };
                    let (mut expected, _) = index.hybrid(&query, allowed.as_ref(), Exactness::Exact);
                    index.keep_best_related(&mut expected, &query);
                    let (found, _) = index.best_candidates(&query, allowed.as_ref());
                    assert_eq!(parts(&found), parts(&expected), "{text} {limit}");
                    looked_up += found.iter().filter(|candidate| candidate.lookup.is_some()).count();
                    lowered += found.iter().filter(|candidate| candidate.direction < 0.0).count();

                    let query = Query { mode: Mode::Vector, ..query };
                    let all = index.vectors.scan(&[&vectors[0]], &[], allowed.as_ref(), Exactness::Exact);
                    let candidate = |(&slot, &vector)| Candidate { slot, vector, ..Candidate::default() };
                    let mut expected: Vec<Candidate> =
                        all.keys.iter().zip(&all.cosines).map(candidate).collect();
                    index.keep_best(&mut expected, limit);
                    let found = index.nearest_candidates(&query, allowed.as_ref());
                    assert_eq!(parts(&found), parts(&expected), "{text} {limit}");
                }
            }
        }
        assert!(looked_up > 10 && lowered > 10, "{looked_up} {lowered}");
    }

    #[test]
    fn few_cards_have_to_be_scored_again() {
        let index = library(9000);
        let plan = index.plan("calendar");
        let vectors = vectors(1, 0);
        let query = Query { plan: &plan, vectors: &vectors, mode: Mode::Hybrid, limit: 20, filter: None };
        let again = index.hybrid(&query, None, Exactness::Bounded).0.len();
        assert!((20..3000).contains(&again), "{again}");
    }
}
