//! The current cards, in memory.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use autokit_toolcard::{CardId, CardKey, Kind, MatchKey, Timestamp, Toolcard, fields};
use memchr::memmem::Finder;
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde::{Deserialize, Serialize};

/// A card, with the columns that lists need.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CardRecord {
    /// Id of the card.
    pub id: CardId,
    /// Provider and name.
    pub key: CardKey,
    /// Number of its newest revision.
    pub number: u32,
    /// Its JSON text.
    pub body: Box<str>,
    /// When it was first added.
    #[serde(with = "millis")]
    pub created_at: Timestamp,
    /// When it last changed.
    #[serde(with = "millis")]
    pub updated_at: Timestamp,
    /// The kind of tool.
    pub kind: Kind,
    /// Programming language, if any.
    pub language: Option<Box<str>>,
    /// Whether the card is marked verified.
    pub verified: bool,
    /// Whether it names a documentation page.
    pub documented: bool,
    /// Whether it has tags.
    pub tagged: bool,
    /// Hash of its documentation URL, if any.
    page: Option<u64>,
    /// Hashes of its match keys.
    match_keys: Box<[u64]>,
}

/// Serializes a time as a number, which is read faster than its text.
mod millis {
    use autokit_toolcard::Timestamp;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
    pub(super) fn serialize<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        time.instant().as_millisecond().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        let millis = i64::deserialize(deserializer)?;
        jiff::Timestamp::from_millisecond(millis).map(Timestamp::from).map_err(D::Error::custom)
    }
}

/// Normalizes a page URL for comparison: a trailing slash makes no difference.
fn normalized_url(url: &str) -> &str {
    url.trim_end_matches('/')
}

fn fingerprint(url: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    normalized_url(url).hash(&mut hasher);
    hasher.finish()
}

impl CardRecord {
    /// Creates the record of a card.
    pub fn new(
        id: CardId,
        card: &Toolcard,
        body: String,
        number: u32,
        created_at: Timestamp,
        updated_at: Timestamp,
    ) -> CardRecord {
        CardRecord {
            id,
            key: card.key(),
            number,
            body: body.into(),
            created_at,
            updated_at,
            kind: card.kind(),
            language: card.text(fields::LANGUAGE).map(Into::into),
            verified: card.verified(),
            documented: card.text(fields::DOCUMENTATION).is_some_and(|url| !url.is_empty()),
            tagged: card.tags().next().is_some(),
            page: card.text(fields::DOCUMENTATION).filter(|url| !url.is_empty()).map(fingerprint),
            match_keys: card.match_keys().iter().map(MatchKey::fingerprint).collect(),
        }
    }

    /// Hashes of the card's match keys.
    pub fn match_keys(&self) -> &[u64] {
        &self.match_keys
    }

    /// Whether one of the card's match keys has this hash.
    pub fn matches(&self, fingerprint: u64) -> bool {
        self.match_keys.contains(&fingerprint)
    }

    /// Returns the card.
    ///
    /// # Panics
    /// When the text in memory is not a card, which would be a bug in this crate.
    pub fn card(&self) -> Toolcard {
        Toolcard::from_stored(&self.body).expect("the text was parsed when the record was made")
    }
}

/// All cards by id and by key, as of a position in the journal.
#[derive(Clone, Debug, Default)]
pub struct Replica {
    cards: FxHashMap<CardId, Arc<CardRecord>>,
    by_key: FxHashMap<CardKey, CardId>,
    /// Last revision number and creation time of deleted cards.
    pub deleted: FxHashMap<CardId, (u32, Timestamp)>,
    /// Sequence number of the newest revision included.
    pub cursor: u64,
}

/// Names the form of a stored replica.
pub const REPLICA_FORMAT: &str = env!("REPLICA_FORMAT");

/// A replica as it is stored.
#[derive(Serialize, Deserialize)]
struct Stored {
    cards: Vec<CardRecord>,
    deleted: Vec<(CardId, (u32, Timestamp))>,
    cursor: u64,
}

impl Replica {
    /// Creates a replica with room for this many cards.
    pub fn with_capacity(cards: usize) -> Replica {
        Replica {
            cards: FxHashMap::with_capacity_and_hasher(cards, FxBuildHasher),
            by_key: FxHashMap::with_capacity_and_hasher(cards, FxBuildHasher),
            ..Replica::default()
        }
    }

