//! Creates a card from text a person provides: a README, a copied page, a few sentences (FUEL, adder).
//!
//! Rules read from the text what they would read from a documentation page; a language model adds fields the
//! rules miss, and of those only what occurs in the text is kept.

use autokit_facts::{Facts, is_name};
use autokit_llm::prompts::{self, Prompts};
use autokit_llm::{Model, Request, Usage};
use autokit_toolcard::{Draft, Evidence, Origin, ProposedField, Timestamp, fields, is_web_address};
use autokit_web::extract;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::ask::ground::Sources;

/// Evidence source for text a person provided.
const SOURCE: &str = "a description";

/// Fields a model may fill in.
const FIELDS: [&str; 8] = [
    fields::NAME,
    fields::PROVIDER,
    fields::DESCRIPTION,
    fields::LANGUAGE,
    fields::MODULE,
    fields::CLASS,
    fields::PRICING,
    fields::DOCUMENTATION,
];

/// Returns the first URL in a text that looks like documentation.
fn url_in(text: &str) -> Option<&str> {
    let urls = || {
        text.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '<' | '>' | '"' | '`'))
            .filter(|word| is_web_address(word))
            .map(|url| url.trim_end_matches(['.', ',', ';', ']']))
    };
    urls().find(|url| url.contains("doc")).or_else(|| urls().next())
}

/// Returns the name at the start of the text: a heading, or the words before "is", a dash or a colon. A
/// sentence is not a name.
fn name_in(text: &str) -> Option<String> {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let first = first.trim_start_matches(['#', '*', ' ']).trim_end_matches('*');
    let end = [" is ", " — ", " – ", " - ", ": ", " lets ", " gives ", ". "]
        .iter()
        .filter_map(|mark| first.find(mark))
        .min()
        .unwrap_or(first.len());
    let name = first[..end].trim();
    (is_name(name) && name.chars().count() <= 80).then(|| name.to_owned())
}

fn fields_by_rules(text: &str) -> Vec<(String, Value, String)> {
    let page = extract(text, Some("text/markdown"), "");
    let facts = Facts::of(&page);
    let mut found = Vec::new();
    if let Some(name) = name_in(text) {
        found.push((fields::NAME.to_owned(), Value::from(name.as_str()), name));
    }
    if let Some(fact) = facts.description {
        found.push((fields::DESCRIPTION.to_owned(), Value::from(fact.value), fact.quote));
    } else if let Some(line) = text.lines().map(str::trim).find(|line| line.chars().count() >= 25) {
        found.push((fields::DESCRIPTION.to_owned(), Value::from(line), line.to_owned()));
    }
    if let Some(import) = facts.import {
        if let Some(language) = facts.language {
            found.push((fields::LANGUAGE.to_owned(), Value::from(language), import.quote.clone()));
        }
        found.push((fields::MODULE.to_owned(), Value::from(import.value.0), import.quote.clone()));
        found.push((fields::CLASS.to_owned(), Value::from(import.value.1), import.quote));
    }
    if let Some(args) = facts.init_args {
        found.push((fields::INIT_ARGS.to_owned(), Value::Object(args.value), args.quote));
    }
    if let Some(url) = url_in(text) {
        found.push((fields::DOCUMENTATION.to_owned(), Value::from(url), url.to_owned()));
    }
    found
}

/// Drafts a card from a text, by rules alone.
pub fn describe(text: &str, now: Timestamp) -> Draft {
    draft(fields_by_rules(text), now)
}

