//! The commit log: the rows each commit wrote, as digests, in a hash chain.
//!
//! Every acknowledged change adds one record, in the same transaction as the change. A record lists the rows
//! it wrote with a digest of each, and holds the hash of the previous record. Folding all records yields the
//! expected digest of every protected row ([`Expected`]), so that any missing or altered row is detected and
//! named, wherever the damage is. The hash of the newest record is stored outside the store.
//!
//! Protected are revisions, proposals, proposal events, rejections, and settings, which include the
//! permission rules for agents. Cards are not listed: each must equal its newest revision. Vectors and
//! indexes can be rebuilt.

mod head;

use std::collections::HashMap;
use std::fmt::Write as _;

use autokit_toolcard::{ProposalId, Timestamp};
use sha2::{Digest as _, Sha256};
use surrealdb::types::{Number, Object, RecordId, RecordIdKey, SurrealValue, Value, object};

pub use head::{Head, HeadError, HeadFile, LogPosition, MissingCommits, StoreState};

// Unifies the features of dependencies across the workspace; it exports nothing.
use workspace_hack as _;

/// Tables whose rows are protected.
pub const PROTECTED: [&str; 4] = ["revision", "proposal", "proposal_event", "rejection"];

/// Tables whose rows are protected from their first logged change on: settings, including the rules for
/// agents.
pub const LOGGED: [&str; 1] = ["setting"];

/// The first 16 bytes of a row's SHA-256.
pub type RowDigest = [u8; 16];

/// Returns the text of a string record id.
pub fn key_text(id: &RecordId) -> String {
    match &id.key {
        RecordIdKey::String(text) => text.clone(),
        other => format!("{other:?}"),
    }
}

/// Parses the number by which columns name a proposal; `None` if it is out of range.
pub fn proposal_id(number: i64) -> Option<ProposalId> {
    u32::try_from(number).ok().map(ProposalId::new)
}

/// Formats a sequence number, zero-padded so that text order is numeric order.
pub fn seq_text(seq: u64) -> String {
    format!("{seq:020}")
}

/// What a commit did to one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowChange {
    /// Inserted or overwrote the row.
    Written {
        /// `table:key`.
        row: String,
        /// Digest of what was written.
        digest: RowDigest,
        /// The proposal that a rejection belongs to.
        proposal: Option<ProposalId>,
    },
    /// Deleted the rejections of a proposal.
    RejectionsDeleted {
        /// The proposal.
        proposal: ProposalId,
    },
    /// Deleted the row: whoever has the library may not see it any more.
    Purged {
        /// `table:key`.
        row: String,
    },
}

impl RowChange {
    /// Returns the change made by writing this row; `None` when its table is not protected.
    pub fn of(row: &Object) -> Option<RowChange> {
        let Some(Value::RecordId(id)) = row.get("id") else { return None };
        let table = id.table.as_str();
        if !PROTECTED.contains(&table) && !LOGGED.contains(&table) {
            return None;
        }
        let proposal = match row.get("proposal") {
            Some(Value::Number(Number::Int(number))) if table == "rejection" => proposal_id(*number),
            _ => None,
        };
        Some(RowChange::Written { row: row_name(id), digest: digest(row), proposal })
    }
}

/// Names a row as `table:key`.
pub fn row_name(id: &RecordId) -> String {
    format!("{}:{}", id.table.as_str(), key_text(id))
}

/// Returns the digest of a row, over its columns in name order. An absent column and an empty one are the
/// same.
pub fn digest(row: &Object) -> RowDigest {
    let mut hasher = Sha256::new();
    absorb_object(row, &mut hasher);
    let hash = hasher.finalize();
    let mut first = RowDigest::default();
    first.copy_from_slice(&hash[..16]);
    first
}

fn absorb_object(row: &Object, hasher: &mut Sha256) {
    hasher.update(b"{");
    for (name, value) in row {
        if !matches!(value, Value::None | Value::Null) {
            absorb_bytes(b'k', name.as_bytes(), hasher);
            absorb(value, hasher);
        }
    }
    hasher.update(b"}");
}

