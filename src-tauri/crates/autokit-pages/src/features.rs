//! Features of a page that speak for or against it documenting a tool.
//!
//! There is one set of features and two sets of weights. Discovery compares a page with a request in a
//! person's words and knows how the page was found; repair compares it with a card and knows what is
//! imported. Neither sets the features it has no data for.

mod card;
mod request;

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use ts_rs::TS;

pub use card::likeness;
pub use request::ParsedRequest;

/// A feature that speaks for a page or against it. From 0 to 1 unless stated otherwise; yes-or-no features
/// are 1 or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PageFeature {
    /// Share of the card's classes that the page imports from the card's module.
    Pair,
    /// Share of the card's classes that the page imports from anywhere.
    Class,
    /// Share of the card's classes that occur anywhere in the page's code.
    Code,
    /// Share of the card's classes that occur in the page's text outside of code.
    Prose,
    /// Likeness of the closest import to the card's.
    Like,
    /// The card's class is the page's main import.
    Main,
    /// Mentions of the card's classes, divided by mentions of all imported names that look like classes.
    Focus,
    /// Agreement of title and name in their distinctive words.
    Title,
    /// Title and name are the same except for spelling.
    Exact,
    /// Agreement of the end of the URL with name and class.
    Address,
    /// Page and card are of the same sort (1), of different sorts (-1), or it is unknown (0).
    Sort,
    /// Cosine similarity of what is sought to the page: to its opening for a card, to its closest chunk for a
    /// request.
    Meaning,
    /// Share of the content words of what is sought that are on the page; for a request, weighted by
    /// information content.
    Wording,
    /// The card names a class, but the page has no code: an overview, an advertisement, a notice.
    Bare,
    /// Score in the library's ranking.
    Rank,
    /// BM25 score for the request, 0 and up.
    Bm25,
    /// Value of the page in the search results, see [`FusedHits`](crate::FusedHits).
    Found,
    /// The URL contains a word for tools.
    ToolAddress,
    /// The page shows how to import something that looks like a tool.
    ToolCode,
    /// The opening of the page mentions a tool.
    ToolWords,
    /// Share of the title's distinctive words that are in the request.
    Named,
    /// The request names the product that this page is about.
    TheNamed,
    /// The request names a product that this page is not about.
    Another,
    /// A card of the library has this page as its documentation.
    Known,
}

/// The features of a page. A feature that is not set counts as 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, TS)]
#[serde(transparent)]
pub struct PageFeatures(BTreeMap<PageFeature, f32>);

impl<'de> Deserialize<'de> for PageFeatures {
    /// Also accepts what earlier versions stored: flags as booleans, a missing cosine as null.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PageFeatures, D::Error> {
        let stored = BTreeMap::<String, Value>::deserialize(deserializer)?;
        let mut features = PageFeatures::default();
        for (name, value) in stored {
            let number = value.as_f64().or(value.as_bool().map(|value| f64::from(u8::from(value))));
            if let (Ok(feature), Some(number)) = (serde_json::from_value(Value::from(name)), number) {
                features.set(feature, number as f32);
            }
        }
        Ok(features)
    }
}

/// The weight of each feature.
type Weights = &'static [(PageFeature, f32)];

/// Weights for a request. The features of the page itself (its URL, its code) tell which of several pages
/// documents the tool, not whether any does.
const REQUEST_WEIGHTS: Weights = &[
    (PageFeature::Rank, 1.0),
    (PageFeature::Found, 0.2),
    (PageFeature::ToolAddress, 0.08),
    (PageFeature::ToolCode, 0.06),
    (PageFeature::ToolWords, 0.04),
    (PageFeature::Named, 0.15),
];

