//! Regression tests for common complaints about tool search.
//!
//! Vectors here are made from words: a text points in the direction of its words. That is enough to tell a
//! related card from an unrelated one, and the same on every machine.

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;

use autokit_search::{
    Document, Field, Hit, Mode, NameMatch, Query, QueryPlan, SearchIndex, Vectors, Vocabulary,
};

const DIMENSION: usize = 64;

/// Sums a pseudo-random direction for each word and normalizes to unit length.
fn embed(text: &str) -> Vec<f32> {
    let mut sum = vec![0.0f32; DIMENSION];
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|w| w.len() > 2) {
        let mut state = word
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        for x in &mut sum {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *x += (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0;
        }
    }
    if sum.iter().all(|x| *x == 0.0) {
        sum[0] = 1.0;
    }
    let norm = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
    sum.iter().map(|x| x / norm).collect()
}

fn index(cards: &[(&str, &str, &str)]) -> SearchIndex {
    let mut index = SearchIndex::new();
    for (provider, name, description) in cards {
        let id = format!("{provider}/{name}");
        let mut document = Document { id: &id, provider, name, description, ..Document::default() };
        let vector = embed(&document.dense_text(Vocabulary::shipped()));
        document.vectors = Some(Vectors { tool: &vector, asks_for: &[] });
        index.upsert(&document).unwrap();
    }
    index
}

fn search(index: &SearchIndex, text: &str, mode: Mode) -> Vec<Hit> {
    let plan = index.plan(text);
    let vectors: Vec<Vec<f32>> = plan.texts_to_embed().iter().map(|text| embed(text)).collect();
    index.search(&Query { plan: &plan, vectors: &vectors, mode, limit: 20, filter: None }).unwrap()
}

/// Returns the first result, which must be the same in both modes that know names.
fn first(index: &SearchIndex, text: &str) -> String {
    let hybrid = search(index, text, Mode::Hybrid).remove(0).id;
    let keyword = search(index, text, Mode::Keyword).remove(0).id;
    assert_eq!(hybrid, keyword, "for {text:?}");
    hybrid
}

fn library() -> SearchIndex {
    index(&[
        ("github", "create_issue", "Open a new issue in a repository."),
        ("github", "list_issues", "List issues of a repository, newest first; create nothing."),
        ("github", "search", "Search code, issues and repositories."),
        ("gitlab", "create_issue", "Open a new issue in a project."),
        ("", "Google Calendar Toolkit", "Create, search and move events of a calendar."),
        ("", "Google Calculator", "Evaluate arithmetic."),
        ("", "Wikipedia", "Look up articles of the encyclopedia."),
        ("", "Documentary", "Lists documentary films."),
        ("weather-server", "getCurrentWeather", "Temperature, wind and rain now."),
        ("weather-server", "getForecast", "Weather of the next days."),
        ("", "BingSearchAPIWrapper", "Web search by Bing."),
        ("", "Feather", "Writes data frames to a column format."),
    ])
}

#[test]
fn a_query_that_is_a_name_finds_it_first_however_it_is_written() {
    let index = library();
    for text in [
        "getCurrentWeather",
        "get_current_weather",
        "get current weather",
        "GET CURRENT WEATHER",
        "get-current-weather",
        "GetCurrentWeather",
        "`getCurrentWeather`",
        "\"get_current_weather\"",
        "'getCurrentWeather'",
        "getcurrentweather",
        "getCurrentWeather()",
        "the getCurrentWeather tool",
        "please use the get current weather tool",
    ] {
        assert_eq!(first(&index, text), "weather-server/getCurrentWeather", "{text:?}");
    }
    for text in ["wikipedia", "Wikipedia", "“Wikipedia”", "wikipedia tool", "I want the Wikipedia API"] {
        assert_eq!(first(&index, text), "/Wikipedia", "{text:?}");
    }
    for text in
        ["google calendar", "Google Calendar Toolkit", "google_calendar", "the google calendar integration"]
    {
        assert_eq!(first(&index, text), "/Google Calendar Toolkit", "{text:?}");
    }
}

#[test]
fn a_name_inside_a_sentence_counts_when_it_is_marked_as_one() {
    let index = library();
    for text in [
        "how do I call getForecast for the next week in a repository of issues",
        "how do I call `get forecast` for the next week in a repository of issues",
        "call \"get_forecast\" and put the articles of the encyclopedia in an issue",
        "what does weather-server.getForecast return?",
    ] {
        assert_eq!(first(&index, text), "weather-server/getForecast", "{text:?}");
    }
    assert_eq!(first(&index, "what is \"Wikipedia\" for when I list issues"), "/Wikipedia");
}

