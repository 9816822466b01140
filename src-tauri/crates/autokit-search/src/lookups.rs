//! Tools that find the identifiers other tools take.
//!
//! "Which films did this director make?" is answered by a tool that takes a `person_id`, and by the one that searches
//! persons: without it, the first cannot be called. Nothing in the request says so, but the parameters do. (The links
//! between tools that Tool Graph Retriever, Gao et al. 2025, and ToolNet, Liu et al. 2024, learn with a model or from
//! past calls are read off the names here.)
//!
//! A tool **takes** an identifier of `x` if one of its parameters or a part of its path is called `x_id`, or if it has a
//! parameter `id` and its name ends with `x`. A tool of the same provider **finds** it if its name says that it searches
//! for `x`; if its name has nothing but the verb, if its description mentions `x`. Where nothing searches, tools that
//! list `x` count. Tools without a provider belong together: mostly they are those of one service.

use autokit_vocabulary::text::{Analyzer, fold, parts};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::document::Document;

/// Words for finding one thing among many by what is known about it.
const SEARCH: [&str; 6] = ["autocomplete", "find", "lookup", "query", "resolve", "search"];
const LIST: &str = "list";
/// Words for changing something.
const CHANGE: [&str; 9] = ["add", "create", "delete", "patch", "post", "put", "remove", "set", "update"];
const PREPOSITIONS: [&str; 8] = ["by", "for", "from", "in", "of", "on", "to", "with"];
/// Other words that name no thing.
const NOT_A_THING: [&str; 15] = [
    "a", "all", "and", "api", "details", "fetch", "get", "id", "ids", "info", "or", "read", "the", "uuid",
    "v1",
];
/// Most tools that find the same; where there are more, none of them is the one that is needed.
const MAX_FINDERS: usize = 3;
/// Most words of a description in which a tool without a thing in its name says what it finds.
const DESCRIPTION_WORDS: usize = 40;
/// Longest word that may be what a thing is called; answers quote it.
const MAX_WORD_BYTES: usize = 40;

/// What a tool does with identifiers.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Identifiers {
    /// The things whose identifiers it takes.
    takes: Vec<Thing>,
    /// The things it finds.
    finds: Vec<Thing>,
    /// Whether it lists them, instead of searching.
    lists: bool,
}

/// A kind of thing that a provider's identifiers are for.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Thing {
    /// The provider with the stem of the word.
    key: Box<str>,
    word: Box<str>,
}

impl Identifiers {
    fn of(document: &Document<'_>, analyzer: &mut Analyzer<'_>) -> Identifiers {
        let provider = fold(document.provider);
        let mut add = |things: &mut Vec<Thing>, word: &str| {
            if word.len() > MAX_WORD_BYTES {
                return;
            }
            let Some(term) = analyzer.term(word) else { return };
            let key = format!("{provider}\0{term}").into_boxed_str();
            if things.iter().all(|known| known.key != key) {
                things.push(Thing { key, word: word.into() });
            }
        };
        let name = parts(document.name);
        let searches = name.iter().any(|word| SEARCH.contains(&word.as_str()));
        let mut takes = Vec::new();
        // A name with spaces is a title, as in "Get Email ID", and no path; `resolve_library_id` finds one.
        let is_path = document.name.contains('/') || !document.name.contains(char::is_whitespace);
        if is_path && !searches {
            for pair in name.windows(2).filter(|pair| is_id(&pair[1]) && is_thing(&pair[0])) {
                add(&mut takes, &pair[0]);
            }
        }
        let mut takes_an_id = false;
        for parameter in &document.parameters {
            match parts(parameter.name).as_slice() {
                [id] => takes_an_id |= is_id(id),
                [.., thing, id] if is_id(id) && is_thing(thing) => add(&mut takes, thing),
                _ => {}
            }
        }
        if takes.is_empty()
            && takes_an_id
            && let Some(thing) = name.iter().rfind(|word| is_thing(word))
        {
            add(&mut takes, thing);
        }
        let mut finds = Vec::new();
        let changes = name.iter().any(|word| CHANGE.contains(&word.as_str()));
        if !changes && (searches || name.iter().any(|word| word == LIST)) {
            let of_provider = parts(document.provider);
            // What comes after a preposition is what it is found by.
            let object = name.iter().take_while(|word| !PREPOSITIONS.contains(&word.as_str()));
            let things: Vec<&String> =
                object.filter(|word| is_thing(word) && !of_provider.contains(word)).collect();
            let several = name.iter().any(|word| word == "and" || word == "or");
            let from = if several { 0 } else { things.len().saturating_sub(1) };
            for thing in &things[from..] {
                add(&mut finds, thing);
            }
            if finds.is_empty() && searches {
                let words = parts(document.description);
                for word in words.iter().take(DESCRIPTION_WORDS).filter(|word| is_thing(word)) {
                    add(&mut finds, word);
                }
            }
            finds.retain(|found| takes.iter().all(|taken| taken.key != found.key));
        }
        Identifiers { takes, finds, lists: !searches }
    }
}

