//! AutoKit's built-in tools that agents find by search: the system tier (Elyra's built-ins). Those that
//! access the web, files or the sandbox are implemented in [`crate::external`].
//!
//! They are matched by keywords, prepared once, and rank before the library (Kaman, section 4.2).

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock};

use autokit_agent::ask::Citation;
use autokit_api::{MemoryKind, MemoryQuery, TurnKind};
use autokit_error::Result;
use autokit_gateway::{Definition, Hit, HitKind, Refusal, Tier};
use autokit_library::CardRecord;
use autokit_policy::{Need, Permission};
use autokit_search::tiers::{KeywordQuery, KeywordTool};
use autokit_search::{SearchRequest, is_stop_word};
use autokit_workspace::search::Search;
use autokit_workspace::workspace::Workspace;
use jiff::tz::TimeZone;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::assistant::{Assistant, TurnRequest};
use crate::external::{ExternalTools, document_location};
use crate::find::feedback_profile;
use crate::own::finished;
use crate::profiles::ResolvedScope;
use crate::refusal::{refused, refused_or_cancelled};

/// Prefix of the ids of these tools; ids of cards never start with it.
const PREFIX: &str = "autokit:";
/// Minimum score of a result: more than half of the query's words, or the name and a little more.
const MIN_SCORE: f32 = 0.6;
/// Most passages of documentation in one answer.
const MAX_PASSAGES: usize = 5;
/// Most pieces of documents, or functions, in one answer.
const MAX_MEMORY_HITS: usize = 20;
/// Their number by default.
const MEMORY_HITS: usize = 5;
/// Passages shown when a research does not answer the question.
const CLOSEST: usize = 3;
/// Default number of sentences of a summary.
const DEFAULT_SENTENCES: usize = 3;

static TOOLS: LazyLock<Vec<(Definition, KeywordTool)>> = LazyLock::new(|| {
    [
        tool(
            "get_time",
            "Tells the current date and time in a time zone.",
            &json!({"zone": {"type": "string", "description": "IANA name, e.g. Europe/Berlin; defaults to UTC"}}),
            &[],
        ),
        tool(
            "docs_search",
            "Searches the documentation pages of the tools in the library and quotes the passages that answer the query.",
            &json!({
                "query": {"type": "string"},
                "limit": {"type": "integer", "minimum": 1, "maximum": MAX_PASSAGES}
            }),
            &["query"],
        ),
        tool(
            "rag_search",
            "Searches the user's documents (PDF, DOCX, HTML, Markdown, text) and quotes the pieces that answer a question, with citations.",
            &json!({
                "question": {"type": "string", "maxLength": 4000},
                "limit": {"type": "integer", "minimum": 1, "maximum": MAX_MEMORY_HITS}
            }),
            &["question"],
        ),
        tool(
            "code_search",
            "Searches the user's code for functions, methods and types by what they do, with signature, comment and callers.",
            &json!({
                "description": {"type": "string", "maxLength": 4000},
                "limit": {"type": "integer", "minimum": 1, "maximum": MAX_MEMORY_HITS}
            }),
            &["description"],
        ),
        Definition {
            annotations: Some(json!({"readOnlyHint": false, "destructiveHint": false, "openWorldHint": true})),
            ..tool(
                "add_document",
                "Adds a document file, a folder of documents or the address of a page to what rag_search searches.",
                &json!({"location": {"type": "string", "description": "Path in an opened project, or http(s) address"}}),
                &["location"],
            )
        },
        tool(
            "summarize_text",
            "Shortens a text to its most significant sentences, verbatim.",
            &json!({
                "text": {"type": "string"},
                "sentences": {"type": "integer", "minimum": 1, "maximum": 20}
            }),
            &["text"],
        ),
        open_world_tool(
            "web_search",
            "Searches the web with the chosen search service.",
            &json!({
                "query": {"type": "string"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 20}
            }),
            &["query"],
        ),
        open_world_tool(
            "research",
            "Researches a question in several rounds over the library, the user's documents and code, and the web, and answers in quotes with their sources.",
            &json!({"question": {"type": "string", "maxLength": 4000}}),
            &["question"],
        ),
        open_world_tool(
            "browse_page",
            "Opens a web page and reads its main text.",
            &json!({
                "url": {"type": "string", "description": "http or https"},
                "max_chars": {"type": "integer", "minimum": 500, "maximum": 100_000}
            }),
            &["url"],
        ),
        open_world_tool(
            "code_exec",
            "Runs Python, JavaScript or shell code in a sandbox with no network or files, and returns its output.",
            &json!({
                "language": {"enum": ["python", "javascript", "shell"]},
                "code": {"type": "string"},
                "stdin": {"type": "string"},
                "seconds": {"type": "integer", "minimum": 1, "maximum": 60}
            }),
            &["language", "code"],
        ),
        open_world_tool(
            "read_project_file",
            "Reads a text file or lists a folder in an opened project.",
            &json!({
                "path": {"type": "string", "description": "Relative to the project, or absolute; empty to list the project"},
                "folder": {"type": "string", "description": "Full path of the project, if several are open"},
                "from_line": {"type": "integer", "minimum": 1},
                "lines": {"type": "integer", "minimum": 1}
            }),
            &["path"],
        ),
    ]
    .into_iter()
    .map(|tool| {
        let known = KeywordTool::new(&tool.name, &tool.description);
        (tool, known)
    })
    .collect()
});

