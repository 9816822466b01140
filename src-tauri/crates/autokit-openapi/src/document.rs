//! The document as a JSON value, and resolving the references in it.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::rc::Rc;

use autokit_toolcard::read_exact_value;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use url::Url;

use super::error::{MAX_DOCUMENT_BYTES, SpecError};

/// Maximum nesting of a YAML document; the JSON parser stops at the same depth.
const MAX_DEPTH: usize = 128;
/// Stack size for [`MAX_DEPTH`] levels of YAML; an unoptimised build takes about 20 KiB per level.
const YAML_STACK_BYTES: usize = 32 << 20;
/// Maximum number of reference targets visited to find a cycle.
const MAX_REACHED: usize = 2_000;
/// Maximum number of schemas converted for all cards of a document together, so that a small document with
/// many operations that all refer to everything does not keep a machine busy for hours. Published documents
/// with a thousand operations need less than a hundredth of this.
pub(super) const MAX_CONVERTED: usize = 10_000_000;
/// Maximum length of a chain of references that only lead to another reference.
const MAX_HOPS: usize = 32;

/// The schema rules of an OpenAPI version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// OpenAPI 3.0: its own variant of JSON Schema.
    V30,
    /// OpenAPI 3.1 and 3.2: JSON Schema 2020-12.
    V31,
}

/// A parsed document, with caches for its references.
pub(super) struct Document {
    pub(super) root: Value,
    pub(super) dialect: Dialect,
    /// The URL it came from.
    pub(super) source: Option<Url>,
    /// The targets that each target refers to.
    edges: RefCell<HashMap<String, Rc<[String]>>>,
    circular: RefCell<HashMap<String, bool>>,
    /// Number of schemas converted so far, for all operations.
    pub(super) converted: Cell<usize>,
}

/// Why a reference cannot be resolved, as the end of a sentence whose subject is the holder of the reference.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum RefError {
    #[error(
        "refers to another document ({0}); combine everything into one document first, for example with `redocly bundle`"
    )]
    External(String),
    #[error("refers to {0}, which is not in the document")]
    Missing(String),
    #[error("refers to {0}, which is not a path into the document (#/…); only those are supported")]
    NotPointer(String),
    #[error("refers to {0}, which is a circular reference")]
    Circle(String),
}

impl Document {
    /// Reads JSON or YAML and checks that it is OpenAPI 3. The second value is what a person should know
    /// about the document as a whole.
    pub(super) fn read(
        reader: impl Read,
        source: Option<&str>,
    ) -> Result<(Document, Vec<String>), SpecError> {
        let source = source.map(address).transpose()?;
        let text = text(reader)?;
        let mut notes = Vec::new();
        let root = parse(&text, &mut notes)?;
        drop(text);
        let dialect = dialect(&root)?;
        let (edges, circular) = (RefCell::default(), RefCell::default());
        let converted = Cell::new(0);
        Ok((Document { root, dialect, source, edges, circular, converted }, notes))
    }

    /// The JSON pointer (RFC 6901) of a reference within this document.
    pub(super) fn pointer(&self, reference: &str) -> Result<String, RefError> {
        let external = || RefError::External(reference.to_owned());
        let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if !address.is_empty() {
            // The document may refer to itself by its own URL.
            let source = self.source.as_ref().ok_or_else(external)?;
            let same = source.join(address).is_ok_and(|target| {
                target[..url::Position::AfterQuery] == source[..url::Position::AfterQuery]
            });
            if !same {
                return Err(external());
            }
        }
        let pointer = percent_decode_str(fragment)
            .decode_utf8()
            .map_err(|_| RefError::NotPointer(reference.to_owned()))?
            .into_owned();
        if pointer.starts_with('/') { Ok(pointer) } else { Err(RefError::NotPointer(reference.to_owned())) }
    }

    /// The value that a pointer from [`Document::pointer`] refers to.
    pub(super) fn at(&self, pointer: &str) -> Result<&Value, RefError> {
        self.root.pointer(pointer).ok_or_else(|| RefError::Missing(format!("#{pointer}")))
    }

