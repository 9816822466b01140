//! What a documentation page says about the tool it documents, read by rules: the import, the
//! constructor, the sentence that says what it is. Every fact keeps the line it was read from.

use autokit_retrieve::{is_generic_word, is_stop_word};
use autokit_web::{Block, Document};
use regex::Regex;
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// A fact with the words it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact<T> {
    /// The fact.
    pub value: T,
    /// A sentence or a line of code of the page, as it stands there.
    pub quote: String,
}

/// What a page shows of its tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// What the tool is called: the title without the name of the site.
    pub name: String,
    /// What it does.
    pub description: Option<Fact<String>>,
    /// Language of the import.
    pub language: Option<String>,
    /// Module and class (or function) to import.
    pub import: Option<Fact<(String, String)>>,
    /// Arguments its constructor is shown with; values that are no literals become placeholders.
    pub init_args: Option<Fact<Map<String, Value>>>,
    /// A line that installs it.
    pub install: Option<String>,
}

/// An import on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Import {
    language: &'static str,
    module: String,
    names: Vec<String>,
    line: String,
}

/// Words in titles that say what sort of page it is, beside those that say what sort of thing.
const OF_PAGES: &[&str] = &[
    "documentation",
    "docs",
    "reference",
    "guide",
    "overview",
    "quickstart",
    "integrations",
    "agents",
    "getting",
    "started",
];

/// Sentences that say what a page does, not what a tool does.
static ABOUT_THE_PAGE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)^(this (notebook|page|guide|tutorial|example|will|document|section)|in this (notebook|guide|page|tutorial)|for detailed documentation|to (use|install|get started|access)|you('ll| will| need| can| must)|let'?s|below|the following|first|here|note|see|make sure|before|if you|we (will|need|can)|install|set ?up|get started|run the|click|sign up)\b",
    )
    .expect("a valid pattern")
});

static PYTHON_FROM: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^[ \t>.]*from[ \t]+([A-Za-z_][\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#;]+)")
        .expect("a valid pattern")
});

static SCRIPT_FROM: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?m)^[ \t]*import\s+(?:type\s+)?\{([^}]*)\}\s*from\s*["']([^"']+)["']"#)
        .expect("a valid pattern")
});

static INSTALL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^[ \t!%$>]*((?:pip|pip3|uv pip|npm|yarn|pnpm|cargo|brew)\s+(?:install|add|i)\s+[^\n]+)")
        .expect("a valid pattern")
});

/// Letters and digits in small words, split at capitals: `GmailToolkit` is `gmail`, `toolkit`.
pub(crate) fn words(text: &str) -> Vec<String> {
    autokit_retrieve::name_words(text)
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// The words of a title that tell which tool it is.
pub(crate) fn distinctive(title: &str) -> Vec<String> {
    let tells =
        |word: &String| !is_generic_word(word) && !is_stop_word(word) && !OF_PAGES.contains(&word.as_str());
    words(title).into_iter().filter(tells).collect()
}

/// The title without the site's name behind a separator.
fn name_of(page: &Document) -> String {
    let title = page.title.trim();
    let first = [" | ", " — ", " – ", " · ", " :: "]
        .iter()
        .find_map(|separator| title.split_once(separator).map(|(first, _)| first.trim()))
        .filter(|first| !first.is_empty())
        .unwrap_or(title);
    first.trim_matches(['#', '`', '*', ' ']).to_owned()
}

/// The first paragraphs, until there is enough to tell what the page is about.
pub(crate) fn opening(page: &Document, characters: usize) -> String {
    let mut text = String::new();
    for block in &page.blocks {
        if let Block::Text { text: paragraph } = block {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(paragraph);
            if text.chars().count() >= characters {
                break;
            }
        }
    }
    text.chars().take(characters).collect()
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        if rest.is_empty() {
            return None;
        }
        let end = rest
            .char_indices()
            .find(|&(at, c)| {
                matches!(c, '.' | '!' | '?') && rest[at + 1..].chars().next().is_none_or(char::is_whitespace)
            })
            .map_or(rest.len(), |(at, c)| at + c.len_utf8());
        let (sentence, after) = rest.split_at(end);
        rest = after;
        Some(sentence.trim())
    })
}

/// The first sentences that say what the tool is, at most two.
fn description_of(page: &Document, name: &str) -> Option<Fact<String>> {
    let names = distinctive(name);
    let mut said: Vec<&str> = Vec::new();
    let mut fallback: Option<&str> = None;
    for block in page.blocks.iter().take(40) {
        let Block::Text { text } = block else { continue };
        for sentence in sentences(text) {
            let length = sentence.chars().count();
            if !(25..=400).contains(&length) || !sentence.ends_with(['.', '!', '?']) {
                continue;
            }
            if ABOUT_THE_PAGE.is_match(sentence) {
                fallback = fallback.or(Some(sentence));
                continue;
            }
            let about = words(sentence).iter().any(|word| names.contains(word));
            if said.is_empty() && !about && fallback.is_some() {
                // A paragraph that neither names the tool nor opens the page.
                continue;
            }
            said.push(sentence);
            if said.len() == 2 {
                break;
            }
        }
        if !said.is_empty() {
            break;
        }
    }
    let value = if said.is_empty() {
        page.description.clone().filter(|text| text.len() >= 25).or(fallback.map(str::to_owned))?
    } else {
        said.join(" ")
    };
    Some(Fact { quote: value.clone(), value })
}