fn tool(name: &str, description: &str, properties: &Value, required: &[&str]) -> Definition {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    Definition {
        id: format!("{PREFIX}{name}"),
        name: name.to_owned(),
        provider: "AutoKit".to_owned(),
        description: description.to_owned(),
        schema: schema.as_object().cloned().unwrap_or_default(),
        annotations: Some(json!({"readOnlyHint": true, "openWorldHint": false})),
    }
}

/// Defines a tool that accesses the outside world.
fn open_world_tool(name: &str, description: &str, properties: &Value, required: &[&str]) -> Definition {
    let hints = json!({"readOnlyHint": true, "openWorldHint": true});
    Definition { annotations: Some(hints), ..tool(name, description, properties, required) }
}

/// Returns the built-in tool of this id or name, if there is one.
pub(crate) fn by_id_or_name(name: &str) -> Option<&'static Definition> {
    TOOLS.iter().map(|(tool, _)| tool).find(|tool| tool.id == name || tool.name == name)
}

/// Returns all built-in tools.
pub(crate) fn all() -> impl Iterator<Item = &'static Definition> {
    TOOLS.iter().map(|(tool, _)| tool)
}

/// Returns the built-in tool of this id, if there is one.
pub(crate) fn by_id(id: &str) -> Option<&'static Definition> {
    TOOLS.iter().map(|(tool, _)| tool).find(|tool| tool.id == id)
}

