//! Compares a card of a bundle with the library's own: identical, behind, ahead, or diverged.
//!
//! Anybody can write down the id of a revision. An id therefore counts only if that revision is known here
//! with the same content. Otherwise a bundle could claim to come after a revision nobody here has seen, and
//! that revision would look outdated when it arrives.

use std::collections::{HashMap, HashSet};

use autokit_toolcard::{LineageEntry, Operation, RevisionId};
use serde_json::{Map, Value};

use crate::content::BundleCard;
use crate::merge::{Conflict, Merged, merge};

/// The library's card that a card of a bundle is compared with.
#[derive(Clone, Copy, Debug)]
pub struct LocalCard<'a> {
    /// Its current state.
    pub card: &'a Map<String, Value>,
    /// Its revisions, oldest first.
    pub lineage: &'a [LineageEntry],
    /// Bodies of revisions of other libraries that are known here, by revision id.
    pub foreign: &'a HashMap<RevisionId, String>,
}

/// How their card relates to ours.
#[derive(Clone, Debug, PartialEq)]
pub enum MergeState {
    /// Both have the same content.
    Identical,
    /// Their state is an ancestor of ours, so there is nothing new in it.
    Behind,
    /// Our state is an ancestor of theirs: ours did not change since.
    Ahead {
        /// Index in [`BundleCard::history`] of their first revision that is new to us; its length if only the
        /// newest one is.
        from: usize,
        /// The changes.
        merged: Merged,
    },
    /// Both changed since their last common state, or have no common state.
    Diverged {
        /// Whether there is a common state.
        common: bool,
        /// The merge of both.
        merged: Merged,
    },
}

impl MergeState {
    /// The merge result; `None` where there is nothing to do.
    pub fn merged(&self) -> Option<&Merged> {
        match self {
            MergeState::Identical | MergeState::Behind => None,
            MergeState::Ahead { merged, .. } | MergeState::Diverged { merged, .. } => Some(merged),
        }
    }
}

/// A state that both libraries had.
struct Common {
    body: Map<String, Value>,
    /// How many entries of their history are this state or older.
    passed: usize,
    /// Whether it is still our current state.
    is_ours: bool,
}

/// Compares a card of a bundle with ours.
pub fn compare(entry: &BundleCard, ours: LocalCard<'_>) -> MergeState {
    let theirs = entry.card.object();
    if same(theirs, ours.card) {
        return MergeState::Identical;
    }
    let known: HashSet<&RevisionId> = ours
        .lineage
        .iter()
        .flat_map(|named| std::iter::once(&named.id).chain(&named.revision.merged))
        .collect();
    let was = |body: &str| ours.lineage.iter().any(|named| named.revision.body.as_deref() == Some(body));
    if known.contains(&entry.revision.id) && is_known(entry, ours) {
        return MergeState::Behind;
    }
    let common = match common_by_id(entry, ours, &known) {
        // Ids distinguish a return to an earlier state from that state; comparing texts cannot, so ids go
        // first.
        None if was(&entry.card.to_json()) => return MergeState::Behind,
        None => common_by_body(entry, ours),
        named => named,
    };
    let merged = merge(common.as_ref().map(|common| &common.body), ours.card, theirs);
    match common {
        Some(Common { is_ours: true, passed, .. }) => MergeState::Ahead { from: passed, merged },
        _ if merged.taken.is_empty() && merged.conflicts.is_empty() => MergeState::Behind,
        common => MergeState::Diverged { common: common.is_some(), merged },
    }
}

/// Compares a card of a file without revision history with ours: fields that the file does not name stay as they are,
/// and a field that differs is a change, unless somebody edited ours here.
pub fn compare_plain(theirs: &Map<String, Value>, ours: LocalCard<'_>) -> MergeState {
    if same(theirs, ours.card) {
        return MergeState::Identical;
    }
    let edited = fields_edited_here(ours.lineage);
    let mut merged = Merged { card: ours.card.clone(), ..Merged::default() };
    for (name, their) in theirs {
        let our = ours.card.get(name);
        if our == Some(their) {
            continue;
        }
        if our.is_some() && edited.contains(name) {
            let (field, ours, theirs) = (name.clone(), our.cloned(), Some(their.clone()));
            merged.conflicts.push(Conflict { field, base: None, ours, theirs });
        } else {
            merged.taken.push(name.clone());
            merged.card.insert(name.clone(), their.clone());
        }
    }
    if merged.taken.is_empty() && merged.conflicts.is_empty() {
        return MergeState::Behind;
    }
    MergeState::Diverged { common: false, merged }
}

