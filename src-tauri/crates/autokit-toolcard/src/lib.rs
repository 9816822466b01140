//! Toolcards: what a tool is, how to import and call it, where its documentation lives.
//!
//! A [`Toolcard`] is a validated JSON object that is kept exactly as it was written (unknown fields, key
//! order, `null` as opposed to missing), with typed accessors for the fields AutoKit knows. This crate also
//! contains its identity ([`CardKey`], [`CardId`]), the rules for valid cards ([`check`]), differences
//! between versions ([`diff_cards`]), proposed changes ([`Proposal`]), detection of prompt injection
//! ([`injections_in`]) and the AutoKit JSON file format ([`read_cards`], [`write_cards`]).
//!
//! ```
//! use autokit_toolcard::{read_cards, write_cards};
//!
//! let file = br#"[{"name": "Wikipedia", "description": "Look up articles.", "x-note": null}]"#;
//! let read = read_cards(&file[..])?;
//! assert_eq!(read.cards[0].card.name(), "Wikipedia");
//! assert!(read.rejected.is_empty());
//! let mut out = Vec::new();
//! write_cards(&mut out, read.cards.iter().map(|c| &c.card))?;
//! assert_eq!(serde_json::from_slice::<serde_json::Value>(file)?, serde_json::from_slice::<serde_json::Value>(&out)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Before the modules that declare ids with its macro.
#[macro_use]
mod ids;

mod card;
mod clock;
mod decision;
mod diff;
mod example;
mod format;
mod identity;
mod lineage;
mod match_key;
mod merge;
mod names;
mod prompt_injection;
mod proposal;
mod revision;
mod risk;
mod state;
mod stub;
mod time;
mod validate;
mod visible;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;

pub use card::{Kind, Toolcard, fields};
pub use clock::Clock;
pub use decision::{Approval, Decision, FieldDecision, FieldVerdict, ProposalEvent, ProposalEventKind};
pub use diff::{ChangeKind, FieldDiff, JsonChange, Span, SpanOp, diff_cards};
pub use example::example_arguments;
pub use format::{
    Candidate, MAX_FILE_BYTES, ReadCards, ReadError, ReadItem, Rejected, read_card, read_cards,
    read_exact_value, read_items, write_cards,
};
pub use identity::{CardId, CardKey};
pub use ids::SessionId;
pub use lineage::{LineageEntry, RevisionId, lineage};
pub use match_key::MatchKey;
pub use merge::Absorbed;
pub use prompt_injection::{
    InjectionKind, InjectionMatch, MarkedText, has_injection, injections_in, injections_in_value, is_flagged,
    marks_in_field,
};
pub use proposal::{
    Draft, Evidence, ImportOrigin, Origin, PageCandidate, Proposal, ProposalId, ProposalState, ProposedField,
    Visit,
};
pub use revision::{Author, Operation, Revision};
pub use risk::{Risk, is_confirmed_address, risk, risk_on};
pub use state::CardState;
pub use stub::{Stub, variable_of};
pub use time::{InvalidTimestamp, Timestamp};
pub use validate::{Limits, Problem, Severity, check, is_web_address};
pub use visible::{is_invisible, visible};