#[test]
fn misspelled_names_are_found_unless_the_word_is_known() {
    let index = library();
    for (text, id) in [
        ("wikipeda", "/Wikipedia"),
        ("wikipeida", "/Wikipedia"),
        ("get curent weather", "weather-server/getCurrentWeather"),
        ("BingSerchAPIWraper", "/BingSearchAPIWrapper"),
    ] {
        assert_eq!(first(&index, text), id);
        assert_eq!(search(&index, text, Mode::Hybrid)[0].parts.name_match, Some(NameMatch::Typo));
    }
    // One letter from "Feather", but a word that the library has.
    assert!(search(&index, "weather", Mode::Hybrid).iter().all(|hit| hit.parts.name_match.is_none()));
}

#[test]
fn a_sentence_is_not_hijacked_by_a_common_word_that_is_a_name() {
    let index = library();
    for text in [
        "I would like to search for the articles of an encyclopedia about physics",
        "look up an article of the 'documentary' kind in the encyclopedia",
        "find documentary articles in an encyclopedia to look up",
    ] {
        let hits = search(&index, text, Mode::Hybrid);
        assert!(hits.iter().all(|hit| hit.parts.name_match.is_none()), "{text:?}");
        assert_eq!(hits[0].id, "/Wikipedia", "{text:?}");
    }
}

#[test]
fn the_provider_decides_between_cards_of_one_name() {
    let index = library();
    for (text, id) in [
        ("github create issue", "github/create_issue"),
        ("gitlab create issue", "gitlab/create_issue"),
        ("create an issue on gitlab", "gitlab/create_issue"),
        ("please create an issue in github", "github/create_issue"),
        ("gitlab.create_issue", "gitlab/create_issue"),
        ("gitlab/create_issue", "gitlab/create_issue"),
        ("github search", "github/search"),
    ] {
        assert_eq!(first(&index, text), id, "{text:?}");
    }
    let both: Vec<String> =
        search(&index, "create issue", Mode::Hybrid).into_iter().take(2).map(|hit| hit.id).collect();
    assert!(
        both.contains(&"github/create_issue".to_owned()) && both.contains(&"gitlab/create_issue".to_owned())
    );
}

#[test]
fn words_of_a_server_name_do_not_drown_capabilities() {
    let hub = "issue tracker create hub";
    let mut cards = vec![
        ("forge", "open_ticket", "Create a new issue in a project."),
        ("forge", "close_ticket", "Close a ticket."),
        ("forge", "list_projects", "List projects."),
    ];
    for name in [
        "list_users",
        "delete_comment",
        "get_status",
        "upload_file",
        "rename_board",
        "ping",
        "set_colour",
        "export_csv",
        "merge_boards",
        "mute_channel",
        "invite_guest",
        "archive_year",
    ] {
        cards.push((hub, name, "Works on the board."));
    }
    let index = index(&cards);
    assert_eq!(search(&index, "issue creation", Mode::Keyword)[0].id, "forge/open_ticket");
    for text in ["create issue", "create a new issue"] {
        assert_eq!(search(&index, text, Mode::Hybrid)[0].id, "forge/open_ticket", "{text:?}");
        assert_eq!(search(&index, text, Mode::Keyword)[0].id, "forge/open_ticket", "{text:?}");
    }
    // Asked for by its own words, a tool of the hub comes before the hub's other tools.
    assert_eq!(
        search(&index, "issue tracker create hub rename board", Mode::Hybrid)[0].id,
        format!("{hub}/rename_board")
    );
}

#[test]
fn one_accidental_word_does_not_outvote_meaning_and_several_words_do_count() {
    let index = library();
    // "open" and "new" occur in the issue cards; the sentence is about articles.
    let hits = search(&index, "open physics articles encyclopedia", Mode::Hybrid);
    assert_eq!(hits[0].id, "/Wikipedia");
    let parts = &search(&index, "move events calendar", Mode::Hybrid)[0].parts;
    assert!(parts.keyword > 0.0 && parts.coverage > 0.9);
}

#[test]
fn a_result_explains_itself() {
    let index = library();
    for text in
        ["open issue in a project", "create issue", "articles about rain and wind", "wikipeda", "xyzzy"]
    {
        for mode in [Mode::Keyword, Mode::Vector, Mode::Hybrid] {
            for hit in search(&index, text, mode) {
                let p = &hit.parts;
                assert!((p.keyword + p.vector + p.name - hit.score).abs() < 1e-4, "{hit:?}");
                assert!((0.0..=1.0).contains(&hit.score) && (0.0..=1.0).contains(&p.coverage));
                assert_eq!(p.name_match.is_some(), p.name > 0.0);
            }
        }
    }
    let hit = search(&index, "Winds and rain", Mode::Keyword).remove(0);
    let found: Vec<(&str, Field)> =
        hit.parts.matched_terms.iter().map(|m| (m.word.as_str(), m.field)).collect();
    assert_eq!(hit.id, "weather-server/getCurrentWeather");
    assert_eq!(found, [("Winds", Field::Description), ("rain", Field::Description)]);
}

#[test]
fn hits_are_sorted_by_score_and_then_by_id() {
    let index = index(&[
        ("b", "ping", "Same."),
        ("a", "ping", "Same."),
        ("c", "ping", "Same."),
        ("", "other", "Else."),
    ]);
    for mode in [Mode::Keyword, Mode::Hybrid] {
        let hits = search(&index, "ping", mode);
        assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
    }
    let ids: Vec<String> = search(&index, "ping", Mode::Keyword).into_iter().map(|hit| hit.id).collect();
    assert_eq!(ids, ["a/ping", "b/ping", "c/ping"]);
}

