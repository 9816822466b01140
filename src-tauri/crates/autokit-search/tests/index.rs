//! Compares the index with plain recomputation, on random changes and queries.

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;

use std::collections::BTreeMap;

use autokit_search::{
    BitSet, Document, Field, Hit, Mode, Parameter, Query, QueryPlan, RetrieveError, SearchIndex, VectorIndex,
    Vectors, Vocabulary,
};
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Card {
    provider: String,
    name: String,
    description: String,
    parameter: String,
    vector: Option<Vec<f32>>,
}

/// Vectors of a tool without phrases.
fn tool_only(tool: &[f32]) -> Vectors<'_> {
    Vectors { tool, asks_for: &[] }
}

impl Card {
    fn document<'a>(&'a self, id: &'a str) -> Document<'a> {
        Document {
            id,
            provider: &self.provider,
            name: &self.name,
            aliases: vec![&self.parameter],
            description: &self.description,
            parameters: vec![Parameter { name: &self.parameter, description: &self.description }],
            keywords: vec!["python"],
            pricing: "free",
            language: "python",
            asks_for: vec![&self.description],
            vectors: self.vector.as_deref().map(tool_only),
        }
    }
}

fn word() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "create",
        "issue",
        "search",
        "calendar",
        "weather",
        "file",
        "movies",
        "message",
        "get",
        "summarize",
        "summarise",
        "summary",
        "github",
        "SQLDatabase",
        "read_file",
        "東京",
        "naïve",
    ])
    .prop_map(str::to_owned)
}

fn phrase(words: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(word(), words).prop_map(|words| words.join(" "))
}

fn vector(dimension: usize) -> impl Strategy<Value = Vec<f32>> {
    // A coarse grid makes equal scores likely.
    prop::collection::vec(-2i8..=2, dimension).prop_filter_map("zero", |numbers| {
        numbers.iter().any(|x| *x != 0).then(|| numbers.iter().map(|x| f32::from(*x)).collect())
    })
}

fn card() -> impl Strategy<Value = Card> {
    (phrase(0..2), phrase(1..3), phrase(0..8), phrase(0..2), prop::option::weighted(0.8, vector(20)))
        .prop_map(|(provider, name, description, parameter, vector)| Card {
            provider,
            name,
            description,
            parameter,
            vector,
        })
}

#[derive(Clone, Debug)]
enum Change {
    Upsert(u8, Card),
    Remove(u8),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![3 => (0u8..12, card()).prop_map(|(id, card)| Change::Upsert(id, card)), 1 => (0u8..12).prop_map(Change::Remove)]
}

