//! Turns an operation of a document into a card.

use autokit_toolcard::{Candidate, Kind, Limits, Problem, Severity, check, fields};
use serde_json::{Map, Value, json};

use super::body;
use super::call::{CALL_VERSION, Call, ParamLocation};
use super::document::Document;
use super::media::{self, Media};
use super::parameters::{self, Argument};
use super::schema::{ConvertError, Detail, SchemaError, Schemas};
use super::security::security;
use super::servers::servers;

/// An operation found in the document.
pub(super) struct Operation<'d> {
    /// Position in the document, from 1.
    pub(super) position: usize,
    /// The method in upper case.
    pub(super) method: String,
    pub(super) path: &'d str,
    pub(super) path_item: &'d Map<String, Value>,
    pub(super) value: &'d Value,
    /// Name of the card, unique within the document.
    pub(super) name: String,
}

impl Operation<'_> {
    /// How the operation is identified when it is rejected: `GET /things`.
    pub(super) fn label(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.value.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
    }
}

/// Makes the card. Schemas are first written out in place; if that is too large, they are shared; if that is
/// still too large, their descriptions are dropped.
pub(super) fn card(document: &Document, operation: &Operation<'_>) -> Result<Candidate, Problem> {
    let mut reason = Problem::error("", SchemaError::TooLarge.to_string());
    for detail in [Detail::Inline, Detail::Shared, Detail::Bare] {
        match attempt(document, operation, detail) {
            Ok(Some(candidate)) => {
                let too_much =
                    check(&candidate.object).into_iter().find(|problem| problem.severity == Severity::Error);
                match too_much {
                    None => return Ok(candidate),
                    Some(problem) => reason = problem,
                }
            }
            Ok(None) => {}
            Err(refused) => return Err(Problem::error("", refused)),
        }
    }
    Err(reason)
}

/// `None` when the schemas are too large at this level of detail.
fn attempt(
    document: &Document,
    operation: &Operation<'_>,
    detail: Detail,
) -> Result<Option<Candidate>, String> {
    let mut notes = Vec::new();
    let (item, value) = (operation.path_item, operation.value);
    let servers = servers(
        document,
        [value.get("servers"), item.get("servers"), document.root.get("servers")],
        &mut notes,
    )?;
    let security = security(document, value);
    let found =
        parameters::find(document, [item.get("parameters"), value.get("parameters")], &security, &mut notes)?;
    let mut schemas = Schemas::new(document, detail);
    // Some documents distinguish two operations on one path by a fragment, which is never sent.
    let sent = operation.path.split('#').next().unwrap_or("");
    let path = if sent.starts_with('/') { sent.to_owned() } else { format!("/{sent}") };
    let converted = parameters::arguments(&found, &path, &mut schemas, &mut notes).and_then(|arguments| {
        let body = body::body(document, value.get("requestBody"), &mut schemas, &mut notes)?;
        Ok((arguments, body))
    });
    let (arguments, body) = match converted {
        Ok(converted) => converted,
        Err(ConvertError::TooLarge) => return Ok(None),
        Err(ConvertError::Other(reason)) => return Err(reason),
    };
    let (defs, omitted) = match schemas.finish() {
        Ok(finished) => finished,
        Err(SchemaError::TooLarge) => return Ok(None),
        Err(error) => return Err(format!("has a schema that {error}")),
    };
    notes.extend(omitted);
    if detail == Detail::Bare {
        notes.push("omits descriptions and examples within its schemas, which would be too large".to_owned());
    }
    if body.is_some() && matches!(operation.method.as_str(), "GET" | "HEAD") {
        notes.push(format!("sends a body with {}, which some servers ignore", operation.method));
    }

    let call = Call {
        version: CALL_VERSION,
        method: operation.method.clone(),
        servers,
        path,
        parameters: arguments.iter().map(|argument| argument.parameter.clone()).collect(),
        body: body.as_ref().map(|(body, _)| body.clone()),
        accept: accept(document, value),
        fixed_headers: Vec::new(),
        security,
    };
    let mut object = Map::new();
    describe(document, operation, &call, &mut object, &mut notes);
    let body = body.map(|(body, schema)| (body.argument, body.required, schema));
    object.insert(fields::PARAMETERS.to_owned(), parameters_schema(arguments, body, defs));
    let written = serde_json::to_value(&call).map_err(|error| error.to_string())?;
    object.insert(fields::CALL.to_owned(), written);
    if let Some(schema) = returns(document, value) {
        object.insert(fields::RETURNS.to_owned(), schema);
    }
    let notes = notes.into_iter().map(|note| Problem::warning("", note)).collect();
    Ok(Some(Candidate { position: operation.position, object, notes }))
}