#[test]
fn without_vectors_hybrid_mode_uses_keywords() {
    let index = library();
    let plan = QueryPlan::new("issues in a repository");
    let ask =
        |mode| index.search(&Query { plan: &plan, vectors: &[], mode, limit: 5, filter: None }).unwrap();
    assert_eq!(ask(Mode::Hybrid), ask(Mode::Keyword));
    assert!(!ask(Mode::Hybrid).is_empty());
    assert!(ask(Mode::Vector).is_empty());
}

#[test]
fn a_card_without_a_vector_is_found_by_its_words() {
    let mut index = library();
    index
        .upsert(&Document {
            id: "late",
            name: "Barometer",
            description: "Air pressure at sea level.",
            ..Document::default()
        })
        .unwrap();
    assert_eq!(search(&index, "air pressure at sea", Mode::Hybrid)[0].id, "late");
    assert_eq!(search(&index, "air pressure at sea", Mode::Hybrid)[0].parts.cosine, None);
    assert!(index.set_vector("late", &embed("Barometer: Air pressure at sea level.")).unwrap());
    assert!(search(&index, "air pressure at sea", Mode::Hybrid)[0].parts.cosine.unwrap() > 0.5);
    assert!(!index.set_vector("nobody", &embed("x")).unwrap());
}

#[test]
fn a_card_with_synonyms_is_found_and_the_concept_reported() {
    let index = index(&[
        ("", "Scribe", "Speech recognition for recorded calls."),
        ("", "Reader", "Reads a text aloud."),
        ("", "Dictionary", "Meanings of words."),
    ]);
    for mode in [Mode::Keyword, Mode::Hybrid] {
        let first = search(&index, "dictate a letter", mode).remove(0);
        assert_eq!(first.id, "/Scribe", "{mode:?}");
        let matched = &first.parts.matched_terms;
        assert_eq!(matched.len(), 1);
        assert_eq!(
            (matched[0].word.as_str(), matched[0].meaning.as_deref()),
            ("dictate", Some("speech to text"))
        );
    }
    // If the card has the very word, the word is reported, not the concept.
    let told = search(&index, "speech recognition", Mode::Keyword).remove(0);
    assert!(told.parts.matched_terms.iter().all(|matched| matched.meaning.is_none()), "{told:?}");
    assert!(told.parts.coverage > 0.99);
}

/// Tools that do the same under different conditions.
fn geocoders() -> SearchIndex {
    index(&[
        (
            "Google Cloud",
            "Maps Geocoding",
            "Coordinates of an address. REST API; API key and billing account required.",
        ),
        ("Streetlight", "geocode", "Coordinates of an address. REST API; subscription, priced per request."),
        ("Openplace", "search", "Coordinates of an address or a place. Free, no key needed."),
        ("placekit", "Geocoder", "Coordinates of an address, offline, from a local file. Open source."),
    ])
}

#[test]
fn conditions_of_a_request_decide_between_tools_that_do_the_same() {
    let geocoders = geocoders();
    for (request, never) in [
        ("coordinates of an address, for free", &["Google Cloud/Maps Geocoding", "Streetlight/geocode"][..]),
        (
            "coordinates of an address (no, it must be free)",
            &["Google Cloud/Maps Geocoding", "Streetlight/geocode"],
        ),
        (
            "coordinates of an address without an api key",
            &["Google Cloud/Maps Geocoding", "Streetlight/geocode"],
        ),
        ("coordinates of an address, offline", &["Google Cloud/Maps Geocoding", "Streetlight/geocode"]),
        ("coordinates of an address, but not from google", &["Google Cloud/Maps Geocoding"]),
        ("coordinates of an address with anything but Streetlight", &["Streetlight/geocode"]),
        ("open source alternative to Streetlight for coordinates of an address", &["Streetlight/geocode"]),
    ] {
        for mode in [Mode::Hybrid, Mode::Keyword] {
            let hits = search(&geocoders, request, mode);
            let (kept, lowered) = hits.split_at(hits.len() - never.len());
            let shown: Vec<(&str, f32, f32)> =
                hits.iter().map(|hit| (hit.id.as_str(), hit.score, hit.parts.constraints)).collect();
            assert!(kept.iter().all(|hit| !never.contains(&hit.id.as_str())), "{request}: {shown:?}");
            assert!(lowered.iter().all(|hit| hit.parts.constraints < 0.0), "{request}: {shown:?}");
        }
    }
}

#[test]
fn a_request_without_conditions_is_ranked_as_if_there_were_none() {
    let geocoders = geocoders();
    for hit in search(&geocoders, "coordinates of an address", Mode::Hybrid) {
        assert!(hit.parts.constraints == 0.0, "{hit:?}");
    }
}
