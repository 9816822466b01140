//! Loads data sets from files.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use autokit_search::{ToolText, parameter_texts};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::EvalError;

/// A query with its relevant tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedQuery {
    /// Its id in the set.
    pub id: String,
    /// The query.
    pub text: String,
    /// Ids of relevant tools, without duplicates.
    pub relevant: Vec<String>,
}

/// Tools and judged queries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetrievalSet {
    /// Name of the folder.
    pub name: String,
    /// Tools with distinct ids.
    pub tools: Vec<ToolText>,
    /// Queries.
    pub queries: Vec<JudgedQuery>,
    /// Number of tools left out because of a duplicate id.
    pub repeated_tools: u32,
    /// Number of relevant ids that no tool has.
    pub unknown_relevant: u32,
}

#[derive(Deserialize)]
struct ToolLine {
    id: IdText,
    name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    parameters: Value,
    #[serde(default)]
    server: Option<String>,
}

#[derive(Deserialize)]
struct QueryLine {
    #[serde(default)]
    id: Option<IdText>,
    query: String,
    relevant: Vec<IdText>,
}

#[derive(Deserialize)]
struct QuestionLine {
    q: String,
    /// Empty if no card answers the question.
    #[serde(default)]
    gold: Vec<String>,
}

/// An id, which may be a string or a number.
#[derive(Deserialize)]
#[serde(untagged)]
enum IdText {
    Text(String),
    Number(serde_json::Number),
}

impl IdText {
    fn into_string(self) -> String {
        match self {
            IdText::Text(text) => text,
            IdText::Number(number) => number.to_string(),
        }
    }
}

impl RetrievalSet {
    /// Loads `tools.jsonl` and `queries.jsonl` from a folder.
    ///
    /// # Errors
    /// When a file cannot be read, a line has the wrong format, or there is nothing to evaluate.
    pub fn load(folder: &Path) -> Result<RetrievalSet, EvalError> {
        let tools_path = folder.join("tools.jsonl");
        let queries_path = folder.join("queries.jsonl");
        let mut seen = HashSet::new();
        let mut tools = Vec::new();
        let mut repeated_tools = 0;
        for line in json_lines::<ToolLine>(&tools_path)? {
            let id = line.id.into_string();
            if !seen.insert(id.clone()) {
                repeated_tools += 1;
                continue;
            }
            tools.push(ToolText {
                id,
                provider: line.server.unwrap_or_default(),
                name: line.name,
                description: line.description.unwrap_or_default(),
                parameters: parameter_texts(&line.parameters),
                ..ToolText::default()
            });
        }
        let mut unknown_relevant = 0;
        let mut queries = Vec::new();
        for (at, line) in json_lines::<QueryLine>(&queries_path)?.into_iter().enumerate() {
            let mut relevant: Vec<String> = Vec::new();
            for id in line.relevant.into_iter().map(IdText::into_string) {
                if !relevant.contains(&id) {
                    unknown_relevant += u32::from(!seen.contains(&id));
                    relevant.push(id);
                }
            }
            queries.push(JudgedQuery {
                id: line.id.map_or_else(|| at.to_string(), IdText::into_string),
                text: line.query,
                relevant,
            });
        }
        let full = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let name =
            full.file_name().map_or_else(|| full.display().to_string(), |name| name.to_string_lossy().into());
        if tools.is_empty() {
            return Err(EvalError::Empty { path: tools_path, what: "tools" });
        }
        if queries.is_empty() {
            return Err(EvalError::Empty { path: queries_path, what: "queries" });
        }
        Ok(RetrievalSet { name, tools, queries, repeated_tools, unknown_relevant })
    }
}

/// A question with the cards that answer it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedQuestion {
    /// The question.
    pub text: String,
    /// Names of acceptable cards.
    pub gold: Vec<String>,
}

/// Cards and judged questions about them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskSet {
    /// Cards, with ids numbered in the order of the file.
    pub cards: Vec<ToolText>,
    /// Questions.
    pub questions: Vec<JudgedQuestion>,
    /// Number of gold names that no card has.
    pub unknown_gold: u32,
}

