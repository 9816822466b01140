//! Proposals: changes that a person or a program suggests, with supporting evidence, pending until a person
//! accepts or rejects them, whole or field by field.

use std::collections::BTreeMap;
use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use ts_rs::TS;

use crate::card::fields;
use crate::decision::{Approval, FieldDecision};
use crate::identity::{CardId, CardKey};
use crate::lineage::RevisionId;
use crate::risk::{Risk, risk_on};
use crate::time::Timestamp;

/// Evidence for a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Evidence {
    /// URL of the page, or of another source that can be opened.
    pub url: String,
    /// The supporting words or line of code, verbatim.
    pub quote: String,
    /// When the source was read.
    pub fetched_at: Timestamp,
    /// Every request made to reach the page, including the last one; empty if no request was made.
    #[serde(default)]
    pub chain: Vec<Visit>,
}

impl Evidence {
    /// Creates evidence from a quote, without a request chain.
    pub fn new(url: impl Into<String>, quote: impl Into<String>, fetched_at: Timestamp) -> Evidence {
        Evidence { url: url.into(), quote: quote.into(), fetched_at, chain: Vec::new() }
    }
}

/// One request on the way to a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Visit {
    /// The requested URL.
    pub url: String,
    /// HTTP status of the response; 0 if there was none.
    pub status: u16,
}

/// A page that was considered but not chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct PageCandidate {
    /// Its URL.
    pub url: String,
    /// Its title.
    pub title: String,
    /// How well it matches, 0 to 1.
    pub score: f32,
    /// The reason for the score, in a sentence.
    pub why: String,
}

/// Origin of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A tool found on the web.
    Discovery,
    /// A card made from a person's text.
    Description,
    /// A tool made of recorded calls, or written for a need that use showed.
    Use,
    /// A public function or a command of a repository.
    Code,
    /// A dead link, replaced by the page's new URL.
    Repair,
    /// A field that its page now contradicts.
    Refresh,
    /// A field that was empty or poor, filled in from its page.
    Improvement,
    /// A card from somebody else's file or bundle.
    Import,
    /// A person's edit of a team's card that another member's edit preceded, or that their role does not allow.
    Conflict,
}

/// The groups of the review queue in display order, each with its origins.
const GROUPS: &[(&str, &[Origin])] = &[
    ("Broken link", &[Origin::Repair]),
    ("Stale field", &[Origin::Refresh]),
    ("Enrichment", &[Origin::Improvement]),
    ("New card", &[Origin::Discovery, Origin::Description, Origin::Use, Origin::Code]),
    ("Imported", &[Origin::Import]),
    ("Your edits", &[Origin::Conflict]),
];

impl Origin {
    /// Returns the group of the review queue to which the origin belongs.
    pub fn group(self) -> &'static str {
        GROUPS.iter().find(|(_, origins)| origins.contains(&self)).map_or("Other", |(name, _)| name)
    }

    /// Iterates over the names of the groups in display order.
    pub fn groups() -> impl Iterator<Item = &'static str> {
        GROUPS.iter().map(|(name, _)| *name)
    }
}

/// A field's proposed value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct ProposedField {
    /// Name of the field.
    pub field: String,
    /// The proposed value; `null` is a value, a missing one removes the field.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "deserialize_present")]
    #[ts(optional)]
    pub value: Option<Value>,
    /// The supporting evidence.
    pub evidence: Vec<Evidence>,
    /// Probability that it is correct, 0 to 1.
    pub confidence: f32,
}

/// Deserializes `null` as a value, unlike a missing field.
fn deserialize_present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// The content of a proposal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Draft {
    /// The card to change; `None` for a new card.
    pub card: Option<CardId>,
    /// The revision of that card on which the change is based.
    pub base: Option<u32>,
    /// Origin of the proposal.
    pub origin: Origin,
    /// The reason, in a sentence.
    pub reason: String,
    /// The proposed fields, in reading order.
    pub fields: Vec<ProposedField>,
    /// Cards of the library that may be the same tool.
    pub similar: Vec<CardId>,
    /// SHA-256, in hexadecimal, of the text of the page or pages it is based on. Values that a reviewer
    /// rejected are not proposed again while this stays the same.
    #[serde(default)]
    pub basis: Option<String>,
    /// Pages that were considered but not chosen, best first.
    #[serde(default)]
    pub candidates: Vec<PageCandidate>,
    /// The imported card, if the proposal is part of an import.
    #[serde(default)]
    pub arrived: Option<ImportOrigin>,
    /// For a draft of a new card that became a change: the fields in which both agreed, so that it can be one of a new
    /// card again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(skip)]
    pub agreed: Vec<ProposedField>,
    /// For a change that was proposed on another machine: the values that the fields had there, in place of a revision
    /// here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(skip)]
    pub before: Option<Map<String, Value>>,
}

