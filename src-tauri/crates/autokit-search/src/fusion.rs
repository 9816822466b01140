//! One ranking out of keywords and meaning.
//!
//! Plain fusion fails on short everyday questions: one word that happens to occur in some card
//! outvotes the meaning of the whole question. On long, specific requests it is the keywords that
//! know. So the weight of the keywords is not a constant but follows from what they say:
//!
//! * **Evidence is absolute.** Cosine and BM25 are added on fixed scales, not normalised within the
//!   result list. A query of two known words can bring little keyword evidence, a paragraph a lot.
//!   (Min-max normalisation gives the best keyword hit the same weight whether it matched one word
//!   of eight or all of them.)
//! * **One word is a coincidence, two are evidence.** The discount takes the largest single
//!   contribution out of a card's BM25 score, except for the share of the query that the card's
//!   words cover. A card that has one of five content words gets nearly nothing, a one-word query
//!   is unaffected, and in a long request the discount of one word among many does not matter.
//! * **The average card is no answer.** A share of the mean vector of the library is taken off the
//!   query, so that cards that are close to everything do not rise above those close to the
//!   question. (A mild form of the mean removal of Mu & Viswanath, "All-but-the-Top", ICLR 2018.)
//! * **Long requests are many requests.** From three clauses on, half of the score is the best a
//!   card reaches for any one clause.
//! * **Names are known.** What the world knows of a name on a card, and the card need not say (`gazetteer.rs`),
//!   is read with the card: a field of its own for the keywords, a remark at the end of the text that is embedded.
//! * **Everyday words have other names.** What a thesaurus knows a request to mean (`thesaurus.rs`) is
//!   searched for as well: cards that call it by another name have the words, without discount (two names
//!   for one thing are no coincidence), and the query's vector goes half way to that of the request
//!   with the usual names added.
//!
//! # Constants and what they bring
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
//! What thesaurus and gazetteer bring, this crate, everything else as built; 135 questions as below, and 120
//! that were written by somebody who had read the cards but no ranking, in words as far from theirs as one's own.
//! The entries of both were written without seeing any of these (the subjects of the gazetteer's second half were
//! named by somebody who knew the 143 cards, so that part of its gain there may be flattering):
//!
//! | | TMDB | refined | Spotify | refined | G3 | refined | 30 questions | 135 | 120 |
//! |---|---|---|---|---|---|---|---|---|---|
//! | without both | 53.5 | 51.3 | 65.0 | 62.0 | 62.7 | 56.0 | 80/90 | 67/84 | 48/71 |
//! | with thesaurus | 53.3 | 51.4 | 65.3 | 62.6 | 61.7 | 55.9 | 80/93 | 72/84 | 53/72 |
//! | **with gazetteer too: as built** | 53.3 | 51.4 | 65.3 | 62.6 | 60.2 | 55.6 | 90/93 | 80/93 | 67/85 |
//!
//! A first gazetteer, half as long and in fewer words, brought 73/97, 79/91 and 58/75: names that are not in it stand
//! behind those that are, and brothers have to be told apart. With the keywords alone it was 73/93, 76/86 and 54/73,
//! in the vector alone 73/97, 76/88 and 58/75; a weight of 0.5 to 2 for its field made no difference outside the error.
//!
//! A concept's share of 0.5 to 0.85 is the same within 0.8 anywhere. What an attack showed to be true of too
//! many things was taken out of the list before these figures: "cast" and "actor" alone, which also are types
//! and programs, were worth a point on TMDB.
//!
//! The discount is the trade: it buys the everyday questions (57 to 80) for two to four points where
//! a library is about one subject and its words recur in every request. (Table made with a
//! prototype in Python; this crate differs from it by less than one point anywhere.)
//!
//! Tried without effect outside the error: other wordings of the card text, taking phrases like "I
//! want a tool that" off the question, embedding the question without its stop words or as "which
//! tool can ...?", weighting words by their likeness to the question, matching words by the
//! likeness of their vectors, feedback from the first hits, cosines scaled to each query's spread,
//! a limit on the evidence, a share of the scores of a card's neighbours, the mean over several wordings of
//! the question, weights of tokens in the pooling of its vector, weights learnt from 255 questions.
//!
//! Pages of the cards' documentation, cut into pieces, count by their closest piece: for a card with
//! a page, 0.3 of what the vectors say comes from there. A later stage matches every token of the
//! question with its nearest token of the card, for the first 20 cards (in the program, `autokit eval
//! ask --site` prints both). hit@1/hit@3/hit@5, 30 questions and 135 others:
//!
//! | | 30 questions | 135 others |
//! |---|---|---|
//! | hybrid | 90.0/93.3/96.7 | 80.0/92.6/95.6 |
//! | reranked | 86.7/96.7/96.7 | 83.0/91.9/97.0 |
//! | with pages | 93.3/93.3/96.7 | 83.0/92.6/95.6 |
//! | with pages, reranked | 93.3/96.7/96.7 | 83.0/94.1/96.3 |
//!
//! With effect, and not done (measured before there was a gazetteer): taking off a share of each card's
//! likeness to its nearest neighbour (+1 point of NDCG@10 on average), which takes the square of the library
//! to prepare; a second vector of the name with the first sentence (+2 points, everyday questions
//! unchanged), which doubles the time of an import; names of what a card means in its vector, as in the
//! query's (+2 points on TMDB, +1 on the 135, one of the 30 lost), which makes every vector anew; a share of
//! 0.3 of the first five principal components of the library taken off the query (+2 on TMDB, +3 on the 135,
//! +2 on the 120, one of the 30 lost), which have to follow every change of the library. Twice as long a
//! thesaurus brought nothing.