fn is_id(word: &str) -> bool {
    matches!(word, "id" | "ids" | "uuid")
}

fn is_thing(word: &str) -> bool {
    word != LIST
        && ![&SEARCH[..], &CHANGE, &PREPOSITIONS, &NOT_A_THING].iter().any(|words| words.contains(&word))
}

/// Which tools of an index find the identifiers that others take. Tools are known by their slots.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct LookupIndex {
    of: FxHashMap<u32, Identifiers>,
    finders: FxHashMap<Box<str>, Finders>,
}

/// The tools that find things of one kind.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Finders {
    searching: Vec<u32>,
    listing: Vec<u32>,
}

impl Finders {
    fn kind(&mut self, lists: bool) -> &mut Vec<u32> {
        if lists { &mut self.listing } else { &mut self.searching }
    }
}

impl LookupIndex {
    pub(crate) fn insert(&mut self, slot: u32, document: &Document<'_>, analyzer: &mut Analyzer<'_>) {
        self.remove(slot);
        let identifiers = Identifiers::of(document, analyzer);
        if identifiers.takes.is_empty() && identifiers.finds.is_empty() {
            return;
        }
        for thing in &identifiers.finds {
            self.finders.entry(thing.key.clone()).or_default().kind(identifiers.lists).push(slot);
        }
        self.of.insert(slot, identifiers);
    }

