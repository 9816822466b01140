//! What speaks for a page being the documentation of a tool.

use std::collections::{HashMap, HashSet};

use autokit_facts::{Import, alike, words};
use autokit_search::dot;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::subject::Subject;
use autokit_pages::Page;
use autokit_pages::telling;

/// What speaks for a page, each from 0 to 1 unless said otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[ts(rename = "PageMarks")]
pub struct Marks {
    /// Share of the card's classes that the page imports from the card's module.
    pub pair: f32,
    /// Share of the card's classes that the page imports from anywhere.
    pub class: f32,
    /// Share of the card's classes that stand anywhere in the page's code.
    pub code: f32,
    /// Share of the card's classes that stand in the page's text outside of code.
    pub prose: f32,
    /// How much the closest import looks like the card's.
    pub like: f32,
    /// The card's class is the one the page imports first and foremost.
    pub main: bool,
    /// Mentions of the card's classes among mentions of everything that is imported and looks like a class.
    pub focus: f32,
    /// How well title and name agree: telling words both have.
    pub title: f32,
    /// Title and name are the same but for spelling.
    pub exact: bool,
    /// How well the end of the address agrees with name and class.
    pub address: f32,
    /// The page is of the same sort as the card (1), of another sort (-1), or neither says (0).
    pub sort: f32,
    /// Cosine of what the card says the tool does and what the page opens with; none without a model.
    pub cosine: Option<f32>,
    /// Share of the description's content words the page has.
    pub wording: f32,
    /// The card names a class, and the page shows no code at all: an overview, an advertisement, a notice.
    pub bare: bool,
}

/// Sorts of things one vendor offers side by side, by the words that name them in addresses, modules
/// and classes. A page about a vendor's loader does not document its search tool.
const SORTS: &[(&str, &[&str])] = &[
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

/// Letters by which the same word may be longer in another place.
const ENDING: usize = 2;

/// The sorts some words name.
fn sorts<'a>(words: impl IntoIterator<Item = &'a String>) -> HashSet<&'static str> {
    let words: HashSet<&str> = words.into_iter().map(String::as_str).collect();
    SORTS
        .iter()
        .filter(|(_, names)| names.iter().any(|name| words.contains(name)))
        .map(|(sort, _)| *sort)
        .collect()
}

/// Share of `of` that `among` has, written together or apart: "Hugging Face" has "huggingface".
fn share(of: &[String], among: &[String]) -> f32 {
    if of.is_empty() {
        return 0.0;
    }
    let joined: String = among.concat();
    let has = |word: &String| {
        among.iter().any(|other| alike(word, other, ENDING))
            || (word.len() > 3 && joined.contains(word.as_str()))
    };
    of.iter().filter(|word| has(word)).count() as f32 / of.len() as f32
}

/// How well two lists of words agree, 0 to 1: the harmonic mean of what each has of the other.
pub(crate) fn agreement(a: &[String], b: &[String]) -> f32 {
    let (forth, back) = (share(a, b), share(b, a));
    if forth + back == 0.0 { 0.0 } else { 2.0 * forth * back / (forth + back) }
}

/// How much an import looks like what a card names: words of the class, then of the module.
pub(crate) fn likeness(import: &Import, class: &str, module: Option<&str>) -> f32 {
    let class = agreement(&words(class), &words(&import.name));
    let module = module.map_or(0.0, |module| agreement(&words(module), &words(&import.module)));
    0.75 * class + 0.25 * module
}

/// The last part of an address, without ending.
fn last_part(url: &str) -> &str {
    let path = url.split(['#', '?']).next().unwrap_or(url).trim_end_matches('/');
    let last = path.rsplit('/').next().unwrap_or(path);
    last.rsplit_once('.').map_or(last, |(stem, ending)| if ending.len() <= 5 { stem } else { last })
}

