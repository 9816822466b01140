//! What a library answers, as hits.

use autokit_api::{Answer, LibraryHit, MarketOffer, Verdict};
use autokit_search::Scored;

/// The hits of a library, best first, and its verdict on the first.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) hits: Vec<Scored<LibraryHit>>,
    pub(crate) verdict: Verdict,
}

/// Converts the answer of a library on this machine.
pub(crate) fn of_library(library: &str, answer: Answer) -> Answered {
    let hits = answer.candidates.into_iter().map(|candidate| {
        let card = candidate.card;
        let hit = LibraryHit {
            library: library.to_owned(),
            id: card.id.to_string(),
            name: card.name,
            provider: card.provider,
            description: card.description,
            documentation: card.documentation,
            stub: candidate.stub,
            suspect: None,
            score: candidate.score,
            parts: Some(candidate.parts),
        };
        Scored { score: candidate.score, item: hit }
    });
    Answered { hits: hits.collect(), verdict: answer.verdict }
}

/// Converts what a bundle or registry offers, with the scores it has beside cards. Nobody here has tried any of it, so no
/// verdict is certain.
pub(crate) fn of_market(library: &str, offers: Vec<Scored<MarketOffer>>) -> Answered {
    let hits: Vec<_> = offers
        .into_iter()
        .map(|Scored { score, item: offer }| {
            let hit = LibraryHit {
                library: library.to_owned(),
                id: offer.id,
                name: offer.name,
                provider: offer.provider,
                description: offer.description,
                documentation: offer.page,
                stub: None,
                suspect: offer.suspect,
                score,
                parts: None,
            };
            Scored { score, item: hit }
        })
        .collect();
    let verdict = if hits.is_empty() { Verdict::Nothing } else { Verdict::Unsure };
    Answered { hits, verdict }
}
