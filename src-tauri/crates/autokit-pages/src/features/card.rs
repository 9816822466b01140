//! Compares a page with a card.

use std::collections::{HashMap, HashSet};

use autokit_facts::{Import, words};
use autokit_search::dot;

use crate::features::{PageFeature, PageFeatures};
use crate::reader::Page;
use crate::subject::Subject;
use crate::words::{agreement, distinctive_words, share};

/// Kinds of software that one vendor offers side by side, with the words for them in URLs, modules and
/// classes. A page about a vendor's loader does not document its search tool.
const KINDS: &[(&str, &[&str])] = &[
    ("loader", &["loader", "loaders", "reader", "readers"]),
    ("retriever", &["retriever", "retrievers"]),
    ("store", &["vectorstore", "vectorstores", "stores", "store", "vectordb"]),
    ("embedding", &["embedding", "embeddings"]),
    ("chat", &["chat", "llm", "llms"]),
    ("memory", &["memory", "memories", "history", "histories"]),
    ("callback", &["callback", "callbacks", "handler", "tracer"]),
    ("transformer", &["transformer", "transformers", "splitter", "splitters", "parser", "parsers"]),
    ("overview", &["provider", "providers", "overview", "platform", "platforms"]),
    ("tool", &["tool", "tools", "toolkit", "toolkits", "wrapper", "utility", "utilities", "run", "agent"]),
];

/// Returns the kinds of software that these words name.
fn kinds_in<'a>(words: impl IntoIterator<Item = &'a String>) -> HashSet<&'static str> {
    let words: HashSet<&str> = words.into_iter().map(String::as_str).collect();
    KINDS
        .iter()
        .filter(|(_, names)| names.iter().any(|name| words.contains(name)))
        .map(|(kind, _)| *kind)
        .collect()
}

/// Returns the likeness of an import to a card's class and module, 0 to 1: mainly by words of the class, then
/// of the module.
pub fn likeness(import: &Import, class: &str, module: Option<&str>) -> f32 {
    let class = agreement(&words(class), &words(&import.name));
    let module = module.map_or(0.0, |module| agreement(&words(module), &words(&import.module)));
    0.75 * class + 0.25 * module
}

/// Returns the last segment of a URL's path, without its extension.
fn last_part(url: &str) -> &str {
    let path = url.split(['#', '?']).next().unwrap_or(url).trim_end_matches('/');
    let last = path.rsplit('/').next().unwrap_or(path);
    last.rsplit_once('.').map_or(last, |(stem, ending)| if ending.len() <= 5 { stem } else { last })
}

