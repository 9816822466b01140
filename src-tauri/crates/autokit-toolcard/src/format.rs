//! The AutoKit JSON format: an array of card objects.
//!
//! Reading rejects a whole file only when nothing in it can be understood. A bad card is reported with its
//! position, name and problems and does not affect the others.

mod strict;

use std::collections::HashMap;
use std::io::{self, Read, Write};

use serde::Deserialize;
use serde::de::{SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::card::{Toolcard, fields};
use crate::identity::CardKey;
use crate::validate::{Problem, Severity, check};

/// Size limit of a file of cards. Far above any library people exchange, far below what would exhaust a small
/// machine's memory.
pub const MAX_FILE_BYTES: u64 = 256 << 20;

/// The contents of a file of cards.
#[derive(Debug, Default)]
pub struct ReadCards {
    /// The valid cards, in file order.
    pub cards: Vec<ReadItem>,
    /// The rejected cards, each with its problems.
    pub rejected: Vec<Rejected>,
}

/// A valid card with warnings for a person to look at.
#[derive(Debug)]
pub struct ReadItem {
    /// Position in the file, from 1.
    pub position: usize,
    /// The card.
    pub card: Toolcard,
    /// Problems of severity [`Severity::Warning`].
    pub warnings: Vec<Problem>,
}

/// A rejected card.
#[derive(Debug, Clone)]
pub struct Rejected {
    /// Position in the file, from 1.
    pub position: usize,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
}

/// Why a file could not be read as cards.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The disk or pipe failed.
    #[error("the file could not be read: {0}")]
    Io(#[from] io::Error),
    /// The file is larger than [`MAX_FILE_BYTES`].
    #[error("the file is larger than {} MiB", MAX_FILE_BYTES >> 20)]
    TooLarge,
    /// The file is not text.
    #[error("the file is not UTF-8 text: invalid byte at offset {offset} (line {line})")]
    NotUtf8 {
        /// Offset of the first bad byte.
        offset: usize,
        /// Line number of that byte, from 1.
        line: usize,
    },
    /// The file is not JSON.
    #[error("the file is not valid JSON: {0}")]
    Syntax(serde_json::Error),
    /// The file is JSON, but not a list of cards.
    #[error("the file contains {found} instead of a JSON array of cards")]
    NotCards {
        /// What it contains instead.
        found: &'static str,
    },
}

impl ReadError {
    /// Returns what the person can do, as a sentence.
    pub fn remedy(&self) -> &'static str {
        match self {
            ReadError::Io(_) | ReadError::NotCards { .. } => {
                "Check the path. It must be a bundle or a card file."
            }
            ReadError::TooLarge => "Split it into smaller files and import them one after another.",
            ReadError::NotUtf8 { .. } => "Save it as UTF-8.",
            ReadError::Syntax(_) => "Correct it there and import it again.",
        }
    }
}

/// Reads an AutoKit JSON file: an array of cards, or a single card.
///
/// # Errors
/// Returns a [`ReadError`] when nothing in the file can be understood.
pub fn read_cards(reader: impl Read) -> Result<ReadCards, ReadError> {
    let mut bytes = Vec::new();
    reader.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(ReadError::TooLarge);
    }
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let offset = error.valid_up_to();
        ReadError::NotUtf8 { offset, line: text_lines(&bytes[..offset]) }
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let items: Vec<&RawValue> = match text.trim_start().as_bytes().first() {
        Some(b'[') => serde_json::from_str::<Items<'_>>(text).map_err(ReadError::Syntax)?.0,
        Some(b'{') => vec![serde_json::from_str(text).map_err(ReadError::Syntax)?],
        None => return Err(ReadError::NotCards { found: "nothing" }),
        Some(_) => {
            serde_json::from_str::<&RawValue>(text).map_err(ReadError::Syntax)?;
            return Err(ReadError::NotCards { found: "a single value" });
        }
    };
    Ok(read_raw_items(&items))
}

/// Returns the number of the line on which the text ends, from 1.
fn text_lines(text: &[u8]) -> usize {
    text.split(|byte| *byte == b'\n').count()
}

