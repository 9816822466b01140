//! Two libraries that went their own ways, brought together: no edit of either side is lost.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use autokit_api::commands::{
    Export, GetCard, GetHistory, GetProposal, ListCards, ListImports, ListProposals, UndoImport, UpdateCard,
};
use autokit_api::{
    CardList, CardRef, CardUpdate, CardsQuery, ExportRequest, Format, JobTally, Landing, Nothing,
    ProposalDetail, ProposalGet, ProposalsQuery,
};
use autokit_app::ProposalState;
use autokit_app::node::Node;
use autokit_tests::bundle::{import, replace};
use autokit_tests::{SeededRng, Workplace};
use serde_json::{Map, Value, json};

const CARDS: usize = 6;
/// Fields that are edited, each a few values: both sides meet often.
const FIELDS: [&str; 4] = ["class", "module", "pricing", "usage"];

type Cards = BTreeMap<String, Map<String, Value>>;

struct Side {
    place: Workplace,
    node: Node,
    name: &'static str,
}

impl Side {
    async fn new(name: &'static str) -> Result<Side> {
        let place = Workplace::with_stand_in()?;
        let node = place.node(64).await?;
        Ok(Side { place, node, name })
    }

    async fn bundle(&self, file: &str, history: bool) -> Result<PathBuf> {
        let path = self.place.path(file);
        let request = ExportRequest {
            path: Some(path.display().to_string()),
            format: Format::Bundle,
            history,
            name: format!("cards of {}", self.name),
            ..ExportRequest::default()
        };
        self.node.call::<Export>(request).await?;
        Ok(path)
    }

    /// Edits some fields of some cards.
    async fn edit(&self, chance: &mut SeededRng, edits: usize) -> Result<()> {
        for _ in 0..edits {
            let card = format!("card {}", chance.below(CARDS as u64));
            let mut fields = self.node.call::<GetCard>(CardRef { card: card.clone() }).await?.fields;
            let field = FIELDS[chance.below(FIELDS.len() as u64) as usize];
            match chance.below(5) {
                0 => {
                    fields.shift_remove(field);
                }
                n => {
                    // Sometimes the same on both sides, sometimes not.
                    let value = if n == 1 { json!("both") } else { json!(format!("{}_{n}", self.name)) };
                    fields.insert(field.to_owned(), value);
                }
            }
            let update =
                CardUpdate { card, expected: None, fields, reason: String::new(), flagged_too: false };
            self.node.call::<UpdateCard>(update).await?;
        }
        Ok(())
    }

    async fn cards(&self) -> Result<Cards> {
        let mut cards = Cards::new();
        let all = CardList { query: CardsQuery::default(), offset: 0, limit: 1_000 };
        for row in self.node.call::<ListCards>(all).await?.rows {
            let detail = self.node.call::<GetCard>(CardRef { card: row.id.to_string() }).await?;
            cards.insert(row.name, detail.fields);
        }
        Ok(cards)
    }

    async fn waiting(&self) -> Result<Vec<ProposalDetail>> {
        let query = ProposalsQuery { state: Some(ProposalState::Pending) };
        let mut all = Vec::new();
        for row in self.node.call::<ListProposals>(query).await?.rows {
            all.push(self.node.call::<GetProposal>(ProposalGet::from(row.id)).await?);
        }
        Ok(all)
    }
}

/// What a proposal that waits about a card would make of a field.
fn proposed<'a>(waiting: &'a [ProposalDetail], card: &str, field: &str) -> Option<(Option<&'a Value>, bool)> {
    let about = |detail: &&ProposalDetail| detail.title == card;
    waiting.iter().filter(about).find_map(|detail| {
        let draft = &detail.proposal.draft;
        let value = draft.fields.iter().find(|proposed| proposed.field == field)?;
        Some((value.value.as_ref(), detail.proposal.conflicts.iter().any(|other| other == field)))
    })
}

/// The cards that the counts of an import are about, each of which counts once.
fn accounted(tally: &JobTally) -> usize {
    (tally.added + tally.changed + tally.unchanged + tally.rejected + tally.proposed) as usize
}

