//! Fuses keyword and vector rankings into one.
//!
//! Plain fusion fails on short everyday questions: one word that happens to occur in some card outvotes the
//! meaning of the whole question. On long, specific requests, the keywords are the better signal. So the
//! weight of the keywords is not constant but depends on how much they match:
//!
//! * **Evidence is absolute.** Cosine and BM25 are added on fixed scales, not normalised within the
//!   result list. A query of two known words can bring little keyword evidence, a paragraph a lot.
//!   (Min-max normalisation gives the best keyword hit the same weight whether it matched one word
//!   of eight or all of them.)
//! * **One word is a coincidence, two are evidence.** The discount takes the largest single
//!   contribution out of a card's BM25 score, except for the share of the query that the card's
//!   words cover. A card that has one of five content words gets nearly nothing, a one-word query
//!   is unaffected, and in a long request the discount of one word among many does not matter.
//! * **The average card is not an answer.** A share of the library's mean vector is subtracted from the
//!   query, so that cards that are close to everything do not rank above those close to the question. (A mild
//!   form of the mean removal of Mu & Viswanath, "All-but-the-Top", ICLR 2018.)
//! * **Long requests are many requests.** From three clauses on, half of the score is the best a
//!   card reaches for any one clause.
//! * **Well-known names are explained.** General knowledge about a name on a card that the card itself need
//!   not mention (`gazetteer.rs`) is indexed with the card: as a field of its own for the keywords, and as a
//!   remark at the end of the text that is embedded.
//! * **Everyday words have synonyms.** Concepts that a request means according to a thesaurus
//!   (`thesaurus.rs`) are searched for as well: cards that use another name for one match those words without
//!   discount (two names for one thing are no coincidence), and the query's vector is moved half way towards
//!   that of the request with the usual names added.
//!
//! # Constants and their effect
//!
//! Chosen on developer sets in the middle of flat regions: a quarter more or less of any of them
//! moves no set by more than its standard error (2 to 4 points of NDCG@10, 7 of hit@1). NDCG@10 x
//! 100 on RestBench TMDB and Spotify and ToolBench G3, each with original and with refined
//! documentation; hit@1/hit@3 on 30 everyday questions over 143 cards, and on 60 more that were
//! written without looking at any ranking (all-MiniLM-L6-v2, all of it without thesaurus and gazetteer):
//!
//! | ranking | TMDB | refined | Spotify | refined | G3 | refined | 30 questions | 60 questions |
//! |---|---|---|---|---|---|---|---|---|
//! | keyword alone | 48.3 | 50.8 | 65.6 | 60.9 | 54.9 | 50.1 | 40/67 | 48/58 |
//! | vector alone | 50.7 | 47.1 | 61.1 | 56.7 | 41.6 | 36.0 | 73/87 | 65/83 |
//! | min-max, 0.4 keyword + 0.6 vector | 56.0 | 56.0 | 68.0 | 63.4 | 55.1 | 51.2 | 53/83 | 58/77 |
//! | sum on fixed scales | 56.0 | 54.2 | 68.0 | 63.2 | 57.4 | 51.3 | 57/83 | 63/82 |
//! | + coincidence discount | 53.3 | 52.0 | 65.2 | 61.8 | 58.9 | 53.0 | 73/87 | 70/92 |
//! | + share of the mean vector | 53.8 | 51.1 | 64.3 | 62.1 | 58.9 | 53.1 | 80/90 | 72/90 |
//! | **+ clauses: as built** | 53.8 | 51.1 | 64.3 | 62.1 | 62.7 | 55.9 | 80/90 | 72/90 |
//! | as built, without parameters | 53.2 | 51.2 | 62.8 | 62.8 | 56.2 | 52.6 | 80/90 | 72/90 |
//! | as built, without word families | 54.1 | 51.3 | 64.0 | 62.1 | 61.1 | 52.4 | 80/90 | 72/90 |
//! | as built, without coincidence discount | 55.5 | 54.2 | 68.2 | 63.6 | 61.6 | 55.4 | 57/87 | 63/82 |
//! | as built, with vectors of sentences | 53.7 | 52.0 | 64.8 | 62.9 | 61.9 | 56.1 | 73/90 | 73/90 |
//! | as built, with vectors of names | 53.4 | 52.7 | 65.2 | 60.6 | 60.0 | 54.5 | 63/83 | 75/90 |
//!
//! Effect of thesaurus and gazetteer, measured with this crate, everything else as built; 135 questions as
//! below, and 120 questions by somebody who had read the cards but no ranking, worded as differently from the
//! cards as possible. The entries of both lists were written without seeing any of these questions (the
//! subjects of the gazetteer's second half were named by somebody who knew the 143 cards, so that part of its
//! gain may be flattering):
//!
//! | | TMDB | refined | Spotify | refined | G3 | refined | 30 questions | 135 | 120 |
//! |---|---|---|---|---|---|---|---|---|---|
//! | without both | 53.5 | 51.3 | 65.0 | 62.0 | 62.7 | 56.0 | 80/90 | 67/84 | 48/71 |
//! | with thesaurus | 53.3 | 51.4 | 65.3 | 62.6 | 61.7 | 55.9 | 80/93 | 72/84 | 53/72 |
//! | **with gazetteer too: as built** | 53.3 | 51.4 | 65.3 | 62.6 | 60.2 | 55.6 | 90/93 | 80/93 | 67/85 |
//!
//! A first gazetteer, half as long and with shorter entries, gave 73/97, 79/91 and 58/75: names that are not
//! in it fall behind those that are, and similar tools have to be told apart. Using it for the keywords alone
//! gave 73/93, 76/86 and 54/73, in the vector alone 73/97, 76/88 and 58/75; a weight of 0.5 to 2 for its
//! field made no difference beyond the error.
//!
//! Any share of 0.5 to 0.85 for a concept gives the same results within 0.8. Entries that an adversarial
//! review showed to apply to too many things were removed before these figures: "cast" and "actor" alone,
//! which also are types and programs, were worth a point on TMDB.
//!
//! The discount is a trade-off: it improves the everyday questions (57 to 80) and costs two to four points
//! where a library is about one subject and its words recur in every request. (The table was made with a
//! prototype in Python; this crate differs from it by less than one point anywhere.)
//!
//! Tried without effect outside the error: other wordings of the card text, taking phrases like "I
//! want a tool that" off the question, embedding the question without its stop words or as "which
//! tool can ...?", weighting words by their likeness to the question, matching words by the
//! likeness of their vectors, feedback from the first hits, cosines scaled to each query's spread,
//! a limit on the evidence, a share of the scores of a card's neighbours, the mean over several wordings of
//! the question, weights of tokens in the pooling of its vector, weights learnt from 255 questions.
//!
//! Chunks of the cards' documentation pages count by the closest one: for a card with a page, it makes up 0.3
//! of the vector score (`autokit eval ask --site`). hit@1/hit@3/hit@5, 30 questions and 135 others:
//!
//! | | 30 questions | 135 others |
//! |---|---|---|
//! | hybrid | 90.0/93.3/96.7 | 80.0/92.6/95.6 |
//! | with pages | 93.3/93.3/96.7 | 83.0/92.6/95.6 |
//!
//! What people ask for when they need a tool (`asks_for` of a card) is compared phrase by phrase: of the vector
//! score, [`ASK_SHARE`] is the closest phrase, less what the closest of several texts is closer to any request
//! ([`ASK_ADVANTAGE`]); for the keywords it is a field of half the weight of the description. Twelve phrases for each
//! starter card, by somebody who saw neither questions nor rankings; hit@1/hit@3 of the 91 open questions over the
//! starter cards, and of the 142 about other vendors in one library with them, whose cards have no phrases (what they
//! lose is mostly to starter cards that answer as well, and that the set does not name):
//!
//! | | starter cards | other vendors beside them |
//! |---|---|---|
//! | without phrases | 63/87 | 68/- |
//! | in the vectors alone, if closer | 85/97 | 61/- |
//! | with keywords, if closer | 89/98 | 56/- |
//! | **always, less the advantage: as built** | 90/97 | 66/- |
//!
//! Requests no starter card answers are told from others with an area under the curve of 0.93 instead of 0.82. Any
//! share of 0.45 to 0.75 and advantage of 0.1 to 0.2 is within the error there. In a library of 552 cards in groups that
//! are easily confused, with three phrases each, a smaller share is better (hit@1 39.6 at 0.3, 38.0 at 0.45, 34.5 at
//! 0.6), and so is a soft maximum over description and phrases (40.1); both refuse fewer of the requests that no starter
//! card answers (0.45: 72.8 of 100, 0.6: 75.0), and the soft maximum ranks cards without phrases one to three points
//! worse beside those with.
//!
//! A tool that finds an identifier which a better one takes ([`LOOKUP_SHARE`], `lookups.rs`); NDCG@10 x 100 with the
//! model trained for tools, everything else as built:
//!
//! | share | TMDB | refined | Spotify | refined | G3 | refined |
//! |---|---|---|---|---|---|---|
//! | without | 54.7 | 57.4 | 70.2 | 63.8 | 62.8 | 58.1 |
//! | 0.6 | 57.4 | 58.8 | 70.9 | 64.1 | 62.8 | 58.2 |
//! | **0.8: as built** | 61.6 | 62.9 | 72.0 | 65.6 | 62.8 | 58.4 |
//! | 0.9 | 63.3 | 65.2 | 72.8 | 65.4 | 62.7 | 57.6 |
//!
//! (The second and fourth row by a prototype, in which only tools that search count and keywords a tenth less.)
//! None of the starter cards takes an identifier, so nothing changes there.
//!
//! Among the best cards, those that turn things the way the request wants are raised a little, and those that only go
//! the other way lowered (`directions.rs`). Hit@1 over 61 pairs of opposite tools rises from 59.7 to 62.1 (most of those
//! requests do not say what they turn into what), and no request of the five other sets, 570 in all, gets another first
//! card.
//!
//! Tried again with the model trained for tools, without effect outside the error: keywords at 0.6 to 1.5 of their
//! weight, three quarters of the coincidence discount (half of it costs seven points of hit@1 on unlisted vendors and
//! brings one on Spotify), other shares of the mean vector, up to five principal components, the similarity to the
//! nearest cards. The mean score of the second ten hits beside that of the first tells requests that no card answers
//! better on every set (areas of 0.95 instead of 0.94, 0.91 instead of 0.86, 0.94 instead of 0.91), but wrong first hits
//! from right ones worse on three of five, and refuses no more of them where few right ones may be refused.
//!
//! A second stage that compared every token of the request with the nearest token of the card (late interaction), for
//! the first 20 cards, was removed: with the model trained for tools it moves hit@1 by no more than 1.6 points either way
//! (open halves: starter 90.1 to 90.1, other vendors 76.8 to 76.8, directions 59.7 to 60.5, conditions 87.8 to 89.0,
//! 135: 91.9 to 91.9, 120: 80.8 to 79.2), and refused one request less.
//! A cross-encoder of the same size, trained on the same pairs (LoRA of rank 16 and one head on the mean vector; eight
//! requests with eight tools each a step, hard negatives found by the default model, 1,080 steps in 50 minutes on two
//! cores), is worse than the ranking it would correct. Added to the scores of the first ten with a growing weight, it
//! moves hit@1 over five sets (other vendors, 135, 120, directions, conditions) by -0.5 [-1.5, 0.3], -1.2 [-2.5, 0.2],
//! -2.8 [-5.0, -0.5] and -5.8 [-8.8, -3.2] points (95 %, paired bootstrap); alone it finds 44 instead of 90 of 100 starter
//! cards first, and 14 instead of 61 directions. That is one run, far from converged. Ten pairs of 96 tokens take it
//! 109 ms in f32 and 59 in bf16, and a search may wait 60 ms on machines that have f32 alone.
//!
//! Effective but not done (measured before there was a gazetteer): subtracting a share of each card's
//! similarity to its nearest neighbour (+1 point of NDCG@10 on average), which takes quadratic time in the
//! size of the library to prepare; a second vector of the name with the first sentence (+2 points, everyday
//! questions unchanged), which doubles the time of an import; names of a card's concepts in its vector, as in
//! the query's (+2 points on TMDB, +1 on the 135, one of the 30 lost), which requires every vector to be
//! recomputed; a share of 0.3 of the first five principal components of the library subtracted from the query
//! (+2 on TMDB, +3 on the 135, +2 on the 120, one of the 30 lost), which have to follow every change of the
//! library. A thesaurus twice as long brought nothing.