/// As [`describe`], with a model's help. Values that do not occur in the text are left out; `is_word`
/// distinguishes words of the language from invented names.
///
/// # Errors
/// Returns an error when the request to the model fails.
pub fn describe_with<'a>(
    model: &'a Model,
    prompts: &'a Prompts,
    text: &'a str,
    now: Timestamp,
    is_word: &'a (dyn Fn(&str) -> bool + Sync),
) -> BoxFuture<'a, autokit_llm::Result<(Draft, Usage)>> {
    Box::pin(async move {
        let properties: Map<String, Value> =
            FIELDS.iter().map(|field| ((*field).to_owned(), json!({ "type": ["string", "null"] }))).collect();
        let schema = json!({
            "type": "object",
            "properties": properties,
            "required": FIELDS,
            "additionalProperties": false,
        });
        let request = Request::new(
            "Answer with JSON after the schema and nothing else.",
            prompts.fill(&prompts::DESCRIBE, &[("text", text)]),
        );
        let answer = model.structured(&request, "card", &schema).await?;
        let sources = Sources::new([text]);
        let mut found = fields_by_rules(text);
        for field in FIELDS {
            let Some(value) = answer.value.get(field).and_then(Value::as_str).map(str::trim) else {
                continue;
            };
            let supported = match field {
                // Prose may be rephrased, but may not mention names that are not in the text.
                fields::DESCRIPTION => sources.supports_sentence(value, is_word),
                fields::NAME => is_name(value) && sources.contains(value),
                // The language may be implied: an import is enough.
                fields::LANGUAGE => {
                    found.iter().any(|(name, ..)| name == fields::MODULE) || sources.contains(value)
                }
                _ => sources.contains(value),
            };
            if value.is_empty() || !supported {
                continue;
            }
            let entry = (field.to_owned(), Value::from(value), value.to_owned());
            match found.iter_mut().find(|(name, ..)| name == field) {
                // Code is more reliable than what a model says.
                Some(_) if matches!(field, fields::MODULE | fields::CLASS | fields::LANGUAGE) => {}
                Some(known) => *known = entry,
                None => found.push(entry),
            }
        }
        let order = |name: &str| fields::ALL.iter().position(|field| *field == name);
        found.sort_by_key(|(name, ..)| order(name));
        Ok((draft(found, now), answer.usage))
    })
}

fn draft(found: Vec<(String, Value, String)>, now: Timestamp) -> Draft {
    let fields = found
        .into_iter()
        .map(|(field, value, quote)| ProposedField {
            field,
            value: Some(value),
            evidence: vec![Evidence::new(SOURCE, quote, now)],
            confidence: 0.7,
        })
        .collect();
    Draft::new(Origin::Description, "Created from a description", fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(text: &str) -> Draft {
        describe(text, "2026-01-01T00:00:00.000Z".parse().expect("a valid timestamp"))
    }

    fn value<'a>(draft: &'a Draft, field: &str) -> Option<&'a str> {
        draft.fields.iter().find(|f| f.field == field)?.value.as_ref()?.as_str()
    }

    #[test]
    fn a_few_sentences_become_a_card() {
        let draft = described(
            "Weather Kit is a library that gives forecasts for any place. See https://docs.example.org/weather.\n\n```python\nfrom weather_kit import WeatherKit\nkit = WeatherKit(key=\"x\")\n```\n",
        );
        assert_eq!(value(&draft, "name"), Some("Weather Kit"));
        assert_eq!(value(&draft, "documentation"), Some("https://docs.example.org/weather"));
        assert_eq!(value(&draft, "module"), Some("weather_kit"));
        assert_eq!(value(&draft, "class"), Some("WeatherKit"));
        assert!(value(&draft, "description").is_some_and(|text| text.contains("forecasts")));
        assert!(draft.fields.iter().all(|field| !field.evidence[0].quote.is_empty()));
    }

    #[test]
    fn a_sentence_is_not_used_as_a_name() {
        for text in [
            "Send an email to my boss every Friday",
            "I need something that reads the tables of a PDF. It should be free.",
            "What I want is a weather service",
            "This is a library for charts.",
        ] {
            assert_eq!(value(&described(text), "name"), None, "{text}");
        }
        let draft = described("Chart Maker draws charts from tables.");
        assert_eq!(value(&draft, "name"), None, "where the name ends is not known");
    }

    #[test]
    fn fields_not_in_the_text_are_left_out() {
        let draft = described("Just a word");
        assert_eq!((value(&draft, "name"), value(&draft, "module")), (Some("Just a word"), None));
        assert!(described("").fields.is_empty());
    }
}