/// Fills in the fields that people read.
fn describe(
    document: &Document,
    operation: &Operation<'_>,
    call: &Call,
    object: &mut Map<String, Value>,
    notes: &mut Vec<String>,
) {
    let mut put = |field: &str, value: Value| {
        object.insert(field.to_owned(), value);
    };
    put(fields::NAME, operation.name.as_str().into());
    let title = document.root.pointer("/info/title").and_then(Value::as_str).map(str::trim);
    let host = || {
        call.servers
            .first()
            .and_then(|server| url::Url::parse(&server.url).ok()?.host_str().map(str::to_owned))
    };
    if let Some(provider) = title.filter(|title| !title.is_empty()).map(str::to_owned).or_else(host) {
        let most = Limits::CARD.name_chars;
        if provider.chars().count() > most {
            notes.push(format!("has the title of its document as provider, cut to {most} characters"));
        }
        put(fields::PROVIDER, provider.chars().take(most).collect::<String>().into());
    }
    put(fields::KIND, Kind::RestOperation.as_str().into());
    put(fields::DESCRIPTION, description(operation, notes).into());
    put(fields::USAGE, call.usage().into());
    if operation.value.get("deprecated") == Some(&Value::Bool(true)) {
        put("deprecated", true.into());
    }
    if let Some(source) = &document.source {
        put(fields::OPENAPI, source.as_str().into());
    }
    let mut tags: Vec<&str> = Vec::new();
    for tag in operation.value.get("tags").and_then(Value::as_array).into_iter().flatten() {
        if let Some(tag) = tag.as_str().filter(|tag| !tags.contains(tag)) {
            tags.push(tag);
        }
    }
    match documentation(document, operation.value, &tags) {
        Some(Ok(url)) => put(fields::DOCUMENTATION, url.into()),
        Some(Err(url)) => notes.push(format!("omits the documentation {url}, which is not a web address")),
        None => {}
    }
    if !tags.is_empty() {
        put(fields::TAGS, tags.into());
    }
}

/// Summary and description, without repetition.
fn description(operation: &Operation<'_>, notes: &mut Vec<String>) -> String {
    let from_path = |key: &str| {
        operation.path_item.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
    };
    let summary = operation.text("summary").or_else(|| from_path("summary"));
    let description = operation.text("description").or_else(|| from_path("description"));
    let mut text = match (summary, description) {
        (Some(summary), Some(description)) if description.starts_with(summary) => description.to_owned(),
        (Some(summary), Some(description)) => format!("{summary}\n\n{description}"),
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) => String::new(),
    };
    let most = Limits::CARD.string_bytes;
    if text.len() > most {
        notes.push(format!("has a description of {} bytes, cut to {most}", text.len()));
        text.truncate(text.floor_char_boundary(most));
    }
    text
}

