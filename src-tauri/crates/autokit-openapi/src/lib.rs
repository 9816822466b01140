//! Turns OpenAPI documents into cards, and such a card into requests.
//!
//! [`read_openapi`] makes a card of every operation. A card is self-contained: its `parameters` is a JSON
//! Schema without references to the document, and its `call` ([`Call`]) holds what a request needs, so that
//! the card can be called in a library without the document.
//!
//! YAML is parsed by `serde-saphyr`, which is maintained, has no unsafe code, and limits what aliases may
//! expand to.
//!
//! ```
//! use autokit_openapi::{Call, Credentials, read_openapi};
//! use serde_json::json;
//!
//! let document = br#"
//! openapi: 3.1.0
//! info: {title: Things, version: "1"}
//! servers: [{url: "https://api.example.org/v1"}]
//! paths:
//!   /things/{id}:
//!     get:
//!       operationId: getThing
//!       parameters: [{name: id, in: path, required: true, schema: {type: string}}]
//! "#;
//! let imported = read_openapi(&document[..], None)?;
//! let card = &imported.read.cards[0].card;
//! let call = Call::from_card(card)?.expect("made by the import");
//! let arguments = json!({"id": "a/b"}).as_object().cloned().unwrap_or_default();
//! let request = call.request(&arguments, &Credentials::default(), None)?;
//! assert_eq!(request.url, "https://api.example.org/v1/things/a%2Fb");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod body;
mod call;
mod credentials;
mod document;
mod error;
mod keywords;
mod loops;
mod media;
mod operation;
mod parameters;
pub mod rapidapi;
mod request;
pub mod rest;
mod schema;
mod security;
mod servers;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::sync::LazyLock;

use autokit_toolcard::{CardKey, Limits, ReadCards, Rejected, read_items};
use regex::Regex;
use serde_json::{Map, Value};

// Pins one feature set for the whole workspace; nothing is imported from it.
use workspace_hack as _;

pub use call::{
    BODY_ARGUMENT, Body, CALL_VERSION, Call, ParamLocation, Parameter, PartEncoding, Requirement, Scheme,
    Server, Style,
};
pub use credentials::{Credential, Credentials, client_credentials_form};
pub use error::{CallError, MAX_DOCUMENT_BYTES, SpecError};
pub use request::HttpRequest;

use document::Document;
use operation::Operation;

/// The fields of a Path Item Object that hold operations; `query` was added in OpenAPI 3.2.
const METHODS: [&str; 9] = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/// Result of reading a document.
#[derive(Debug)]
pub struct Imported {
    /// The title of the API, if it has one.
    pub title: Option<String>,
    /// One card per operation, in document order, with positions from 1. A rejected operation is identified
    /// by its method and path, e.g. `GET /things`.
    pub read: ReadCards,
    /// What a person should know about the document as a whole, in full sentences.
    pub notes: Vec<String>,
}

/// Whether a file is an API description such as OpenAPI, of any version, according to the version field at
/// its top level. Versions that are not supported, such as Swagger 2.0, are refused by [`read_openapi`] with
/// the reason.
pub fn is_openapi(bytes: &[u8]) -> bool {
    static VERSION_KEY: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r#"(?m)(?:^|[{,])\s*["']?(?:openapi|swagger|swaggerVersion|asyncapi)["']?\s*:\s*["']?\d+\.\d"#,
        )
        .expect("a valid expression")
    });
    /// Only this many bytes are searched for the version field.
    const START: usize = 64 << 10;
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(START)]);
    // A list holds cards, which may mention the version of a document.
    !start.trim_start().starts_with('[') && VERSION_KEY.is_match(&start)
}

/// Reads an OpenAPI 3.0, 3.1 or 3.2 document in JSON or YAML. Version 3.2 is read as if it were 3.1.
///
/// `source` is the `http` or `https` URL the document came from, used to resolve relative URLs in it. Without
/// it, an operation on a relative server is rejected.
///
/// # Errors
/// [`SpecError`] when nothing in the document can be used. An operation that cannot be called never affects
/// the others.
pub fn read_openapi(reader: impl Read, source: Option<&str>) -> Result<Imported, SpecError> {
    let (document, notes) = Document::read(reader, source)?;
    Ok(import(&document, notes))
}

fn import(document: &Document, mut notes: Vec<String>) -> Imported {
    let (paths, mut refused) = path_items(document);
    let operations = operations(&paths, refused.len());
    if operations.is_empty() && refused.is_empty() {
        notes.push("the document has no operations".to_owned());
    }
    if let Some(hooks) =
        document.root.get("webhooks").and_then(Value::as_object).filter(|all| !all.is_empty())
    {
        notes.push(format!("the document describes webhooks ({}), which are omitted", hooks.len()));
    }
    let labels: HashMap<usize, String> =
        operations.iter().map(|operation| (operation.position, operation.label())).collect();
    let items = operations.iter().map(|operation| {
        operation::card(document, operation).map_err(|problem| Rejected {
            position: operation.position,
            name: None,
            problems: vec![problem],
        })
    });
    let mut read = read_items(items);
    for rejected in &mut read.rejected {
        rejected.name = labels.get(&rejected.position).cloned();
    }
    refused.append(&mut read.rejected);
    read.rejected = refused;
    let title = document.root.pointer("/info/title").and_then(Value::as_str).map(str::to_owned);
    Imported { title, read, notes }
}

