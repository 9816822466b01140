//! Descriptions of one tool that compete by the outcomes of its calls (Elyra, bootstrapping: variants).
//!
//! A search gives a session one of the descriptions, by Thompson sampling, and the session keeps it: agents that saw
//! different descriptions call the tool with different success. One that mostly fails, or is almost certainly worse than
//! another, is withdrawn.

use std::collections::BTreeMap;
use std::sync::Arc;

use autokit_api::Setting;
use autokit_bootstrap::{Contest, Withdrawal};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_gateway::Definition;
use autokit_library::CardRecord;
use autokit_toolcard::{CardId, Draft, Evidence, Origin, ProposedField, Timestamp, fields};
use autokit_workspace::cards::shorten;
use autokit_workspace::workspace::{CachedSetting, Workspace};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tools::MAX_DESCRIPTION;

/// Id of the card's own description.
pub const CURRENT: &str = "current";
/// Most descriptions of one tool besides its own.
const MAX_VARIANTS: usize = 4;

/// Descriptions of a tool, and their outcomes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DescriptionContest {
    /// When it began.
    pub began: Timestamp,
    /// The other descriptions, by the ids of their variants.
    pub descriptions: BTreeMap<String, String>,
    /// The outcomes.
    pub contest: Contest,
}

impl DescriptionContest {
    /// Returns the variant that agents see by this description; any that is none of the others is the card's own.
    fn variant_of(&self, shown: &str) -> &str {
        let is_shown = |text: &String| shorten(text, MAX_DESCRIPTION) == shown;
        self.descriptions.iter().find(|(_, text)| is_shown(text)).map_or(CURRENT, |(id, _)| id.as_str())
    }
}

impl DescriptionContest {
    /// Returns the id of the best of the other descriptions that still compete.
    pub fn best(&self) -> Option<&str> {
        let competing =
            self.contest.variants().iter().filter(|one| one.withdrawn.is_none() && one.id != CURRENT);
        let mean = |id: &str| self.contest.posterior(id).map_or(0.0, |posterior| posterior.mean);
        competing.max_by(|a, b| mean(&a.id).total_cmp(&mean(&b.id))).map(|one| one.id.as_str())
    }

    /// Proposes a description for its card, with the outcomes as evidence.
    pub fn proposal(&self, variant: &str, record: &CardRecord, now: Timestamp) -> Draft {
        let outcomes = |id: &str, name: &str| {
            let outcome = self.contest.variant(id)?;
            let posterior = self.contest.posterior(id)?;
            let uses = outcome.successes + outcome.failures;
            Some(format!(
                "{name}: {} of {uses} calls succeeded ({:.0}%, {:.0}% to {:.0}%)",
                outcome.successes,
                posterior.mean * 100.0,
                posterior.low * 100.0,
                posterior.high * 100.0,
            ))
        };
        let quotes = [outcomes(variant, "this description"), outcomes(CURRENT, "the card's description")];
        let field = ProposedField {
            field: fields::DESCRIPTION.to_owned(),
            value: self.descriptions.get(variant).map(|text| Value::from(text.as_str())),
            evidence: quotes.into_iter().flatten().map(|quote| Evidence::new("", quote, now)).collect(),
            confidence: self.contest.posterior(variant).map_or(0.5, |posterior| posterior.mean as f32),
        };
        Draft {
            card: Some(record.id.clone()),
            base: Some(record.number),
            ..Draft::new(
                Origin::Improvement,
                "Agents called the tool with more success by this description",
                vec![field],
            )
        }
    }
}

/// Contests by card.
pub type Contests = BTreeMap<CardId, DescriptionContest>;

/// A variant that was withdrawn by an outcome.
#[derive(Clone, Debug)]
pub struct Withdrawn {
    /// The tool's card.
    pub card: CardId,
    /// The variant.
    pub variant: String,
    /// Why.
    pub why: Withdrawal,
    /// The contest after it.
    pub contest: DescriptionContest,
}

/// The contests of a library. Clones share state.
#[derive(Clone, Debug)]
pub struct Variants {
    workspace: Workspace,
    setting: Arc<CachedSetting<Contests>>,
    /// Serializes changes.
    changing: Arc<tokio::sync::Mutex<()>>,
}

impl Variants {
    /// Reads the contests when they are first needed.
    pub fn new(workspace: Workspace) -> Variants {
        let setting = Arc::new(CachedSetting::new(Setting::Variants));
        Variants { workspace, setting, changing: Arc::default() }
    }

