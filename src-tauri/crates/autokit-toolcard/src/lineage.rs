//! Names of revisions that mean the same in every library.
//!
//! Within a library a revision is known by its card and number. Another library numbers its own; what
//! both can work out is a name made of what a revision says and what it came after, as version control
//! does. Two libraries find by it the last state of a card that both had, which is what a three-way
//! merge starts from.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use ts_rs::TS;

use crate::identity::CardId;
use crate::revision::{Operation, Revision};

/// Bytes of a digest that make a name. Half a SHA-256: no two of a library's revisions meet in it.
const BYTES: usize = 16;

/// The name of a revision in every library, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(try_from = "String", into = "String")]
#[ts(as = "String")]
pub struct RevisionId(String);

impl RevisionId {
    /// The name of the first revision of a card. Who wrote it and when does not count: two people who
    /// add the same card start from the same state.
    pub fn first(card: &CardId, body: Option<&str>) -> RevisionId {
        RevisionId::of(&["first", card.as_str(), body.unwrap_or_default()])
    }

    /// The name of a revision that came after another.
    pub fn after(parent: &RevisionId, revision: &Revision) -> RevisionId {
        RevisionId::of(&[
            "after",
            &parent.0,
            revision.operation.as_str(),
            &revision.author.0,
            &revision.at,
            &revision.reason,
            // No card is an empty text.
            revision.body.as_deref().unwrap_or_default(),
        ])
    }

    fn of(parts: &[&str]) -> RevisionId {
        let mut hash = Sha256::new();
        for part in parts {
            // Lengths keep parts apart whatever is in them.
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        RevisionId(hex::encode(&hash.finalize()[..BYTES]))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A revision with the name it has everywhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// The name.
    pub id: RevisionId,
    /// The revision, which left a card behind.
    pub revision: Revision,
}

/// What a card went through, oldest first, as others have to know it: what was undone is left out, and
/// so is everything before it was last removed. Takes all revisions of the card, oldest first.
pub fn lineage(revisions: Vec<Revision>) -> Vec<Named> {
    let mut kept: Vec<(Option<RevisionId>, Revision)> = Vec::new();
    for revision in revisions {
        if revision.operation == Operation::Undo {
            // What it went back to stands again, and what came after that did not happen.
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
    kept.drain(start..).filter_map(|(id, revision)| Some(Named { id: id?, revision })).collect()
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
            Err(format!("a revision is named by {} hexadecimal digits in lower case", 2 * BYTES))
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
            at: "t".into(),
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
    fn what_was_undone_or_comes_from_before_a_removal_is_left_out() {
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
        // What came after an undo has the name it would have had without what was undone.
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
