//! Token usage and cost.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::error::{Error, Result};
use crate::message::Usage;

/// Token prices in US dollars per million tokens, as entered by the user; zero for local models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Price {
    /// Price of input tokens.
    pub input: f64,
    /// Price of output tokens.
    pub output: f64,
}

impl Price {
    /// The cost of a call in US dollars.
    pub fn of(self, usage: Usage) -> f64 {
        (self.input * usage.input as f64 + self.output * usage.output as f64) / 1e6
    }
}

/// Usage of one model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// Name of the model.
    pub model: String,
    /// Number of replies.
    pub calls: u64,
    /// Tokens used.
    pub usage: Usage,
    /// Cost in US dollars.
    pub cost: f64,
}

#[derive(Debug, Default)]
struct LedgerState {
    entries: BTreeMap<String, LedgerEntry>,
    cap: Option<f64>,
}

/// The token usage and cost of a run or a person. Clones share the same data.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    state: Arc<Mutex<LedgerState>>,
    /// Incremented with each recorded call.
    changes: watch::Sender<u64>,
}

impl Ledger {
    /// An empty ledger with an optional spending limit in US dollars.
    pub fn new(cap: Option<f64>) -> Ledger {
        let ledger = Ledger::default();
        ledger.set_cap(cap);
        ledger
    }

    /// Changes the spending limit; recorded usage is kept.
    pub fn set_cap(&self, cap: Option<f64>) {
        self.lock().cap = cap;
    }

    fn lock(&self) -> MutexGuard<'_, LedgerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notifies of each recorded call, for whoever persists the ledger.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Replaces all entries with saved ones.
    pub fn restore(&self, entries: Vec<LedgerEntry>) {
        self.lock().entries = entries.into_iter().map(|entry| (entry.model.clone(), entry)).collect();
    }

    /// Fails once the spending limit is reached. Calls in flight at that moment are completed, so the limit
    /// may be exceeded by their cost.
    ///
    /// # Errors
    /// [`Error::OverBudget`].
    pub fn check(&self) -> Result<()> {
        let state = self.lock();
        match state.cap {
            Some(cap) if state.entries.values().map(|entry| entry.cost).sum::<f64>() >= cap => {
                Err(Error::OverBudget { cap })
            }
            _ => Ok(()),
        }
    }

    /// Records a call.
    pub fn record(&self, model: &str, usage: Usage, price: Price) {
        let mut state = self.lock();
        let entry = state.entries.entry(model.to_owned()).or_default();
        model.clone_into(&mut entry.model);
        entry.calls += 1;
        entry.usage += usage;
        entry.cost += price.of(usage);
        drop(state);
        self.changes.send_modify(|version| *version += 1);
    }

    /// All entries, by name of the model.
    pub fn entries(&self) -> Vec<LedgerEntry> {
        self.lock().entries.values().cloned().collect()
    }

    /// The total cost in US dollars.
    pub fn cost(&self) -> f64 {
        self.entries().iter().map(|entry| entry.cost).sum()
    }
}