fn imports(page: &Document) -> Vec<Import> {
    let mut found = Vec::new();
    for (language, code) in page.code() {
        for part in PYTHON_FROM.captures_iter(code) {
            if matches!(language, Some("javascript" | "typescript" | "js" | "ts")) {
                continue;
            }
            let names = part[2]
                .trim_matches(['(', ')', ' ', '\n'])
                .split(',')
                .map(|name| {
                    name.split_whitespace().next().unwrap_or("").trim_matches(['(', ')', '\\']).to_owned()
                })
                .filter(|name| !name.is_empty() && name != "*")
                .collect();
            let line = part[0].split_whitespace().collect::<Vec<_>>().join(" ");
            found.push(Import { language: "python", module: part[1].to_owned(), names, line });
        }
        for part in SCRIPT_FROM.captures_iter(code) {
            let names = part[1]
                .split(',')
                .map(|name| {
                    name.trim()
                        .trim_start_matches("type ")
                        .split(" as ")
                        .next()
                        .unwrap_or("")
                        .trim()
                        .to_owned()
                })
                .filter(|name| !name.is_empty())
                .collect();
            let line = part[0].split_whitespace().collect::<Vec<_>>().join(" ");
            found.push(Import { language: "javascript", module: part[2].to_owned(), names, line });
        }
    }
    found
}

/// How much a name that is imported looks like the tool the page is about.
fn likeness(module: &str, name: &str, title: &[String]) -> f32 {
    let own = words(name);
    let joined: String = own.concat();
    let in_name = title
        .iter()
        .filter(|word| own.contains(word) || (word.len() > 3 && joined.contains(word.as_str())))
        .count();
    let path = words(module);
    let in_path = title.iter().filter(|word| path.contains(word)).count();
    let many = title.len().max(1) as f32;
    let mut score = 2.0 * in_name as f32 / many + in_path as f32 / many;
    let lower = name.to_lowercase();
    if ["tool", "toolkit", "wrapper", "retriever", "loader", "client", "search", "run"]
        .iter()
        .any(|kind| lower.ends_with(kind))
    {
        score += 0.3;
    }
    if path.iter().any(|part| matches!(part.as_str(), "tools" | "toolkits" | "tool" | "utilities")) {
        score += 0.2;
    }
    // Constants and helpers are no tools.
    if name.chars().all(|c| c.is_ascii_uppercase() || c == '_') {
        score -= 0.5;
    }
    score
}

fn import_of(page: &Document, name: &str) -> Option<(Import, String)> {
    let title = distinctive(name);
    let mut best: Option<(f32, Import, String)> = None;
    for import in imports(page) {
        for class in &import.names {
            let score = likeness(&import.module, class, &title);
            // Equal ones: the first shown.
            if score >= 0.5 && best.as_ref().is_none_or(|(high, _, _)| score > *high + 1e-6) {
                best = Some((score, import.clone(), class.clone()));
            }
        }
    }
    best.map(|(_, import, class)| (import, class))
}

/// The arguments between the brackets that open at the start of `text`.
fn arguments(text: &str) -> Option<&str> {
    let mut depth = 0usize;
    let mut quote: Option<char> = None;
    for (at, c) in text.char_indices() {
        if let Some(open) = quote {
            quote = quote.filter(|_| c != open);
            continue;
        }
        match c {
            '"' | '\'' => quote = Some(c),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(&text[1..at]);
                }
            }
            _ => {}
        }
    }
    None
}