/// Returns the fields whose value was last changed in this library and not by an import.
fn fields_edited_here(lineage: &[LineageEntry]) -> HashSet<String> {
    let mut edited = HashSet::new();
    let mut before = Map::new();
    for LineageEntry { revision, .. } in lineage {
        let body =
            revision.body.as_deref().and_then(|body| serde_json::from_str::<Map<String, Value>>(body).ok());
        let Some(body) = body else { continue };
        // Revisions that came with a bundle have an id and keep the operation they had there.
        let is_from_outside = revision.operation == Operation::Import || revision.id.is_some();
        for name in before.keys().chain(body.keys()) {
            if before.get(name) == body.get(name) {
                continue;
            }
            if is_from_outside {
                edited.remove(name);
            } else {
                edited.insert(name.clone());
            }
        }
        before = body;
    }
    edited
}

/// Whether two cards have the same content, whatever the order of their fields.
fn same(a: &Map<String, Value>, b: &Map<String, Value>) -> bool {
    a.len() == b.len() && a.iter().all(|(name, value)| b.get(name) == Some(value))
}

/// Whether their state was seen here under its revision id with the same content.
fn is_known(entry: &BundleCard, ours: LocalCard<'_>) -> bool {
    let theirs = entry.card.object();
    let has_same_body = |body: &str| serde_json::from_str(body).is_ok_and(|body| same(&body, theirs));
    let own = ours.lineage.iter().filter(|named| named.id == entry.revision.id);
    let mut own = own.filter_map(|named| named.revision.body.as_deref());
    own.any(has_same_body) || ours.foreign.get(&entry.revision.id).is_some_and(|body| has_same_body(body))
}

/// The newest of their earlier states that is known here by revision id.
fn common_by_id(entry: &BundleCard, ours: LocalCard<'_>, known: &HashSet<&RevisionId>) -> Option<Common> {
    let (newest, body) = entry.ancestor_ids().filter(|id| known.contains(*id)).find_map(|id| {
        let existing = ours.lineage.iter().find(|named| named.id == *id);
        let body = existing
            .and_then(|named| named.revision.body.clone())
            .or_else(|| ours.foreign.get(id).cloned())?;
        Some((id, body))
    })?;
    let passed = entry.history.iter().position(|past| past.revision.id == *newest).map_or(0, |at| at + 1);
    Some(Common {
        body: serde_json::from_str(&body).ok()?,
        // When the states in between are not in the bundle, only the newest can be added.
        passed: if passed == 0 { entry.history.len() } else { passed },
        is_ours: ours.lineage.last().is_some_and(|last| last.id == *newest),
    })
}

/// The newest of their earlier states that ours once was in too, found by comparing texts: for cards that two
/// people imported from the same file.
fn common_by_body(entry: &BundleCard, ours: LocalCard<'_>) -> Option<Common> {
    let texts: HashMap<&str, usize> = ours
        .lineage
        .iter()
        .enumerate()
        .filter_map(|(at, named)| Some((named.revision.body.as_deref()?, at)))
        .collect();
    let (at, past) =
        entry.history.iter().enumerate().rev().find(|(_, past)| texts.contains_key(past.body.as_str()))?;
    Some(Common {
        body: serde_json::from_str(&past.body).ok()?,
        passed: at + 1,
        is_ours: texts.get(past.body.as_str()).is_some_and(|existing| existing + 1 == ours.lineage.len()),
    })
}

#[cfg(test)]
mod tests {
    use autokit_toolcard::{Author, CardId, Revision, Toolcard, lineage};
    use serde_json::json;

    use super::*;
    use crate::content::{PastRevision, Provenance, RevisionMeta};

    /// A card in its own library, with every state it was in.
    #[derive(Clone)]
    struct StoredRevisions(Vec<Revision>);

    impl StoredRevisions {
        fn new(states: &[&Value], by: &str) -> StoredRevisions {
            let mut shelf = StoredRevisions(Vec::new());
            for state in states {
                shelf = shelf.then(state, by);
            }
            shelf
        }

        fn then(mut self, state: &Value, by: &str) -> StoredRevisions {
            let number = self.0.len() as u32 + 1;
            self.0.push(Revision {
                card: CardId::new("a"),
                number,
                seq: u64::from(number),
                change: format!("{number}"),
                operation: Operation::Edit,
                author: Author(by.to_owned()),
                reason: String::new(),
                at: format!("2026-01-0{number}T00:00:00.000Z").parse().expect("a time"),
                body: Some(state.to_string()),
                id: None,
                merged: Vec::new(),
            });
            self
        }

