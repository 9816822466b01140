//! The cost of language models: prices, the spending limit, and totals that survive restarts.

use async_trait::async_trait;
use autokit_api::commands::{Context, Handle, ResetSpending};
use autokit_api::{
    Event, LlmKind, LlmSettings, Nothing, ProviderSettings, Providers as ProvidersView, Setting,
};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_llm::{Ledger, LedgerEntry, Price, Protocol, list_price};

use super::Providers;

/// What was spent; kept across changes of settings and restarts.
#[derive(Debug, Default)]
pub(super) struct Spending {
    pub(super) ledger: Ledger,
    /// The entries as last saved. The lock serializes writes.
    saved: tokio::sync::Mutex<Vec<LedgerEntry>>,
}

/// Returns the price per million tokens of the large model: the one entered, the list price at the default
/// address, or zero on this machine; `None` if it is unknown.
pub(super) fn known_price(settings: &LlmSettings) -> Option<Price> {
    let protocol = match settings.kind {
        LlmKind::None => return None,
        LlmKind::Anthropic => Protocol::Anthropic,
        LlmKind::Openai => Protocol::Openai,
    };
    let entered = settings.price_in.is_some() || settings.price_out.is_some();
    let entered_price = entered.then(|| Price {
        input: settings.price_in.unwrap_or_default(),
        output: settings.price_out.unwrap_or_default(),
    });
    entered_price
        .or_else(|| list_price_at(settings, protocol, &settings.large))
        .or_else(|| is_local(&settings.base).then(Price::default))
}

/// Returns the list price of a model, which holds at the default address only.
fn list_price_at(settings: &LlmSettings, protocol: Protocol, model: &str) -> Option<Price> {
    if settings.base.trim().is_empty() { list_price(protocol, model) } else { None }
}

/// Returns the prices per million tokens of the large and the small model.
///
/// # Errors
/// `invalid` if there is a spending limit but no known price, so that the limit could never take effect.
pub(super) fn prices(settings: &LlmSettings, protocol: Protocol) -> Result<(Price, Price)> {
    let large_price = known_price(settings);
    if let (None, Some(_)) = (large_price, settings.cap) {
        return Err(ApiError::new(
            ErrorCode::Invalid,
            format!(
                "the price of {:?} is unknown, so the spending limit has no effect",
                settings.large.trim()
            ),
            "Enter the price per million tokens in Settings, Language model (0 for a free model), or remove the limit.",
        ));
    }
    let large_price = large_price.unwrap_or_default();
    // A small model without a known price is counted like the large one, which is at least as expensive.
    let small_price = list_price_at(settings, protocol, &settings.small).unwrap_or(large_price);
    Ok((large_price, small_price))
}

/// Marks saved settings in which a price of zero was entered. In settings without the mark, zero means that
/// no price was entered.
const PRICES_ENTERED: &str = "prices_entered";

/// Serializes settings.
///
/// # Errors
/// If they cannot be written as JSON.
pub(super) fn serialize(settings: &ProviderSettings) -> Result<String> {
    let to_error = |error: serde_json::Error| ApiError::internal(error.to_string());
    let mut saved = serde_json::to_value(settings).map_err(to_error)?;
    saved[PRICES_ENTERED] = true.into();
    Ok(saved.to_string())
}

/// Parses saved settings. Unknown fields, written by later versions, are ignored.
///
/// # Errors
/// If they are not valid settings.
pub(super) fn parse(text: &str) -> Result<ProviderSettings> {
    let to_error = |error: serde_json::Error| ApiError::internal(format!("settings: {error}"));
    let saved: serde_json::Value = serde_json::from_str(text).map_err(to_error)?;
    let entered = saved[PRICES_ENTERED] == true;
    let mut settings: ProviderSettings = serde_json::from_value(saved).map_err(to_error)?;
    let llm = &mut settings.llm;
    if !entered && llm.price_in.unwrap_or_default() + llm.price_out.unwrap_or_default() == 0.0 {
        (llm.price_in, llm.price_out) = (None, None);
    }
    Ok(settings)
}

