//! Tokens and money.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::error::{Error, Result};
use crate::message::Usage;

/// What tokens cost, in US dollars a million; as the person entered it, zero for local models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Price {
    /// Read by the model.
    pub input: f64,
    /// Written by it.
    pub output: f64,
}

impl Price {
    /// What a call costs.
    pub fn of(self, usage: Usage) -> f64 {
        (self.input * usage.input as f64 + self.output * usage.output as f64) / 1e6
    }
}

/// What one model was used for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Name of the model.
    pub model: String,
    /// Answers.
    pub calls: u64,
    /// Tokens.
    pub usage: Usage,
    /// US dollars.
    pub cost: f64,
}

#[derive(Debug, Default)]
struct Books {
    entries: BTreeMap<String, Entry>,
    cap: Option<f64>,
}

/// The books of one run or one person. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    books: Arc<Mutex<Books>>,
    /// Grows with each entry.
    changes: watch::Sender<u64>,
}

impl Ledger {
    /// Empty books with a cap in US dollars, if any.
    pub fn new(cap: Option<f64>) -> Ledger {
        let ledger = Ledger::default();
        ledger.set_cap(cap);
        ledger
    }

    /// Sets another cap; what was spent stays in the books.
    pub fn set_cap(&self, cap: Option<f64>) {
        self.lock().cap = cap;
    }

    fn lock(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes with each entry, for whoever saves the books.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Puts saved entries in the place of those that are there.
    pub fn restore(&self, entries: Vec<Entry>) {
        self.lock().entries = entries.into_iter().map(|entry| (entry.model.clone(), entry)).collect();
    }

    /// Refuses to go on once the cap is reached. Calls under way when it is reached are finished, so
    /// that it can be passed by what they cost.
    ///
    /// # Errors
    /// [`Error::OverBudget`].
    pub fn check(&self) -> Result<()> {
        let books = self.lock();
        match books.cap {
            Some(cap) if books.entries.values().map(|entry| entry.cost).sum::<f64>() >= cap => {
                Err(Error::OverBudget { cap })
            }
            _ => Ok(()),
        }
    }

    /// Enters a call.
    pub fn enter(&self, model: &str, usage: Usage, price: Price) {
        let mut books = self.lock();
        let entry = books.entries.entry(model.to_owned()).or_default();
        model.clone_into(&mut entry.model);
        entry.calls += 1;
        entry.usage += usage;
        entry.cost += price.of(usage);
        drop(books);
        self.changes.send_modify(|version| *version += 1);
    }

    /// All entries, by model.
    pub fn entries(&self) -> Vec<Entry> {
        self.lock().entries.values().cloned().collect()
    }

    /// All of it together, in US dollars.
    pub fn cost(&self) -> f64 {
        self.entries().iter().map(|entry| entry.cost).sum()
    }
}
