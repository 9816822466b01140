//! The words of texts, and what is known beyond them: names of products, and synonyms.
//!
//! A [`Vocabulary`] holds the lists that are shipped and the entries that people add to them. Cards are indexed and
//! requests are understood with one vocabulary.
//!
//! | module | contents |
//! |---|---|
//! | [`text`] | words and terms |
//! | `names` | general knowledge about well-known names |
//! | [`synonyms`] | everyday words and their synonyms in descriptions of tools |
//! | `entry` | entries that people add |

mod entry;
mod names;
pub mod synonyms;
pub mod text;

use std::sync::{Arc, LazyLock};

use sha2::{Digest as _, Sha256};

pub use crate::entry::{Entry, EntryError, EntryKind, MAX_ENTRY_BYTES, NameEntry, SynonymEntry};
use crate::names::Names;
use crate::synonyms::Thesaurus;
pub use crate::text::{is_generic_word, is_stop_word, name_words};

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;

/// Names and synonyms: the shipped ones, and those that people added.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    /// Names that people added, which go before shipped ones.
    own: Names,
    shipped: Arc<Names>,
    thesaurus: Arc<Thesaurus>,
    /// See [`Vocabulary::id`].
    id: String,
}

impl Vocabulary {
    /// Returns the vocabulary of the shipped lists.
    pub fn shipped() -> &'static Arc<Vocabulary> {
        static SHIPPED: LazyLock<Arc<Vocabulary>> = LazyLock::new(|| {
            Arc::new(Vocabulary {
                own: Names::default(),
                shipped: Arc::new(Names::shipped()),
                thesaurus: Arc::new(Thesaurus::parse(&[synonyms::TEXT])),
                id: "shipped".to_owned(),
            })
        });
        &SHIPPED
    }

    /// Returns the shipped vocabulary with further entries. Of entries for the same name, the last one counts.
    pub fn with<'e>(entries: impl IntoIterator<Item = &'e Entry>) -> Arc<Vocabulary> {
        let (mut own, mut lines) = (Names::default(), String::new());
        let mut hash = Sha256::new();
        for entry in entries {
            hash.update(entry.to_string());
            hash.update([entry.kind() as u8, 0]);
            match entry {
                Entry::Name(entry) => own.add(entry),
                Entry::Synonym(entry) => {
                    lines.push_str(&entry.to_string());
                    lines.push('\n');
                }
            }
        }
        if own.is_empty() && lines.is_empty() {
            return Arc::clone(Vocabulary::shipped());
        }
        let shipped = Vocabulary::shipped();
        let thesaurus = if lines.is_empty() {
            Arc::clone(&shipped.thesaurus)
        } else {
            Arc::new(Thesaurus::parse(&[synonyms::TEXT, &lines]))
        };
        let id = format!("{:x}", hash.finalize())[..16].to_owned();
        Arc::new(Vocabulary { own, shipped: Arc::clone(&shipped.shipped), thesaurus, id })
    }

    /// Identifies the added entries: equal for vocabularies that know the same.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Iterates over the entries of a shipped list, as text.
    pub fn shipped_entries(kind: EntryKind) -> impl Iterator<Item = &'static str> {
        text::entry_lines(match kind {
            EntryKind::Name => names::TEXT,
            EntryKind::Synonym => synonyms::TEXT,
        })
    }

    /// Returns what is known of the names of a tool, without duplicates, in order.
    ///
    /// A name that is an everyday word counts if it is the whole name of the tool but for generic words ("Zoom tool"),
    /// occurs in the provider's name, or is written as a proper noun inside a sentence of the description. Of the
    /// names that people added, all of one word count as everyday words.
    pub fn known_of(&self, name: &str, provider: &str, description: &str) -> Vec<&str> {
        names::of_tool(&[&self.own, &self.shipped], name, provider, description)
    }

    /// Identifies what people added about the names of a tool; `None` if it makes no difference.
    pub fn added_to(&self, name: &str, provider: &str, description: &str) -> Option<String> {
        if self.own.is_empty() {
            return None;
        }
        let known = self.known_of(name, provider, description);
        if known == names::of_tool(&[&self.shipped], name, provider, description) {
            return None;
        }
        let mut hash = Sha256::new();
        for what in known {
            hash.update(what);
            hash.update([0]);
        }
        Some(format!("{:x}", hash.finalize())[..16].to_owned())
    }

    /// Returns what is known of the first well-known name in a text.
    pub fn first_known(&self, text: &str) -> Option<&str> {
        names::first_in(&[&self.own, &self.shipped], text)
    }

    /// Returns the synonyms.
    pub fn thesaurus(&self) -> &Thesaurus {
        &self.thesaurus
    }

    /// Returns the text of the shipped list of names, of which vectors of cards are made.
    pub fn shipped_names() -> &'static str {
        names::TEXT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(names: &[&str]) -> Arc<Vocabulary> {
        let entries: Vec<Entry> =
            names.iter().map(|text| Entry::parse(EntryKind::Name, text).unwrap()).collect();
        Vocabulary::with(&entries)
    }

    #[test]
    fn an_added_name_applies_to_the_product_and_never_to_a_word_of_an_identifier() {
        let vocabulary = with(&["orbit = internal deployment service", "Orbit Cloud = hosting of ours"]);
        let applies = |name: &str, provider: &str, description: &str| {
            vocabulary.known_of(name, provider, description).iter().any(|what| what.contains("deployment"))
        };
        for (name, provider, description) in [
            ("Orbit", "", ""),
            ("orbit_api", "", ""),
            ("deploy", "Orbit", "Deploys a service."),
            ("orbit_deploy", "", "Deploys a service with Orbit."),
        ] {
            assert!(applies(name, provider, description), "{name}");
        }
        for (name, description) in [
            ("set_orbit", "Sets the orbit of a camera."),
            ("orbit_camera", "Orbits the camera."),
            ("satelliteOrbitLookup", "Orbit of a satellite by its number."),
        ] {
            assert!(vocabulary.known_of(name, "", description).is_empty(), "{name}");
        }
        assert_eq!(vocabulary.known_of("orbit cloud status", "", ""), ["hosting of ours"]);
    }

    #[test]
    fn an_added_name_replaces_the_shipped_one_and_is_identified() {
        let (shipped, vocabulary) = (Vocabulary::shipped(), with(&["naver = our crawler"]));
        assert_ne!(shipped.known_of("Naver", "", ""), ["our crawler"]);
        assert_eq!(vocabulary.known_of("Naver", "", ""), ["our crawler"]);
        assert_eq!(vocabulary.known_of("YouTube", "", ""), shipped.known_of("YouTube", "", ""));
        assert_eq!(vocabulary.added_to("YouTube", "", ""), None);
        let added = vocabulary.added_to("Naver", "", "");
        assert!(added.is_some());
        assert_ne!(with(&["naver = our other crawler"]).added_to("Naver", "", ""), added);
        assert_eq!(shipped.added_to("Naver", "", ""), None);
    }

    #[test]
    fn added_synonyms_stand_beside_shipped_ones() {
        let entry = Entry::parse(EntryKind::Synonym, "borealis run, deployment").unwrap();
        let vocabulary = Vocabulary::with([&entry]);
        let added = vocabulary.thesaurus().concepts.len() - Vocabulary::shipped().thesaurus().concepts.len();
        assert_eq!(added, 1);
        assert!(Arc::ptr_eq(&Vocabulary::with([]), Vocabulary::shipped()));
    }
}
