//! The cards of a published bundle, as offers.

use autokit_api::{MarketOffer, MarketSource};
use autokit_error::Result;
use autokit_toolcard::{Author, Toolcard, fields, has_injection, injections_in_value, visible};
use autokit_web::Validators;
use autokit_workspace::background::in_background;
use autokit_workspace::cards::shorten;
use serde_json::Value;

use super::Market;
use super::query::ListedOffer;
use crate::incoming::{Incoming, from_bytes};

/// Most bytes of a bundle, because it is downloaded and searched whenever somebody searches.
const BYTES: u64 = 20 << 20;
/// Most cards offered from one bundle.
const CARDS: usize = 5_000;
/// Most characters of a description.
const DESCRIPTION: usize = 2_000;
/// Most characters of any other text.
const TEXT: usize = 200;

/// Reads a published bundle without storing anything.
pub(crate) async fn read(market: &Market, url: &str) -> Result<Incoming> {
    let fetcher = market.providers.services().fetcher.clone();
    let file = fetcher.download(url, &Validators::default(), BYTES).await?;
    let bytes = file.map(|file| file.bytes).unwrap_or_default();
    let (url, at) = (url.to_owned(), market.workspace.clock.stamp());
    in_background(move || from_bytes(&bytes, &url, &Author::autokit(), at)).await
}

/// Returns the cards of a bundle as offers, with notes.
pub(super) async fn offers(
    market: &Market,
    source: &MarketSource,
) -> Result<(Vec<ListedOffer>, Vec<String>)> {
    let incoming = read(market, &source.url).await?;
    let mut notes = Vec::new();
    if incoming.entries.len() > CARDS {
        notes.push(format!("only the first {CARDS} cards of {} are searched", source.url));
    }
    let cards = incoming.entries.iter().take(CARDS);
    Ok((cards.map(|entry| offer_of(source, &entry.card)).collect(), notes))
}

fn offer_of(source: &MarketSource, card: &Toolcard) -> ListedOffer {
    let key = card.key();
    let told = |field: &str| card.text(field).map(|text| shorten(&visible(text), TEXT));
    let whole = Value::Object(card.object().clone());
    // The cheap check first: most cards are clean.
    let texts = if has_injection(&whole) { injections_in_value(&whole) } else { Vec::new() };
    let offer = MarketOffer {
        source: source.id.clone(),
        id: key.id().to_string(),
        name: shorten(&visible(&key.name), TEXT),
        provider: shorten(&visible(&key.provider), TEXT),
        description: shorten(&visible(card.description()), DESCRIPTION),
        version: told("version"),
        page: told(fields::DOCUMENTATION),
        category: told("category"),
        price: told(fields::PRICING),
        rating: None,
        functions: Vec::new(),
        deprecated: false,
        installed: false,
        suspect: texts.first().and_then(|text| text.marks.first()).map(|mark| mark.why.clone()),
        score: 0.0,
    };
    ListedOffer { offer, reaches: Vec::new(), key: Some(key) }
}
