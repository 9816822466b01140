//! Memory stays where it is, however long people search.
#![cfg(target_os = "linux")]

use anyhow::{Result, ensure};
use autokit_api::commands::{Ask, Search};
use autokit_api::{AskRequest, SearchRequest};
use autokit_tests::growth::{ROUNDS, ensure_steady};
use autokit_tests::{Workplace, made_up_cards};

/// Searches until caches, thread pools and the allocator have what they want.
const WARM_UP: usize = 2000;
const SEARCHES: usize = 10_000;

#[tokio::test]
async fn memory_grows_at_most_a_twentieth_over_ten_thousand_searches() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let file = place.cards_file("cards.json", &made_up_cards(2000))?;
    place.json(&["import", &file.display().to_string()])?;
    // Searched in a process of its own, over the loopback host: what the client holds is not
    // counted, what the host holds is.
    let owner = place.serve()?;
    let node = place.node(64).await?;
    let query = |number: usize| {
        let action = ["export", "list", "archive", "how do I render"][number % 4];
        format!("{action} photos of account {number}, then translate recipes and schedule the backups")
    };
    let mut sizes = Vec::new();
    for number in 0..WARM_UP + SEARCHES {
        if number >= WARM_UP && (number - WARM_UP).is_multiple_of(SEARCHES / ROUNDS) {
            sizes.push(owner.resident_kib()?);
        }
        let query = query(number);
        if number % 2 == 0 {
            let found = node.call::<Search>(SearchRequest { query, ..SearchRequest::default() }).await?;
            ensure!(!found.results.is_empty(), "search {number} found nothing");
        } else {
            let answer = node.call::<Ask>(AskRequest { question: query, ..AskRequest::default() }).await?;
            ensure!(!answer.candidates.is_empty(), "question {number} found nothing");
        }
    }
    sizes.push(owner.resident_kib()?);
    drop(node);
    owner.stop()?;
    ensure_steady(&sizes)
}