/// Weights for a card. They come from a conditional logit (which of the pages found is the right one, or
/// none), fitted to 600 cards broken in sixteen ways, and are rounded; that of an equal title is halved,
/// because names in that set were read off titles. Fitted to four fifths of the cards and tested on the rest,
/// the right page is taken for 420 of 423 cards whose page is among those found, a wrong one for one, and
/// none for 40 of 40 whose page is gone. Every page in that set shows code, so the weight of a page without
/// code is set by hand.
const CARD_WEIGHTS: Weights = &[
    (PageFeature::Pair, 1.8),
    (PageFeature::Class, 1.0),
    (PageFeature::Code, 0.6),
    (PageFeature::Prose, 1.2),
    (PageFeature::Like, 0.8),
    (PageFeature::Main, 0.3),
    (PageFeature::Focus, 0.4),
    (PageFeature::Title, 2.1),
    (PageFeature::Exact, 1.3),
    (PageFeature::Address, 1.9),
    (PageFeature::Sort, 2.1),
    (PageFeature::Meaning, 1.2),
    (PageFeature::Wording, 1.6),
    (PageFeature::Bare, -3.0),
];
/// Log-odds that a page without any features documents a card's tool.
const BIAS: f32 = -8.4;

impl PageFeatures {
    /// Returns the value of a feature; 0 if it is not set.
    pub fn get(&self, feature: PageFeature) -> f32 {
        self.0.get(&feature).copied().unwrap_or(0.0)
    }

    /// Whether a feature is positive.
    pub fn has(&self, feature: PageFeature) -> bool {
        self.get(feature) > 0.0
    }

    /// Sets a feature.
    pub fn set(&mut self, feature: PageFeature, value: f32) {
        // Zeros are not stored, which saves space in a library of many reports.
        if value == 0.0 {
            self.0.remove(&feature);
        } else {
            self.0.insert(feature, value);
        }
    }

    /// Sets a yes-or-no feature.
    pub fn flag(&mut self, feature: PageFeature, value: bool) {
        self.set(feature, if value { 1.0 } else { 0.0 });
    }

    fn sum(&self, weights: Weights) -> f32 {
        weights.iter().map(|(feature, weight)| weight * self.get(*feature)).sum()
    }

    /// Returns the confidence that the page documents a tool for the request, 0 to 1.
    pub fn score_for_request(&self) -> f32 {
        let sum = self.sum(REQUEST_WEIGHTS);
        let sum = if self.has(PageFeature::Another) { 0.5 * sum } else { sum };
        1.0 - 0.25f32.powf(sum.max(0.0))
    }

    /// Returns the log-odds that the page documents the card's tool, against no page being found.
    pub fn logit_for_card(&self) -> f32 {
        BIAS + self.sum(CARD_WEIGHTS)
    }

    /// Whether the page shows or names the tool at all.
    pub fn mention_tool(&self) -> bool {
        self.get(PageFeature::Code) > 0.0
            || self.get(PageFeature::Prose) > 0.0
            || self.get(PageFeature::Title) >= 0.5
    }

    /// Explains in one sentence what speaks for the page.
    pub fn why(&self) -> String {
        let mut reasons: Vec<&str> = Vec::new();
        if self.get(PageFeature::Pair) > 0.0 {
            reasons.push("it imports the class from the module on the card");
        } else if self.get(PageFeature::Class) > 0.0 {
            reasons.push("it imports the class from another module");
        } else if self.get(PageFeature::Code) > 0.0 {
            reasons.push("its code uses the class");
        } else if self.get(PageFeature::Prose) > 0.0 {
            reasons.push("its text names the class");
        }
        if self.get(PageFeature::Title) >= 0.5 {
            reasons.push("its title names the tool");
        }
        if self.get(PageFeature::Meaning) >= 0.6 || self.get(PageFeature::Wording) >= 0.6 {
            reasons.push("it matches the card");
        }
        if reasons.is_empty() { "little on it matches".to_owned() } else { reasons.join(", ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_stored_by_earlier_versions_are_read() {
        let stored = r#"{"title":0.5,"exact":true,"main":false,"cosine":null,"no_such_mark":1}"#;
        let read: PageFeatures = serde_json::from_str(stored).unwrap();
        assert_eq!(
            (read.get(PageFeature::Title), read.has(PageFeature::Exact), read.has(PageFeature::Main)),
            (0.5, true, false)
        );
        let again = serde_json::to_string(&read).unwrap();
        assert_eq!(again, r#"{"title":0.5,"exact":1.0}"#);
        assert_eq!(serde_json::from_str::<PageFeatures>(&again).unwrap(), read);
    }
}