fn hits(
    index: &SearchIndex,
    text: &str,
    vectors: &[Vec<f32>],
    filter: Option<&(dyn Fn(&str) -> bool + Sync)>,
) -> Vec<Vec<Hit>> {
    let plan = QueryPlan::new(text);
    [Mode::Keyword, Mode::Vector, Mode::Hybrid]
        .into_iter()
        .map(|mode| index.search(&Query { plan: &plan, vectors, mode, limit: 50, filter }).unwrap())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn an_updated_index_equals_a_rebuilt_one(
        changes in prop::collection::vec(change(), 1..40),
        text in phrase(1..6),
        query in vector(20),
    ) {
        let mut changed = SearchIndex::new();
        let mut model: BTreeMap<String, Card> = BTreeMap::new();
        for change in changes {
            match change {
                Change::Upsert(id, card) => {
                    let id = id.to_string();
                    changed.upsert(&card.document(&id)).unwrap();
                    model.insert(id, card);
                }
                Change::Remove(id) => {
                    let id = id.to_string();
                    prop_assert_eq!(changed.remove(&id), model.remove(&id).is_some());
                }
            }
        }
        let documents: Vec<Document<'_>> = model.iter().map(|(id, card)| card.document(id)).collect();
        let mut built = SearchIndex::new();
        built.upsert_all(&documents).unwrap();
        let queries = if changed.size().dimension > 0 { vec![query] } else { Vec::new() };
        prop_assert_eq!(changed.len(), model.len());
        prop_assert_eq!(
            hits(&changed, &text, &queries, None),
            hits(&built, &text, &queries, None)
        );
        prop_assert_eq!(changed.size().terms, built.size().terms);
        for id in model.keys().cloned().collect::<Vec<_>>() {
            changed.remove(&id);
        }
        prop_assert_eq!((changed.len(), changed.size().terms, changed.size().vectors), (0, 0, 0));
    }

    #[test]
    fn the_nearest_are_the_nearest(
        rows in prop::collection::vec(vector(20), 1..70),
        removed in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
        query in vector(20),
        k in 1usize..12,
        mask in any::<u64>(),
    ) {
        let mut index = VectorIndex::new();
        for (key, row) in rows.iter().enumerate() {
            index.upsert(key as u32, row).unwrap();
        }
        let mut kept: BTreeMap<u32, &Vec<f32>> = rows.iter().enumerate().map(|(key, row)| (key as u32, row)).collect();
        for at in removed {
            let key = at.index(rows.len()) as u32;
            prop_assert_eq!(index.remove(key), kept.remove(&key).is_some());
        }
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
        let cosine = |row: &[f32]| dot(row, &query) / (dot(row, row) * dot(&query, &query)).sqrt();
        let allowed: BitSet = (0..64).filter(|at| mask >> at & 1 == 1).collect();
        for filter in [None, Some(&allowed)] {
            let found = index.top_k(&query, k, filter).unwrap();
            let may = |key: u32| filter.is_none_or(|set| set.contains(key));
            let mut naive: Vec<f64> = kept.iter().filter(|(key, _)| may(**key)).map(|(_, row)| cosine(row)).collect();
            naive.sort_by(|a, b| b.total_cmp(a));
            prop_assert_eq!(found.len(), naive.len().min(k));
            for (found, best) in found.iter().zip(&naive) {
                prop_assert!(may(found.key));
                prop_assert!((f64::from(found.score) - cosine(kept[&found.key])).abs() < 1e-5);
                prop_assert!((f64::from(found.score) - best).abs() < 1e-5);
            }
            // A longer list starts with the shorter one, including ties.
            prop_assert_eq!(&index.top_k(&query, k + 7, filter).unwrap()[..found.len()], &found[..]);
        }
    }

    #[test]
    fn a_filter_does_not_change_other_hits(
        cards in prop::collection::vec(card(), 1..25),
        text in phrase(1..6),
        query in vector(20),
        mask in any::<u32>(),
    ) {
        let mut index = SearchIndex::new();
        for (id, card) in cards.iter().enumerate() {
            index.upsert(&card.document(&id.to_string())).unwrap();
        }
        let queries = if index.size().dimension > 0 { vec![query] } else { Vec::new() };
        let may = move |id: &str| mask >> (id.parse::<u32>().unwrap() % 32) & 1 == 1;
        let all = hits(&index, &text, &queries, None);
        let filtered = hits(&index, &text, &queries, Some(&may));
        for (all, filtered) in all.into_iter().zip(filtered) {
            let expected: Vec<Hit> = all.into_iter().filter(|hit| may(&hit.id)).collect();
            prop_assert_eq!(filtered, expected);
        }
    }

    #[test]
    fn arbitrary_text_can_be_indexed_and_searched(texts in prop::collection::vec("\\PC{0,60}|[ -~\\n\\t]{0,80}|[\u{300}-\u{36f}a-z_'`\"]{0,40}", 1..6), query in "\\PC{0,200}|[ -~\\n]{0,200}") {
        let mut index = SearchIndex::new();
        for (at, text) in texts.iter().enumerate() {
            let id = at.to_string();
            let document = Document { id: &id, provider: text, name: text, description: text, aliases: vec![text], ..Document::default() };
            prop_assert!(document.dense_text(Vocabulary::shipped()).len() >= text.len());
            index.upsert(&document).unwrap();
        }
        for text in texts.iter().chain([&query]) {
            for hits in hits(&index, text, &[], None) {
                for hit in hits {
                    prop_assert!((0.0..=1.0).contains(&hit.score));
                    prop_assert!(hit.parts.matched_terms.iter().all(|matched| text.contains(&matched.word)));
                }
            }
        }
    }
}

/// A vector and the error it is refused with.
type Bad<'a> = (&'a [f32], fn(&RetrieveError) -> bool);