        fn merging(mut self, theirs: &BundleCard) -> StoredRevisions {
            let last = self.0.last_mut().expect("one");
            last.merged =
                std::iter::once(&theirs.revision.id).chain(theirs.ancestor_ids()).cloned().collect();
            self
        }

        fn bundle(&self, history: bool) -> BundleCard {
            let mut named = lineage(self.0.clone());
            let newest = named.pop().expect("one");
            let card = Toolcard::from_json(newest.revision.body.as_deref().expect("a card")).expect("valid");
            let before: Vec<RevisionId> = named.iter().rev().map(|named| named.id.clone()).collect();
            BundleCard {
                position: 1,
                id: CardId::new("a"),
                card,
                provenance: Provenance {
                    author: newest.revision.author.clone(),
                    at: newest.revision.at,
                    operation: Operation::Edit,
                    licence: None,
                },
                revision: RevisionMeta::of(&newest.revision, newest.id),
                ancestors: if history { Vec::new() } else { before },
                history: named
                    .into_iter()
                    .filter(|_| history)
                    .map(|named| PastRevision {
                        body: named.revision.body.clone().expect("a card"),
                        revision: RevisionMeta::of(&named.revision, named.id),
                    })
                    .collect(),
                vectors: None,
                warnings: Vec::new(),
            }
        }

        fn against(&self, theirs: &BundleCard, foreign: &[&BundleCard]) -> MergeState {
            let named = lineage(self.0.clone());
            let body = self.0.last().expect("one").body.as_deref().expect("a card");
            let card = serde_json::from_str(body).expect("JSON");
            let foreign =
                foreign.iter().map(|entry| (entry.revision.id.clone(), entry.card.to_json())).collect();
            compare(theirs, LocalCard { card: &card, lineage: &named, foreign: &foreign })
        }
    }

    fn states() -> [Value; 4] {
        [
            json!({"name": "a", "class": "A", "module": "m"}),
            json!({"name": "a", "class": "B", "module": "m"}),
            json!({"name": "a", "class": "A", "module": "n"}),
            json!({"name": "a", "class": "C", "module": "m"}),
        ]
    }

    #[test]
    fn a_plain_file_changes_what_nobody_edited_here() {
        let [imported, edited] = [
            json!({"name": "a", "class": "A", "module": "m", "pricing": "free"}),
            json!({"name": "a", "class": "B", "module": "m", "pricing": "free"}),
        ];
        let mut ours = StoredRevisions::new(&[&imported], "x");
        ours.0[0].operation = Operation::Import;
        let compared = |ours: &StoredRevisions, theirs: Value| {
            let named = lineage(ours.0.clone());
            let card = serde_json::from_str(ours.0.last().expect("one").body.as_deref().expect("a card"));
            let local = LocalCard { card: &card.expect("JSON"), lineage: &named, foreign: &HashMap::new() };
            compare_plain(theirs.as_object().expect("an object"), local)
        };
        let outcome = |state: MergeState| {
            let merged = state.merged().cloned().unwrap_or_default();
            let disputed: Vec<String> = merged.conflicts.into_iter().map(|conflict| conflict.field).collect();
            (merged.taken, disputed)
        };
        let file = json!({"name": "a", "class": "C", "module": "n"});
        assert_eq!(outcome(compared(&ours, file.clone())), (vec!["class".into(), "module".into()], vec![]));
        let ours = ours.then(&edited, "x");
        assert_eq!(outcome(compared(&ours, file.clone())), (vec!["module".into()], vec!["class".into()]));
        // The state before the edit would undo it.
        assert_eq!(outcome(compared(&ours, imported)), (vec![], vec!["class".into()]));
        // What the file does not name is no change.
        assert_eq!(compared(&ours, json!({"name": "a", "module": "m"})), MergeState::Behind);
        // An import that replaces the edit is the newest say.
        let mut ours = ours.then(&json!({"name": "a", "class": "D", "module": "m"}), "x");
        ours.0[2].operation = Operation::Import;
        assert_eq!(outcome(compared(&ours, file)), (vec!["class".into(), "module".into()], vec![]));
    }