/// Returns the tools that match a query, best first, and the ids of those the query names.
pub(crate) fn search(query: &str) -> (Vec<Hit>, HashSet<String>) {
    let query = KeywordQuery::new(query);
    let (mut hits, mut named) = (Vec::new(), HashSet::new());
    for (tool, known) in TOOLS.iter() {
        let score = query.system(known);
        if query.names(known) {
            named.insert(tool.id.clone());
        } else if score < MIN_SCORE {
            continue;
        }
        hits.push(Hit {
            id: tool.id.clone(),
            name: tool.name.clone(),
            provider: tool.provider.clone(),
            summary: tool.description.clone(),
            tier: Tier::System,
            score,
            kind: HitKind::Callable(Box::new(tool.clone())),
        });
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    (hits, named)
}

/// Executes the built-in tools.
#[derive(Clone, Debug)]
pub struct Builtins {
    workspace: Workspace,
    search: Search,
    assistant: Arc<dyn Assistant>,
    external: ExternalTools,
}

impl Builtins {
    /// Creates the executor; tools that access the outside world are executed by `external`.
    pub fn new(
        workspace: Workspace,
        search: Search,
        assistant: Arc<dyn Assistant>,
        external: ExternalTools,
    ) -> Builtins {
        Builtins { workspace, search, assistant, external }
    }

    /// Returns the tools that access the outside world.
    pub(crate) fn external(&self) -> &ExternalTools {
        &self.external
    }

    /// Calls a built-in tool. The call must be permitted and the arguments validated.
    pub(crate) async fn call(
        &self,
        scoped: &ResolvedScope,
        tool: &Definition,
        arguments: &Map<String, Value>,
        profile: &str,
        cancel: &CancellationToken,
    ) -> std::result::Result<CallToolResult, Refusal> {
        let text = |key: &str| arguments.get(key).and_then(Value::as_str).unwrap_or_default();
        let number = |key: &str, default: usize| {
            arguments.get(key).and_then(Value::as_u64).map_or(default, |number| number as usize)
        };
        let answer = match tool.name.as_str() {
            "get_time" => self.time(text("zone"))?,
            "docs_search" => {
                let found = self.passages(scoped, text("query"), number("limit", MAX_PASSAGES)).await;
                found.map_err(|error| refused(&error))?
            }
            "rag_search" => {
                self.memory(MemoryKind::Documents, text("question"), number("limit", MEMORY_HITS)).await?
            }
            "code_search" => {
                self.memory(MemoryKind::Code, text("description"), number("limit", MEMORY_HITS)).await?
            }
            "add_document" => {
                let location = document_location(scoped.policy(), text("location"));
                let location = location.map_err(Refusal::Rejected)?;
                let read = self.assistant.add_document(&location, cancel).await;
                json!({"location": location, "read": read.map_err(|error| refused(&error))?}).to_string()
            }
            "research" => self.research(scoped, text("question"), profile, cancel).await?,
            "summarize_text" => summary(text("text"), number("sentences", DEFAULT_SENTENCES)),
            name => self.external.call(scoped.policy(), name, arguments, cancel).await?,
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(answer)]))
    }

    /// Researches a question and returns the quotes that answer it as JSON. Documents and code are read as far as the
    /// tools that search them are permitted.
    async fn research(
        &self,
        scoped: &ResolvedScope,
        question: &str,
        profile: &str,
        cancel: &CancellationToken,
    ) -> std::result::Result<String, Refusal> {
        let allowed = |name: &str| {
            by_id_or_name(name).is_some_and(|tool| {
                let (id, name, provider) = (tool.id.clone(), tool.name.clone(), tool.provider.clone());
                scoped.policy().permission_for(&Need::Tool { id, name, provider }) == Permission::Allow
            })
        };
        let request = TurnRequest {
            kind: TurnKind::Research,
            query: question.to_owned(),
            feedback_profile: feedback_profile(profile),
            allowed: scoped.allowed.clone(),
            // Decided on as a whole, by the rules or a person, before this call.
            web: !self.external.research_needs(scoped.policy()).is_empty(),
            documents: allowed("rag_search"),
            code: allowed("code_search"),
        };
        let turn = self.assistant.run_turn(request, cancel).await.and_then(finished);
        let turn = turn.map_err(|error| refused_or_cancelled(&error))?;
        let found = turn.research.unwrap_or_default();
        let quote = |at: usize| {
            let passage = found.passages.get(at)?;
            let source = found.sources.get(passage.source as usize)?;
            Some(json!({
                "text": passage.text, "under": passage.heading.join(" > "), "title": source.title,
                "source": source.location, "outdated": passage.outdated,
            }))
        };
        let summary: Vec<Value> = found.summary.iter().filter_map(|&at| quote(at as usize)).collect();
        let quotes = if found.answered { summary } else { (0..CLOSEST).filter_map(quote).collect() };
        let kind = if found.answered { "summary" } else { "closest" };
        let answer = json!({"answered": found.answered, kind: quotes, "notes": found.notes});
        Ok(answer.to_string())
    }

    /// Searches documents or code, and returns what was found as JSON.
    async fn memory(
        &self,
        kind: MemoryKind,
        query: &str,
        limit: usize,
    ) -> std::result::Result<String, Refusal> {
        let query = MemoryQuery { kind, query: query.to_owned(), limit: Some(limit as u32) };
        let found = self.assistant.search_memory(query).await.map_err(|error| refused(&error))?;
        let hits = found.hits.iter().map(|hit| match &hit.symbol {
            Some(symbol) => json!({
                "name": symbol.name, "kind": symbol.kind, "source": hit.citation, "signature": symbol.signature,
                "comment": hit.text, "callers": symbol.callers,
            }),
            None => json!({
                "source": hit.citation, "under": hit.heading.join(" > "), "page": hit.page, "text": hit.text,
            }),
        });
        Ok(json!({"pieces": hits.collect::<Vec<_>>(), "note": found.note.unwrap_or_default()}).to_string())
    }

    fn time(&self, zone: &str) -> std::result::Result<String, Refusal> {
        let zone = if zone.is_empty() { Ok(TimeZone::UTC) } else { TimeZone::get(zone) };
        let zone = zone.map_err(|error| Refusal::Rejected(format!("`zone` is not a time zone: {error}")))?;
        let now = self.workspace.clock.now().to_zoned(zone);
        Ok(now.strftime("%A, %Y-%m-%dT%H:%M:%S%:z[%Q]").to_string())
    }

    /// Returns passages of documentation that answer a query, one per matching tool: the chunk the ranking
    /// found by its embedding, or else the chunk with the most words of the query.
    async fn passages(&self, scoped: &ResolvedScope, query: &str, limit: usize) -> Result<String> {
        let request = SearchRequest {
            query: query.to_owned(),
            allowed: scoped.allowed.clone(),
            limit: 20,
            ..SearchRequest::default()
        };
        let ranking = self.search.rank(request).await?;
        let mut found = Vec::new();
        for hit in ranking.hits {
            if found.len() == limit {
                break;
            }
            let Some(record) = self.search.card_of(&hit) else { continue };
            let cited = match hit.parts.chunk {
                Some(at) => self.assistant.cite(&record.id, at).await?,
                None => self.best_chunk_by_words(&record, query).await?,
            };
            let Some(cited) = cited else { continue };
            found.push(json!({
                "tool": record.key.to_string(), "under": cited.title, "source": cited.url, "text": cited.text,
            }));
        }
        let note = if found.is_empty() { "No documentation page mentions it." } else { "" };
        Ok(json!({"pieces": found, "note": note}).to_string())
    }

    async fn best_chunk_by_words(&self, record: &CardRecord, query: &str) -> Result<Option<Citation>> {
        let Some(page) = self.workspace.library.page(&record.id).await? else { return Ok(None) };
        let query_words = significant_words(query);
        let best = page.chunks.iter().enumerate().map(|(at, chunk)| {
            let text = chunk.text.to_lowercase();
            (query_words.iter().filter(|word| text.contains(word.as_str())).count(), at)
        });
        // Of equal chunks the first: pages say what a thing is before they say how it works.
        let best = best.filter(|(words, _)| *words > 0).max_by_key(|(words, at)| (*words, usize::MAX - at));
        match best {
            Some((_, at)) => self.assistant.cite(&record.id, at as u32).await,
            None => Ok(None),
        }
    }
}