fn absorb(value: &Value, hasher: &mut Sha256) {
    match value {
        Value::None | Value::Null => hasher.update(b"-"),
        Value::Bool(bool) => hasher.update(if *bool { b"t" } else { b"f" }),
        Value::Number(number) => absorb_bytes(b'n', number.to_string().as_bytes(), hasher),
        Value::String(text) => absorb_bytes(b's', text.as_bytes(), hasher),
        Value::Bytes(bytes) => absorb_bytes(b'y', bytes, hasher),
        Value::RecordId(id) => absorb_bytes(b'r', row_name(id).as_bytes(), hasher),
        Value::Array(values) => {
            hasher.update(b"[");
            for value in values {
                absorb(value, hasher);
            }
            hasher.update(b"]");
        }
        Value::Object(row) => absorb_object(row, hasher),
        // No protected table has a column of another type.
        other => absorb_bytes(b'?', format!("{other:?}").as_bytes(), hasher),
    }
}

fn absorb_bytes(tag: u8, bytes: &[u8], hasher: &mut Sha256) {
    hasher.update([tag]);
    hasher.update((bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

/// The position of the newest record in the chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tip {
    /// Number of the record; 0 before the first.
    pub seq: u64,
    /// Its hash, hexadecimal; empty before the first.
    pub hash: String,
    /// Number of cards after it.
    pub cards: u64,
}

/// A record as stored.
#[derive(Clone, Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
pub struct CommitRecord {
    /// `commit_log:<number>`.
    pub id: RecordId,
    prev: String,
    /// Its hash, hexadecimal.
    pub hash: String,
    at: String,
    /// A description of the commit.
    pub reason: String,
    /// Number of cards after it.
    pub cards: i64,
    /// One line per row: what was done, the row, its digest.
    rows: String,
}

impl CommitRecord {
    /// Creates the record that follows `tip`, numbered `seq`.
    pub fn after(
        tip: &Tip,
        seq: u64,
        at: Timestamp,
        reason: &str,
        cards: u64,
        changes: &[RowChange],
    ) -> Self {
        let mut record = CommitRecord {
            id: RecordId::new("commit_log", seq_text(seq)),
            prev: tip.hash.clone(),
            hash: String::new(),
            at: at.to_string(),
            reason: reason.to_owned(),
            cards: i64::try_from(cards).unwrap_or(i64::MAX),
            rows: lines(changes),
        };
        record.hash = record.computed_hash();
        record
    }

    /// When it was made; `None` when the text was damaged, which the hash reveals.
    pub fn at(&self) -> Option<Timestamp> {
        self.at.parse().ok()
    }

    /// Its number.
    pub fn seq(&self) -> u64 {
        key_text(&self.id).parse().unwrap_or(0)
    }

    /// Its position in the chain.
    pub fn tip(&self) -> Tip {
        Tip { seq: self.seq(), hash: self.hash.clone(), cards: u64::try_from(self.cards).unwrap_or(0) }
    }

    /// The record as a row of the store.
    pub fn into_row(self) -> Object {
        object! {
            id: self.id,
            prev: self.prev,
            hash: self.hash,
            at: self.at,
            reason: self.reason,
            cards: self.cards,
            rows: self.rows,
        }
    }

    fn computed_hash(&self) -> String {
        let mut hasher = Sha256::new();
        for part in
            [&key_text(&self.id), &self.prev, &self.at, &self.reason, &self.cards.to_string(), &self.rows]
        {
            absorb_bytes(b's', part.as_bytes(), &mut hasher);
        }
        hex::encode(hasher.finalize())
    }

    /// Whether the record is unaltered and follows `before`.
    pub fn follows(&self, before: &Tip) -> bool {
        self.prev == before.hash && self.hash == self.computed_hash()
    }

    /// Returns its changes to rows. Unparsable lines are skipped; the hash reveals them.
    pub fn changes(&self) -> impl Iterator<Item = RowChange> + '_ {
        self.rows.lines().filter_map(parse_line)
    }
}

fn lines(changes: &[RowChange]) -> String {
    let mut text = String::new();
    for change in changes {
        // Writing to a string cannot fail.
        let _ = match change {
            RowChange::Written { row, digest, proposal: None } => {
                writeln!(text, "+\t{row}\t{}", hex::encode(digest))
            }
            RowChange::Written { row, digest, proposal: Some(proposal) } => {
                writeln!(text, "+\t{row}\t{}\t{proposal}", hex::encode(digest))
            }
            RowChange::RejectionsDeleted { proposal } => writeln!(text, "-\t{proposal}"),
            RowChange::Purged { row } => writeln!(text, "x\t{row}"),
        };
    }
    text
}

fn parse_line(line: &str) -> Option<RowChange> {
    let mut parts = line.split('\t');
    match parts.next()? {
        "+" => {
            let row = parts.next()?.to_owned();
            let mut digest = RowDigest::default();
            hex::decode_to_slice(parts.next()?, &mut digest).ok()?;
            let proposal = parts.next().map(str::parse).transpose().ok()?;
            Some(RowChange::Written { row, digest, proposal })
        }
        "-" => Some(RowChange::RejectionsDeleted { proposal: parts.next()?.parse().ok()? }),
        "x" => Some(RowChange::Purged { row: parts.next()?.to_owned() }),
        _ => None,
    }
}

/// The state of every protected row according to all records together.
#[derive(Debug, Default)]
pub struct Expected {
    /// By `table:key`: the digest, and the number of the record that last wrote the row.
    pub rows: HashMap<String, (RowDigest, u64)>,
    /// The proposal each rejection belongs to.
    rejections: HashMap<String, ProposalId>,
}

impl Expected {
    /// Applies the next record.
    pub fn apply(&mut self, record: &CommitRecord) {
        for change in record.changes() {
            match change {
                RowChange::Written { row, digest, proposal } => {
                    if let Some(proposal) = proposal {
                        self.rejections.insert(row.clone(), proposal);
                    }
                    self.rows.insert(row, (digest, record.seq()));
                }
                RowChange::RejectionsDeleted { proposal } => {
                    self.rejections.retain(|row, owner| {
                        let keep = *owner != proposal;
                        if !keep {
                            self.rows.remove(row);
                        }
                        keep
                    });
                }
                RowChange::Purged { row } => {
                    self.rejections.remove(&row);
                    self.rows.remove(&row);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment() -> Timestamp {
        "2026-11-22T10:00:00.000Z".parse().expect("a time")
    }

    fn row(table: &'static str, key: &str, text: &str) -> Object {
        object! { id: RecordId::new(table, key), at: "t", text: text.to_owned(), none: Option::<String>::None }
    }

    #[test]
    fn empty_columns_do_not_change_the_digest_of_a_row() {
        let full = row("revision", "1", "a");
        let mut bare = full.clone();
        bare.remove("none");
        assert_eq!(digest(&full), digest(&bare));
        assert_ne!(digest(&full), digest(&row("revision", "1", "b")));
        assert_ne!(digest(&full), digest(&row("revision", "2", "a")));
    }

    #[test]
    fn changes_survive_a_round_trip() {
        let changes = vec![
            RowChange::of(&row("proposal", "0000000001", "x")).expect("protected"),
            RowChange::Written {
                row: "rejection:ab".to_owned(),
                digest: [7; 16],
                proposal: Some(ProposalId::new(3)),
            },
            RowChange::RejectionsDeleted { proposal: ProposalId::new(3) },
            RowChange::Purged { row: "revision:1".to_owned() },
        ];
        let record = CommitRecord::after(&Tip::default(), 1, moment(), "r", 0, &changes);
        assert_eq!(record.changes().collect::<Vec<_>>(), changes);
        assert!(record.follows(&Tip::default()));
        assert_eq!(RowChange::of(&row("vector", "1", "x")), None);
    }

    #[test]
    fn an_altered_record_does_not_follow() {
        let first = CommitRecord::after(&Tip::default(), 1, moment(), "r", 0, &[]);
        let second = CommitRecord::after(&first.tip(), 2, moment(), "r", 1, &[]);
        assert!(second.follows(&first.tip()));
        assert!(!second.follows(&Tip::default()));
        let mut altered = second.clone();
        altered.rows.push_str("-\t9\n");
        assert!(!altered.follows(&first.tip()));
        let mut altered = second;
        altered.cards = 0;
        assert!(!altered.follows(&first.tip()));
    }

    #[test]
    fn deleted_rejections_are_no_longer_expected() {
        let noes = ["rejection:a", "rejection:b"].map(|row| RowChange::Written {
            row: row.to_owned(),
            digest: [1; 16],
            proposal: Some(ProposalId::new(if row.ends_with('a') { 1 } else { 2 })),
        });
        let mut expected = Expected::default();
        let first = CommitRecord::after(&Tip::default(), 1, moment(), "r", 0, &noes);
        expected.apply(&first);
        expected.apply(&CommitRecord::after(
            &first.tip(),
            2,
            moment(),
            "r",
            0,
            &[RowChange::RejectionsDeleted { proposal: ProposalId::new(1) }],
        ));
        assert_eq!(expected.rows.keys().collect::<Vec<_>>(), ["rejection:b"]);
        let purged = [RowChange::Purged { row: "rejection:b".to_owned() }];
        expected.apply(&CommitRecord::after(&Tip::default(), 3, moment(), "r", 0, &purged));
        assert!(expected.rows.is_empty());
    }
}