/// A card of another library that a proposal imports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ImportOrigin {
    /// Id of the import.
    pub import: String,
    /// The card's id in the other library.
    pub card: CardId,
    /// Its revision there. Once the proposal is decided, this revision and its ancestors count as merged.
    pub revision: RevisionId,
    /// Fields that both libraries changed, or that differ without a common ancestor; only a person can tell
    /// which value is right.
    pub conflicts: Vec<String>,
}

/// State of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ProposalState {
    /// Waiting for a person's decision.
    Pending,
    /// Accepted, whole or in part.
    Accepted,
    /// Rejected.
    Rejected,
    /// Withdrawn by its author, or obsolete because it would no longer change anything.
    Withdrawn,
}

impl ProposalState {
    /// Returns the name used in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            ProposalState::Pending => "pending",
            ProposalState::Accepted => "accepted",
            ProposalState::Rejected => "rejected",
            ProposalState::Withdrawn => "withdrawn",
        }
    }

    /// Parses the name used in the store.
    pub fn parse(text: &str) -> Option<ProposalState> {
        [ProposalState::Pending, ProposalState::Accepted, ProposalState::Rejected, ProposalState::Withdrawn]
            .into_iter()
            .find(|state| state.as_str() == text)
    }
}

/// The number of a proposal, which people use to refer to it. Numbers start at 1; the default belongs to no
/// proposal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(transparent)]
pub struct ProposalId(u32);

impl ProposalId {
    /// Wraps a proposal's number.
    pub const fn new(number: u32) -> ProposalId {
        ProposalId(number)
    }

    /// Returns the number.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Returns the id that is assigned after this one.
    #[must_use]
    pub const fn successor(self) -> ProposalId {
        ProposalId(self.0 + 1)
    }
}

impl fmt::Display for ProposalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // With the caller's width: stored ids are padded with zeros.
        self.0.fmt(f)
    }
}

impl FromStr for ProposalId {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<ProposalId, ParseIntError> {
        text.parse().map(ProposalId)
    }
}

/// A proposal in the library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Proposal {
    /// Its number.
    pub id: ProposalId,
    /// The proposed changes.
    pub draft: Draft,
    /// The person or program that proposed it.
    pub proposed_by: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// Its state.
    pub state: ProposalState,
    /// When it was decided.
    pub decided_at: Option<Timestamp>,
    /// Who decided it.
    pub decided_by: Option<String>,
    /// The reason, in the reviewer's words.
    pub decision: Option<String>,
    /// The accepted fields.
    pub accepted: Vec<String>,
    /// Reviewers' decisions on each field.
    pub decisions: Vec<FieldDecision>,
    /// Approvals given so far, if the library requires several.
    pub approvals: Vec<Approval>,
    /// For fields that were checked against a later revision of the card than the draft's: that revision.
    pub rebased: BTreeMap<String, u32>,
    /// Fields that somebody has changed in the card since; these are never overwritten unseen.
    pub conflicts: Vec<String>,
    /// Risk of accepting all of it.
    pub risk: Risk,
    /// Who reviews it now, in a team.
    #[serde(default)]
    pub assigned_to: Option<String>,
}

impl Proposal {
    /// Returns the revision of the card on which a field was proposed, or since which it is known to be
    /// unchanged.
    pub fn base_of(&self, field: &str) -> Option<u32> {
        self.rebased.get(field).copied().or(self.draft.base)
    }
}

impl Draft {
    /// Creates a draft of a new card; set the card and its revision to make it a change.
    pub fn new(origin: Origin, reason: impl Into<String>, fields: Vec<ProposedField>) -> Draft {
        Draft {
            card: None,
            base: None,
            origin,
            reason: reason.into(),
            fields,
            similar: Vec::new(),
            basis: None,
            candidates: Vec::new(),
            arrived: None,
            agreed: Vec::new(),
            before: None,
        }
    }

    /// Returns the risk of accepting all of it into `card`: that of the riskiest field. Pass an empty object
    /// for a new card.
    pub fn risk(&self, card: &Map<String, Value>) -> Risk {
        let each = self.fields.iter().map(|field| risk_on(field, card));
        each.max().unwrap_or(Risk::Low)
    }

    /// Returns the card it is about, or the id that the new card would get.
    pub fn subject(&self) -> CardId {
        let imported = || self.arrived.as_ref().map(|arrived| arrived.card.clone());
        let from_key = || self.key().unwrap_or_else(|| CardKey::new("", "")).id();
        self.card.clone().or_else(imported).unwrap_or_else(from_key)
    }

    /// Returns a hash, in hexadecimal, that identifies this value of a field based on these pages; a
    /// reviewer's rejection is stored under it.
    pub fn rejection_key(&self, field: &ProposedField) -> String {
        let value = field.value.as_ref().map(Value::to_string).unwrap_or_default();
        let basis = self.basis.as_deref().unwrap_or_default();
        let mut hash = Sha256::new();
        for part in [self.subject().as_str(), &field.field, &value, basis] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        hex::encode(hash.finalize())
    }