/// Returns the significant words of a text, in lower case.
fn significant_words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| word.chars().count() > 2 && !is_stop_word(word)).collect()
}

/// Returns the sentences with the most frequent words of the text (Luhn, 1958), in the order of the text.
fn summary(text: &str, sentences: usize) -> String {
    let all = split_sentences(text);
    let mut counts: HashMap<String, usize> = HashMap::new();
    for word in significant_words(text) {
        *counts.entry(word).or_default() += 1;
    }
    let weight = |sentence: &str| {
        let words = significant_words(sentence);
        let sum: usize = words.iter().map(|word| counts.get(word).copied().unwrap_or_default()).sum();
        // Divided by the square root of the length, so that neither the longest nor the shortest sentence
        // always wins.
        if words.is_empty() { 0.0 } else { sum as f64 / (words.len() as f64).sqrt() }
    };
    let mut ranked: Vec<(usize, f64)> = all.iter().map(|sentence| weight(sentence)).enumerate().collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut selected: Vec<usize> = ranked.into_iter().take(sentences).map(|(at, _)| at).collect();
    selected.sort_unstable();
    selected.into_iter().map(|at| all[at]).collect::<Vec<_>>().join(" ")
}

/// Splits a text into sentences, at a punctuation mark before a space and at line ends.
fn split_sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    for line in text.lines() {
        let mut start = 0;
        for (at, mark) in line.match_indices(['.', '!', '?', '。', '！', '？']) {
            let end = at + mark.len();
            let ends = mark.len() > 1 || line[end..].chars().next().is_none_or(char::is_whitespace);
            if ends {
                sentences.push(line[start..end].trim());
                start = end;
            }
        }
        sentences.push(line[start..].trim());
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builtins_are_found_only_by_matching_queries() {
        let names = |query: &str| search(query).0.into_iter().map(|hit| hit.name).collect::<Vec<_>>();
        assert_eq!(names("what time is it"), ["get_time"]);
        assert_eq!(names("summarize a long text"), ["summarize_text"]);
        assert_eq!(names("search documentation"), ["docs_search"]);
        assert_eq!(names("search the web"), ["web_search"]);
        // The tool that adds documents may follow.
        assert_eq!(names("search my documents")[0], "rag_search");
        assert_eq!(names("search code for a function"), ["code_search"]);
        assert_eq!(names("add a document"), ["add_document"]);
        assert_eq!(names("open a web page"), ["browse_page"]);
        assert_eq!(names("run python code"), ["code_exec"]);
        assert_eq!(names("read a file of the project"), ["read_project_file"]);
        for query in ["send an email", "query a PostgreSQL database", "convert speech to text", ""] {
            assert_eq!(names(query), [""; 0], "{query}");
        }
        let named = search("then code_exec and get_timeout and sixteen other words that say nothing of it").1;
        assert_eq!(named.into_iter().collect::<Vec<_>>(), ["autokit:code_exec"]);
        assert!(by_id("autokit:get_time").is_some() && by_id("get_time").is_none());
    }

    #[test]
    fn a_summary_consists_of_sentences_of_the_text() {
        let text = "Kettles boil water. My aunt has a cat. A kettle with a whistle tells when the water boils! \
            See v1.2 of the manual for kettles.\nThe weather is fine.";
        let short = summary(text, 2);
        assert_eq!(short, "Kettles boil water. A kettle with a whistle tells when the water boils!");
        assert_eq!(summary(text, 20).split_whitespace().count(), text.split_whitespace().count());
        assert_eq!((summary("", 3), summary("no end", 3).as_str()), (String::new(), "no end"));
        assert_eq!(split_sentences("猫は好き。犬も好き。"), ["猫は好き。", "犬も好き。"]);
    }
}
