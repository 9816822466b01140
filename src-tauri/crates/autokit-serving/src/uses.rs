//! How tools fared in the calls of agents and people, and what was searched for (Elyra, bootstrapping: monitor).

use std::collections::HashMap;

use autokit_error::Result;
use autokit_gateway::{CallOutcome, Event};
use autokit_policy::audit::REDACTED;
use autokit_toolcard::{CardId, Timestamp};
use serde_json::Value;

use crate::journal::RETENTION_DAYS;
use crate::report::{Activity, latency};

/// Most failed calls of one tool that are returned.
const MAX_FAILURES: usize = 10;

/// The calls of a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolUses {
    /// Calls that were made and succeeded.
    pub successes: u64,
    /// Calls that were made and failed.
    pub failures: u64,
    /// How long each call took, in milliseconds.
    times: Vec<f64>,
    /// When it was last called.
    pub last: Option<Timestamp>,
    /// The newest failed calls: redacted arguments, and the error.
    pub failed: Vec<(Value, String)>,
}

impl ToolUses {
    /// Returns the median time of a call, in milliseconds; `None` without calls.
    pub fn p50_ms(&self) -> Option<f64> {
        (!self.times.is_empty()).then(|| latency(self.times.clone()).p50_ms)
    }
}

/// A search of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchSeen {
    /// When it was made.
    pub at: Timestamp,
    /// The session it was made in.
    pub session: String,
    /// The query.
    pub query: String,
    /// Whether it found a tool.
    pub found: bool,
}

/// What the journal tells of tools and needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Experience {
    /// Calls by the id of the tool's card, since the card last changed: a tool is not blamed for what an earlier version
    /// of it did.
    pub uses: HashMap<String, ToolUses>,
    /// Searches, oldest first.
    pub searches: Vec<SearchSeen>,
}

impl Activity {
    /// Returns what happened in the time for which activity is kept.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn experience(&self) -> Result<Experience> {
        let mut found = Experience::default();
        for row in self.activity_since(RETENTION_DAYS as u32).await? {
            match serde_json::from_str::<Event>(&row.event) {
                Ok(Event::Searched { query, found: hits, .. }) => found.searches.push(SearchSeen {
                    at: row.at,
                    session: row.session,
                    query,
                    found: !hits.is_empty(),
                }),
                Ok(Event::Audited(audit)) => {
                    let succeeded = match audit.outcome {
                        CallOutcome::Done => true,
                        CallOutcome::Failed => false,
                        // The tool was not reached, or its answer is not known.
                        _ => continue,
                    };
                    let id = CardId::new(&audit.id);
                    let changed = self.workspace.library.read(|replica| Some(replica.get(&id)?.updated_at));
                    if changed.is_some_and(|changed| row.at < changed) {
                        continue;
                    }
                    let uses = found.uses.entry(audit.id.clone()).or_default();
                    uses.times.push(audit.took_ms);
                    uses.last = Some(row.at);
                    if succeeded {
                        uses.successes += 1;
                    } else {
                        uses.failures += 1;
                        // An error may repeat what was redacted in the arguments.
                        let hides = audit.arguments.to_string().contains(REDACTED);
                        let why = if hides { REDACTED.to_owned() } else { audit.why };
                        uses.failed.push((audit.arguments, why));
                        if uses.failed.len() > MAX_FAILURES {
                            uses.failed.remove(0);
                        }
                    }
                }
                // Other events, and those of other versions, say nothing of this.
                Ok(_) | Err(_) => {}
            }
        }
        Ok(found)
    }
}