use crate::names::NameMatch;

/// BM25 points worth one unit of cosine.
const EVIDENCE_SCALE: f32 = 25.0;

/// Share of the library's mean vector taken off the query.
pub(crate) const MEAN_SHARE: f32 = 0.15;

/// Share of the best clause in the score of a request of several clauses.
pub(crate) const CLAUSE_SHARE: f32 = 0.5;

/// Share of a page's closest piece in what the vectors say about a card that has a page.
pub(crate) const CHUNK_SHARE: f32 = 0.3;

/// Largest score without a match of the name.
const UNNAMED: f32 = 0.9;

/// A BM25 score without what may be coincidence: its largest single contribution, in so far as the
/// query is not covered.
pub(crate) fn corroborated(total: f32, largest: f32, coverage: f32) -> f32 {
    (total - largest * (1.0 - coverage)) / EVIDENCE_SCALE
}

/// Plain BM25 on the scale of evidence.
pub(crate) fn plain(bm25: f32) -> f32 {
    bm25 / EVIDENCE_SCALE
}

/// A sum of cosine and evidence on a scale from 0 to [`UNNAMED`]: `0.9 (1 - 4^-raw)`, so that a sum
/// of 1/2 is half way.
fn calibrated(raw: f32) -> f32 {
    UNNAMED * (1.0 - (-raw.max(0.0) * 4.0f32.ln()).exp())
}

/// A score moved by `by` units of cosine: what a later stage has to say about a hit, on the scale the
/// score was made on. Scores of a matched name, above 0.9, stay as they are.
pub fn moved(score: f32, by: f32) -> f32 {
    if score >= UNNAMED {
        return score;
    }
    let raw = -(1.0 - score / UNNAMED).ln() / 4.0f32.ln();
    calibrated(raw + by)
}

/// The score and the parts it is the sum of: keyword, vector, name.
///
/// A matched name lifts the score over every card without one: `n + (1 - n) s` with `n` of the
/// match and `s` of the rest, see [`NameMatch`]. The rest is shared out in proportion to what
/// keywords and vector put into the sum.
pub(crate) fn score_parts(keyword: f32, vector: f32, name: Option<NameMatch>) -> (f32, [f32; 3]) {
    let lift = name.map_or(0.0, NameMatch::lift);
    let raw = keyword + vector;
    let rest = (1.0 - lift) * calibrated(raw);
    let parts = if raw > 0.0 { [rest * keyword / raw, rest * vector / raw, lift] } else { [0.0, 0.0, lift] };
    (rest + lift, parts)
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
                let (score, parts) = score_parts(keyword, vector, name);
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
    fn moving_a_score_by_nothing_or_back_and_forth_leaves_it() {
        for score in [0.05, 0.3, 0.7, 0.95] {
            assert!((moved(score, 0.0) - score).abs() < 1e-5);
            assert!((moved(moved(score, 0.1), -0.1) - score).abs() < 1e-5);
        }
        assert!(moved(0.4, 0.1) > 0.45 && moved(0.4, -9.0) < 1e-6);
    }

    #[test]
    fn one_word_of_many_is_no_evidence_and_a_covered_query_is() {
        assert!(corroborated(5.0, 5.0, 0.2) < 0.25 * plain(5.0));
        assert!((corroborated(5.0, 5.0, 1.0) - plain(5.0)).abs() < 1e-6);
        assert!(corroborated(30.0, 5.0, 0.5) > 0.9 * plain(30.0));
    }
}