    #[test]
    fn behind_and_ahead_are_detected_with_and_without_history() {
        let [a, b, c, _] = states();
        let old = StoredRevisions::new(&[&a, &b], "x");
        let new = old.clone().then(&c, "y").then(&a, "y");
        for history in [true, false] {
            assert_eq!(new.against(&old.bundle(history), &[]), MergeState::Behind);
            // Returning to an earlier state is a change like any other.
            let MergeState::Ahead { from, merged } = old.against(&new.bundle(history), &[]) else {
                panic!("not ahead")
            };
            assert_eq!(
                (from, merged.taken.as_slice()),
                (if history { 2 } else { 0 }, &["class".to_owned()][..])
            );
            assert_eq!(old.against(&old.bundle(history), &[]), MergeState::Identical);
        }
    }

    #[test]
    fn two_diverged_cards_are_merged_from_their_common_state() {
        let [a, b, c, d] = states();
        let common = StoredRevisions::new(&[&a], "x");
        let (ours, theirs) = (common.clone().then(&b, "x"), common.clone().then(&c, "y"));
        for history in [true, false] {
            let standing = ours.against(&theirs.bundle(history), &[]);
            let MergeState::Diverged { common: true, merged } = &standing else { panic!("{standing:?}") };
            assert_eq!(Value::Object(merged.card.clone()), json!({"name": "a", "class": "B", "module": "n"}));
            assert!(merged.conflicts.is_empty());
        }
        let disputed = ours.against(&common.then(&d, "y").bundle(false), &[]);
        assert_eq!(disputed.merged().expect("apart").conflicts.len(), 1);
    }

    #[test]
    fn a_merged_state_is_not_merged_again() {
        let [a, b, c, _] = states();
        let common = StoredRevisions::new(&[&a], "x");
        let theirs = common.clone().then(&c, "y");
        let first = theirs.bundle(false);
        // We merged without taking any of their changes, then changed ours.
        let ours = common.then(&b, "x").merging(&first);
        assert_eq!(ours.against(&first, &[&first]), MergeState::Behind);
        // Their next change is compared with their last merged state, not with the original common state.
        let next = theirs.then(&json!({"name": "a", "class": "A", "module": "n", "pricing": "free"}), "y");
        let standing = ours.against(&next.bundle(false), &[&first]);
        assert_eq!(standing.merged().expect("news").taken, ["pricing"]);
        assert!(standing.merged().expect("news").conflicts.is_empty());
    }

    #[test]
    fn a_revision_id_without_its_content_hides_nothing() {
        let [a, b, c, _] = states();
        let common = StoredRevisions::new(&[&a], "x");
        let real = common.clone().then(&c, "x");
        let next = real.bundle(false);
        // Someone claims to come after a revision we have not seen, and we merge that.
        let mut claims = common.clone().then(&b, "m").bundle(false);
        claims.ancestors.insert(0, next.revision.id.clone());
        let ours = common.clone().then(&b, "m").merging(&claims);
        let standing = ours.against(&next, &[&claims]);
        assert_eq!(standing.merged().expect("news").taken, ["module"], "{standing:?}");
        // Or reuses its id for other content.
        let mut forged = common.clone().then(&b, "m").bundle(false);
        forged.revision.id = next.revision.id.clone();
        let ours = common.then(&b, "m").merging(&forged);
        let standing = ours.against(&next, &[&forged]);
        assert_eq!(standing.merged().expect("news").taken, ["module"], "{standing:?}");
        // Once we have the revision itself, it is known.
        assert_eq!(ours.against(&next, &[&next]), MergeState::Behind);
    }

    #[test]
    fn cards_of_one_file_have_a_common_state_by_their_text() {
        let [a, b, c, _] = states();
        let ours = StoredRevisions::new(&[&c, &a, &b], "x");
        let theirs = StoredRevisions::new(&[&a, &c], "y").bundle(true);
        // Their state equals an earlier state of ours.
        assert_eq!(ours.against(&theirs, &[]), MergeState::Behind);
        let other = json!({"name": "a", "class": "A", "module": "z"});
        let theirs = StoredRevisions::new(&[&a, &other], "y").bundle(true);
        let standing = ours.against(&theirs, &[]);
        let MergeState::Diverged { common: true, merged } = &standing else { panic!("{standing:?}") };
        assert_eq!(merged.taken, ["module"]);
        let nothing = StoredRevisions::new(&[&other], "y").bundle(true);
        let MergeState::Diverged { common: false, merged } = ours.against(&nothing, &[]) else {
            panic!("apart")
        };
        assert_eq!(merged.conflicts.len(), 2);
    }
}
