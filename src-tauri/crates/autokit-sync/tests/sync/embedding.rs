//! Vectors: computed by whoever writes a card, and used by whoever embeds in the same way.

use std::sync::Arc;

use anyhow::{Result, ensure};
use async_trait::async_trait;
use autokit_library::PackedVectors;
use autokit_sync::Embedding;
use autokit_team::Role;
use autokit_toolcard::{CardId, Toolcard};
use serde_json::json;

use crate::kitchen::{Kitchen, Person, card};

/// Embeds a card as the number of letters of its name, and trusts what is said to be made so if it is true.
#[derive(Debug)]
struct Letters(&'static str);

fn letters(card: &Toolcard, recipe: &str) -> PackedVectors {
    let values = vec![card.name().len() as f32, 1.0];
    PackedVectors { model: recipe.to_owned(), names: None, dim: 2, values }
}

#[async_trait]
impl Embedding for Letters {
    fn recipe(&self) -> Option<String> {
        Some(self.0.to_owned())
    }

    async fn usable(&self, vectors: &[(&Toolcard, &PackedVectors)]) -> Vec<bool> {
        vectors.iter().map(|(card, vectors)| letters(card, self.0) == **vectors).collect()
    }
}

impl Person {
    fn embedding(self, recipe: &'static str) -> Person {
        Person { sync: self.sync.with_embedding(Arc::new(Letters(recipe))), ..self }
    }

    /// Embeds a card here, as is done in the background.
    async fn embed(&self, name: &str, recipe: &str) -> Result<CardId> {
        let record = self.record(name)?;
        let row = (record.id.clone(), record.number, letters(&record.card(), recipe));
        self.library.put_vectors(&[row]).await?;
        Ok(record.id.clone())
    }

    /// The vectors of a card that fit its newest state.
    async fn vectors(&self, name: &str, recipe: &str) -> Result<Option<Vec<f32>>> {
        let record = self.record(name)?;
        let stored = self.library.vectors_of(recipe, std::slice::from_ref(&record.id)).await?;
        Ok(stored.into_iter().find(|one| one.number == record.number).map(|one| one.values))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_are_computed_once_for_each_recipe() -> Result<()> {
    let kitchen = Kitchen::in_memory().await?;
    let mut ann = kitchen.person("ann", Role::Reviewer).await?.embedding("letters");
    let mut bob = kitchen.person("bob", Role::Contributor).await?.embedding("letters");
    let mut cleo = kitchen.person("cleo", Role::Reviewer).await?.embedding("other letters");
    ann.add(card("kettle", &json!({}))).await?;
    ann.sync().await?;
    // She sends them once they were computed, in a later round.
    ann.embed("kettle", "letters").await?;
    ann.sync().await?;
    bob.sync().await?;
    cleo.sync().await?;
    ensure!(bob.vectors("kettle", "letters").await? == Some(vec![6.0, 1.0]));
    // Of another recipe there are none yet; what cleo computes is beside the first.
    ensure!(cleo.vectors("kettle", "other letters").await?.is_none());
    cleo.embed("kettle", "other letters").await?;
    cleo.sync().await?;
    let mut dora = kitchen.person("dora", Role::Reader).await?.embedding("other letters");
    dora.sync().await?;
    ensure!(dora.vectors("kettle", "other letters").await? == Some(vec![6.0, 1.0]));

    // An edit has its own; a name that another card has here is another text, which nobody else embedded.
    ann.edit("kettle", json!({"pricing": "free"})).await?;
    let id = ann.embed("kettle", "letters").await?;
    bob.add(card("pot", &json!({}))).await?;
    ann.add(card("pot", &json!({}))).await?;
    ann.embed("pot", "letters").await?;
    ann.sync().await?;
    bob.sync().await?;
    ensure!(bob.vectors("kettle", "letters").await? == Some(vec![6.0, 1.0]));

    // What is not what it is said to be is not used.
    let states = ann.library.shared_states(None).await?;
    let key = states[&id].key.clone();
    let lie = "UPDATE vector SET data = <bytes> 'notnumbers?????!' WHERE card = $card";
    let changed: Vec<String> =
        kitchen.owner.db().query(format!("{lie} RETURN VALUE card")).bind(("card", key)).await?.take(0)?;
    ensure!(!changed.is_empty());
    let mut eve = kitchen.person("eve", Role::Reader).await?.embedding("letters");
    eve.sync().await?;
    ensure!(eve.vectors("kettle", "letters").await?.is_none() && eve.record("kettle").is_ok());
    Ok(())
}
