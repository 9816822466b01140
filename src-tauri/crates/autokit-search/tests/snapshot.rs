//! An index that was stored and restored finds the same, then and after further changes.

use std::sync::Arc;

use autokit_embed::Embedder;
use autokit_search::{
    CardEntry, CardIndex, CardVectors, Hit, SearchRequest, Searcher, ToolText, Vocabulary, embed_by_card,
};
use serde_json::{Map, Value, json};

const WIDTH: usize = 48;

fn card(number: usize) -> Map<String, Value> {
    let verb = ["export", "archive", "translate", "deploy", "refund"][number % 5];
    let thing = ["photo", "invoice", "playlist", "server", "contract", "route", "person"][number % 7];
    let card = json!({
        "name": format!("{verb}_{thing}_{number}"),
        "provider": (["Acme", "Borealis", "Zoom"][number % 3]),
        "description": format!("{verb}s the {thing}s of account {number}. Free and open source."),
        "parameters": { "properties": { format!("{thing}_id"): { "description": format!("ID of the {thing}") } } },
        "asks_for": [format!("get my {thing}s out"), format!("number {number}")],
    });
    match card {
        Value::Object(card) => card,
        _ => unreachable!("an object"),
    }
}

fn put(index: &CardIndex, embedder: &Embedder, id: usize, revision: u32, card: &Map<String, Value>) {
    let text = ToolText::from_card(String::new(), card).passages(Vocabulary::shipped());
    let vectors = embed_by_card(&[text], |texts| embedder.embed_passages(texts)).expect("embedded").remove(0);
    let vectors = Some(CardVectors { values: &vectors, names: None });
    let id = id.to_string();
    index
        .put(&CardEntry { id: &id, revision, card, vectors, stale_vectors: None })
        .expect("vectors of the same length");
}

/// Adds, replaces and removes cards.
fn change(index: &CardIndex, embedder: &Embedder, from: usize) {
    for number in from..from + 40 {
        put(index, embedder, number, 1, &card(number));
    }
    for number in (from..from + 40).step_by(3) {
        put(index, embedder, number, 2, &card(number + 1000));
    }
    for number in (from..from + 40).step_by(5) {
        index.remove(&number.to_string());
    }
    let page: Vec<f32> =
        (0..2 * WIDTH).map(|at| if at % WIDTH == from % WIDTH { 1.0 } else { 0.01 }).collect();
    index.set_chunks(&(from + 1).to_string(), &page, WIDTH).expect("chunks of the same length");
}

fn hits(index: CardIndex) -> (Vec<Vec<Hit>>, CardIndex) {
    let searcher = Searcher::new(index);
    let found = [
        "export the invoices of an account",
        "free tool to translate playlists, not Acme",
        "which tool takes a person_id",
        "archive_photo_8",
        "deplyo a server",
        "a video meeting",
    ]
    .map(|query| {
        let request = SearchRequest { query: query.to_owned(), limit: 30, ..SearchRequest::default() };
        searcher.search(&request).expect("it searches").hits
    });
    let index = searcher.index();
    drop(searcher);
    (found.to_vec(), Arc::into_inner(index).expect("the only holder"))
}

#[test]
fn a_restored_index_finds_the_same_now_and_after_changes() {
    let embedder = Arc::new(Embedder::stand_in(WIDTH));
    let index = CardIndex::new(Some(Arc::clone(&embedder)));
    change(&index, &embedder, 0);
    let bytes = index.encode().expect("encoded");
    let restored = CardIndex::decode(&bytes, Arc::clone(Vocabulary::shipped())).expect("read");
    let restored = restored.with_embedder(Some(Arc::clone(&embedder)));
    assert_eq!(restored.embedded_count(), index.embedded_count());
    let (expected, index) = hits(index);
    let (found, restored) = hits(restored);
    assert!(expected.iter().all(|hits| !hits.is_empty()), "{expected:?}");
    assert_eq!(found, expected);

    // Freed slots, terms and keys are used again in the same way.
    for index in [&index, &restored] {
        change(index, &embedder, 20);
        index.remove("1");
    }
    assert_eq!(hits(restored).0, hits(index).0);
}

#[test]
fn bytes_that_are_no_index_are_refused() {
    let index = CardIndex::new(None);
    index
        .put(&CardEntry { id: "1", revision: 1, card: &card(1), vectors: None, stale_vectors: None })
        .expect("no vector to refuse");
    let bytes = index.encode().expect("encoded");
    let read = |bytes: &[u8]| CardIndex::decode(bytes, Arc::clone(Vocabulary::shipped()));
    assert!(read(&bytes).is_ok());
    for length in 0..bytes.len() {
        assert!(read(&bytes[..length]).is_err(), "{length}");
    }
}