async fn exchange(seed: u64) -> Result<()> {
    let mut chance = SeededRng::new(seed);
    let (alice, bob) = (Side::new("alice").await?, Side::new("bob").await?);
    let start: Vec<Value> = (0..CARDS)
        .map(|n| json!({"name": format!("card {n}"), "class": "Base", "module": "base", "description": "d"}))
        .collect();
    // Both from one bundle, or both from the same file without a history.
    replace(&alice.node, &alice.place.cards_file("start.json", &start)?).await?;
    if chance.below(2) == 0 {
        let bundle = alice.bundle("start.toolcards", chance.below(2) == 0).await?;
        import(&bob.node, &bundle, Landing::Library).await?;
    } else {
        replace(&bob.node, &bob.place.cards_file("start.json", &start)?).await?;
    }
    let base = bob.cards().await?;
    let edits = chance.below(12) as usize;
    alice.edit(&mut chance, edits).await?;
    let edits = chance.below(12) as usize;
    bob.edit(&mut chance, edits).await?;
    let (theirs, ours) = (alice.cards().await?, bob.cards().await?);

    let history = chance.below(2) == 0;
    let landing = if chance.below(2) == 0 { Landing::Library } else { Landing::Review };
    let bundle = alice.bundle("alice.toolcards", history).await?;
    let first = import(&bob.node, &bundle, landing).await?;
    let (now, waiting) = (bob.cards().await?, bob.waiting().await?);
    let tally = first.tally.as_ref().context("a tally")?;
    ensure!(accounted(tally) == CARDS, "seed {seed}: {tally:?} of {CARDS} cards");
    ensure!(tally.proposed + tally.conflicting == waiting.len() as u32, "seed {seed}: {tally:?}");
    for (card, was) in &base {
        for field in FIELDS {
            let (x, a, b) = (was.get(field), theirs[card].get(field), ours[card].get(field));
            let is = now[card].get(field);
            let proposal = proposed(&waiting, card, field);
            let at = format!("seed {seed}, {landing:?}, {card}, {field}: {x:?} → {a:?} and {b:?}");
            if a == x || a == b {
                ensure!(is == b && proposal.is_none(), "{at}: is {is:?}, {proposal:?}");
            } else if b != x {
                ensure!(is == b && proposal == Some((a, true)), "a conflict: {at}: is {is:?}, {proposal:?}");
            } else if landing == Landing::Library {
                ensure!(is == a && proposal.is_none(), "taken over: {at}: is {is:?}, {proposal:?}");
            } else {
                ensure!(is == b && proposal == Some((a, false)), "proposed: {at}: is {is:?}, {proposal:?}");
            }
        }
        // What Bob wrote stays in the history, whatever the card says now.
        let revisions = bob.node.call::<GetHistory>(CardRef { card: card.clone() }).await?;
        ensure!(!revisions.is_empty(), "no history of {card}");
    }

    // Once more changes nothing, in cards or in Review.
    let imports = bob.node.call::<ListImports>(Nothing {}).await?.len();
    let second = import(&bob.node, &bundle, landing).await?;
    let tally = second.tally.as_ref().context("a tally")?;
    ensure!(
        tally.unchanged as usize == CARDS && accounted(tally) == CARDS,
        "seed {seed}: {tally:?} the second time"
    );
    ensure!(bob.cards().await? == now, "seed {seed}: a second import changed cards");
    ensure!(bob.waiting().await?.len() == waiting.len(), "seed {seed}: a second import proposed");
    let again = bob.node.call::<ListImports>(Nothing {}).await?;
    ensure!(again.len() == imports, "seed {seed}: a second import was noted");

    // Undone, everything is as it was before, and can be imported again.
    if let Some(made) = again.first().filter(|made| made.note.name == "cards of alice" && imports > 0) {
        let undo = autokit_api::ImportRef { import: made.import.clone() };
        let same_source = made.note.source == bundle.display().to_string();
        if same_source {
            bob.node.call::<UndoImport>(undo).await?;
            ensure!(bob.cards().await? == ours, "seed {seed}: the undo left something");
            ensure!(bob.waiting().await?.is_empty(), "seed {seed}: proposals of an undone import wait");
            import(&bob.node, &bundle, landing).await?;
            ensure!(bob.cards().await? == now, "seed {seed}: imported again, it is another");
            ensure!(bob.waiting().await?.len() == waiting.len(), "seed {seed}: proposals differ");
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn no_edit_of_either_side_is_lost() -> Result<()> {
    for seed in 0..24 {
        exchange(seed).await.with_context(|| format!("seed {seed}"))?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn independent_changes_merge_in_any_order() -> Result<()> {
    let origin = Side::new("origin").await?;
    let start: Vec<Value> =
        (0..CARDS).map(|n| json!({"name": format!("card {n}"), "class": "Base"})).collect();
    replace(&origin.node, &origin.place.cards_file("start.json", &start)?).await?;
    let first = origin.bundle("start.toolcards", false).await?;
    // Three people, each with fields of their own.
    let mut bundles = Vec::new();
    for (name, field) in [("ann", "module"), ("ben", "pricing"), ("cem", "usage")] {
        let side = Side::new(name).await?;
        import(&side.node, &first, Landing::Library).await?;
        for n in 0..CARDS {
            let card = format!("card {n}");
            let mut fields = side.node.call::<GetCard>(CardRef { card: card.clone() }).await?.fields;
            fields.insert(field.to_owned(), json!(format!("{name}_{n}")));
            let update =
                CardUpdate { card, expected: None, fields, reason: String::new(), flagged_too: false };
            side.node.call::<UpdateCard>(update).await?;
        }
        bundles.push((side.bundle("mine.toolcards", false).await?, side));
    }
    let mut outcomes = Vec::new();
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let side = Side::new("dan").await?;
        import(&side.node, &first, Landing::Library).await?;
        for at in order {
            import(&side.node, &bundles[at].0, Landing::Library).await?;
        }
        assert!(side.waiting().await?.is_empty());
        // In any order of fields.
        let cards: BTreeMap<String, BTreeMap<String, Value>> =
            side.cards().await?.into_iter().map(|(name, card)| (name, card.into_iter().collect())).collect();
        assert_eq!(cards["card 3"]["usage"], json!("cem_3"));
        outcomes.push(cards);
    }
    assert!(outcomes.windows(2).all(|two| two[0] == two[1]), "{outcomes:?}");
    Ok(())
}