/// Whether a letter can be part of a name.
fn is_inside(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn counted(text: &str, name: &str) -> usize {
    let inside = |c: Option<char>| c.is_some_and(is_inside);
    text.match_indices(name)
        .filter(|(at, _)| {
            !inside(text[..*at].chars().next_back()) && !inside(text[at + name.len()..].chars().next())
        })
        .count()
}

impl Marks {
    /// Compares a card with a page. `vector` is that of the card's name and description.
    pub fn of(subject: &Subject, vector: Option<&[f32]>, page: &Page) -> Marks {
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
        // Counted in one go: a page may import thousands of names.
        let mut tokens: HashMap<&str, usize> = HashMap::new();
        for token in page.text.split(|c: char| !is_inside(c)) {
            *tokens.entry(token).or_default() += 1;
        }
        let mentions = |names: &mut dyn Iterator<Item = &str>| {
            names
                .map(|name| {
                    let whole = name.chars().all(is_inside);
                    if whole { tokens.get(name).copied().unwrap_or(0) } else { counted(&page.text, name) }
                })
                .sum::<usize>()
        };
        let own = mentions(&mut classes.iter().map(String::as_str));
        let all = mentions(&mut imported.into_iter());
        let title = telling(&page.facts.name);
        let slug = words(last_part(&page.fetched.url));
        let identity: Vec<String> =
            subject.name_words.iter().cloned().chain(classes.iter().flat_map(|class| words(class))).collect();
        Marks {
            pair: part(&from),
            class: part(&|class| code.imports_of(class).next().is_some()),
            code: part(&|class| code.has(class)),
            prose: part(&|class| counted(&page.text, class) > 0),
            like,
            main,
            focus: if all == 0 { 0.0 } else { own as f32 / all as f32 },
            title: agreement(&subject.name_words, &title),
            exact: words(&subject.name).concat() == words(&page.facts.name).concat(),
            address: agreement(&telling(&slug.join(" ")), &subject.name_words)
                .max(0.8 * share(&slug, &identity)),
            sort: sort(subject, page),
            cosine: match (vector, page.opening()) {
                (Some(card), Some(page)) => Some(dot(card, page)),
                _ => None,
            },
            wording: if subject.content.is_empty() {
                0.0
            } else {
                let shared = subject.content.iter().filter(|word| page.words().contains(*word)).count();
                shared as f32 / subject.content.len() as f32
            },
            bare: !classes.is_empty() && page.document.code().next().is_none(),
        }
    }
}

/// Whether card and page are of one sort. What the card's class and module say counts before its name;
/// what the page's address says before its title.
fn sort(subject: &Subject, page: &Page) -> f32 {
    let class: Vec<String> = subject.classes.iter().flat_map(|class| words(class)).collect();
    let module = words(subject.module.as_deref().unwrap_or(""));
    let card = [sorts(&class), sorts(&module), sorts(&words(&subject.name))]
        .into_iter()
        .find(|sorts| !sorts.is_empty())
        .unwrap_or_default();
    let address: Vec<String> = url::Url::parse(&page.fetched.url)
        .ok()
        .and_then(|url| Some(url.path_segments()?.flat_map(words).collect()))
        .unwrap_or_default();
    let theirs = [sorts(&address), sorts(&words(&page.facts.name))]
        .into_iter()
        .find(|sorts| !sorts.is_empty())
        .unwrap_or_default();
    if card.is_empty() || theirs.is_empty() {
        0.0
    } else if card.is_disjoint(&theirs) {
        -1.0
    } else {
        1.0
    }
}

impl Marks {
    /// The logarithm of the odds that the page documents the tool, against nothing being found at all.
    ///
    /// The weights are those of a conditional logit (which of the pages found is the right one, or
    /// none), fitted to 600 cards broken in sixteen ways and rounded, that of an equal title to half:
    /// names in that set were read off titles. Fitted to four fifths of the cards and tried on the
    /// others, the right page is taken for 420 of 423 cards whose page is among those found, a wrong one
    /// for one, and none for 40 of 40 whose page is gone. Every page of that set shows code; what it
    /// counts that a page shows none is set by hand.
    pub(crate) fn logit(&self) -> f32 {
        let flag = |mark: bool, weight: f32| if mark { weight } else { 0.0 };
        -8.4 + 1.8 * self.pair
            + 1.0 * self.class
            + 0.6 * self.code
            + 1.2 * self.prose
            + 0.8 * self.like
            + flag(self.main, 0.3)
            + 0.4 * self.focus
            + 2.1 * self.title
            + flag(self.exact, 1.3)
            + 1.9 * self.address
            + 2.1 * self.sort
            + 1.2 * self.meaning()
            + 1.6 * self.wording
            - flag(self.bare, 3.0)
    }

    /// How much the page says what the card says. Without a model the words have to tell: over the cards
    /// the weights were fitted to, the cosine rises with them about so.
    pub(crate) fn meaning(&self) -> f32 {
        self.cosine.unwrap_or(0.3 + 0.5 * self.wording)
    }

    /// Whether it shows or names the tool at all.
    pub(crate) fn say_something(&self) -> bool {
        self.code > 0.0 || self.prose > 0.0 || self.title >= 0.5
    }

    /// What speaks for the page, in a sentence.
    pub fn why(&self) -> String {
        let mut said: Vec<&str> = Vec::new();
        if self.pair > 0.0 {
            said.push("it imports the class from the module on the card");
        } else if self.class > 0.0 {
            said.push("it imports the class from another module");
        } else if self.code > 0.0 {
            said.push("its code uses the class");
        } else if self.prose > 0.0 {
            said.push("its text names the class");
        }
        if self.title >= 0.5 {
            said.push("its title names the tool");
        }
        if self.meaning() >= 0.6 || self.wording >= 0.6 {
            said.push("it says what the card says");
        }
        if said.is_empty() { "little on it fits".to_owned() } else { said.join(", ") }
    }
}