/// An object found in a file, not yet checked as a card.
#[derive(Debug)]
pub struct Candidate {
    /// Position in the file, from 1.
    pub position: usize,
    /// The object, as converted by the reader of the file's format.
    pub object: Map<String, Value>,
    /// Problems found by the reader; an error among them rejects the card.
    pub notes: Vec<Problem>,
}

/// Sorts the contents of a file of any format into valid and rejected cards, by the same rules for all
/// formats: every card is checked, and of two with the same provider and name only the first is valid. Items
/// rejected by the reader are passed through, so that rejected items stay in file order.
pub fn read_items(items: impl IntoIterator<Item = Result<Candidate, Rejected>>) -> ReadCards {
    let mut read = ReadCards::default();
    let mut first_seen: HashMap<CardKey, usize> = HashMap::new();
    for item in items {
        let Candidate { position, object, notes } = match item {
            Ok(candidate) => candidate,
            Err(rejected) => {
                read.rejected.push(rejected);
                continue;
            }
        };
        let name = object.get(fields::NAME).and_then(Value::as_str).map(shorten);
        let mut reject = |problems| read.rejected.push(Rejected { position, name: name.clone(), problems });
        let (mut errors, mut warnings): (Vec<Problem>, Vec<Problem>) =
            notes.into_iter().partition(|problem| problem.severity == Severity::Error);
        warnings.extend(check(&object).into_iter().filter(|problem| problem.severity == Severity::Warning));
        match Toolcard::new(object) {
            Err(problems) => {
                // The reader's problem with a field is closer to the file than the one found by the check.
                let remaining: Vec<Problem> = problems
                    .into_iter()
                    .filter(|problem| errors.iter().all(|error| error.field != problem.field))
                    .collect();
                errors.extend(remaining);
                reject(errors);
            }
            Ok(_) if !errors.is_empty() => reject(errors),
            Ok(card) => match first_seen.insert(card.key(), position) {
                None => read.cards.push(ReadItem { position, card, warnings }),
                Some(first) => {
                    first_seen.insert(card.key(), first);
                    let reason = format!("repeats item {first}: same provider and name");
                    reject(vec![Problem::error("", reason)]);
                }
            },
        }
    }
    read
}

/// Reads a single card strictly from its JSON text: a card that would be changed by storing it is rejected.
/// Returns the card and its warnings.
///
/// # Errors
/// Returns all problems with it.
pub fn read_card(text: &str) -> Result<(Toolcard, Vec<Problem>), Vec<Problem>> {
    let object = strict::object(text).map_err(|reason| vec![Problem::error("", reason)])?;
    let warnings = check(&object).into_iter().filter(|problem| problem.severity == Severity::Warning);
    let warnings = warnings.collect();
    Ok((Toolcard::new(object)?, warnings))
}

fn read_raw_items(items: &[&RawValue]) -> ReadCards {
    read_items(items.iter().enumerate().map(|(index, item)| {
        let position = index + 1;
        match strict::object(item.get()) {
            Ok(object) => Ok(Candidate { position, object, notes: Vec::new() }),
            Err(reason) => {
                Err(Rejected { position, name: name_in(item), problems: vec![Problem::error("", reason)] })
            }
        }
    }))
}

/// Parses one JSON value without losing anything, as for the cards of a file: a repeated key, or a number
/// that cannot be represented exactly, is refused instead of being changed silently.
///
/// # Errors
/// Returns the reason, as the end of a sentence that starts with the text's origin.
pub fn read_exact_value(text: &str) -> Result<Value, String> {
    strict::value(text)
}

/// Returns the name of a card that could not be read in full, for the message.
fn name_in(item: &RawValue) -> Option<String> {
    let object = serde_json::from_str::<Map<String, Value>>(item.get()).ok()?;
    object.get(fields::NAME)?.as_str().map(shorten)
}

fn shorten(name: &str) -> String {
    name.chars().take(80).collect()
}

