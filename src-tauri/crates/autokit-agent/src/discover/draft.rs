//! Draft of a card for a page.

use autokit_facts::is_name;
use autokit_toolcard::{CardId, Draft, Evidence, Origin, ProposedField, fields};
use autokit_web::search::Repository;
use serde_json::Value;

use super::pool::Candidate;

/// Normalizes a URL for comparing pages: drops the scheme, `www.`, fragment and trailing slash.
pub(super) fn normalized_url(url: &str) -> String {
    let url = url.split('#').next().unwrap_or(url);
    let url = url.trim_start_matches("https://").trim_start_matches("http://").trim_start_matches("www.");
    url.trim_end_matches('/').to_lowercase()
}

/// Drafts a card for a page, with the supporting text as evidence for each field.
pub(super) fn draft(page: &Candidate, score: f32, similar: &[CardId]) -> Draft {
    let evidence = |quote: &str| Evidence::new(page.url(), quote, page.fetched_at);
    let facts = &page.facts;
    let mut proposed = Vec::new();
    let mut add = |field: &str, value: Value, quote: &str, confidence: f32| {
        let evidence = vec![evidence(quote)];
        proposed.push(ProposedField { field: field.to_owned(), value: Some(value), evidence, confidence });
    };
    let (name, quote, confidence) = name_of(page);
    add(fields::NAME, Value::from(name), quote, confidence);
    if let Some(fact) = &facts.description {
        add(fields::DESCRIPTION, Value::from(fact.value.as_str()), &fact.quote, 0.9);
    }
    if let Some(import) = &facts.import {
        let (module, class) = &import.value;
        if let Some(language) = &facts.language {
            add(fields::LANGUAGE, Value::from(language.as_str()), &import.quote, 0.95);
        }
        add(fields::MODULE, Value::from(module.as_str()), &import.quote, 0.85);
        add(fields::CLASS, Value::from(class.as_str()), &import.quote, 0.85);
    }
    if let Some(args) = &facts.init_args {
        add(fields::INIT_ARGS, Value::Object(args.value.clone()), &args.quote, 0.7);
    }
    add(fields::DOCUMENTATION, Value::from(page.url()), &page.document.page_title, score.clamp(0.0, 1.0));
    if let Some(repository) = &page.repository {
        let quote = repository_summary(repository);
        let evidence = vec![Evidence::new(&repository.html_url, quote, page.fetched_at)];
        let value = Value::from(vec![repository.html_url.as_str()]);
        proposed.push(ProposedField {
            field: fields::SOURCES.to_owned(),
            value: Some(value),
            evidence,
            confidence: 0.9,
        });
        if !repository.topics.is_empty() {
            let quote = format!("Topics: {}", repository.topics.join(", "));
            proposed.push(ProposedField {
                field: fields::TAGS.to_owned(),
                value: Some(Value::from(repository.topics.clone())),
                evidence: vec![Evidence::new(&repository.html_url, quote, page.fetched_at)],
                confidence: 0.8,
            });
        }
    }
    Draft {
        similar: similar.to_vec(),
        ..Draft::new(Origin::Discovery, format!("Found on the web: {}", page.url()), proposed)
    }
}

/// Returns the name of a page's tool, with the text it comes from and a confidence: the title if it is a name
/// rather than a sentence, else the imported class, else the project's name.
fn name_of(page: &Candidate) -> (&str, &str, f32) {
    let (facts, title) = (&page.facts, page.document.title.as_str());
    if is_name(&facts.name) {
        return (&facts.name, title, 0.95);
    }
    let imported = facts.import.as_ref().map(|import| (import.value.1.as_str(), import.quote.as_str(), 0.8));
    let project = || {
        let full = page.repository.as_ref()?.full_name.as_str();
        Some((full.rsplit('/').next().unwrap_or(full), full, 0.7))
    };
    // Otherwise only the title is left; its low confidence is visible to the reviewer.
    imported.or_else(project).unwrap_or((&facts.name, title, 0.3))
}

/// Summarizes what GitHub says about a project, in one line.
fn repository_summary(repository: &Repository) -> String {
    let mut parts = vec![format!("{} stars", repository.stars)];
    parts.extend(repository.license.clone());
    let day = |stamp: &String| stamp.split('T').next().unwrap_or(stamp).to_owned();
    parts.extend(repository.pushed_at.as_ref().map(|stamp| format!("last updated {}", day(stamp))));
    format!("{}: {}", repository.full_name, parts.join(", "))
}
