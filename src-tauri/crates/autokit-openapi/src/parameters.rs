//! Turns the parameters of an operation into arguments: a flat list of unique names for all places.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::call::{BODY_ARGUMENT, ParamLocation, Parameter, Requirement, Scheme, Style};
use super::document::Document;
use super::request::header_problem;
use super::schema::{ConvertError, Schemas};
use super::servers::names;

/// An argument with its schema.
pub(super) struct Argument {
    pub(super) parameter: Parameter,
    pub(super) schema: Value,
}

/// A parameter that was found in the document and checked, before its schema is converted.
pub(super) struct Found<'d> {
    parameter: Parameter,
    object: &'d Map<String, Value>,
}

/// The parameters of an operation, which override those of its path, with unique names.
///
/// # Errors
/// The reason why the operation cannot be called, as the end of a sentence.
pub(super) fn find<'d>(
    document: &'d Document,
    levels: [Option<&'d Value>; 2],
    security: &[Vec<Requirement>],
    notes: &mut Vec<String>,
) -> Result<Vec<Found<'d>>, String> {
    let mut found: Vec<Found<'d>> = Vec::new();
    for level in levels.into_iter().flatten() {
        let list = level.as_array().ok_or("has `parameters` that are not a list")?;
        for item in list {
            let item = document.resolve(item).map_err(|error| format!("has a parameter that {error}"))?;
            let object = item.as_object().ok_or("has a parameter that is not an object")?;
            let parameter = read(object)?;
            let Parameter { place, wire_name, .. } = &parameter;
            if let Some(reason) = reserved_reason(*place, wire_name, security) {
                if let Some(reason) = reason {
                    notes.push(format!("omits the {} {wire_name}: {reason}", place.as_str()));
                }
                continue;
            }
            let same = |known: &Found<'_>| {
                known.parameter.place == *place && known.parameter.wire_name == *wire_name
            };
            match found.iter_mut().find(|known| same(known)) {
                Some(known) => *known = Found { parameter, object },
                None => found.push(Found { parameter, object }),
            }
        }
    }
    assign_names(&mut found);
    Ok(found)
}

/// Whether something other than an argument sets this parameter: `Some(None)` when it is ignored silently,
/// `Some(Some(reason))` when a person should be told.
#[expect(clippy::option_option, reason = "the outer one says whether, the inner one whether to tell")]
fn reserved_reason(
    place: ParamLocation,
    name: &str,
    security: &[Vec<Requirement>],
) -> Option<Option<String>> {
    let is_key = |requirement: &Requirement| match &requirement.scheme {
        Scheme::ApiKey { place: at, name: key } => {
            *at == place
                && if place == ParamLocation::Header { key.eq_ignore_ascii_case(name) } else { key == name }
        }
        _ => false,
    };
    if security.iter().flatten().any(is_key) {
        return Some(None);
    }
    if place != ParamLocation::Header {
        return None;
    }
    // OpenAPI 3, Parameter Object, `name`.
    if ["accept", "content-type", "authorization"].iter().any(|known| name.eq_ignore_ascii_case(known)) {
        return Some(None);
    }
    header_problem(name).map(|reason| Some(reason.to_owned()))
}

fn read(object: &Map<String, Value>) -> Result<Parameter, String> {
    let text = |key: &str| object.get(key).and_then(Value::as_str);
    let flag = |key: &str| object.get(key).and_then(Value::as_bool);
    let name = text("name").filter(|name| !name.is_empty()).ok_or("has a parameter without a name")?;
    let place = match text("in") {
        Some("path") => ParamLocation::Path,
        Some("query") => ParamLocation::Query,
        Some("header") => ParamLocation::Header,
        Some("cookie") => ParamLocation::Cookie,
        other => {
            let other = other.unwrap_or("nowhere");
            return Err(format!("has the parameter {name} in {other}, which is not supported"));
        }
    };
    let style = match text("style") {
        None => place.style(),
        Some(style) => Style::parse(style).filter(|style| place.allows(*style)).ok_or_else(|| {
            format!(
                "has the {} parameter {name} in the style {style:?}, which is not supported there",
                place.as_str()
            )
        })?,
    };
    let content =
        match object.get("content").and_then(Value::as_object) {
            Some(content) => Some(content.keys().next().ok_or_else(|| {
                format!("has the parameter {name} with a `content` that has no media type")
            })?),
            None => None,
        };
    Ok(Parameter {
        name: name.to_owned(),
        wire_name: name.to_owned(),
        place,
        style,
        explode: flag("explode").unwrap_or(style == Style::Form),
        allow_reserved: place == ParamLocation::Query && flag("allowReserved").unwrap_or(false),
        // Without this segment it would be a different path.
        required: place == ParamLocation::Path || flag("required").unwrap_or(false),
        content: content.cloned(),
    })
}