use crate::names::NameMatch;

/// BM25 points equivalent to one unit of cosine.
const EVIDENCE_SCALE: f32 = 25.0;

/// Share of the library's mean vector subtracted from the query.
pub(crate) const MEAN_SHARE: f32 = 0.15;

/// Weight of the best clause in the score of a request with several clauses.
pub(crate) const CLAUSE_SHARE: f32 = 0.5;

/// Weight of the page's closest chunk in the vector score of a card with a page.
pub(crate) const CHUNK_SHARE: f32 = 0.3;

/// Weight of the closest phrase of `asks_for` in the vector score of a card that has any.
pub(crate) const ASK_SHARE: f32 = 0.6;

/// How much closer to a request the closest of several phrases is than a card's description, without being about
/// the same; otherwise cards with phrases would come before those without.
pub(crate) const ASK_ADVANTAGE: f32 = 0.15;

/// Share of a card's score that a card gets which finds an identifier the former takes.
pub(crate) const LOOKUP_SHARE: f32 = 0.8;

/// Upper bound of scores without a name match.
const MAX_UNNAMED: f32 = 0.9;

/// Discounts a BM25 score for coincidence: subtracts its largest single contribution to the extent that the
/// query is not covered. The result is in units of cosine.
pub(crate) fn keyword_evidence(total: f32, largest: f32, coverage: f32) -> f32 {
    (total - largest * (1.0 - coverage)) / EVIDENCE_SCALE
}