    /// Returns the provider and name of a new card.
    pub fn key(&self) -> Option<CardKey> {
        let text = |name: &str| self.fields.iter().find(|f| f.field == name)?.value.as_ref()?.as_str();
        (self.card.is_none())
            .then(|| CardKey::new(text(fields::PROVIDER).unwrap_or(""), text(fields::NAME).unwrap_or("")))
    }

    /// Whether the card already has all proposed values.
    pub fn is_applied_to(&self, card: &Map<String, Value>) -> bool {
        self.fields.iter().all(|field| card.get(&field.field) == field.value.as_ref())
    }

    /// Returns the probability that all of it is correct: that of the least likely field.
    pub fn confidence(&self) -> f32 {
        self.fields.iter().map(|field| field.confidence).fold(1.0, f32::min)
    }

    /// Returns `card` with those proposed fields applied that `chosen` selects.
    pub fn apply_to(&self, card: &Map<String, Value>, chosen: impl Fn(&str) -> bool) -> Map<String, Value> {
        let mut after = card.clone();
        for proposed in self.fields.iter().filter(|proposed| chosen(&proposed.field)) {
            match &proposed.value {
                Some(value) => {
                    after.insert(proposed.field.clone(), value.clone());
                }
                None => {
                    after.shift_remove(&proposed.field);
                }
            }
        }
        after
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn field(name: &str, value: Option<Value>, confidence: f32) -> ProposedField {
        ProposedField { field: name.into(), value, evidence: Vec::new(), confidence }
    }

    fn draft(fields: Vec<ProposedField>) -> Draft {
        Draft::new(Origin::Discovery, "", fields)
    }

    #[test]
    fn a_number_is_written_as_an_integer_of_any_width() {
        let id: ProposalId = "42".parse().unwrap();
        assert_eq!((id, format!("{id:010}")), (ProposalId::new(42), "0000000042".to_owned()));
        assert_eq!(serde_json::to_value(id).unwrap(), json!(42));
        assert!("-1".parse::<ProposalId>().is_err());
    }

    #[test]
    fn a_rejection_key_distinguishes_values_and_pages() {
        let of = |value: Option<Value>, basis: Option<&str>| {
            let fields = vec![field("class", value, 0.5)];
            let draft = Draft { basis: basis.map(str::to_owned), ..draft(fields) };
            draft.rejection_key(&draft.fields[0])
        };
        let one = of(Some(json!("A")), Some("p1"));
        assert_eq!(one, of(Some(json!("A")), Some("p1")));
        for other in
            [of(Some(json!("B")), Some("p1")), of(Some(json!("A")), Some("p2")), of(None, Some("p1"))]
        {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn every_origin_has_a_group() {
        for origin in [
            Origin::Discovery,
            Origin::Description,
            Origin::Repair,
            Origin::Refresh,
            Origin::Improvement,
            Origin::Import,
            Origin::Conflict,
        ] {
            assert!(Origin::groups().any(|group| group == origin.group()), "{origin:?}");
        }
    }

    #[test]
    fn drafts_from_before_page_hashes_are_read() {
        let old = json!({
            "card": null, "base": null, "origin": "discovery", "reason": "r", "similar": [],
            "fields": [{ "field": "name", "value": "A", "confidence": 0.5,
                "evidence": [{ "url": "u", "quote": "q", "fetched_at": "2026-01-01T08:00:00.000Z" }] }],
        });
        let read: Draft = serde_json::from_value(old).unwrap();
        assert_eq!((read.basis, read.candidates.len()), (None, 0));
        let fetched_at = "2026-01-01T08:00:00.000Z".parse().unwrap();
        assert_eq!(read.fields[0].evidence[0], Evidence::new("u", "q", fetched_at));
    }

    #[test]
    fn selected_fields_are_set_and_removed() {
        let draft = draft(vec![
            field("name", Some(json!("B")), 0.9),
            field("pricing", None, 0.6),
            field("class", Some(json!("C")), 0.8),
        ]);
        let Value::Object(card) = json!({"name": "A", "pricing": "free", "x": 1}) else { unreachable!() };
        let after = draft.apply_to(&card, |field| field != "class");
        assert_eq!(Value::Object(after), json!({"name": "B", "x": 1}));
        assert!((draft.confidence() - 0.6).abs() < 1e-6);
        assert_eq!(draft.key(), Some(CardKey::new("", "B")));
    }

    #[test]
    fn null_is_kept_apart_from_missing_in_storage() {
        let fields = vec![field("openapi", Some(Value::Null), 1.0), field("pricing", None, 1.0)];
        let text = serde_json::to_string(&draft(fields.clone())).unwrap();
        assert_eq!(serde_json::from_str::<Draft>(&text).unwrap().fields, fields);
    }
}