/// A path with its Path Item Object.
type PathItem<'d> = (&'d str, Cow<'d, Map<String, Value>>);

/// The path items of a document with references resolved, and the ones that cannot be resolved. The latter
/// get the first positions.
fn path_items(document: &Document) -> (Vec<PathItem<'_>>, Vec<Rejected>) {
    let mut found = Vec::new();
    let mut refused: Vec<Rejected> = Vec::new();
    let paths = document.root.get("paths").and_then(Value::as_object);
    for (path, item) in paths.into_iter().flatten().filter(|(path, _)| !path.starts_with("x-")) {
        let mut refuse = |reason: String| {
            let problems = vec![autokit_toolcard::Problem::error("", reason)];
            refused.push(Rejected { position: refused.len() + 1, name: Some(path.clone()), problems });
        };
        let written = match item {
            Value::Object(written) => written,
            Value::Null => continue,
            _ => {
                refuse("is not an object; a path must be an object with an operation per method".to_owned());
                continue;
            }
        };
        if !written.contains_key("$ref") {
            found.push((path.as_str(), Cow::Borrowed(written)));
            continue;
        }
        match document.resolve(item).map(Value::as_object) {
            Ok(Some(target)) => {
                // Fields beside the reference take precedence over its target.
                let mut both = target.clone();
                both.extend(
                    written
                        .iter()
                        .filter(|(key, _)| *key != "$ref")
                        .map(|(key, value)| (key.clone(), value.clone())),
                );
                found.push((path.as_str(), Cow::Owned(both)));
            }
            Ok(None) => refuse("refers to something that is not an object".to_owned()),
            Err(error) => refuse(error.to_string()),
        }
    }
    (found, refused)
}

fn operations<'d>(paths: &'d [PathItem<'d>], before: usize) -> Vec<Operation<'d>> {
    let mut found = Vec::new();
    for (path, item) in paths {
        // Additional methods by name, from OpenAPI 3.2.
        let additional = item.get("additionalOperations").and_then(Value::as_object);
        let named = additional.into_iter().flatten().map(|(method, value)| (method.clone(), value));
        let fixed = item
            .iter()
            .filter(|(key, _)| METHODS.contains(&key.as_str()))
            .map(|(key, value)| (key.to_ascii_uppercase(), value));
        for (method, value) in fixed.chain(named) {
            found.push(Operation {
                position: before + found.len() + 1,
                method,
                path,
                path_item: item,
                value,
                name: String::new(),
            });
        }
    }
    assign_names(&mut found);
    found
}

/// Names the operations. If several share an `operationId`, method and path are added to all of their names,
/// so that the name of one does not depend on the order.
fn assign_names(operations: &mut [Operation<'_>]) {
    let written = |operation: &Operation<'_>| {
        let id = operation.value.get("operationId").and_then(Value::as_str).map(str::trim);
        id.filter(|id| !id.is_empty()).map(str::to_owned)
    };
    let mut uses: HashMap<CardKey, usize> = HashMap::new();
    for id in operations.iter().filter_map(written) {
        *uses.entry(CardKey::new("", &id)).or_default() += 1;
    }
    let mut taken: HashSet<CardKey> =
        uses.iter().filter(|(_, count)| **count == 1).map(|(key, _)| key.clone()).collect();
    for operation in operations {
        let fallback = method_and_path(&operation.method, operation.path);
        let base = match written(operation) {
            Some(id) if uses.get(&CardKey::new("", &id)) == Some(&1) && is_valid_name(&id) => {
                operation.name = id;
                continue;
            }
            Some(id) => format!("{id}_{fallback}"),
            None => fallback,
        };
        // Leaves room for the number.
        let base: String = base.chars().take(Limits::CARD.name_chars - 8).collect();
        let mut name = base.clone();
        let mut number = 2;
        while !taken.insert(CardKey::new("", &name)) {
            name = format!("{base}_{number}");
            number += 1;
        }
        operation.name = name;
    }
}

fn is_valid_name(name: &str) -> bool {
    name.chars().count() <= Limits::CARD.name_chars
}

/// Builds a name from method and path: `get_things_id` for `GET /things/{id}`.
fn method_and_path(method: &str, path: &str) -> String {
    let mut out = method.to_ascii_lowercase();
    for c in path.chars() {
        if c.is_alphanumeric() {
            out.push(c);
        } else if !out.ends_with('_') {
            out.push('_');
        }
    }
    out.trim_end_matches('_').to_owned()
}