/// Whether a character can be part of a name.
fn is_inside(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn count_mentions(text: &str, name: &str) -> usize {
    let inside = |c: Option<char>| c.is_some_and(is_inside);
    text.match_indices(name)
        .filter(|(at, _)| {
            !inside(text[..*at].chars().next_back()) && !inside(text[at + name.len()..].chars().next())
        })
        .count()
}

impl PageFeatures {
    /// Compares a card with a page. `vector` is the embedding of the card's name and description.
    pub fn of_card(subject: &Subject, vector: Option<&[f32]>, page: &Page) -> PageFeatures {
        let code = &page.facts.code;
        let classes = &subject.classes;
        let part = |has: &dyn Fn(&str) -> bool| {
            if classes.is_empty() {
                0.0
            } else {
                classes.iter().filter(|class| has(class)).count() as f32 / classes.len() as f32
            }
        };
        let from = |class: &str| {
            code.imports_of(class).any(|import| subject.module.as_deref() == Some(import.module.as_str()))
        };
        let like = code
            .imports
            .iter()
            .filter(|import| !import.name.is_empty())
            .flat_map(|import| classes.iter().map(|class| likeness(import, class, subject.module.as_deref())))
            .fold(0.0, f32::max);
        let main = page.facts.import.as_ref().is_some_and(|fact| classes.contains(&fact.value.1));
        let imported: HashSet<&str> = code
            .imports
            .iter()
            .map(|import| import.name.as_str())
            .filter(|name| {
                name.chars().next().is_some_and(char::is_uppercase) && name.chars().any(char::is_lowercase)
            })
            .chain(classes.iter().map(String::as_str))
            .collect();
        // Counted in one pass, because a page may import thousands of names.
        let mut tokens: HashMap<&str, usize> = HashMap::new();
        for token in page.text.split(|c: char| !is_inside(c)) {
            *tokens.entry(token).or_default() += 1;
        }
        let mentions = |names: &mut dyn Iterator<Item = &str>| {
            names
                .map(|name| {
                    let whole = name.chars().all(is_inside);
                    if whole {
                        tokens.get(name).copied().unwrap_or(0)
                    } else {
                        count_mentions(&page.text, name)
                    }
                })
                .sum::<usize>()
        };
        let own = mentions(&mut classes.iter().map(String::as_str));
        let all = mentions(&mut imported.into_iter());
        let title = distinctive_words(&page.facts.name);
        let slug = words(last_part(&page.fetched.url));
        let identity: Vec<String> =
            subject.name_words.iter().cloned().chain(classes.iter().flat_map(|class| words(class))).collect();
        let mut features = PageFeatures::default();
        features.set(PageFeature::Pair, part(&from));
        features.set(PageFeature::Class, part(&|class| code.imports_of(class).next().is_some()));
        features.set(PageFeature::Code, part(&|class| code.has(class)));
        features.set(PageFeature::Prose, part(&|class| count_mentions(&page.text, class) > 0));
        features.set(PageFeature::Like, like);
        features.flag(PageFeature::Main, main);
        features.set(PageFeature::Focus, if all == 0 { 0.0 } else { own as f32 / all as f32 });
        features.set(PageFeature::Title, agreement(&subject.name_words, &title));
        features.flag(PageFeature::Exact, words(&subject.name).concat() == words(&page.facts.name).concat());
        let address = agreement(&distinctive_words(&slug.join(" ")), &subject.name_words);
        features.set(PageFeature::Address, address.max(0.8 * share(&slug, &identity)));
        features.set(PageFeature::Sort, kind_match(subject, page));
        let wording = if subject.content.is_empty() {
            0.0
        } else {
            let shared = subject.content.iter().filter(|word| page.words().contains(*word)).count();
            shared as f32 / subject.content.len() as f32
        };
        features.set(PageFeature::Wording, wording);
        // Without a model, the wording has to substitute for the cosine: over the cards the weights were
        // fitted to, the cosine rises with it roughly like this.
        let cosine = vector.zip(page.opening()).map(|(card, page)| dot(card, page));
        features.set(PageFeature::Meaning, cosine.unwrap_or(0.3 + 0.5 * wording));
        features.flag(PageFeature::Bare, !classes.is_empty() && page.document.code().next().is_none());
        features
    }
}

/// Returns 1 if card and page are about the same kind of software, -1 if about different kinds, 0 if unknown.
/// The card's class and module take precedence over its name, the page's URL over its title.
fn kind_match(subject: &Subject, page: &Page) -> f32 {
    let class: Vec<String> = subject.classes.iter().flat_map(|class| words(class)).collect();
    let module = words(subject.module.as_deref().unwrap_or(""));
    let card = [kinds_in(&class), kinds_in(&module), kinds_in(&words(&subject.name))]
        .into_iter()
        .find(|kinds| !kinds.is_empty())
        .unwrap_or_default();
    let address: Vec<String> = url::Url::parse(&page.fetched.url)
        .ok()
        .and_then(|url| Some(url.path_segments()?.flat_map(words).collect()))
        .unwrap_or_default();
    let theirs = [kinds_in(&address), kinds_in(&words(&page.facts.name))]
        .into_iter()
        .find(|kinds| !kinds.is_empty())
        .unwrap_or_default();
    if card.is_empty() || theirs.is_empty() {
        0.0
    } else if card.is_disjoint(&theirs) {
        -1.0
    } else {
        1.0
    }
}
