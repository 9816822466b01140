//! A team, and people with a replica of its library each.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use autokit_library::{Clock, Library, Meta, PutMode, Storage, Write};
use autokit_sync::{Report, TeamSync};
use autokit_team::{Address, Connection, Credentials, INVITATION_LIFETIME, Owner, Role, Session};
use autokit_toolcard::{Author, CardId, Operation, Proposal, ProposalState, Toolcard};
use serde_json::{Map, Value, json};

/// The name of the team's database.
pub(crate) const DATABASE: &str = "kitchen";

/// A team.
pub(crate) struct Kitchen {
    pub(crate) connection: Connection,
    pub(crate) owner: Owner,
}

/// A member with a replica.
pub(crate) struct Person {
    pub(crate) name: &'static str,
    pub(crate) library: Arc<Library>,
    pub(crate) sync: TeamSync,
}

pub(crate) fn credentials() -> Credentials {
    Credentials {
        user: autokit_test_server::USER.to_owned(),
        password: autokit_test_server::PASSWORD.to_owned(),
    }
}

/// A card with this name, and fields that nobody disputes until they do.
pub(crate) fn card(name: &str, fields: &Value) -> Toolcard {
    let mut object = Map::new();
    object.insert("name".to_owned(), name.into());
    object.insert("provider".to_owned(), "Kitchen".into());
    object.insert("description".to_owned(), format!("A {name} for the kitchen.").into());
    object.extend(fields.as_object().cloned().unwrap_or_default());
    Toolcard::new(object).expect("a valid card")
}

impl Kitchen {
    pub(crate) async fn in_memory() -> Result<Kitchen> {
        Kitchen::at(&Address::Memory).await
    }

    pub(crate) async fn at(address: &Address) -> Result<Kitchen> {
        let connection = Connection::open(address, Some(&credentials())).await?;
        let owner = Owner::sign_in(&connection, &credentials(), DATABASE).await?;
        owner.create("The kitchen").await?;
        Ok(Kitchen { connection, owner })
    }

    /// Adds a member of this name, with the name as the password.
    pub(crate) async fn member(&self, name: &'static str, role: Role) -> Result<Session> {
        let invitation = self.owner.invite(role, &[], INVITATION_LIFETIME).await?;
        Ok(Session::join(&self.connection, &invitation, name, name).await?)
    }

    pub(crate) async fn person(&self, name: &'static str, role: Role) -> Result<Person> {
        Person::new(name, self.member(name, role).await?).await
    }
}

impl Person {
    pub(crate) async fn new(name: &'static str, session: Session) -> Result<Person> {
        let library = Arc::new(Library::open(Storage::Memory, Clock::system()).await?);
        let sync = TeamSync::new(library.clone(), session).await?;
        Ok(Person { name, library, sync })
    }

    pub(crate) async fn sync(&mut self) -> Result<Report> {
        Ok(self.sync.sync().await?)
    }

    pub(crate) fn meta(&self, operation: Operation, reason: &str) -> Meta {
        Meta {
            operation,
            author: Author(self.name.to_owned()),
            reason: reason.to_owned(),
            change: None,
            request: None,
        }
    }

    pub(crate) async fn add(&self, card: Toolcard) -> Result<CardId> {
        let write = Write::Put { card: Box::new(card), mode: PutMode::Create, vectors: None };
        let made = self.library.commit(&self.meta(Operation::Create, "Add a card"), &[write]).await?;
        made.added.into_iter().next().context("a card was added")
    }

    /// Sets fields of the card with this name; `null` removes one.
    pub(crate) async fn edit(&self, name: &str, fields: Value) -> Result<()> {
        let record = self.record(name)?;
        let mut object = record.card().into_object();
        for (field, value) in fields.as_object().into_iter().flatten() {
            match value {
                Value::Null => object.shift_remove(field),
                value => object.insert(field.clone(), value.clone()),
            };
        }
        let write = Write::Edit {
            id: record.id.clone(),
            expected: Some(record.number),
            card: Box::new(Toolcard::new(object).expect("a valid card")),
            vectors: None,
        };
        self.library.commit(&self.meta(Operation::Edit, &format!("Set {fields}")), &[write]).await?;
        Ok(())
    }

    pub(crate) async fn delete(&self, name: &str) -> Result<()> {
        let id = self.record(name)?.id.clone();
        self.library.commit(&self.meta(Operation::Delete, "Delete it"), &[Write::Delete { id }]).await?;
        Ok(())
    }

    pub(crate) fn record(&self, name: &str) -> Result<Arc<autokit_library::CardRecord>> {
        let found = self.library.read(|replica| replica.named(name).next().cloned());
        found.with_context(|| format!("{} has no card {name}", self.name))
    }

    /// A field of the card with this name; `null` without one.
    pub(crate) fn field(&self, name: &str, field: &str) -> Result<Value> {
        Ok(self.record(name)?.card().object().get(field).cloned().unwrap_or_else(|| json!(null)))
    }

    /// The names of the cards, in order.
    pub(crate) fn cards_named(&self) -> Vec<String> {
        self.library.read(|replica| {
            let mut names: Vec<String> = replica.iter().map(|record| record.key.name.clone()).collect();
            names.sort();
            names
        })
    }

    /// The cards as JSON texts, in order.
    pub(crate) fn cards(&self) -> Vec<String> {
        let mut cards: Vec<String> =
            self.library.read(|replica| replica.iter().map(|record| record.body.to_string()).collect());
        cards.sort();
        cards
    }

    pub(crate) async fn in_review(&self) -> Result<Vec<Proposal>> {
        Ok(self.library.proposals(Some(ProposalState::Pending)).await?)
    }
}
