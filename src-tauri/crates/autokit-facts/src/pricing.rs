//! Extracts a tool's price from a page.

use std::sync::LazyLock;

use autokit_web::{Block, Document};
use regex::Regex;

use crate::text::sentences;
use crate::tool::Fact;

/// How a tool is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Price {
    /// It is free.
    Free,
    /// Some use is free; more has to be paid for.
    Freemium,
    /// It has to be paid for.
    Commercial,
}

impl Price {
    /// The word used on cards.
    pub fn name(self) -> &'static str {
        match self {
            Price::Free => "Free",
            Price::Freemium => "Freemium",
            Price::Commercial => "Commercial",
        }
    }

    /// The price that the words on a card mean, if they are unambiguous.
    pub fn read(text: &str) -> Option<Price> {
        let lower = text.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        if has(&["freemium", "free tier", "free plan", "free trial", "limited free", "free credit"]) {
            Some(Price::Freemium)
        } else if has(&["commercial", "paid", "subscription", "$", "€", "usage-based", "per month"]) {
            Some(Price::Commercial)
        } else if has(&["free", "open source", "open-source"]) {
            Some(Price::Free)
        } else {
            None
        }
    }
}

static FREEMIUM: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\bfree (tier|plan|trial|quota|account|api key)\b|(^|[^$€£\d,.])[\d,]+ free\b|\bfree,? (up to|for (the )?first)\b",
    )
});

static FREE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(is|are|it'?s|completely|entirely|totally) (also )?(100% )?free( of charge| to use)?\b|\bfree( and|,) open[- ]source\b|\bno api key (is )?(required|needed)\b",
    )
});

static PAID: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"[$€£]\s?\d[\d.,]*\s*(/|per |a )\s*\w+|\b(paid|premium) (plan|subscription|tier|service|product)\b|\bpay[- ]as[- ]you[- ]go\b|\bbilled (per|by|monthly)\b|\bnot free\b",
    )
});

fn pattern(pattern: &str) -> Regex {
    Regex::new(&format!("(?i){pattern}")).expect("a valid pattern")
}

/// The price according to a page, with the sentence that states it. Pages mention much that is free or not,
/// so only explicit sentences count, and the first one decides. That a project is open source says nothing
/// about the service behind it, nor do initial credits. A page that says both that the tool is free and that
/// it is not gives no price.
pub fn price(page: &Document) -> Option<Fact<Price>> {
    let texts = page.blocks.iter().filter_map(|block| match block {
        Block::Text { text } => Some(text),
        _ => None,
    });
    let (mut first, mut free, mut paid) = (None, false, false);
    for sentence in texts.flat_map(|text| sentences(text)) {
        let value = if FREEMIUM.is_match(sentence) {
            Price::Freemium
        } else if PAID.is_match(sentence) {
            paid = true;
            free |= FREE.is_match(sentence);
            Price::Commercial
        } else if FREE.is_match(sentence) {
            free = true;
            Price::Free
        } else {
            continue;
        };
        first.get_or_insert_with(|| Fact { value, quote: sentence.to_owned() });
    }
    first.filter(|fact| fact.value == Price::Freemium || !(free && paid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_read_from_sentences_that_state_them() {
        let said = |text: &str| {
            let page = autokit_web::extract(text, Some("text/markdown"), "https://docs.example.org/a");
            price(&page).map(|fact| (fact.value, fact.quote))
        };
        assert_eq!(
            said("# A\n\nSign up. There is a free tier of 1,000 calls. More is $5 per month."),
            Some((Price::Freemium, "There is a free tier of 1,000 calls.".to_owned()))
        );
        assert_eq!(said("It costs $5 per month.").map(|price| price.0), Some(Price::Commercial));
        assert_eq!(said("The service is free to use.").map(|price| price.0), Some(Price::Free));
        for nothing in [
            "It is an open source project.",
            "Get $10 free credit when you sign up.",
            "It is free to use. The API is not free.",
        ] {
            assert_eq!(said(nothing), None, "{nothing}");
        }
        assert_eq!(said("Feel free to look around. It frees memory."), None);
        assert_eq!(Price::read("Freemium ($9)"), Some(Price::Freemium));
        assert_eq!(Price::read("Free"), Some(Price::Free));
        assert_eq!(Price::read("see site"), None);
    }
}