#[test]
fn bad_vectors_are_refused_and_change_nothing() {
    let mut index = SearchIndex::new();
    let card =
        |vector| Document { id: "a", name: "Alpha", vectors: Some(tool_only(vector)), ..Document::default() };
    index.upsert(&card(&[1.0, 0.0])).unwrap();
    let bad: [Bad<'_>; 5] = [
        (&[1.0], |e| matches!(e, RetrieveError::Dimension { expected: 2, found: 1, .. })),
        (&[], |e| matches!(e, RetrieveError::Dimension { found: 0, .. })),
        (&[f32::NAN, 1.0], |e| matches!(e, RetrieveError::NotFinite { .. })),
        (&[f32::INFINITY, 1.0], |e| matches!(e, RetrieveError::NotFinite { .. })),
        (&[0.0, 0.0], |e| matches!(e, RetrieveError::ZeroVector { .. })),
    ];
    for (vector, expected) in bad {
        let good =
            Document { id: "b", name: "Beta", vectors: Some(tool_only(&[0.0, 1.0])), ..Document::default() };
        let error = index.upsert_all(&[good, card(vector)]).unwrap_err();
        assert!(expected(&error), "{error}");
        assert!(expected(&index.set_vector("a", vector).unwrap_err()));
        let plan = QueryPlan::new("alpha");
        let vectors = [vector.to_vec()];
        let query = Query { plan: &plan, vectors: &vectors, mode: Mode::Hybrid, limit: 5, filter: None };
        assert!(expected(&index.search(&query).unwrap_err()));
        assert_eq!((index.len(), index.size().vectors), (1, 1));
    }
    let plan = QueryPlan::new("alpha");
    let two = [vec![1.0, 0.0], vec![1.0, 0.0]];
    let query = Query { plan: &plan, vectors: &two, mode: Mode::Hybrid, limit: 5, filter: None };
    assert_eq!(index.search(&query), Err(RetrieveError::VectorCount { expected: 1, found: 2 }));
}

#[test]
fn large_indexes_are_searched_in_parts_with_the_same_result() {
    // Above the size from which several threads are used.
    let (rows, dimension) = (9000usize, 40usize);
    let numbers = |seed: usize| -> Vec<f32> {
        (0..dimension).map(|j| ((seed * 31 + j * 17) % 23) as f32 - 11.0).collect()
    };
    let mut index = VectorIndex::new();
    for key in 0..rows {
        index.upsert(key as u32, &numbers(key)).unwrap();
    }
    let query = numbers(5);
    let unit = |v: Vec<f32>| {
        let norm = v.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
        v.into_iter().map(|x| f64::from(x) / norm).collect::<Vec<f64>>()
    };
    let target = unit(query.clone());
    let mut naive: Vec<(f64, u32)> = (0..rows)
        .map(|key| (unit(numbers(key)).iter().zip(&target).map(|(a, b)| a * b).sum::<f64>(), key as u32))
        .collect();
    naive.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let found = index.top_k(&query, 30, None).unwrap();
    for (found, best) in found.iter().zip(&naive) {
        assert!((f64::from(found.score) - best.0).abs() < 1e-5);
    }
    assert!(
        found
            .windows(2)
            .all(|p| p[0].score > p[1].score || (p[0].score >= p[1].score && p[0].key < p[1].key))
    );
}

#[test]
fn memory_stays_level_over_changes_and_searches() {
    let card = |i: usize| Card {
        provider: format!("provider{}", i % 7),
        name: format!("tool number {}", i % 400),
        description: format!("Handles case {} of kind{} with option{}", i, i % 13, i % 101),
        parameter: format!("argument{}", i % 50),
        vector: Some((0..20).map(|j| ((i + j) % 9) as f32 - 4.5).collect()),
    };
    let mut index = SearchIndex::new();
    let round = |index: &mut SearchIndex, from: usize| {
        for i in from..from + 2000 {
            let id = (i % 400).to_string();
            index.upsert(&card(i).document(&id)).unwrap();
            if i % 10 == 0 {
                index.remove(&((i + 37) % 400).to_string());
            }
        }
        for i in 0..400 {
            index.upsert(&card(i).document(&i.to_string())).unwrap();
        }
    };
    round(&mut index, 0);
    let before = index.size();
    for i in 1..6 {
        round(&mut index, i * 2000);
    }
    let after = index.size();
    assert_eq!(
        (before.documents, before.vectors, before.terms),
        (after.documents, after.vectors, after.terms)
    );
    assert!(after.bytes as f64 <= before.bytes as f64 * 1.05, "{} bytes after {}", after.bytes, before.bytes);
}

