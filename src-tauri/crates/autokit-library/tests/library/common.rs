//! Helpers for the tests of proposals and review.

use autokit_library::{Clock, DataDir, Library, Meta, PutMode, Storage, Write};
use autokit_toolcard::{Author, CardId, Operation, Toolcard};
use serde_json::Value;

pub(crate) fn author(name: &str) -> Author {
    Author(name.into())
}

pub(crate) async fn memory() -> Library {
    Library::open(Storage::Memory, Clock::system()).await.expect("opens")
}

pub(crate) async fn on_disk(dir: &DataDir) -> Library {
    Library::open(Storage::Disk(dir.try_own().expect("free")), Clock::system()).await.expect("opens")
}

/// Adds or replaces a card.
pub(crate) async fn put(library: &Library, card: Value) -> CardId {
    let card = Toolcard::from_json(&card.to_string()).expect("valid");
    let key = card.key();
    let meta = Meta {
        operation: Operation::Edit,
        author: author("somebody"),
        reason: "put".into(),
        change: None,
        request: None,
    };
    let write = Write::Put { card: Box::new(card), mode: PutMode::Upsert, vectors: None };
    library.commit(&meta, &[write]).await.expect("committed");
    library.read(|replica| replica.by_key(&key).map(|record| record.id.clone())).expect("exists")
}

/// Returns a text field of a card's current revision.
pub(crate) fn text(library: &Library, id: &CardId, name: &str) -> Option<String> {
    library.read(|replica| replica.get(id).and_then(|record| record.card().text(name).map(str::to_owned)))
}