/// Writes cards as an AutoKit JSON array, one field per line, with the fields in the order of each card.
///
/// # Errors
/// When the writer fails.
pub fn write_cards<'a>(mut out: impl Write, cards: impl IntoIterator<Item = &'a Toolcard>) -> io::Result<()> {
    use serde::ser::{SerializeSeq, Serializer};
    let mut serializer = serde_json::Serializer::pretty(&mut out);
    let mut list = serializer.serialize_seq(None)?;
    for card in cards {
        list.serialize_element(card)?;
    }
    list.end()?;
    out.write_all(b"\n")
}

/// Array elements as unparsed text, so that one of them can be rejected alone.
struct Items<'a>(Vec<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Items<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Vec<&'de RawValue>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an array of cards")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(items)
            }
        }
        deserializer.deserialize_seq(List).map(Items)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> ReadCards {
        read_cards(text.as_bytes()).expect("readable")
    }

    #[test]
    fn one_bad_card_does_not_block_the_others() {
        let read = read(
            r#"[{"name":"a"}, 7, {"name":""}, {"name":"b"}, {"name":"a","x":1}, {"name":"c","name":"d"}]"#,
        );
        let names: Vec<_> = read.cards.iter().map(|item| (item.position, item.card.name())).collect();
        assert_eq!(names, [(1, "a"), (4, "b")]);
        let rejected: Vec<_> =
            read.rejected.iter().map(|r| (r.position, r.problems[0].to_string())).collect();
        assert_eq!(
            rejected,
            [
                (2, "the card is a number; a card is an object".to_owned()),
                (3, "`name` is empty".to_owned()),
                (5, "the card repeats item 1: same provider and name".to_owned()),
                (6, "the card has the key \"name\" twice".to_owned()),
            ]
        );
    }

    #[test]
    fn files_that_are_no_cards_say_so() {
        assert!(matches!(read_cards(&b""[..]), Err(ReadError::NotCards { found: "nothing" })));
        assert!(matches!(read_cards(&b"\"x\""[..]), Err(ReadError::NotCards { .. })));
        assert!(matches!(read_cards(&b"[{\"name\":\"a\"},"[..]), Err(ReadError::Syntax(_))));
        let error = read_cards(&b"[\n{\"name\":\"\xff\"}]"[..]).expect_err("not UTF-8").to_string();
        assert!(error.contains("offset 11 (line 2)"), "{error}");
        assert_eq!(read("\u{feff}{\"name\":\"one\"}").cards.len(), 1);
    }

    #[test]
    fn endless_input_is_refused_without_being_kept() {
        let endless = io::repeat(b' ');
        assert!(matches!(read_cards(endless), Err(ReadError::TooLarge)));
    }

    #[test]
    fn deep_nesting_is_a_problem_of_that_card_alone() {
        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        let read = read(&format!(r#"[{{"name":"a","x":{deep}}},{{"name":"b"}}]"#));
        assert_eq!(read.cards.len(), 1);
        assert_eq!(read.rejected[0].position, 1);
    }

    #[test]
    fn numbers_that_would_change_are_refused() {
        let read = read(
            r#"[{"name":"a","x":[1,-2,3.25,18446744073709551615,1e3]},{"name":"b","x":18446744073709551616}]"#,
        );
        assert_eq!(read.cards.len(), 1);
        assert!(read.rejected[0].problems[0].reason.contains("18446744073709551616"));
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_filter("finite", |x| x.is_finite()).prop_map(Value::from),
            ".{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((".{0,6}", inner), 0..5)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn writing_and_reading_loses_nothing(
            extra in prop::collection::vec(("[a-z]{3,8}_x", json_value()), 0..6),
            arguments in prop::collection::vec(("[a-z]{1,8}", json_value()), 0..6),
        ) {
            let mut object = Map::new();
            for (key, value) in extra {
                object.insert(key, value);
            }
            object.insert("name".into(), "tool".into());
            object.insert("init_args".into(), Value::Object(arguments.into_iter().collect()));
            let card = Toolcard::new(object).expect("valid");
            let mut file = Vec::new();
            write_cards(&mut file, [&card]).expect("written");
            let back = read_cards(&file[..]).expect("readable");
            prop_assert_eq!(back.rejected.len(), 0);
            prop_assert_eq!(back.cards[0].card.to_json(), card.to_json());
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_cards(&bytes[..]).map(|read| read.cards.len());
        }
    }
}
