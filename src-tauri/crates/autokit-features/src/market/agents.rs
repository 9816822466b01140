//! Tools a person could install, for an agent whose search found too little in the library.

use std::time::Instant;

use autokit_api::{MarketFound, MarketOffer};
use autokit_gateway::{Hit, HitKind, Search, SearchResults, Tier};
use autokit_workspace::cards::MAX_LINE_CHARS;
use autokit_workspace::cards::{first_sentence, shorten};
use autokit_workspace::elapsed::ms_since;
use serde_json::{Map, Value};

use super::Market;

/// Number of results with which the library has enough.
const ENOUGH_RESULTS: usize = 3;
/// Most offers shown to an agent, which can only pass them on.
const MAX_OFFERS: usize = 3;
/// Minimum score of an offer shown to an agent: about half of the query has to match.
const MIN_SCORE: f32 = 0.45;
/// Most functions of an offer shown to an agent.
const MAX_FUNCTIONS: usize = 8;

impl Market {
    /// Adds tools that could be installed to a search that found too little. Does nothing if no source is
    /// configured.
    pub async fn add_offers(&self, search: &Search, found: &mut SearchResults) {
        if found.hits.len() >= ENOUGH_RESULTS.min(search.limit) {
            return;
        }
        let began = Instant::now();
        let answer = match self.sources().await {
            Ok(sources) if sources.is_empty() => return,
            Ok(sources) => self.query(&sources, &search.query, self.deadline, false).await,
            Err(error) => Err(error),
        };
        match answer {
            Ok(market) => add_matching(&market, search, found),
            Err(error) => {
                found.notes.push(format!("Registries could not be searched: {}.", error.message));
            }
        }
        found.took_ms.push((Tier::Marketplace, ms_since(began)));
    }
}

fn add_matching(market: &MarketFound, search: &Search, found: &mut SearchResults) {
    let matches = |offer: &&MarketOffer| offer.score >= MIN_SCORE && !offer.installed && !offer.deprecated;
    let (flagged, clean): (Vec<_>, Vec<_>) =
        market.offers.iter().filter(matches).partition(|offer| offer.suspect.is_some());
    let room = search.limit.saturating_sub(found.hits.len()).min(MAX_OFFERS);
    found.hits.extend(clean.into_iter().take(room).map(hit));
    // Nobody has reviewed these texts yet, so agents do not get to read flagged ones.
    if !flagged.is_empty() {
        found.notes.push(format!(
            "{} left out: flagged for hidden text or instructions to a model.",
            if flagged.len() == 1 { "1 offer".to_owned() } else { format!("{} offers", flagged.len()) }
        ));
    }
    found.notes.extend(
        market
            .notes
            .iter()
            .take(2)
            .map(|note| format!("{}.", shorten(note, MAX_LINE_CHARS).trim_end_matches('.'))),
    );
}

fn hit(offer: &MarketOffer) -> Hit {
    let mut facts = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            facts.insert(key.to_owned(), value);
        }
    };
    put("version", offer.version.clone().map(Value::from));
    put("category", offer.category.clone().map(Value::from));
    put("price", offer.price.clone().map(Value::from));
    put("rating", offer.rating.map(Value::from));
    let functions: Vec<String> = offer.functions.iter().take(MAX_FUNCTIONS).cloned().collect();
    put("functions", (!functions.is_empty()).then(|| functions.into()));
    let command = format!("the user can run: autokit registries install {} {}", offer.source, offer.id);
    put("install", Some(command.into()));
    Hit {
        id: format!("market/{}/{}", offer.source, offer.id),
        name: offer.name.clone(),
        provider: offer.provider.clone(),
        summary: shorten(&first_sentence(&offer.description), MAX_LINE_CHARS),
        tier: Tier::Marketplace,
        score: offer.score,
        kind: HitKind::Installable { facts },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn offer(id: &str, score: f32) -> MarketOffer {
        MarketOffer {
            source: "s".to_owned(),
            id: id.to_owned(),
            name: id.to_owned(),
            provider: String::new(),
            description: "Sends mail. Quickly.".to_owned(),
            version: Some("1.0".to_owned()),
            page: None,
            category: None,
            price: None,
            rating: None,
            functions: Vec::new(),
            deprecated: false,
            installed: false,
            suspect: None,
            score,
        }
    }

    #[test]
    fn agents_see_a_few_matching_offers_and_no_flagged_ones() {
        let search = Search {
            query: String::new(),
            limit: 5,
            threshold: 0.0,
            rerank: std::time::Duration::ZERO,
            profile: String::new(),
            always: HashSet::new(),
        };
        let mut offers: Vec<MarketOffer> = ["a", "b", "c", "d"].map(|id| offer(id, 0.9)).into();
        offers[1].suspect = Some("A comment.".to_owned());
        offers[2].installed = true;
        offers.push(offer("e", 0.1));
        offers.push(offer("f", 0.5));
        let mut found = SearchResults::default();
        add_matching(
            &MarketFound { offers, notes: vec!["s did not answer".to_owned()] },
            &search,
            &mut found,
        );
        let ids: Vec<&str> = found.hits.iter().map(|hit| hit.id.as_str()).collect();
        assert_eq!(ids, ["market/s/a", "market/s/d", "market/s/f"]);
        let HitKind::Installable { facts } = &found.hits[0].kind else { panic!("{:?}", found.hits) };
        // Unknown facts are left out.
        assert_eq!(facts.keys().collect::<Vec<_>>(), ["version", "install"]);
        assert_eq!(found.hits[0].summary, "Sends mail.");
        assert_eq!(found.notes.len(), 2, "{:?}", found.notes);
    }
}
