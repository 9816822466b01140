//! Pairs of a request and a tool.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

/// A line of a file of pairs.
#[derive(Debug, Deserialize)]
struct Line {
    source: String,
    query: String,
    docs: Vec<String>,
    tool: String,
    #[serde(default)]
    group: String,
}

/// A request with the texts of its tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// Index of the request in [`Pairs::texts`].
    pub query: usize,
    /// Indices of the tool's texts: the same tool, said shorter or longer.
    pub documents: Vec<usize>,
    /// Index of the tool.
    pub tool: usize,
    /// Index of the group of similar tools.
    pub group: usize,
    /// Index of the source.
    pub source: usize,
}

/// Pairs with the texts they are made of.
#[derive(Debug, Default)]
pub struct Pairs {
    /// Distinct texts of requests and tools.
    pub texts: Vec<String>,
    /// Pairs in the order of the file.
    pub pairs: Vec<Pair>,
    /// Names of the sources.
    pub sources: Vec<String>,
}

/// Gives each distinct text a number.
#[derive(Default)]
struct Numbers(HashMap<String, usize>);

impl Numbers {
    fn number(&mut self, text: String) -> (usize, Option<String>) {
        let next = self.0.len();
        match self.0.entry(text) {
            std::collections::hash_map::Entry::Occupied(entry) => (*entry.get(), None),
            std::collections::hash_map::Entry::Vacant(entry) => {
                let text = entry.key().clone();
                entry.insert(next);
                (next, Some(text))
            }
        }
    }
}

impl Pairs {
    /// Loads a file with one pair per line: `source`, `query`, `docs`, `tool` and `group`.
    ///
    /// # Errors
    /// When the file cannot be read, a line has the wrong format, or there are no pairs.
    pub fn load(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("reading {}", path.display()))
    }

    fn parse(text: &str) -> Result<Self> {
        let mut loaded = Pairs::default();
        let (mut texts, mut tools, mut groups, mut sources) =
            (Numbers::default(), Numbers::default(), Numbers::default(), Numbers::default());
        for (at, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let line: Line = serde_json::from_str(line).with_context(|| format!("line {}", at + 1))?;
            ensure!(!line.docs.is_empty(), "line {} has no text of its tool", at + 1);
            let mut text = |text: String| {
                let (number, new) = texts.number(text);
                loaded.texts.extend(new);
                number
            };
            let query = text(line.query);
            let documents = line.docs.into_iter().map(text).collect();
            let (source, new) = sources.number(line.source.clone());
            loaded.sources.extend(new);
            // The same name may stand for different groups in two sources.
            let (group, _) = groups.number(format!("{}\0{}", line.source, line.group));
            let (tool, _) = tools.number(line.tool);
            loaded.pairs.push(Pair { query, documents, tool, group, source });
        }
        ensure!(!loaded.pairs.is_empty(), "there are no pairs");
        Ok(loaded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_stored_once_and_groups_belong_to_their_source() {
        let pairs = Pairs::parse(
            r#"{"source": "a", "query": "rain today?", "docs": ["Weather: forecasts"], "tool": "a:w", "group": "x"}
               {"source": "a", "query": "will it snow", "docs": ["Weather: forecasts", "Weather"], "tool": "a:w", "group": "x"}
               {"source": "b", "query": "send a mail", "docs": ["Mail"], "tool": "b:m", "group": "x"}"#,
        )
        .unwrap();
        assert_eq!(pairs.texts.len(), 6);
        assert_eq!(pairs.sources, ["a", "b"]);
        assert_eq!(pairs.pairs[0].documents[0], pairs.pairs[1].documents[0]);
        assert_eq!(pairs.pairs[0].group, pairs.pairs[1].group);
        assert_ne!(pairs.pairs[1].group, pairs.pairs[2].group);
    }

    #[test]
    fn a_wrong_line_is_named() {
        let error = format!("{:#}", Pairs::parse("{\"query\": 5}").unwrap_err());
        assert!(error.starts_with("line 1"), "{error}");
        assert!(Pairs::parse("\n").is_err());
    }
}