    /// Serializes the replica.
    ///
    /// # Errors
    /// Never: every replica has this form.
    pub fn encode(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_allocvec(&Stored {
            cards: self.cards.values().map(|record| CardRecord::clone(record)).collect(),
            deleted: self.deleted.iter().map(|(id, last)| (id.clone(), *last)).collect(),
            cursor: self.cursor,
        })
    }

    /// Restores a replica that was serialized by the same version of this program.
    ///
    /// # Errors
    /// When the bytes are not a replica.
    pub fn decode(bytes: &[u8]) -> Result<Replica, postcard::Error> {
        let Stored { cards, deleted, cursor } = postcard::from_bytes(bytes)?;
        let mut replica = Replica::with_capacity(cards.len());
        for record in cards {
            replica.put(record);
        }
        replica.deleted = deleted.into_iter().collect();
        replica.cursor = cursor;
        Ok(replica)
    }

    /// Returns the number of cards.
    pub fn len(&self) -> usize {
        self.cards.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.cards.is_empty()
    }

    /// Returns the card with this id.
    pub fn get(&self, id: &CardId) -> Option<&Arc<CardRecord>> {
        self.cards.get(id)
    }

    /// Whether there is a card with this id.
    pub fn contains(&self, id: &CardId) -> bool {
        self.cards.contains_key(id)
    }

    /// Returns the id of the card with this provider and name.
    pub fn id_of(&self, key: &CardKey) -> Option<&CardId> {
        self.by_key.get(key)
    }

    /// Returns the card with this provider and name.
    pub fn by_key(&self, key: &CardKey) -> Option<&Arc<CardRecord>> {
        self.cards.get(self.by_key.get(key)?)
    }

    /// Iterates over all cards, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<CardRecord>> {
        self.cards.values()
    }

    /// Iterates over the cards with this name under any provider, ignoring ASCII case.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Arc<CardRecord>> {
        self.iter().filter(move |record| record.key.name.eq_ignore_ascii_case(name))
    }

    /// Iterates over the cards whose documentation is this page.
    pub fn documented_at<'a>(&'a self, url: &'a str) -> impl Iterator<Item = &'a Arc<CardRecord>> {
        let fingerprint = fingerprint(url);
        let named = move |record: &&Arc<CardRecord>| {
            record.page == Some(fingerprint)
                && record
                    .card()
                    .text(fields::DOCUMENTATION)
                    .is_some_and(|other| normalized_url(other) == normalized_url(url))
        };
        self.iter().filter(named)
    }

    /// Iterates over the cards whose JSON text contains one of these strings: a fast prefilter that finds
    /// every card with the field or value, and some that contain the string elsewhere. Parsing every card of
    /// a large library would be noticeably slow.
    pub fn containing<'a>(&'a self, texts: &'a [&'a str]) -> impl Iterator<Item = &'a Arc<CardRecord>> {
        let finders: Vec<Finder<'a>> = texts.iter().map(Finder::new).collect();
        self.iter()
            .filter(move |record| finders.iter().any(|text| text.find(record.body.as_bytes()).is_some()))
    }

    /// Returns the position in the journal.
    pub fn cursor(&self) -> u64 {
        self.cursor
    }

    /// Adds a card, or replaces the one with its id.
    pub fn put(&mut self, record: CardRecord) {
        if let Some(old) = self.cards.get(&record.id)
            && old.key != record.key
        {
            self.by_key.remove(&old.key);
        }
        self.deleted.remove(&record.id);
        self.by_key.insert(record.key.clone(), record.id.clone());
        self.cards.insert(record.id.clone(), Arc::new(record));
    }

    /// Removes a card; `number` is that of the revision that deleted it.
    pub fn remove(&mut self, id: &CardId, number: u32) {
        if let Some(old) = self.cards.remove(id) {
            if self.by_key.get(&old.key) == Some(id) {
                self.by_key.remove(&old.key);
            }
            self.deleted.insert(id.clone(), (number, old.created_at));
        }
    }

    /// Forgets a card, and that it was ever there.
    pub fn purge(&mut self, id: &CardId) {
        self.remove(id, 0);
        self.deleted.remove(id);
    }
}