    /// Returns all contests.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn all(&self) -> Result<Arc<Contests>> {
        self.setting.read(&self.workspace).await
    }

    /// Returns the contest of a card, if there is one.
    async fn of(&self, card: &str) -> Option<DescriptionContest> {
        match self.all().await {
            Ok(all) => all.get(&CardId::new(card)).cloned(),
            Err(error) => {
                // The tool works with the description of its card.
                tracing::warn!(%error, "contests of descriptions could not be read");
                None
            }
        }
    }

    /// Whether descriptions of a card's tool compete.
    pub(crate) async fn has(&self, card: &str) -> bool {
        self.of(card).await.is_some()
    }

    /// Gives a definition that a search found one of the competing descriptions.
    pub(crate) async fn choose(&self, definition: &mut Definition) {
        let Some(contest) = self.of(&definition.id).await else { return };
        let chosen = contest.contest.choose_at_random();
        if let Some(text) = chosen.and_then(|variant| contest.descriptions.get(&variant.id)) {
            definition.description = shorten(text, MAX_DESCRIPTION);
        }
    }

    /// Lets a session keep the description that it was given.
    pub(crate) async fn keep(&self, given: &Definition, current: &mut Definition) {
        let Some(contest) = self.of(&given.id).await else { return };
        let variant = contest.variant_of(&given.description);
        let competes = contest.contest.variant(variant).is_some_and(|one| one.withdrawn.is_none());
        if competes && variant != CURRENT {
            current.description.clone_from(&given.description);
        }
    }

    /// Records the outcome of a call that was made by a description. Returns the variant that is withdrawn by it, if one
    /// is.
    ///
    /// # Errors
    /// When the database fails.
    pub(crate) async fn record(&self, called: &Definition, success: bool) -> Result<Option<Withdrawn>> {
        let _changing = self.changing.lock().await;
        let mut all = (*self.all().await?).clone();
        let card = CardId::new(&called.id);
        let Some(contest) = all.get_mut(&card) else { return Ok(None) };
        let variant = contest.variant_of(&called.description).to_owned();
        let withdrawn = contest.contest.record(&variant, success);
        let contest = contest.clone();
        self.setting.write(&self.workspace, all).await?;
        Ok(withdrawn.map(|(variant, why)| Withdrawn { card, variant, why, contest }))
    }

    /// Lets another description of a card's tool compete, with the one it has.
    ///
    /// # Errors
    /// `bad_request` for an empty description, one that competes already, or too many.
    pub async fn add(&self, card: &CardId, current: &str, description: &str) -> Result<()> {
        let description = description.trim();
        if description.is_empty() {
            return Err(bad("the description is empty", "Write what the tool does."));
        }
        let _changing = self.changing.lock().await;
        let mut all = (*self.all().await?).clone();
        let began = self.workspace.clock.stamp();
        let contest = all.entry(card.clone()).or_insert_with(|| DescriptionContest {
            began,
            descriptions: BTreeMap::new(),
            contest: Contest::new([CURRENT]),
        });
        let shown = shorten(description, MAX_DESCRIPTION);
        if shown == shorten(current, MAX_DESCRIPTION) || contest.variant_of(&shown) != CURRENT {
            return Err(bad("this description competes already", "Write a different one."));
        }
        if contest.descriptions.len() >= MAX_VARIANTS {
            let message = format!("at most {MAX_VARIANTS} descriptions compete with a tool's own");
            return Err(bad(message, "End the contest first."));
        }
        // The card's own is the first.
        let id = format!("v{}", contest.descriptions.len() + 2);
        contest.contest.add(&id);
        contest.descriptions.insert(id, description.to_owned());
        self.setting.write(&self.workspace, all).await
    }

    /// Withdraws a variant, or lets it compete again.
    ///
    /// # Errors
    /// `not_found` without such a contest or variant.
    pub async fn set_withdrawn(&self, card: &CardId, variant: &str, withdrawn: bool) -> Result<()> {
        let _changing = self.changing.lock().await;
        let mut all = (*self.all().await?).clone();
        let contest = all.get_mut(card).ok_or_else(no_contest)?;
        if !contest.contest.set_withdrawn(variant, withdrawn) {
            return Err(ApiError::new(
                ErrorCode::NotFound,
                format!("no variant {variant:?}"),
                "List the variants.",
            ));
        }
        self.setting.write(&self.workspace, all).await
    }

    /// Ends the contest of a card, and returns it.
    ///
    /// # Errors
    /// `not_found` without one.
    pub async fn end(&self, card: &CardId) -> Result<DescriptionContest> {
        let _changing = self.changing.lock().await;
        let mut all = (*self.all().await?).clone();
        let contest = all.remove(card).ok_or_else(no_contest)?;
        self.setting.write(&self.workspace, all).await?;
        Ok(contest)
    }
}

fn bad(message: impl Into<String>, remedy: &str) -> ApiError {
    ApiError::new(ErrorCode::BadRequest, message, remedy)
}

fn no_contest() -> ApiError {
    ApiError::new(ErrorCode::NotFound, "no descriptions of this tool compete", "Add one first.")
}
