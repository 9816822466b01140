//! Keyword search over the tools a person chose and the product's own tools (Kaman, sections 4.1, 4.2 and
//! 4.4).
//!
//! There are few of them, and a word of their name is a stronger signal than semantic similarity. Scores have
//! the same range as those of the library's ranking: 0 to 1.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hash};

use autokit_vocabulary::text::{is_stop_word, name_words};

/// Shortest distinctive word, in characters.
const SHORTEST: usize = 3;

/// A tool prepared for keyword search.
#[derive(Clone, Debug)]
pub struct KeywordTool {
    name: String,
    /// Words of the name that are distinctive; may be empty.
    name_words: Vec<String>,
    description: String,
    keywords: HashSet<String>,
}

impl KeywordTool {
    /// Prepares a tool; done once, not for each search.
    pub fn new(name: &str, description: &str) -> KeywordTool {
        let name_words: Vec<String> = words(name);
        let keywords = name_words.iter().cloned().chain(words(description)).collect();
        KeywordTool {
            name: name.to_lowercase(),
            name_words,
            description: description.to_lowercase(),
            keywords,
        }
    }
}

/// Returns the distinctive words of a text in lower case, with camelCase split.
fn words(text: &str) -> Vec<String> {
    let apart = name_words(text).to_lowercase();
    let words = apart.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| word.chars().count() >= SHORTEST && !is_stop_word(word)).map(str::to_owned).collect()
}

/// Whether two words are the same except for their endings: `search` and `searching`, `file` and `files`.
fn same(a: &str, b: &str) -> bool {
    let common = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    common >= SHORTEST.max(a.len().min(b.len()).saturating_sub(1)) && a.len().abs_diff(b.len()) <= 3
}

fn share(of: &[String], among: impl Fn(&str) -> bool) -> f32 {
    if of.is_empty() {
        return 0.0;
    }
    of.iter().filter(|word| among(word)).count() as f32 / of.len() as f32
}

/// A request, prepared once for all tools it is compared with.
#[derive(Clone, Debug)]
pub struct KeywordQuery {
    text: String,
    words: Vec<String>,
}

impl KeywordQuery {
    /// Prepares a request.
    pub fn new(text: &str) -> KeywordQuery {
        KeywordQuery { text: text.trim().to_lowercase(), words: words(text) }
    }

    /// Scores a tool a person chose (section 4.1), by the strongest of: the request is its name (1), the
    /// request contains its name or vice versa (0.8), words shared with its name (up to 0.6) plus its
    /// description (up to 0.2).
    pub fn expert(&self, tool: &KeywordTool) -> f32 {
        if self.text.is_empty() {
            return 0.0;
        }
        if self.text == tool.name {
            return 1.0;
        }
        let whole = tool.name.chars().count() >= SHORTEST && has_words(&self.text, &tool.name);
        let part = self.text.chars().count() >= SHORTEST && has_words(&tool.name, &self.text);
        if whole || part {
            return 0.8;
        }
        let named = share(&tool.name_words, |word| self.words.iter().any(|asked| same(asked, word)));
        let described = share(&self.words, |word| tool.description.contains(word));
        0.6 * named + 0.2 * described
    }

    /// Whether the request contains the name of a tool as whole words.
    pub fn names(&self, tool: &KeywordTool) -> bool {
        tool.name.chars().count() >= SHORTEST && has_words(&self.text, &tool.name)
    }

    /// Scores one of the product's tools (section 4.2): the share of the request's words among its keywords,
    /// and the share of its name's words in the request, each up to a half.
    pub fn system(&self, tool: &KeywordTool) -> f32 {
        if !self.text.is_empty() && self.text == tool.name {
            return 1.0;
        }
        let asked = share(&self.words, |word| tool.keywords.iter().any(|keyword| same(keyword, word)));
        let named = share(&tool.name_words, |word| self.words.iter().any(|asked| same(asked, word)));
        0.5 * asked + 0.5 * named
    }
}

/// Whether a text contains another as whole words, with no letter or digit right next to it.
fn has_words(text: &str, part: &str) -> bool {
    text.match_indices(part).any(|(at, found)| {
        let before = text[..at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

/// Merges the results of several tiers, first tier first (section 4.4). Duplicates of an earlier tier and
/// results that are always available are left out; at most `limit` remain.
pub fn merge<T, K: Eq + Hash, S: BuildHasher>(
    tiers: impl IntoIterator<Item = Vec<T>>,
    key: impl Fn(&T) -> K,
    always: &HashSet<K, S>,
    limit: usize,
) -> Vec<T> {
    let mut seen = HashSet::new();
    let all = tiers.into_iter().flatten();
    all.filter(|result| {
        let key = key(result);
        !always.contains(&key) && seen.insert(key)
    })
    .take(limit)
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(query: &str, name: &str, description: &str) -> f32 {
        KeywordQuery::new(query).expert(&KeywordTool::new(name, description))
    }

    #[test]
    fn a_name_counts_more_than_a_description() {
        let about = "Reads rows from a customer table.";
        let exact = score("QueryDatabase", "queryDatabase", about);
        let partial = score("please use queryDatabase now", "queryDatabase", about);
        let words = score("run a database query", "queryDatabase", about);
        let one = score("back up the database", "queryDatabase", about);
        let described = score("customer rows", "queryDatabase", about);
        let none = score("send a letter", "queryDatabase", about);
        let order = [exact, partial, words, one, described, none];
        assert!(order.windows(2).all(|pair| pair[0] > pair[1]), "{order:?}");
        assert!(none.abs() < f32::EPSILON);
    }

    #[test]
    fn parts_of_words_do_not_match() {
        assert!(score("cat pictures", "c", "x").abs() < f32::EPSILON);
        assert!(score("start the art project", "art", "x") >= 0.8);
        assert!(score("start a project", "art", "x") < 0.1);
        assert!(score("", "art", "x").abs() < f32::EPSILON);
        assert!(score("…", "art", "x").abs() < f32::EPSILON);
    }

    #[test]
    fn tools_of_the_product_are_matched_both_ways() {
        let search = KeywordTool::new("web_search", "Searches the web and gives links.");
        let time = KeywordTool::new("get_time", "Tells date and time in a time zone.");
        let score = |query: &str, tool| KeywordQuery::new(query).system(tool);
        assert!(score("search the web", &search) > 0.9);
        assert!(score("searching for links", &search) > 0.5);
        assert!(score("what time is it", &time) > score("what time is it", &search));
        assert!(score("bake a cake", &search).abs() < f32::EPSILON);
        assert!(score("get_time", &time) > 0.99);
    }

    #[test]
    fn earlier_tiers_win() {
        let tiers = vec![vec![("a", 1)], vec![("b", 2), ("a", 2)], vec![("c", 3), ("b", 3), ("d", 3)]];
        let always = HashSet::from(["c"]);
        assert_eq!(merge(tiers.clone(), |hit| hit.0, &always, 9), [("a", 1), ("b", 2), ("d", 3)]);
        assert_eq!(merge(tiers, |hit| hit.0, &always, 2), [("a", 1), ("b", 2)]);
    }
}