    /// Follows references until a value that is not one. For everything except schemas.
    pub(super) fn resolve<'a>(&'a self, mut value: &'a Value) -> Result<&'a Value, RefError> {
        for _ in 0..MAX_HOPS {
            let Some(reference) = value.get("$ref").and_then(Value::as_str) else { return Ok(value) };
            value = self.at(&self.pointer(reference)?)?;
        }
        Err(RefError::Circle(value.get("$ref").and_then(Value::as_str).unwrap_or("a reference").to_owned()))
    }

    /// Counts one more schema; `false` once the document has used up [`MAX_CONVERTED`].
    pub(super) fn may_convert(&self) -> bool {
        let converted = self.converted.get() + 1;
        self.converted.set(converted);
        converted <= MAX_CONVERTED
    }

    /// Whether a target refers back to itself over any number of steps. May return `true` for a target that
    /// does not: references in examples count, and so does anything that leads to more than [`MAX_REACHED`]
    /// targets. That only adds an entry to `$defs`.
    pub(super) fn circular(&self, pointer: &str) -> bool {
        if let Some(known) = self.circular.borrow().get(pointer) {
            return *known;
        }
        let mut seen = HashSet::new();
        let mut waiting: Vec<String> = self.targets(pointer).to_vec();
        let mut found = false;
        while let Some(target) = waiting.pop() {
            if target == pointer || seen.len() > MAX_REACHED {
                found = true;
                break;
            }
            if !seen.contains(&target) {
                waiting.extend(self.targets(&target).iter().cloned());
                seen.insert(target);
            }
        }
        self.circular.borrow_mut().insert(pointer.to_owned(), found);
        found
    }

    fn targets(&self, pointer: &str) -> Rc<[String]> {
        if let Some(known) = self.edges.borrow().get(pointer) {
            return Rc::clone(known);
        }
        let mut found = Vec::new();
        if let Some(value) = self.root.pointer(pointer) {
            self.collect(value, &mut found);
        }
        let found: Rc<[String]> = found.into();
        self.edges.borrow_mut().insert(pointer.to_owned(), Rc::clone(&found));
        found
    }

    /// Recursion is bounded by the depth of the document.
    fn collect(&self, value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.collect(item, found)),
            Value::Object(map) => {
                if let Some(pointer) =
                    map.get("$ref").and_then(Value::as_str).and_then(|text| self.pointer(text).ok())
                {
                    found.push(pointer);
                }
                map.values().for_each(|item| self.collect(item, found));
            }
            _ => {}
        }
    }
}

fn address(source: &str) -> Result<Url, SpecError> {
    let refuse = |reason: String| SpecError::Source { source_url: source.to_owned(), reason };
    let url = Url::parse(source).map_err(|error| refuse(error.to_string()))?;
    if matches!(url.scheme(), "http" | "https") {
        Ok(url)
    } else {
        Err(refuse(format!("its scheme is {}", url.scheme())))
    }
}

