//! What language models cost: prices, the spending limit, and the count that survives restarts.

use std::sync::Arc;

use autokit_llm::{Entry, Ledger, Price, Protocol, list_price};

use crate::api::{Event, LlmSettings, Nothing, Providers, Setting};
use crate::commands::{Context, Handle, ResetSpending};
use crate::engine::{Core, Engine};
use crate::error::{ApiError, ErrorCode, Result};

/// What was spent: it goes on when services are chosen anew, and after a restart.
#[derive(Debug, Default)]
pub(in crate::engine) struct Spending {
    pub(super) ledger: Ledger,
    /// The entries as they are saved; one writer at a time.
    saved: tokio::sync::Mutex<Vec<Entry>>,
}

/// What a million tokens of the large and the small model are counted at.
///
/// # Errors
/// `invalid` when there is a spending limit that could not stop anything, for want of a price.
pub(super) fn prices(settings: &LlmSettings, protocol: Protocol) -> Result<(Price, Price)> {
    let local = is_local(&settings.base);
    let own_address = !settings.base.trim().is_empty();
    let given = given_price(settings);
    let priced = |name: &str| {
        let listed = if own_address { None } else { list_price(protocol, name) };
        given.or(listed).or_else(|| local.then(Price::default))
    };
    let large_price = priced(&settings.large);
    if let (None, Some(_)) = (large_price, settings.cap) {
        return Err(ApiError::new(
            ErrorCode::Invalid,
            format!(
                "there is no known price for {:?}, so the spending limit could not stop it",
                settings.large.trim()
            ),
            "Enter what a million tokens cost in Settings, Language model (0 for a model that costs nothing), or remove the limit.",
        ));
    }
    let large_price = large_price.unwrap_or_default();
    // A small model without a price is counted like the large one, which costs no less.
    let small_price = if own_address { None } else { list_price(protocol, &settings.small) };
    let small_price = small_price.unwrap_or(large_price);
    Ok((large_price, small_price))
}

/// The price a person entered. Earlier versions saved zero where none was.
fn given_price(settings: &LlmSettings) -> Option<Price> {
    let own_address = !settings.base.trim().is_empty();
    let price = Price {
        input: settings.price_in.unwrap_or_default(),
        output: settings.price_out.unwrap_or_default(),
    };
    let entered = settings.price_in.is_some() || settings.price_out.is_some();
    (entered && (own_address || price != Price::default())).then_some(price)
}

/// Whether an address is on this machine, where asking a model costs nothing.
fn is_local(base: &str) -> bool {
    let host = url::Url::parse(base.trim()).ok().and_then(|url| url.host().map(|host| host.to_owned()));
    match host {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

impl Core {
    /// Reads what was spent before this process began.
    pub(in crate::engine) async fn load_spending(&self) -> Result<()> {
        let entries: Option<Vec<Entry>> = self.kept(Setting::Spending).await?;
        let entries = entries.unwrap_or_default();
        self.spending.saved.lock().await.clone_from(&entries);
        self.spending.ledger.restore(entries);
        Ok(())
    }

    /// Saves what was spent, if anything was since it was saved last.
    pub(in crate::engine) async fn save_spending(&self) -> Result<()> {
        let mut saved = self.spending.saved.lock().await;
        let entries = self.spending.ledger.entries();
        if *saved != entries {
            self.keep_as(Setting::Spending, &entries).await?;
            *saved = entries;
        }
        Ok(())
    }

    /// Saves what is spent as long as this process lives.
    pub(in crate::engine) fn keep_spending(self: &Arc<Self>) {
        let core = Arc::downgrade(self);
        let mut changes = self.spending.ledger.changes();
        tokio::spawn(async move {
            while changes.changed().await.is_ok() {
                let Some(core) = core.upgrade() else { return };
                if let Err(error) = core.save_spending().await {
                    tracing::error!(%error, "what was spent on language models could not be saved");
                }
            }
        });
    }
}

impl Handle<ResetSpending> for Engine {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Providers> {
        self.core.spending.ledger.restore(Vec::new());
        self.core.save_spending().await?;
        self.core.tell(Event::Providers);
        Ok(self.core.providers().await)
    }
}

#[cfg(test)]
mod tests {
    use crate::api::LlmKind;

    use super::*;

    fn price(settings: &LlmSettings) -> Result<(f64, f64)> {
        let (large, _) = super::super::Services::models(settings, Some("key"), &Ledger::default())?;
        let price = large.expect("a model").config().price;
        Ok((price.input, price.output))
    }

    #[test]
    fn models_have_prices_or_no_limit() {
        let known = LlmSettings {
            kind: LlmKind::Anthropic,
            large: "claude-sonnet-4-5".to_owned(),
            cap: Some(1.0),
            ..LlmSettings::default()
        };
        assert_eq!(price(&known).expect("a list price"), (3.0, 15.0));
        // Earlier versions saved zero where no price was entered.
        let saved = LlmSettings { price_in: Some(0.0), price_out: Some(0.0), ..known.clone() };
        assert_eq!(price(&saved).expect("a list price"), (3.0, 15.0));
        let entered = LlmSettings { price_in: Some(2.0), ..known.clone() };
        assert_eq!(price(&entered).expect("the entered price"), (2.0, 0.0));
        let unknown = LlmSettings { large: "something-new".to_owned(), ..known.clone() };
        let refused = price(&unknown).expect_err("a limit that could not stop anything");
        assert!(refused.message.contains("no known price"), "{}", refused.message);
        assert_eq!(price(&LlmSettings { cap: None, ..unknown }).expect("no limit"), (0.0, 0.0));
        let elsewhere = LlmSettings { base: "https://llm.example.org/v1".to_owned(), ..known.clone() };
        assert!(price(&elsewhere).is_err(), "another service has other prices");
        for base in ["http://localhost:11434/v1", "http://127.0.0.1:8080", "http://[::1]:1/v1"] {
            let local = LlmSettings { base: base.to_owned(), ..known.clone() };
            assert_eq!(price(&local).expect("a local model"), (0.0, 0.0), "{base}");
        }
    }

    #[test]
    fn a_small_model_is_counted_too() {
        let settings = |small: &str| LlmSettings {
            kind: LlmKind::Openai,
            large: "gpt-4.1".to_owned(),
            small: small.to_owned(),
            ..LlmSettings::default()
        };
        for (small, input) in [("gpt-4.1-mini", 0.4), ("something-new", 2.0), ("", 2.0)] {
            let models = super::super::Services::models(&settings(small), Some("key"), &Ledger::default())
                .expect("models");
            let price = models.1.expect("a small model").config().price;
            assert_eq!(price, Price { input, ..price }, "{small}");
        }
    }
}