/// Converts a plain BM25 score to units of cosine.
pub(crate) fn bm25_to_cosine(bm25: f32) -> f32 {
    bm25 / EVIDENCE_SCALE
}

/// Maps a sum of cosine and keyword evidence to a score from 0 to [`MAX_UNNAMED`]: `0.9 (1 - 4^-raw)`, so
/// that a sum of 1/2 maps to half of it.
pub(crate) fn to_score(raw: f32) -> f32 {
    MAX_UNNAMED * (1.0 - (-raw.max(0.0) * 4.0f32.ln()).exp())
}

/// Converts a score below [`MAX_UNNAMED`] back to the sum it was made of.
fn from_score(score: f32) -> f32 {
    -(1.0 - score.clamp(0.0, 0.999 * MAX_UNNAMED) / MAX_UNNAMED).ln() / 4.0f32.ln()
}

/// Returns what keywords contributed to a score, in units of cosine, from the contributions of keywords and vector to
/// the score. Of a card that the request names, only what is left beside the name is known.
pub(crate) fn keyword_of_parts(keyword: f32, vector: f32) -> f32 {
    let plain = keyword + vector;
    if plain > 0.0 { from_score(plain) * keyword / plain } else { 0.0 }
}

/// Returns the score and the parts it is the sum of: keyword, vector, constraints, lookup, direction, name.
///
/// A name match raises the score above every card without one: `n + (1 - n) s`, where `n` is the lift of the
/// match and `s` the score of the rest, see [`NameMatch`]. What keywords and vector contribute is divided in
/// proportion to their parts of the sum; `constraints`, `lookup` and `direction` are added to it one after the other,
/// in units of cosine.
pub(crate) fn score_parts(
    keyword: f32,
    vector: f32,
    constraints: f32,
    lookup: f32,
    direction: f32,
    name: Option<NameMatch>,
) -> (f32, [f32; 6]) {
    let boost = name.map_or(0.0, NameMatch::boost);
    let raw = keyword + vector;
    let score = |raw: f32| (1.0 - boost) * to_score(raw);
    let plain = score(raw);
    let constrained = score(raw + constraints);
    let raised = score(raw + constraints + lookup);
    let whole = score(raw + constraints + lookup + direction);
    let share = |part: f32| if raw > 0.0 { plain * part / raw } else { 0.0 };
    let parts =
        [share(keyword), share(vector), constrained - plain, raised - constrained, whole - raised, boost];
    (whole + boost, parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_and_tiers_do_not_overlap() {
        let sums: Vec<(f32, f32)> =
            [0.0, 0.05, 0.3, 1.0, 9.0].iter().flat_map(|&k| [-0.2, 0.0, 0.4, 1.0].map(|v| (k, v))).collect();
        let range = |name| {
            let scores = sums.iter().map(|&(keyword, vector)| {
                let (score, parts) = score_parts(keyword, vector, keyword - 0.1, 0.2, -0.05, name);
                assert!((0.0..=1.0).contains(&score));
                assert!((score - parts.iter().sum::<f32>()).abs() < 1e-5);
                score
            });
            scores.fold((f32::MAX, f32::MIN), |(low, high), s| (low.min(s), high.max(s)))
        };
        let tiers = [None, Some(NameMatch::Typo), Some(NameMatch::Near), Some(NameMatch::Exact)].map(range);
        assert!(tiers.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{tiers:?}");
    }

    #[test]
    fn the_keywords_of_a_score_are_found_again() {
        for (keyword, vector) in [(0.0, 0.4), (0.2, 0.3), (0.5, -0.1), (0.0, 0.0)] {
            let (_, [part, other, ..]) = score_parts(keyword, vector, 0.1, 0.2, -0.05, None);
            assert!((keyword_of_parts(part, other) - keyword).abs() < 1e-4, "{keyword} {vector}");
        }
    }

    #[test]
    fn one_word_of_many_is_no_evidence_and_a_covered_query_is_evidence() {
        assert!(keyword_evidence(5.0, 5.0, 0.2) < 0.25 * bm25_to_cosine(5.0));
        assert!((keyword_evidence(5.0, 5.0, 1.0) - bm25_to_cosine(5.0)).abs() < 1e-6);
        assert!(keyword_evidence(30.0, 5.0, 0.5) > 0.9 * bm25_to_cosine(30.0));
    }
}