/// Pieces between commas outside of brackets and quotes.
fn top_level(text: &str) -> Vec<&str> {
    let (mut depth, mut quote, mut start) = (0i32, None::<char>, 0);
    let mut pieces = Vec::new();
    for (at, c) in text.char_indices() {
        if let Some(open) = quote {
            quote = quote.filter(|_| c != open);
            continue;
        }
        match c {
            '"' | '\'' => quote = Some(c),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                pieces.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(text[start..].trim());
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// A literal as JSON; anything else as a placeholder named after the argument.
fn literal(name: &str, text: &str) -> Value {
    let text = text.trim();
    let quoted = |open: char| text.len() >= 2 && text.starts_with(open) && text.ends_with(open);
    match text {
        "True" | "true" => Value::Bool(true),
        "False" | "false" => Value::Bool(false),
        "None" | "null" => Value::Null,
        _ if (quoted('"') || quoted('\'')) && !text[1..text.len() - 1].contains(['"', '\'']) => {
            Value::from(&text[1..text.len() - 1])
        }
        _ => serde_json::from_str::<Value>(text)
            .ok()
            .filter(Value::is_number)
            .unwrap_or_else(|| Value::from(format!("${{{}}}", name.to_uppercase()))),
    }
}

fn constructor(page: &Document, class: &str, language: &str) -> Option<Fact<Map<String, Value>>> {
    let separator = if language == "python" { '=' } else { ':' };
    for (_, code) in page.code() {
        let mut from = 0;
        while let Some(at) = code[from..].find(class) {
            let at = from + at;
            from = at + class.len();
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_') || !code[from..].starts_with('(') {
                continue;
            }
            let Some(inside) = arguments(&code[from..]) else { continue };
            let inside = if separator == ':' {
                inside.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or("")
            } else {
                inside
            };
            let mut args = Map::new();
            for piece in top_level(inside) {
                if let Some((name, value)) = piece.split_once(separator) {
                    let name = name.trim();
                    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
                    if plain && !value.starts_with('=') {
                        args.insert(name.to_owned(), literal(name, value));
                    }
                }
            }
            let end = from + code[from..].find('\n').unwrap_or(code.len() - from);
            let start = code[..at].rfind('\n').map_or(0, |line| line + 1);
            return Some(Fact { value: args, quote: code[start..end].trim().to_owned() });
        }
    }
    None
}

impl Facts {
    /// Reads a page.
    pub fn of(page: &Document) -> Facts {
        let name = name_of(page);
        let imported = import_of(page, &name);
        let install =
            page.code().find_map(|(_, code)| INSTALL.captures(code).map(|found| found[1].trim().to_owned()));
        let init_args =
            imported.as_ref().and_then(|(import, class)| constructor(page, class, import.language));
        Facts {
            description: description_of(page, &name),
            language: imported.as_ref().map(|(import, _)| import.language.to_owned()),
            import: imported
                .map(|(import, class)| Fact { value: (import.module, class), quote: import.line }),
            init_args,
            install,
            name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(markdown: &str) -> Document {
        autokit_web::extract(markdown, Some("text/markdown"), "https://docs.example.org/tools/weather")
    }

    #[test]
    fn a_page_gives_name_sentence_import_and_arguments_with_their_lines() {
        let facts = Facts::of(&page(
            "# Weather Tool | Docs\n\nThis notebook goes over the weather tool.\n\nWeather gives forecasts for any place on earth. It needs a key from their site.\n\n```python\n%pip install weather-kit\n```\n\n```python\nimport os\nfrom langchain_core.tools import BaseTool\nfrom weather_kit.tools import (\n    WeatherTool,\n    Place,\n)\n\ntool = WeatherTool(api_key=os.environ[\"KEY\"], units=\"metric\", days=3, safe=True)\n```\n",
        ));
        assert_eq!(facts.name, "Weather Tool");
        assert_eq!(
            facts.description.unwrap().value,
            "Weather gives forecasts for any place on earth. It needs a key from their site."
        );
        let import = facts.import.unwrap();
        assert_eq!(import.value, ("weather_kit.tools".to_owned(), "WeatherTool".to_owned()));
        assert!(import.quote.starts_with("from weather_kit.tools import ("), "{}", import.quote);
        let args = facts.init_args.unwrap();
        assert_eq!(
            Value::Object(args.value),
            serde_json::json!({"api_key": "${API_KEY}", "units": "metric", "days": 3, "safe": true})
        );
        assert_eq!(facts.install.as_deref(), Some("pip install weather-kit"));
    }

    #[test]
    fn javascript_is_read_too() {
        let facts = Facts::of(&page(
            "# Calendar\n\nCalendar reads and writes events of a calendar.\n\n```typescript\nimport { CalendarTool } from \"@kit/calendar\";\nconst tool = new CalendarTool({ key: process.env.KEY, zone: \"UTC\" });\n```\n",
        ));
        assert_eq!(facts.language.as_deref(), Some("javascript"));
        assert_eq!(facts.import.unwrap().value, ("@kit/calendar".to_owned(), "CalendarTool".to_owned()));
        assert_eq!(
            Value::Object(facts.init_args.unwrap().value),
            serde_json::json!({"key": "${KEY}", "zone": "UTC"})
        );
    }

    #[test]
    fn what_is_not_shown_is_not_claimed() {
        let facts = Facts::of(&page(
            "# Weather\n\n```python\nfrom os import path\nfrom openai import OpenAI\n```\n\nShort.\n",
        ));
        assert_eq!((facts.import, facts.init_args, facts.description), (None, None, None));
        let broken =
            Facts::of(&page("# Weather\n\n```python\nfrom weather import Weather\nWeather(((\n```\n"));
        assert!(broken.import.is_some() && broken.init_args.is_none());
    }
}