/// Gives every argument a unique name. Path parameters keep theirs; for other places the name of the place is
/// added when the name is taken. `body` is always taken.
fn assign_names(found: &mut [Found<'_>]) {
    let mut taken: BTreeSet<String> = BTreeSet::from([BODY_ARGUMENT.to_owned()]);
    for place in [ParamLocation::Path, ParamLocation::Query, ParamLocation::Header, ParamLocation::Cookie] {
        for Found { parameter, .. } in found.iter_mut().filter(|found| found.parameter.place == place) {
            let mut name = parameter.wire_name.clone();
            let mut number = 1;
            while !taken.insert(name.clone()) {
                name = match number {
                    1 => format!("{}_{}", parameter.wire_name, place.as_str()),
                    _ => format!("{}_{}_{number}", parameter.wire_name, place.as_str()),
                };
                number += 1;
            }
            parameter.name = name;
        }
    }
}

/// The schemas of the parameters; adds parameters for path segments that have none.
pub(super) fn arguments(
    found: &[Found<'_>],
    path: &str,
    schemas: &mut Schemas<'_>,
    notes: &mut Vec<String>,
) -> Result<Vec<Argument>, ConvertError> {
    let mut arguments = Vec::new();
    for Found { parameter, object } in found {
        let Parameter { place, wire_name, .. } = parameter;
        if *place == ParamLocation::Path && names(path).all(|name| name != wire_name) {
            notes.push(format!("omits the path parameter {wire_name}, which is not in the path"));
            continue;
        }
        let described = object.get("content").and_then(Value::as_object).and_then(|all| all.values().next());
        let schema = match described {
            Some(media) => media.get("schema"),
            None => object.get("schema"),
        };
        let converted = match schema {
            Some(schema) => schemas
                .add(schema)
                .map_err(|error| error.within(&format!("has the parameter {wire_name} that")))?,
            None => Value::Object(Map::new()),
        };
        arguments.push(Argument { parameter: parameter.clone(), schema: describe(converted, object) });
    }
    for name in names(path) {
        if arguments
            .iter()
            .any(|known| known.parameter.place == ParamLocation::Path && known.parameter.wire_name == name)
        {
            continue;
        }
        notes.push(format!("has {{{name}}} in its path without a description; any text is accepted for it"));
        let mut argument = name.to_owned();
        while argument == BODY_ARGUMENT || arguments.iter().any(|known| known.parameter.name == argument) {
            argument.push_str("_path");
        }
        arguments.push(Argument {
            parameter: Parameter {
                name: argument,
                wire_name: name.to_owned(),
                place: ParamLocation::Path,
                style: Style::Simple,
                explode: false,
                allow_reserved: false,
                required: true,
                content: None,
            },
            schema: serde_json::json!({"type": "string"}),
        });
    }
    Ok(arguments)
}

/// The parameter's own description takes precedence over that of its schema.
fn describe(schema: Value, object: &Map<String, Value>) -> Value {
    let mut out = match schema {
        Value::Object(map) => map,
        Value::Bool(true) => Map::new(),
        other => return other,
    };
    if let Some(text) = object.get("description").and_then(Value::as_str).filter(|text| !text.is_empty()) {
        out.insert("description".to_owned(), text.into());
    }
    if object.get("deprecated") == Some(&Value::Bool(true)) {
        out.insert("deprecated".to_owned(), true.into());
    }
    if !out.contains_key("examples") {
        let named = object.get("examples").and_then(Value::as_object);
        let examples: Vec<Value> = match object.get("example") {
            Some(one) => vec![one.clone()],
            None => named
                .into_iter()
                .flat_map(|all| all.values())
                .filter_map(|one| one.get("value"))
                .cloned()
                .collect(),
        };
        if !examples.is_empty() {
            out.insert("examples".to_owned(), examples.into());
        }
    }
    Value::Object(out)
}
