//! Extracts the tool that a page documents.

use std::sync::LazyLock;

use autokit_web::{Block, Document};
use regex::Regex;
use serde_json::{Map, Value};

use crate::code::{Code, Import};
use crate::pricing::{Price, price};
use crate::text::{distinctive, sentences, words};
use crate::value::placeholders;

/// A fact with its evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact<T> {
    /// The extracted value.
    pub value: T,
    /// The sentence or line of code it was read from, as it is on the page.
    pub quote: String,
}

/// The tool that a page documents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Name of the tool: the page title without the name of the site.
    pub name: String,
    /// Description of the tool.
    pub description: Option<Fact<String>>,
    /// Programming language of the import.
    pub language: Option<String>,
    /// Module and class (or function) to import.
    pub import: Option<Fact<(String, String)>>,
    /// Constructor arguments shown on the page, as [`placeholders`].
    pub init_args: Option<Fact<Map<String, Value>>>,
    /// A command that installs it.
    pub install: Option<String>,
    /// Price of the tool.
    pub price: Option<Fact<Price>>,
    /// All code of the page.
    pub code: Code,
}

/// Matches sentences about the page rather than the tool.
static ABOUT_THE_PAGE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)^(this (notebook|page|guide|tutorial|example|will|document|section)|in this (notebook|guide|page|tutorial)|for detailed documentation|to (use|install|get started|access)|you('ll| will| need| can| must)|let'?s|below|the following|first|here|note|see|make sure|before|if you|we (will|need|can)|install|set ?up|get started|run the|click|sign up)\b",
    )
    .expect("a valid pattern")
});

static INSTALL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^[ \t!%$>]*((?:pip|pip3|uv pip|npm|yarn|pnpm|cargo|brew)\s+(?:install|add|i)\s+[^\n]+)")
        .expect("a valid pattern")
});

/// The page title without the name of the site after a separator.
pub fn title_of(page: &Document) -> String {
    let title = page.title.trim();
    let first = [" | ", " — ", " – ", " · ", " :: "]
        .iter()
        .find_map(|separator| title.split_once(separator).map(|(first, _)| first.trim()))
        .filter(|first| !first.is_empty())
        .unwrap_or(title);
    first.trim_matches(['#', '`', '*', ' ']).to_owned()
}

/// The first sentences that describe the tool, at most two.
fn description_of(page: &Document, name: &str) -> Option<Fact<String>> {
    let names = distinctive(name);
    let mut sentences_about_it: Vec<&str> = Vec::new();
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
            if sentences_about_it.is_empty() && !about && fallback.is_some() {
                // Skips a paragraph that neither names the tool nor opens the page.
                continue;
            }
            sentences_about_it.push(sentence);
            if sentences_about_it.len() == 2 {
                break;
            }
        }
        if !sentences_about_it.is_empty() {
            break;
        }
    }
    let value = if sentences_about_it.is_empty() {
        page.description.clone().filter(|text| text.len() >= 25).or(fallback.map(str::to_owned))?
    } else {
        sentences_about_it.join(" ")
    };
    Some(Fact { quote: value.clone(), value })
}

/// How well an imported name matches the title of the page.
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
    // Constants and helpers are not tools.
    if name.chars().all(|c| c.is_ascii_uppercase() || c == '_') {
        score -= 0.5;
    }
    score
}

/// The import that best matches the page's tool; the first one if several match equally.
fn import_of<'a>(code: &'a Code, name: &str) -> Option<&'a Import> {
    let title = distinctive(name);
    let mut best: Option<(f32, &Import)> = None;
    for import in code.imports.iter().filter(|import| !import.name.is_empty()) {
        let score = likeness(&import.module, &import.name, &title);
        if score >= 0.5 && best.is_none_or(|(high, _)| score > high + 1e-6) {
            best = Some((score, import));
        }
    }
    best.map(|(_, import)| import)
}

impl Facts {
    /// Extracts the facts from a page.
    pub fn of(page: &Document) -> Facts {
        let name = title_of(page);
        let code = Code::of(page);
        let import = import_of(&code, &name);
        let install =
            page.code().find_map(|(_, code)| INSTALL.captures(code).map(|found| found[1].trim().to_owned()));
        let init_args = import.and_then(|import| code.arguments_of(&import.name));
        Facts {
            description: description_of(page, &name),
            language: import.map(|import| import.language.name().to_owned()),
            import: import.map(|import| Fact {
                value: (import.module.clone(), import.name.clone()),
                quote: import.line.clone(),
            }),
            init_args: init_args
                .map(|(shown, lines)| Fact { value: placeholders(&shown), quote: lines.join("\n") }),
            install,
            price: price(page),
            code,
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
            serde_json::json!({"api_key": "${KEY}", "units": "${UNITS}", "days": "${DAYS}", "safe": "${SAFE}"})
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
            serde_json::json!({"key": "${KEY}", "zone": "${ZONE}"})
        );
    }

    #[test]
    fn what_the_page_does_not_show_is_not_claimed() {
        let facts = Facts::of(&page(
            "# Weather\n\n```python\nfrom os import path\nfrom openai import OpenAI\n```\n\nShort.\n",
        ));
        assert_eq!((facts.import, facts.init_args, facts.description), (None, None, None));
        let broken =
            Facts::of(&page("# Weather\n\n```python\nfrom weather import Weather\nWeather(((\n```\n"));
        assert!(broken.import.is_some() && broken.init_args.is_none());
    }
}
