//! Detects pages that are delivered without content: "not found" with status 200, parked domains, empty
//! shells.
//!
//! The patterns only name what is wrong. Whether a page documents the tool is decided by what is missing from
//! it, since sites say "nothing here" in more ways than a list can hold.

use std::sync::LazyLock;

use autokit_facts::sentences;
use regex::Regex;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use autokit_pages::Page;

/// Condition of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// A page with content.
    Content,
    /// The page says that nothing is, or is no longer, at this URL.
    NotFound,
    /// A parked domain: for sale or full of advertisements.
    Parked,
    /// Almost no text.
    Empty,
}

/// A page without code and with fewer characters of text than this is empty.
const MIN_CONTENT_CHARS: usize = 80;
/// A page with more characters of text than this is more than a notice.
const MAX_NOTICE_CHARS: usize = 2_500;

static NOT_FOUND: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(page|content|document(ation)?|resource|article|url|link|site|address|file|integration)\b[^.!?]{0,60}\b(not (be )?found|(is|was|are) (gone|missing|not here)|no longer|does(n'?t| not) exist|has (been )?(moved|removed|deleted|retired)|was (moved|removed|deleted)|unavailable|not available|can(no|')t be (found|reached|displayed))|\b(could ?n[o']t|can(no|')?t|unable to|did ?n[o']t|failed to) (find|locate|load)\b|\b404\b|\bnot found\b|\bno (such )?(page|documentation|results?|matches|document|content|entry)\b|\bnothing (here|to see|at this|was found)\b|\b0 (exact )?(matches|results)\b|\boops\b|\bwe'?ve (moved|retired|removed)\b|\bhas moved\b|\bupdate your bookmarks?\b",
    )
});

static PARKED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\bdomain (name )?(is|may be|might be|has been)? ?(now )?(for sale|parked|registered|expired|available)\b|\b(buy|purchase|own|acquire) this (premium )?domain\b|\bdomain (parking|owner|marketplace|broker)\b|\bsponsored( listings?)?\b|\brelated (searches|links|topics)\b|\bmake an offer\b|\bdisable your ad ?blocker\b|\bfirst and best source for\b|\bparked (free|by|domain|page)\b|\badvertis(ement|ing)s?\b.*\bdomain\b",
    )
});

fn pattern(pattern: &str) -> Regex {
    Regex::new(&format!("(?i){pattern}")).expect("a valid pattern")
}

/// Returns the condition of a page, with a quote that shows it.
pub(crate) fn condition(page: &Page) -> (Condition, String) {
    let has_code = page.document.code().next().is_some();
    let text: Vec<&str> = page
        .document
        .blocks
        .iter()
        .filter(|block| !matches!(block, autokit_web::Block::Code { .. }))
        .map(autokit_web::Block::text)
        .collect();
    let length: usize = text.iter().map(|part| part.chars().count()).sum();
    let title = page.document.page_title.as_str();
    if has_code || length > MAX_NOTICE_CHARS {
        return (Condition::Content, page.document.title.clone());
    }
    let found = |what: &Regex| {
        std::iter::once(title)
            .chain(text.iter().flat_map(|part| sentences(part)))
            .find(|sentence| what.is_match(sentence))
            .map(str::to_owned)
    };
    if let Some(quote) = found(&PARKED) {
        return (Condition::Parked, quote);
    }
    if let Some(quote) = found(&NOT_FOUND) {
        return (Condition::NotFound, quote);
    }
    if length < MIN_CONTENT_CHARS {
        return (Condition::Empty, text.join(" "));
    }
    (Condition::Content, page.document.title.clone())
}