#[test]
fn the_closest_phrase_people_ask_with_counts_and_is_named() {
    let mut index = SearchIndex::new();
    let tool = [0.0f32, 0.6, 0.8];
    let put = |index: &mut SearchIndex, id: &str, asks_for: &[f32]| {
        let vectors = Some(Vectors { tool: &tool, asks_for });
        index.upsert(&Document { id, name: id, vectors, ..Document::default() })
    };
    put(&mut index, "a", &[]).unwrap();
    put(&mut index, "b", &[0.0, 0.0, 1.0, 1.0, 0.0, 0.0]).unwrap();
    let plan = QueryPlan::new("something");
    let found = |index: &SearchIndex, query: [f32; 3]| -> Vec<(String, Option<u32>)> {
        let vectors = [query.to_vec()];
        let query = Query { plan: &plan, vectors: &vectors, mode: Mode::Hybrid, limit: 3, filter: None };
        index.search(&query).unwrap().into_iter().map(|hit| (hit.id, hit.parts.ask)).collect()
    };
    assert_eq!(found(&index, [1.0, 0.0, 0.0]), [("b".into(), Some(1)), ("a".into(), None)]);
    // Phrases that are no closer than the tool are no advantage.
    assert_eq!(found(&index, [0.0, 0.6, 0.8]), [("a".into(), None), ("b".into(), Some(0))]);
    // Refused as a whole: the previous vectors stay.
    assert!(put(&mut index, "b", &[1.0, 0.0]).is_err());
    assert!(put(&mut index, "b", &[1.0, 0.0, f32::NAN]).is_err());
    assert_eq!(found(&index, [1.0, 0.0, 0.0])[0], ("b".into(), Some(1)));
    // Phrases are replaced with their card, and removed with it.
    put(&mut index, "b", &[]).unwrap();
    assert_eq!(found(&index, [1.0, 0.0, 0.0])[1], ("b".into(), None));
    put(&mut index, "b", &[1.0, 0.0, 0.0]).unwrap();
    index.remove("b");
    assert_eq!(found(&index, [1.0, 0.0, 0.0]), [("a".into(), None)]);
}

#[test]
fn words_people_ask_with_are_found_and_said_to_come_from_there() {
    let mut index = SearchIndex::new();
    let asks_for = vec!["is it going to rain", "umbrella today or not"];
    index.upsert(&Document { id: "a", name: "Forecast", asks_for, ..Document::default() }).unwrap();
    index.upsert(&Document { id: "b", name: "Mail", ..Document::default() }).unwrap();
    let plan = QueryPlan::new("do i need an umbrella");
    let query = Query { plan: &plan, vectors: &[], mode: Mode::Keyword, limit: 3, filter: None };
    let hits = index.search(&query).unwrap();
    assert_eq!(hits.iter().map(|hit| hit.id.as_str()).collect::<Vec<_>>(), ["a"]);
    assert_eq!(hits[0].parts.matched_terms[0].field, Field::AsksFor);
}

#[test]
fn the_closest_chunk_of_a_page_counts_and_is_named() {
    let mut index = SearchIndex::new();
    for (id, vector) in [("a", [0.6f32, 0.8, 0.0]), ("b", [0.6, 0.79, 0.0]), ("c", [0.0, 0.0, 1.0])] {
        index
            .upsert(&Document { id, name: id, vectors: Some(tool_only(&vector)), ..Document::default() })
            .unwrap();
    }
    let plan = QueryPlan::new("something");
    let query = vec![vec![1.0f32, 0.0, 0.0]];
    let found = |index: &SearchIndex| -> Vec<(String, Option<u32>)> {
        let query = Query { plan: &plan, vectors: &query, mode: Mode::Hybrid, limit: 3, filter: None };
        index.search(&query).unwrap().into_iter().map(|hit| (hit.id, hit.parts.chunk)).collect()
    };
    assert_eq!(found(&index)[0], ("b".into(), None));
    assert!(index.set_chunks("a", &[0.0, 1.0, 0.0, 0.9, 0.1, 0.0, 0.0, 0.0, 1.0], 3).unwrap());
    assert_eq!(found(&index)[0], ("a".into(), Some(1)));
    assert_eq!(index.size().chunks, 3);
    // Refused as a whole: the previous chunks stay.
    assert!(index.set_chunks("a", &[0.0, 1.0, 0.0, f32::NAN, 0.0, 0.0], 3).is_err());
    assert!(index.set_chunks("a", &[1.0, 0.0], 2).is_err());
    assert_eq!((index.size().chunks, found(&index)[0].1), (3, Some(1)));
    assert!(!index.set_chunks("nobody", &[1.0, 0.0, 0.0], 3).unwrap());
    // Freed keys are reused, and removing a card removes its chunks.
    assert!(index.set_chunks("b", &[0.99, 0.0, 0.1], 3).unwrap());
    index.remove("a");
    assert!(index.set_chunks("c", &[1.0, 0.0, 0.0, 0.5, 0.5, 0.0], 3).unwrap());
    assert_eq!((index.size().chunks, found(&index)[0].clone()), (3, ("b".into(), Some(0))));
    index.set_chunks("b", &[], 3).unwrap();
    assert_eq!(found(&index)[0], ("b".into(), None));
}