/// URL of the documentation of the operation, else of its first tag that has one, else of the whole document.
fn documentation(document: &Document, operation: &Value, tags: &[&str]) -> Option<Result<String, String>> {
    fn page(value: &Value) -> Option<&str> {
        value.get("externalDocs")?.get("url")?.as_str().filter(|url| !url.trim().is_empty())
    }
    let described = document.root.get("tags").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let by_tag = || {
        tags.iter().find_map(|tag| {
            page(described.iter().find(|one| one.get("name").and_then(Value::as_str) == Some(tag))?)
        })
    };
    let written = page(operation).or_else(by_tag).or_else(|| page(&document.root))?;
    let url = match &document.source {
        Some(source) => source.join(written.trim()),
        None => url::Url::parse(written.trim()),
    };
    Some(match url {
        // URLs that are already absolute are kept as written.
        Ok(url) if matches!(url.scheme(), "http" | "https") => {
            Ok(if written.contains("://") { written.trim().to_owned() } else { url.into() })
        }
        _ => Err(written.to_owned()),
    })
}

/// The media types of successful responses, JSON first. A response that cannot be resolved is no reason to
/// reject the operation.
fn accept(document: &Document, operation: &Value) -> Option<String> {
    let mut types: Vec<&str> = Vec::new();
    for (status, response) in operation.get("responses")?.as_object()? {
        if !(status.starts_with('2') || status == "default") {
            continue;
        }
        let Ok(response) = document.resolve(response) else { continue };
        for name in response.get("content").and_then(Value::as_object).into_iter().flat_map(Map::keys) {
            if !types.contains(&name.as_str()) && super::request::is_header_value(name) {
                types.push(name);
            }
        }
    }
    let first = types.iter().find(|name| media::of(name) == Media::Json).or(types.first())?;
    Some(if *first == "*/*" { "*/*".to_owned() } else { format!("{first}, */*;q=0.5") })
}

/// Most bytes of the schema of a result. Names and types of its fields are for comparing with what is returned; a
/// larger one would fill the card with what nobody reads.
const RESULT_BYTES: usize = 16 << 10;

/// The JSON Schema of the first successful response in JSON, as detailed as fits; `None` where it is not documented,
/// cannot be resolved or is larger than [`RESULT_BYTES`].
fn returns(document: &Document, operation: &Value) -> Option<Value> {
    let (_, response) =
        operation.get("responses")?.as_object()?.iter().find(|(status, _)| status.starts_with('2'))?;
    let content = document.resolve(response).ok()?.get("content")?.as_object()?;
    let (_, described) = content.iter().find(|(name, _)| media::of(name) == Media::Json)?;
    let schema = document.resolve(described).ok()?.get("schema")?;
    [Detail::Inline, Detail::Shared, Detail::Bare].into_iter().find_map(|detail| {
        let mut schemas = Schemas::new(document, detail);
        let mut written = schemas.add(schema).ok()?;
        let (defs, _) = schemas.finish().ok()?;
        if let (false, Value::Object(schema)) = (defs.is_empty(), &mut written) {
            schema.insert("$defs".to_owned(), Value::Object(defs));
        }
        (written.to_string().len() <= RESULT_BYTES).then_some(written)
    })
}

/// The JSON Schema of all arguments.
fn parameters_schema(
    arguments: Vec<Argument>,
    body: Option<(String, bool, Value)>,
    defs: Map<String, Value>,
) -> Value {
    let mut properties = Map::new();
    let mut required: Vec<String> = Vec::new();
    // In the order in which they appear in a URL.
    let mut arguments = arguments;
    arguments.sort_by_key(|argument| match argument.parameter.place {
        ParamLocation::Path => 0,
        ParamLocation::Query => 1,
        ParamLocation::Header => 2,
        ParamLocation::Cookie => 3,
    });
    let places = arguments
        .into_iter()
        .map(|Argument { parameter, schema }| (parameter.name, parameter.required, schema))
        .chain(body);
    for (name, needed, schema) in places {
        if needed {
            required.push(name.clone());
        }
        properties.insert(name, schema);
    }
    let mut out = Map::from_iter([
        ("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema")),
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), Value::Object(properties)),
    ]);
    if !required.is_empty() {
        out.insert("required".to_owned(), required.into());
    }
    out.insert("additionalProperties".to_owned(), false.into());
    if !defs.is_empty() {
        out.insert("$defs".to_owned(), Value::Object(defs));
    }
    Value::Object(out)
}