/// Returns whether an address is on this machine, where a model costs nothing.
fn is_local(base: &str) -> bool {
    let host = url::Url::parse(base.trim()).ok().and_then(|url| url.host().map(|host| host.to_owned()));
    match host {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

impl Providers {
    /// Loads what was spent before this process started.
    pub async fn load_spending(&self) -> Result<()> {
        let entries: Option<Vec<LedgerEntry>> = self.workspace.load_setting(Setting::Spending).await?;
        let entries = entries.unwrap_or_default();
        self.spending.saved.lock().await.clone_from(&entries);
        self.spending.ledger.restore(entries);
        Ok(())
    }

    /// Saves what was spent, if it changed since it was last saved.
    pub async fn save_spending(&self) -> Result<()> {
        let mut saved = self.spending.saved.lock().await;
        let entries = self.spending.ledger.entries();
        if *saved != entries {
            self.workspace.save_setting(Setting::Spending, &entries).await?;
            *saved = entries;
        }
        Ok(())
    }

    /// Saves what is spent as long as this process runs.
    pub fn start_saving_spending(&self) {
        let providers = self.clone();
        let mut changes = self.spending.ledger.changes();
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    changed = changes.changed() => if changed.is_err() { return },
                    () = providers.workspace.wait_for_shutdown() => return,
                }
                if let Err(error) = providers.save_spending().await {
                    tracing::error!(%error, "failed to save the spending on language models");
                }
            }
        });
    }
}

#[async_trait]
impl Handle<ResetSpending> for Providers {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<ProvidersView> {
        self.spending.ledger.restore(Vec::new());
        self.save_spending().await?;
        self.workspace.publish(Event::Providers);
        Ok(self.view().await)
    }
}

#[cfg(test)]
mod tests {
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
        let free = LlmSettings { price_in: Some(0.0), price_out: Some(0.0), ..known.clone() };
        assert_eq!(price(&free).expect("the entered price"), (0.0, 0.0));
        let entered = LlmSettings { price_in: Some(2.0), ..known.clone() };
        assert_eq!(price(&entered).expect("the entered price"), (2.0, 0.0));
        let unknown = LlmSettings { large: "something-new".to_owned(), ..known.clone() };
        let refused = price(&unknown).expect_err("a limit that could not stop anything");
        assert!(refused.message.contains("is unknown"), "{}", refused.message);
        assert_eq!(price(&LlmSettings { cap: None, ..unknown }).expect("no limit"), (0.0, 0.0));
        let elsewhere = LlmSettings { base: "https://llm.example.org/v1".to_owned(), ..known.clone() };
        assert!(price(&elsewhere).is_err(), "another service has other prices");
        for base in ["http://localhost:11434/v1", "http://127.0.0.1:8080", "http://[::1]:1/v1"] {
            let local = LlmSettings { base: base.to_owned(), ..known.clone() };
            assert_eq!(price(&local).expect("a local model"), (0.0, 0.0), "{base}");
        }
    }

    #[test]
    fn a_price_that_nobody_entered_is_none() {
        let price_of = |text: &str| parse(text).expect("settings").llm.price_in;
        // As saved by versions that did not distinguish zero from no price.
        assert_eq!(price_of(r#"{"llm": {"price_in": 0.0, "price_out": 0.0}}"#), None);
        assert_eq!(price_of(r#"{"llm": {"price_in": 2.5, "price_out": 0.0}}"#), Some(2.5));
        let mut free = ProviderSettings::default();
        (free.llm.price_in, free.llm.price_out) = (Some(0.0), Some(0.0));
        assert_eq!(parse(&serialize(&free).expect("JSON")).expect("settings"), free);
        assert_eq!(price_of(&serialize(&ProviderSettings::default()).expect("JSON")), None);
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
