//! All cards that a request names are returned, up to a bound; the rest is reported.

use std::collections::HashSet;
use std::sync::Arc;

use autokit_search::{CardEntry, CardIndex, MAX_NAMED, Mode, SearchRequest, Searcher};
use serde_json::{Map, Value, json};

const VERBS: [&str; 20] = [
    "get", "list", "create", "update", "delete", "search", "export", "import", "archive", "restore", "merge",
    "split", "send", "receive", "convert", "render", "sign", "verify", "watch", "schedule",
];
const THINGS: [&str; 20] = [
    "invoice",
    "ticket",
    "photo",
    "album",
    "playlist",
    "contact",
    "calendar",
    "event",
    "order",
    "parcel",
    "survey",
    "lesson",
    "recipe",
    "route",
    "forecast",
    "repository",
    "branch",
    "comment",
    "payment",
    "ledger",
];
const VENDORS: [&str; 40] = [
    "Aldin", "Borve", "Cestra", "Dulmen", "Ergol", "Fennic", "Gatter", "Holm", "Irden", "Jarrow", "Kesper",
    "Lindor", "Morvan", "Nestal", "Orlan", "Pelk", "Quorra", "Rastel", "Solva", "Tavik", "Umbra", "Velt",
    "Wexin", "Xandor", "Yarrel", "Zemlin", "Astrel", "Brinda", "Corvex", "Drenna", "Elvor", "Farnel",
    "Grendo", "Hextal", "Ivorel", "Jundra", "Kolvan", "Lethra", "Mundel", "Norvik",
];

/// 16,000 names in the spellings people use: `get_invoice_Aldin`, `getInvoiceAldin`, `Aldin Get Invoice`.
fn names() -> Vec<String> {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    let mut names = Vec::new();
    for (number, vendor) in VENDORS.iter().enumerate() {
        for verb in VERBS {
            for thing in THINGS {
                names.push(match (number + names.len()) % 3 {
                    0 => format!("{verb}_{thing}_{vendor}"),
                    1 => format!("{verb}{}{vendor}", capital(thing)),
                    _ => format!("{vendor} {} {}", capital(verb), capital(thing)),
                });
            }
        }
    }
    names
}

fn card(name: &str) -> Map<String, Value> {
    let Value::Object(card) = json!({ "name": name, "description": format!("Does what {name} says.") })
    else {
        unreachable!()
    };
    card
}

fn searcher(names: &[String]) -> Searcher {
    let index = CardIndex::new(None);
    for (number, name) in names.iter().enumerate() {
        let card = card(name);
        let id = number.to_string();
        let entry = CardEntry { id: &id, revision: 1, card: &card, vectors: None, stale_vectors: None };
        index.put(&entry).expect("no vector to refuse");
    }
    Searcher::new(index)
}

#[test]
fn seven_exact_names_are_seven_results() {
    let names = names();
    assert_eq!(names.len(), 16_000);
    let searcher = searcher(&names);
    let mut state = 20_240_601_u64;
    // A linear congruential generator: the same draws each time.
    let mut draw_one = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % names.len()
    };
    for draw in 0..100 {
        let mut wanted: HashSet<usize> = HashSet::new();
        while wanted.len() < 7 {
            wanted.insert(draw_one());
        }
        let listed: Vec<&str> = wanted.iter().map(|at| names[*at].as_str()).collect();
        let query = match draw % 3 {
            0 => listed.join(", "),
            1 => format!("{} and {}", listed[..6].join(", "), listed[6]),
            _ => format!(
                "I need {}",
                listed.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" ")
            ),
        };
        let request =
            SearchRequest { query: query.clone(), mode: Mode::Hybrid, limit: 5, ..SearchRequest::default() };
        let ranking = searcher.search(&request).expect("it searches");
        let found: HashSet<usize> = ranking.hits.iter().filter_map(|hit| hit.id.parse().ok()).collect();
        assert_eq!(found, wanted, "{query}");
        assert!(ranking.also_named.is_empty());
    }
}

#[test]
fn names_beyond_the_limit_are_reported() {
    let names: Vec<String> = (0..60).map(|number| format!("tool_number_{number}")).collect();
    let searcher = searcher(&names);
    let request = SearchRequest { query: names.join(", "), limit: 5, ..SearchRequest::default() };
    let ranking = searcher.search(&request).expect("it searches");
    assert_eq!((ranking.hits.len(), ranking.also_named.len()), (MAX_NAMED, 10));
    let all: HashSet<&String> = ranking.hits.iter().map(|hit| &hit.id).chain(&ranking.also_named).collect();
    assert_eq!(all.len(), 60);
    // Cards that may not be found are not reported either.
    let allowed = Some(Arc::new(HashSet::from(["3".to_owned()])));
    let request = SearchRequest { query: names.join(", "), limit: 5, allowed, ..SearchRequest::default() };
    let ranking = searcher.search(&request).expect("it searches");
    assert_eq!((ranking.hits.len(), ranking.also_named.len()), (1, 0));
}

#[test]
fn plain_words_in_a_list_are_not_names() {
    let names: Vec<String> =
        ["Documentary", "films", "send_mail", "Google Calendar"].map(str::to_owned).into();
    let searcher = searcher(&names);
    let first = |query: &str| {
        let request = SearchRequest { query: query.to_owned(), limit: 4, ..SearchRequest::default() };
        let hits = searcher.search(&request).expect("it searches").hits;
        hits.into_iter().filter(|hit| hit.parts.name_match.is_some()).map(|hit| hit.id).collect::<Vec<_>>()
    };
    assert_eq!(first("music, films, books to borrow"), Vec::<String>::new());
    assert_eq!(first("reminders, google calendar, music to hear"), ["3"]);
    assert_eq!(first("films and documentary").len(), 2, "every piece is a name");
}