impl AskSet {
    /// Loads a file of cards and a file of questions.
    ///
    /// # Errors
    /// As [`AskSet::of`], or when there are no cards.
    pub fn load(cards: &Path, questions: &Path) -> Result<AskSet, EvalError> {
        let objects = card_objects(cards)?;
        if objects.is_empty() {
            return Err(EvalError::Empty { path: cards.to_owned(), what: "cards" });
        }
        AskSet::of(&objects, &[questions.to_owned()])
    }

    /// Creates a set of these cards with the questions of some files.
    ///
    /// # Errors
    /// When a file cannot be read, its contents have the wrong format, or it has no questions.
    pub fn of(cards: &[Map<String, Value>], questions: &[PathBuf]) -> Result<AskSet, EvalError> {
        let texts: Vec<ToolText> = cards
            .iter()
            .enumerate()
            .map(|(at, object)| ToolText::from_card(format!("{:06}", at + 1), object))
            .collect();
        let names: HashSet<&str> = texts.iter().map(|text| text.name.as_str()).collect();
        let mut all: Vec<JudgedQuestion> = Vec::new();
        for file in questions {
            let lines = json_lines::<QuestionLine>(file)?;
            if lines.is_empty() {
                return Err(EvalError::Empty { path: file.clone(), what: "questions" });
            }
            all.extend(lines.into_iter().map(|line| JudgedQuestion { text: line.q, gold: line.gold }));
        }
        let unknown_gold = all
            .iter()
            .flat_map(|question| &question.gold)
            .filter(|name| !names.contains(name.as_str()))
            .count() as u32;
        Ok(AskSet { cards: texts, questions: all, unknown_gold })
    }

    /// Returns the set without the questions that no card answers.
    #[must_use]
    pub fn answerable(&self) -> AskSet {
        let mut set = self.clone();
        set.questions.retain(|question| !question.gold.is_empty());
        set
    }
}

/// Loads the cards of a file: AutoKit's JSON array, or an object whose `cards` are cards or contain one under
/// `card`. Every card must have a name.
///
/// # Errors
/// When the file cannot be read or has the wrong format.
pub fn card_objects(path: &Path) -> Result<Vec<Map<String, Value>>, EvalError> {
    let format = |reason: String| EvalError::Format { path: path.to_owned(), line: 0, reason };
    let shape = || format("expected a list of cards, or an object with one under \"cards\"".to_owned());
    let value: Value = serde_json::from_str(&read(path)?).map_err(|error| EvalError::Format {
        path: path.to_owned(),
        line: error.line(),
        reason: error.to_string(),
    })?;
    let list = match value {
        Value::Array(list) => list,
        Value::Object(mut object) => match object.remove("cards") {
            Some(Value::Array(list)) => list,
            _ => return Err(shape()),
        },
        _ => return Err(shape()),
    };
    list.into_iter()
        .enumerate()
        .map(|(at, mut item)| {
            let card = item.get_mut("card").map(Value::take).unwrap_or(item);
            let Value::Object(object) = card else {
                return Err(format(format!("card {} is not an object", at + 1)));
            };
            match object.get("name").and_then(Value::as_str) {
                Some(name) if !name.is_empty() => Ok(object),
                _ => Err(format(format!("card {} has no name", at + 1))),
            }
        })
        .collect()
}

fn read(path: &Path) -> Result<String, EvalError> {
    std::fs::read_to_string(path).map_err(|source| EvalError::Read { path: path.to_owned(), source })
}

/// Loads a file of JSON objects, one per line; empty lines are skipped.
///
/// # Errors
/// When the file cannot be read or a line has the wrong format.
pub fn json_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, EvalError> {
    read(path)?
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(at, line)| {
            serde_json::from_str(line).map_err(|error| EvalError::Format {
                path: path.to_owned(),
                line: at + 1,
                reason: error.to_string(),
            })
        })
        .collect()
}