    pub(crate) fn remove(&mut self, slot: u32) {
        let Some(identifiers) = self.of.remove(&slot) else { return };
        for thing in &identifiers.finds {
            let Some(finders) = self.finders.get_mut(&thing.key) else { continue };
            finders.kind(identifiers.lists).retain(|known| *known != slot);
            if finders.searching.is_empty() && finders.listing.is_empty() {
                self.finders.remove(&thing.key);
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.finders.is_empty()
    }

    /// Bytes of memory, approximately.
    pub(crate) fn memory(&self) -> usize {
        let thing = |thing: &Thing| size_of::<Thing>() + thing.key.len() + thing.word.len();
        let identifiers = |of: &Identifiers| of.takes.iter().chain(&of.finds).map(thing).sum::<usize>();
        let finders =
            |of: &Finders| size_of::<(Box<str>, Finders)>() + 4 * (of.searching.len() + of.listing.len());
        self.of.values().map(identifiers).sum::<usize>()
            + self.of.capacity() * size_of::<(u32, Identifiers)>()
            + self.finders.iter().map(|(key, of)| key.len() + finders(of)).sum::<usize>()
    }

    /// Returns the word for what a tool finds the identifiers of that another one takes.
    pub(crate) fn produced_identifier(&self, finder: u32, taker: u32) -> Option<&str> {
        let mut thing = None;
        self.for_each_producer(taker, |slot, word| thing = thing.or((slot == finder).then_some(word)));
        thing
    }

    /// Calls `found` with every tool that finds an identifier which a tool takes, and the word for what is
    /// identified.
    pub(crate) fn for_each_producer<'a>(&'a self, of: u32, mut found: impl FnMut(u32, &'a str)) {
        for taken in self.of.get(&of).map_or(&[][..], |identifiers| &identifiers.takes) {
            let Some(Finders { searching, listing }) = self.finders.get(&taken.key) else { continue };
            let finders = if searching.is_empty() { listing } else { searching };
            if finders.len() > MAX_FINDERS {
                continue;
            }
            finders.iter().filter(|finder| **finder != of).for_each(|&finder| found(finder, &taken.word));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Parameter;

    fn tool<'a>(
        provider: &'a str,
        name: &'a str,
        description: &'a str,
        parameters: &[&'a str],
    ) -> Document<'a> {
        let parameters = parameters.iter().map(|&name| Parameter { name, description: "" }).collect();
        Document { provider, name, description, parameters, ..Document::default() }
    }

    /// The tools that find what the last one takes, with what they find.
    fn finders(tools: &[Document<'_>]) -> Vec<(u32, String)> {
        let (mut index, mut analyzer) = (LookupIndex::default(), Analyzer::new());
        for (slot, tool) in tools.iter().enumerate() {
            index.insert(slot as u32, tool, &mut analyzer);
        }
        let mut found = Vec::new();
        index.for_each_producer(tools.len() as u32 - 1, |slot, what| found.push((slot, what.to_owned())));
        found
    }

    fn found(slot: u32, what: &str) -> (u32, String) {
        (slot, what.to_owned())
    }

    #[test]
    fn parameters_and_paths_say_what_a_tool_takes() {
        let search = tool("films", "search_people", "", &["query"]);
        for (name, parameters) in [
            ("GET_person_person_id_credits", &[][..]),
            ("/person/{person_id}/credits", &[]),
            ("credits", &["personId"]),
            ("credits", &["page", "person_ids"]),
            ("get_person", &["id"]),
        ] {
            let taking = tool("films", name, "", parameters);
            // The stems of "people" and "person" differ: only the same word is the same thing.
            assert_eq!(finders(&[search.clone(), taking.clone()]), [], "{name}");
            let search = tool("films", "searchPersons", "", &["query"]);
            assert_eq!(finders(&[search, taking]), [found(0, "person")], "{name}");
        }
        let title = tool("mail", "Get Email ID", "", &[]);
        assert_eq!(finders(&[tool("mail", "Search Email", "", &[]), title]), []);
    }

    #[test]
    fn a_search_comes_before_a_list_and_both_belong_to_the_provider() {
        let list = tool("chat", "list_channels", "", &[]);
        let search = tool("chat", "find-channel", "", &["name"]);
        let post = tool("chat", "post_message", "", &["channel_id", "text"]);
        assert_eq!(finders(&[list.clone(), post.clone()]), [found(0, "channel")]);
        assert_eq!(finders(&[list, search, post.clone()]), [found(1, "channel")]);
        assert_eq!(finders(&[tool("radio", "find_channel", "", &["name"]), post]), []);
    }

    #[test]
    fn a_bare_search_finds_what_its_description_mentions() {
        let text = "Search for albums, artists and tracks by a keyword.";
        let search = tool("Music", "GET /search", text, &["q", "type"]);
        let top = tool("Music", "GET /artists/{id}/top-tracks", "", &["id"]);
        assert_eq!(finders(&[search.clone(), top.clone()]), [found(0, "artists")]);
        let named = tool("Music", "search_music", text, &["q"]);
        assert_eq!(finders(&[named, top.clone()]), [found(0, "artists")], "named like its provider");
        let other = tool("Music", "search_lyrics", text, &["q"]);
        assert_eq!(finders(&[other, top]), [], "it says what it finds");
    }

    #[test]
    fn a_search_that_takes_the_identifier_does_not_find_it() {
        let within = tool("chat", "search_channel", "", &["channel_id", "query"]);
        assert_eq!(finders(&[within.clone(), tool("chat", "post", "", &["channel_id"])]), []);
        assert_eq!(finders(&[within]), []);
    }

    #[test]
    fn what_finds_is_what_is_searched_or_listed() {
        let post = tool("chat", "post", "", &["user_id"]);
        for (name, finds) in [
            ("find_user", true),
            ("find_user_id", true),
            ("user_search", true),
            ("search_users_by_channel", true),
            ("search_channels_and_users", true),
            ("list_users", true),
            ("list_user_groups", false),
            ("search_channels_by_user", false),
            ("delete_user_search", false),
        ] {
            let found = finders(&[tool("chat", name, "", &["query"]), post.clone()]);
            assert_eq!(!found.is_empty(), finds, "{name}");
        }
        let four = ["find_user", "search_users", "query_user", "lookup_user"];
        let mut tools: Vec<Document<'_>> = four.iter().map(|name| tool("chat", name, "", &[])).collect();
        tools.push(post);
        assert_eq!(finders(&tools), [], "none of four is the one");
        assert_eq!(finders(&tools[1..]).len(), 3);
    }

    #[test]
    fn a_removed_or_changed_tool_finds_nothing() {
        let (mut index, mut analyzer) = (LookupIndex::default(), Analyzer::new());
        index.insert(0, &tool("chat", "find_channel", "", &["name"]), &mut analyzer);
        index.insert(1, &tool("chat", "post", "", &["channel_id"]), &mut analyzer);
        let count = |index: &LookupIndex| {
            let mut count = 0;
            index.for_each_producer(1, |_, _| count += 1);
            count
        };
        assert_eq!(count(&index), 1);
        index.insert(0, &tool("chat", "find_user", "", &["name"]), &mut analyzer);
        assert_eq!(count(&index), 0);
        index.insert(0, &tool("chat", "find_channel", "", &["name"]), &mut analyzer);
        assert_eq!(count(&index), 1);
        index.remove(0);
        assert_eq!(count(&index), 0);
        assert!(index.is_empty());
    }
}
