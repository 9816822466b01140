//! Turns the request body into a single argument.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::call::{BODY_ARGUMENT, Body, PartEncoding, Style};
use super::document::Document;
use super::media::{self, Media};
use super::schema::{ConvertError, Schemas};

/// The body with its schema; `None` when the operation has none.
///
/// # Errors
/// The reason why the operation cannot be called, as the end of a sentence.
pub(super) fn body(
    document: &Document,
    written: Option<&Value>,
    schemas: &mut Schemas<'_>,
    notes: &mut Vec<String>,
) -> Result<Option<(Body, Value)>, ConvertError> {
    let Some(written) = written else { return Ok(None) };
    let body = document.resolve(written).map_err(|error| format!("has a request body that {error}"))?;
    let Some(content) = body.get("content").and_then(Value::as_object).filter(|all| !all.is_empty()) else {
        notes.push("omits the request body, which has no media type".to_owned());
        return Ok(None);
    };
    // The first media type of the best kind, in document order.
    let Some((media_type, described)) = content.iter().min_by_key(|(name, _)| media::of(name).rank()) else {
        return Ok(None);
    };
    let described =
        document.resolve(described).map_err(|error| format!("has a request body that {error}"))?;
    let sort = media::of(media_type);
    let mut schema = match described.get("schema") {
        Some(schema) => schemas.add(schema).map_err(|error| error.within("has a request body that"))?,
        None => Value::Object(Map::new()),
    };
    let encoding = match sort {
        Media::Form | Media::Multipart => encoding(document, described, sort),
        _ => IndexMap::new(),
    };
    match sort {
        Media::Json => {}
        Media::Form | Media::Multipart => mark_files(&mut schema, &encoding),
        // Whatever the schema says, the argument is a string.
        Media::Text => schema = text_schema(schema, &[]),
        Media::Binary => {
            schema = text_schema(schema, &[("contentEncoding", "base64"), ("contentMediaType", media_type)]);
        }
    }
    if let (Some(text), Value::Object(map)) =
        (body.get("description").and_then(Value::as_str).filter(|text| !text.is_empty()), &mut schema)
    {
        map.insert("description".to_owned(), text.into());
    }
    let body = Body {
        argument: BODY_ARGUMENT.to_owned(),
        media_type: media::concrete(media_type),
        required: body.get("required").and_then(Value::as_bool).unwrap_or(false),
        encoding,
    };
    Ok(Some((body, schema)))
}

/// The schema of a body that is sent as a string; keeps descriptions.
fn text_schema(schema: Value, marks: &[(&str, &str)]) -> Value {
    let mut out = Map::from_iter([("type".to_owned(), json!("string"))]);
    if let Value::Object(mut map) = schema {
        let is_text = map.get("type") == Some(&json!("string"));
        if is_text && marks.is_empty() {
            return Value::Object(map);
        }
        for key in ["title", "description", "examples"] {
            if let Some(value) = map.shift_remove(key) {
                out.insert(key.to_owned(), value);
            }
        }
    }
    for (key, value) in marks {
        // A range such as `*/*` is not a media type.
        if !value.contains('*') {
            out.insert((*key).to_owned(), (*value).into());
        }
    }
    Value::Object(out)
}

/// How each property of a form is written (OpenAPI 3, Encoding Object).
fn encoding(document: &Document, described: &Value, sort: Media) -> IndexMap<String, PartEncoding> {
    let mut out: IndexMap<String, PartEncoding> = IndexMap::new();
    for (name, written) in described.get("encoding").and_then(Value::as_object).into_iter().flatten() {
        let text = |key: &str| written.get(key).and_then(Value::as_str);
        let mut part = PartEncoding {
            content_type: text("contentType")
                .and_then(|types| types.split(',').next())
                .map(|first| first.trim().to_owned())
                .filter(|first| !first.is_empty()),
            ..PartEncoding::default()
        };
        if sort == Media::Form {
            part.style = text("style").and_then(Style::parse);
            part.explode = written.get("explode").and_then(Value::as_bool);
            part.allow_reserved = written.get("allowReserved").and_then(Value::as_bool).unwrap_or(false);
            // Any of the three makes the others apply instead of the media type (3.1, Encoding Object).
            if part.style.is_none() && (part.explode.is_some() || part.allow_reserved) {
                part.style = Some(Style::Form);
            }
        }
        if part != PartEncoding::default() {
            out.insert(name.clone(), part);
        }
    }
    if sort == Media::Multipart {
        let properties = described
            .get("schema")
            .and_then(|schema| document.resolve(schema).ok()?.get("properties")?.as_object());
        for (name, schema) in properties.into_iter().flatten() {
            let binary = document.resolve(schema).is_ok_and(|schema| {
                let schema =
                    schema.get("items").map_or(schema, |items| document.resolve(items).unwrap_or(items));
                is_file(schema)
            });
            let named_binary = out
                .get(name)
                .and_then(|part| part.content_type.as_deref())
                .is_some_and(|media_type| media::of(media_type) == Media::Binary);
            if binary || named_binary {
                out.entry(name.clone()).or_default().base64 = true;
            }
        }
    }
    out
}

/// Whether a schema is a file: 3.0 writes `format: binary`, 3.1 a media type without an encoding, or nothing.
fn is_file(schema: &Value) -> bool {
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    text("format") == Some("binary")
        || (text("contentEncoding").is_none()
            && text("contentMediaType").is_some_and(|name| media::of(name) == Media::Binary))
}

/// States in the schema that files are given in Base64.
fn mark_files(schema: &mut Value, encoding: &IndexMap<String, PartEncoding>) {
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (name, part) in encoding {
        if let Some(Value::Object(property)) = properties.get_mut(name).filter(|_| part.base64) {
            let place = match property.get_mut("items") {
                Some(Value::Object(items)) => items,
                _ => property,
            };
            place.insert("contentEncoding".to_owned(), "base64".into());
        }
    }
}
