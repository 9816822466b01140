//! List prices of models at the services that made them, so that a spending limit works without entering
//! prices.
//!
//! Published in November 2025, in US dollars per million tokens, without discounts for caching and batches.
//! Services change them occasionally; a price that the user enters takes precedence.

use crate::client::Protocol;
use crate::ledger::Price;

/// Prefix of the model's name, input price, output price. The longest matching prefix wins.
const ANTHROPIC: &[(&str, f64, f64)] = &[
    ("claude-opus-4-5", 5.0, 25.0),
    ("claude-opus-4", 15.0, 75.0),
    ("claude-sonnet-4", 3.0, 15.0),
    ("claude-haiku-4-5", 1.0, 5.0),
    ("claude-3-7-sonnet", 3.0, 15.0),
    ("claude-3-5-sonnet", 3.0, 15.0),
    ("claude-3-5-haiku", 0.8, 4.0),
    ("claude-3-opus", 15.0, 75.0),
    ("claude-3-haiku", 0.25, 1.25),
];

const OPENAI: &[(&str, f64, f64)] = &[
    ("gpt-5.1", 1.25, 10.0),
    ("gpt-5", 1.25, 10.0),
    ("gpt-5-mini", 0.25, 2.0),
    ("gpt-5-nano", 0.05, 0.4),
    ("gpt-5-pro", 15.0, 120.0),
    ("gpt-4.1", 2.0, 8.0),
    ("gpt-4.1-mini", 0.4, 1.6),
    ("gpt-4.1-nano", 0.1, 0.4),
    ("gpt-4o", 2.5, 10.0),
    ("gpt-4o-mini", 0.15, 0.6),
    ("gpt-4-turbo", 10.0, 30.0),
    ("o4-mini", 1.1, 4.4),
    ("o3", 2.0, 8.0),
    ("o3-mini", 1.1, 4.4),
    ("o3-pro", 20.0, 80.0),
    ("o1", 15.0, 60.0),
    ("o1-mini", 1.1, 4.4),
    ("o1-pro", 150.0, 600.0),
];

/// The list price of a model at the service that the protocol belongs to; `None` for an unknown model.
///
/// ```
/// use autokit_llm::{Protocol, list_price};
///
/// let price = list_price(Protocol::Openai, "gpt-4.1-mini-2025-04-14").expect("a known model");
/// assert_eq!((price.input, price.output), (0.4, 1.6));
/// assert!(list_price(Protocol::Openai, "gpt-4.15").is_none() && list_price(Protocol::Openai, "qwen3").is_none());
/// ```
pub fn list_price(protocol: Protocol, model: &str) -> Option<Price> {
    let known = match protocol {
        Protocol::Anthropic => ANTHROPIC,
        Protocol::Openai => OPENAI,
    };
    let model = model.trim().to_lowercase();
    // A version or date may follow, but nothing that makes it a different model.
    let fits =
        |name: &str| model.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    let best = known.iter().filter(|(name, ..)| fits(name)).max_by_key(|(name, ..)| name.len())?;
    Some(Price { input: best.1, output: best.2 })
}