/// Reads a file of at most [`MAX_DOCUMENT_BYTES`] as text and removes a byte order mark.
pub(super) fn text(reader: impl Read) -> Result<String, SpecError> {
    let mut bytes = Vec::new();
    reader.take(MAX_DOCUMENT_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_DOCUMENT_BYTES {
        return Err(SpecError::TooLarge);
    }
    let text = String::from_utf8(bytes)
        .map_err(|error| SpecError::NotUtf8 { offset: error.utf8_error().valid_up_to() })?;
    match text.strip_prefix('\u{feff}').unwrap_or(&text) {
        rest if rest.trim().is_empty() => Err(SpecError::Empty),
        rest if rest.len() < text.len() => Ok(rest.to_owned()),
        _ => Ok(text),
    }
}

fn parse(text: &str, notes: &mut Vec<String>) -> Result<Value, SpecError> {
    if !text.trim_start().starts_with(['{', '[']) {
        return yaml(text);
    }
    let exact = match read_exact_value(text) {
        Ok(value) => return Ok(value),
        Err(reason) => reason,
    };
    match serde_json::from_str(text) {
        Ok(value) => {
            notes.push(format!("the document {exact}; where a key is repeated, the last one was used"));
            Ok(value)
        }
        // Text in braces may be YAML, with comments and commas that JSON does not have.
        Err(error) => yaml(text).map_err(|_| SpecError::Syntax { format: "JSON", reason: error.to_string() }),
    }
}

/// Reads YAML on its own thread: the parser recurses for every level of nesting, and the caller's stack may
/// be too small for [`MAX_DEPTH`] levels.
fn yaml(text: &str) -> Result<Value, SpecError> {
    std::thread::scope(|scope| {
        let reader = std::thread::Builder::new()
            .name("openapi-yaml".to_owned())
            .stack_size(YAML_STACK_BYTES)
            .spawn_scoped(scope, || parse_yaml(text))?;
        reader.join().unwrap_or_else(|_| {
            Err(SpecError::Syntax { format: "YAML", reason: "the parser failed".to_owned() })
        })
    })
}

fn parse_yaml(text: &str) -> Result<Value, SpecError> {
    let options = serde_saphyr::options! {
        // Only `true` and `false` are booleans, as in YAML 1.2: `no` is also a country code.
        strict_booleans: true,
        non_finite_float_policy: serde_saphyr::options::NonFiniteFloatPolicy::AsString,
        with_snippet: false,
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            flow_nesting_limit: MAX_DEPTH,
            // Enough for the values of a document of the maximum size, including what aliases repeat.
            max_events: 8_000_000,
            max_nodes: 4_000_000,
            max_total_scalar_bytes: MAX_DOCUMENT_BYTES as usize,
            // An anchored example may be used in every operation.
            enforce_alias_anchor_ratio: false,
        },
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| yaml_error(&error))
}

/// Turns a YAML error into terms of the document rather than of the parser.
fn yaml_error(error: &serde_saphyr::Error) -> SpecError {
    use serde_saphyr::budget::BudgetBreach;
    let mut cause = error.without_snippet();
    while let serde_saphyr::Error::AliasError { error, .. } = cause {
        cause = error.without_snippet();
    }
    let too_deep = || format!("is nested more than {MAX_DEPTH} levels deep");
    let reason = match cause {
        serde_saphyr::Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => too_deep(),
        serde_saphyr::Error::Budget { .. }
        | serde_saphyr::Error::AliasReplayCounterOverflow { .. }
        | serde_saphyr::Error::AliasReplayLimitExceeded { .. }
        | serde_saphyr::Error::AliasExpansionLimitExceeded { .. }
        | serde_saphyr::Error::AliasReplayStackDepthExceeded { .. } => {
            format!(
                "grows beyond {} MiB or 4 million values when it is read in full",
                MAX_DOCUMENT_BYTES >> 20
            )
        }
        // The scanner has a limit of its own, which it reports only in its message.
        other if other.to_string().contains("recursion limit") => too_deep(),
        _ => return SpecError::Syntax { format: "YAML", reason: error.to_string() },
    };
    SpecError::Limit { reason }
}

fn dialect(root: &Value) -> Result<Dialect, SpecError> {
    let Value::Object(object) = root else {
        let found = match root {
            Value::Array(_) => "a list",
            _ => "a single value",
        };
        return Err(SpecError::NotOpenApi { found });
    };
    // YAML reads an unquoted 3.0 as a number.
    let written = |key: &str| match object.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    if let Some(version) = written("openapi") {
        let is = |minor: &str| version == minor || version.starts_with(&format!("{minor}."));
        return if is("3.0") {
            Ok(Dialect::V30)
        } else if is("3.1") || is("3.2") {
            Ok(Dialect::V31)
        } else {
            Err(SpecError::Version { version })
        };
    }
    match written("swagger").or_else(|| written("swaggerVersion")) {
        Some(version) => Err(SpecError::Swagger { version }),
        None if object.contains_key("asyncapi") => {
            Err(SpecError::NotOpenApi { found: "an AsyncAPI document" })
        }
        None => Err(SpecError::NotOpenApi { found: "an object without \"openapi\"" }),
    }
}
