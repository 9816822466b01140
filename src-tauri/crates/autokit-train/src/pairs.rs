//! Pairs of a request and a tool, and requests that no tool of their group answers.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use autokit_search::{Document, Vocabulary};
use serde::Deserialize;

/// A line of a file.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Line {
    /// Tools that are easily confused, with requests for each.
    Group(Group),
    /// One request.
    Request(Request),
}

#[derive(Debug, Deserialize)]
struct Group {
    #[serde(rename = "group")]
    label: String,
    tools: Vec<Tool>,
    /// Requests that none of the tools answers.
    #[serde(default)]
    near_misses: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Tool {
    #[serde(default)]
    provider: String,
    name: String,
    /// What it does in one line.
    short: String,
    /// What it does as its page says it.
    long: String,
    requests: Vec<String>,
}

impl Tool {
    /// Its texts as cards are embedded, said shorter and longer.
    fn texts(&self) -> Vec<String> {
        let text = |provider, description: &str| {
            Document { provider, name: &self.name, description, ..Document::default() }
                .dense_text(Vocabulary::shipped())
        };
        let both = format!("{} {}", self.short, self.long);
        vec![text(&self.provider, &self.long), text("", &self.short), text(&self.provider, &both)]
    }
}

#[derive(Debug, Deserialize)]
struct Request {
    source: String,
    query: String,
    #[serde(default)]
    docs: Vec<String>,
    #[serde(default)]
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
    /// By group, the texts of requests that sound like its tools and that none of them answers.
    pub near_misses: BTreeMap<usize, Vec<usize>>,
}

/// Name of the source of pairs that come in groups.
const GROUPS: &str = "groups";

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
    /// Loads files with one JSON object per line. Either a pair: `source`, `query`, `docs`, `tool` and `group`; without
    /// `docs`, a request that no tool of its group answers. Or a `group` with its `tools` (`provider`, `name`, `short`,
    /// `long`, `requests`) and `near_misses`.
    ///
    /// # Errors
    /// When a file cannot be read, a line has the wrong format, or there are no pairs.
    pub fn load(paths: &[PathBuf]) -> Result<Self> {
        let mut numbered = Numbered::default();
        for path in paths {
            let text =
                std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
            numbered.add(&text).with_context(|| format!("reading {}", path.display()))?;
        }
        ensure!(!numbered.loaded.pairs.is_empty(), "there are no pairs");
        Ok(numbered.loaded)
    }
}

/// Pairs with the numbers of what they are made of.
#[derive(Default)]
struct Numbered {
    loaded: Pairs,
    texts: Numbers,
    tools: Numbers,
    groups: Numbers,
    sources: Numbers,
}

impl Numbered {
    fn add(&mut self, text: &str) -> Result<()> {
        for (at, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            match serde_json::from_str(line).with_context(|| format!("line {}", at + 1))? {
                Line::Request(request) => {
                    self.request(request).with_context(|| format!("line {}", at + 1))?;
                }
                Line::Group(group) => self.group(group).with_context(|| format!("line {}", at + 1))?,
            }
        }
        Ok(())
    }

    fn group(&mut self, Group { label, tools, near_misses }: Group) -> Result<()> {
        let request = |query, docs, tool| Request {
            source: GROUPS.to_owned(),
            query,
            docs,
            tool,
            group: label.clone(),
        };
        for tool in tools {
            let texts = tool.texts();
            for query in tool.requests {
                self.request(request(query, texts.clone(), format!("{label}\0{}", tool.name)))?;
            }
        }
        near_misses.into_iter().try_for_each(|query| self.request(request(query, Vec::new(), String::new())))
    }

    fn request(&mut self, line: Request) -> Result<()> {
        let mut text = |text: String| {
            let (number, new) = self.texts.number(text);
            self.loaded.texts.extend(new);
            number
        };
        let query = text(line.query);
        let documents: Vec<usize> = line.docs.into_iter().map(text).collect();
        // The same name may stand for different groups in two sources.
        let (group, _) = self.groups.number(format!("{}\0{}", line.source, line.group));
        if documents.is_empty() {
            self.loaded.near_misses.entry(group).or_default().push(query);
            return Ok(());
        }
        ensure!(!line.tool.is_empty(), "it names no tool");
        let (source, new) = self.sources.number(line.source);
        self.loaded.sources.extend(new);
        let (tool, _) = self.tools.number(line.tool);
        self.loaded.pairs.push(Pair { query, documents, tool, group, source });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Pairs> {
        let mut numbered = Numbered::default();
        numbered.add(text)?;
        Ok(numbered.loaded)
    }

    #[test]
    fn a_group_is_a_pair_for_each_request() {
        let pairs = parse(
            r#"{"group": "speech", "tools": [
                {"provider": "Acme", "name": "text_to_speech", "short": "Speaks.", "long": "Speaks a text.", "requests": ["say it", "read aloud"]},
                {"name": "speechToText", "short": "Writes.", "long": "Writes speech.", "requests": ["type it up"]}
            ], "near_misses": ["sing"]}"#.replace('\n', " ").as_str(),
        )
        .unwrap();
        assert_eq!(pairs.pairs.len(), 3);
        assert_eq!(pairs.sources, [GROUPS]);
        let text = |at: usize| pairs.texts[at].as_str();
        let first = &pairs.pairs[0];
        let texts: Vec<&str> = first.documents.iter().map(|&at| text(at)).collect();
        assert_eq!(
            texts,
            [
                "Acme. text to speech: Speaks a text.",
                "text to speech: Speaks.",
                "Acme. text to speech: Speaks. Speaks a text."
            ]
        );
        assert_eq!(pairs.pairs[1].tool, first.tool);
        assert_ne!(pairs.pairs[2].tool, first.tool);
        assert_eq!(text(pairs.near_misses[&first.group][0]), "sing");
    }

    #[test]
    fn a_request_without_documents_is_a_near_miss_of_its_group() {
        let pairs = parse(
            r#"{"source": "a", "query": "rain today?", "docs": ["Weather"], "tool": "a:w", "group": "x"}
               {"source": "a", "query": "stop the rain", "group": "x"}"#,
        )
        .unwrap();
        assert_eq!(pairs.pairs.len(), 1);
        let misses: Vec<&str> =
            pairs.near_misses[&pairs.pairs[0].group].iter().map(|&text| pairs.texts[text].as_str()).collect();
        assert_eq!(misses, ["stop the rain"]);
    }

    #[test]
    fn equal_texts_are_stored_once_and_groups_belong_to_their_source() {
        let pairs = parse(
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
        let error = format!("{:#}", parse("{\"query\": 5}").unwrap_err());
        assert!(error.starts_with("line 1"), "{error}");
        let unnamed = r#"{"source": "a", "query": "rain?", "docs": ["Weather"]}"#;
        assert!(format!("{:#}", parse(unnamed).unwrap_err()).contains("names no tool"));
    }
}
