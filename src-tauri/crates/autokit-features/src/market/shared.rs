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
use crate::incoming::{SourceContents, from_bytes};

/// Most bytes of a bundle, because it is downloaded and searched whenever somebody searches.
const MAX_BYTES: u64 = 20 << 20;
/// Most cards offered from one bundle.
const MAX_CARDS: usize = 5_000;
/// Most characters of a description.
const MAX_DESCRIPTION_CHARS: usize = 2_000;
/// Most characters of any other text.
const MAX_TEXT_CHARS: usize = 200;

/// Reads a published bundle without storing anything.
pub(crate) async fn read(market: &Market, url: &str) -> Result<SourceContents> {
    let fetcher = market.providers.services().fetcher.clone();
    let file = fetcher.download(url, &Validators::default(), MAX_BYTES).await?;
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
    if incoming.entries.len() > MAX_CARDS {
        notes.push(format!("only the first {MAX_CARDS} cards of {} are searched", source.url));
    }
    if let Some(first) = incoming.rejected.first() {
        let (count, position, url) = (incoming.rejected.len(), first.position, &source.url);
        notes.push(match count {
            1 => format!("card {position} of {url} is invalid and not searched"),
            _ => format!(
                "{count} cards of {url} are invalid and not searched, the first of them card {position}"
            ),
        });
    }
    let cards = incoming.entries.iter().take(MAX_CARDS);
    Ok((cards.map(|entry| offer_of(source, &entry.card)).collect(), notes))
}

fn offer_of(source: &MarketSource, card: &Toolcard) -> ListedOffer {
    let key = card.key();
    let text_of = |field: &str| card.text(field).map(|text| shorten(&visible(text), MAX_TEXT_CHARS));
    let value = Value::Object(card.object().clone());
    // The cheap check first: most cards are clean.
    let texts = if has_injection(&value) { injections_in_value(&value) } else { Vec::new() };
    let offer = MarketOffer {
        source: source.id.clone(),
        id: key.id().to_string(),
        name: shorten(&visible(&key.name), MAX_TEXT_CHARS),
        provider: shorten(&visible(&key.provider), MAX_TEXT_CHARS),
        description: shorten(&visible(card.description()), MAX_DESCRIPTION_CHARS),
        version: text_of("version"),
        page: text_of(fields::DOCUMENTATION),
        category: text_of("category"),
        price: text_of(fields::PRICING),
        rating: None,
        functions: Vec::new(),
        deprecated: false,
        installed: false,
        suspect: texts.first().and_then(|text| text.marks.first()).map(|mark| mark.why.clone()),
        score: 0.0,
    };
    ListedOffer { offer, reaches: Vec::new(), key: Some(key) }
}
