//! Revision ids that are the same in every library.
//!
//! Within a library, a revision is identified by its card and number. Other libraries use numbers of their
//! own, so libraries exchange ids computed from a revision's content and its predecessor, as in version
//! control. By these ids, two libraries find the last revision of a card that both had, which is the base of
//! a three-way merge.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use ts_rs::TS;

use crate::identity::CardId;
use crate::revision::{Operation, Revision};

/// Bytes of the digest used as an id. Half a SHA-256 is enough to avoid collisions within a library.
const BYTES: usize = 16;

/// The id of a revision in every library, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(try_from = "String", into = "String")]
#[ts(as = "String")]
pub struct RevisionId(String);

impl RevisionId {
    /// Returns the id of the first revision of a card. Author and time are not included, so that two people
    /// who add the same card start from the same revision.
    pub fn first(card: &CardId, body: Option<&str>) -> RevisionId {
        RevisionId::of(&["first", card.as_str(), body.unwrap_or_default()])
    }

    /// Returns the id of a revision that follows another.
    pub fn after(parent: &RevisionId, revision: &Revision) -> RevisionId {
        RevisionId::of(&[
            "after",
            &parent.0,
            revision.operation.as_str(),
            &revision.author.0,
            &revision.at.to_string(),
            &revision.reason,
            // A deleted card counts as an empty text.
            revision.body.as_deref().unwrap_or_default(),
        ])
    }

    fn of(parts: &[&str]) -> RevisionId {
        let mut hash = Sha256::new();
        for part in parts {
            // Length prefixes keep the parts apart whatever they contain.
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        RevisionId(hex::encode(&hash.finalize()[..BYTES]))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A revision with its id.
#[derive(Clone, Debug, PartialEq)]
pub struct LineageEntry {
    /// The id.
    pub id: RevisionId,
    /// The revision, which is never a deletion.
    pub revision: Revision,
}

/// Returns the history of a card, oldest first, as other libraries need it: without what was undone, and
/// without anything before its last deletion. Takes all revisions of the card, oldest first.
pub fn lineage(revisions: Vec<Revision>) -> Vec<LineageEntry> {
    let mut kept: Vec<(Option<RevisionId>, Revision)> = Vec::new();
    for revision in revisions {
        if revision.operation == Operation::Undo {
            // The revision it returned to is current again, and later ones are dropped.
            let back = kept.iter().rposition(|(_, earlier)| earlier.body == revision.body);
            if let Some(at) = back {
                kept.truncate(at + 1);
                continue;
            }
        }
        let id = revision.body.as_deref().map(|body| match (&revision.id, kept.last()) {
            (Some(given), _) => given.clone(),
            (None, Some((Some(parent), _))) => RevisionId::after(parent, &revision),
            (None, _) => RevisionId::first(&revision.card, Some(body)),
        });
        kept.push((id, revision));
    }
    let start = kept.iter().rposition(|(id, _)| id.is_none()).map_or(0, |at| at + 1);
    kept.drain(start..).filter_map(|(id, revision)| Some(LineageEntry { id: id?, revision })).collect()
}

impl fmt::Display for RevisionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for RevisionId {
    type Error = String;

    fn try_from(text: String) -> Result<RevisionId, String> {
        let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() == 2 * BYTES && text.bytes().all(digit) {
            Ok(RevisionId(text))
        } else {
            Err(format!("a revision id has {} lowercase hexadecimal digits", 2 * BYTES))
        }
    }
}

impl From<RevisionId> for String {
    fn from(id: RevisionId) -> String {
        id.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revision::{Author, Operation};

    fn revision(author: &str, body: Option<&str>) -> Revision {
        Revision {
            card: CardId::new("a"),
            number: 2,
            seq: 9,
            change: "c".into(),
            operation: Operation::Edit,
            author: Author(author.into()),
            reason: String::new(),
            at: "2026-01-01T08:00:00.000Z".parse().unwrap(),
            body: body.map(str::to_owned),
            id: None,
            merged: Vec::new(),
        }
    }

    #[test]
    fn the_same_start_has_the_same_name_and_every_step_another() {
        let card = CardId::new("a");
        let first = RevisionId::first(&card, Some("{}"));
        assert_eq!(first, RevisionId::first(&card, Some("{}")));
        assert_ne!(first, RevisionId::first(&CardId::new("b"), Some("{}")));
        let second = RevisionId::after(&first, &revision("x", Some("{}")));
        assert_ne!(first, second);
        assert_ne!(second, RevisionId::after(&first, &revision("y", Some("{}"))));
        assert_ne!(second, RevisionId::after(&first, &revision("x", None)));
        assert_ne!(second, RevisionId::after(&second, &revision("x", Some("{}"))));
    }

    #[test]
    fn undone_revisions_and_those_before_a_removal_are_left_out() {
        let step = |operation, body: Option<&str>| Revision { operation, ..revision("x", body) };
        let edit = |body| step(Operation::Edit, Some(body));
        let bodies = |revisions: &[Revision]| -> Vec<String> {
            lineage(revisions.to_vec()).into_iter().filter_map(|named| named.revision.body).collect()
        };
        let undo = |body| step(Operation::Undo, body);
        assert_eq!(bodies(&[edit("1"), edit("2"), edit("3"), undo(Some("1")), edit("4")]), ["1", "4"]);
        assert_eq!(bodies(&[edit("1"), step(Operation::Delete, None), edit("2")]), ["2"]);
        let revived = [edit("1"), edit("2"), step(Operation::Delete, None), undo(Some("2")), edit("3")];
        assert_eq!(bodies(&revived), ["1", "2", "3"]);
        assert_eq!(bodies(&[edit("1"), undo(None)]), Vec::<String>::new());
        // A revision after an undo has the id it would have without what was undone.
        let names = |revisions: &[Revision]| lineage(revisions.to_vec()).pop().expect("one").id;
        assert_eq!(
            names(&[edit("1"), edit("2"), undo(Some("1")), edit("4")]),
            names(&[edit("1"), edit("4")])
        );
        let given = RevisionId::first(&CardId::new("z"), None);
        let brought = Revision { id: Some(given.clone()), ..edit("1") };
        assert_eq!(names(std::slice::from_ref(&brought)), given);
        assert_eq!(names(&[brought, edit("2")]), RevisionId::after(&given, &edit("2")));
    }

    #[test]
    fn names_are_read_strictly() {
        let name = RevisionId::first(&CardId::new("a"), None);
        assert_eq!(RevisionId::try_from(name.to_string()), Ok(name));
        for bad in ["", "abc", "../../../../../../../etc/passwd1", &"G".repeat(32), &"A".repeat(32)] {
            assert!(RevisionId::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }
}
