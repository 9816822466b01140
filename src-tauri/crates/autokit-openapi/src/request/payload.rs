//! Encodes the request body.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::style::{self, Escape, Parts};
use crate::call::{Body, PartEncoding, Style};
use crate::error::CallError;
use crate::media::{self, Media};

/// The encoded body and its media type, including the boundary if there is one.
pub(super) fn payload(body: &Body, value: &Value) -> Result<(Vec<u8>, String), CallError> {
    let refuse =
        |reason: &str| CallError::Argument { name: body.argument.clone(), reason: reason.to_owned() };
    let object =
        || value.as_object().ok_or_else(|| refuse("it must be an object, because it is sent as a form"));
    let plain = |bytes| (bytes, body.media_type.clone());
    Ok(match media::of(&body.media_type) {
        Media::Json => plain(value.to_string().into_bytes()),
        Media::Form => plain(form(body, object()?)?.into_bytes()),
        Media::Multipart => {
            let (bytes, boundary) = multipart(body, object()?)?;
            let media_type = body.media_type.split(';').next().unwrap_or_default().trim();
            (bytes, format!("{media_type}; boundary={boundary}"))
        }
        Media::Text => plain(
            style::scalar(value)
                .ok_or_else(|| refuse("it must be a string, because it is sent as text"))?
                .into_bytes(),
        ),
        Media::Binary => plain(
            decode(value)
                .ok_or_else(|| refuse("it must be bytes in Base64 (standard alphabet, with padding)"))?,
        ),
    })
}

fn decode(value: &Value) -> Option<Vec<u8>> {
    STANDARD.decode(value.as_str()?).ok()
}

fn refuse(body: &Body, property: &str, reason: &str) -> CallError {
    CallError::Argument { name: format!("{}.{property}", body.argument), reason: reason.to_owned() }
}

/// Encodes a form (OpenAPI 3.1, "Support for x-www-form-urlencoded Request Bodies"): properties are written
/// as in a query; objects, and lists of anything but scalars, as JSON unless a style is given.
fn form(body: &Body, object: &Map<String, Value>) -> Result<String, CallError> {
    let default = PartEncoding::default();
    let mut pairs = Vec::new();
    for (name, value) in object {
        let part = body.encoding.get(name).unwrap_or(&default);
        let escape = if part.allow_reserved { Escape::AllowReserved } else { Escape::Percent };
        let wrong = |reason: String| refuse(body, name, &reason);
        let style = part.style.unwrap_or(Style::Form);
        let explode = part.explode.unwrap_or(style == Style::Form);
        let as_json = part.content_type.as_deref().is_some_and(|name| media::of(name) == Media::Json);
        let one = |text: String| style::query(name, &Parts::One(text), Style::Form, true, escape);
        match value {
            Value::Null => {}
            Value::Object(_) if style == Style::DeepObject => {
                pairs.extend(style::deep_object(name, value, escape).map_err(wrong)?);
            }
            Value::Object(_) if part.style.is_none() => pairs.extend(one(value.to_string())),
            _ if part.style.is_none() && as_json => pairs.extend(one(value.to_string())),
            Value::Array(items) if part.style.is_none() => {
                for item in items {
                    pairs.extend(one(style::scalar(item).unwrap_or_else(|| item.to_string())));
                }
            }
            _ => {
                if let Some(parts) = style::parts(value).map_err(wrong)? {
                    pairs.extend(style::query(name, &parts, style, explode, escape));
                }
            }
        }
    }
    Ok(pairs.join("&"))
}

/// Encodes RFC 7578 form data. Each item of a list becomes a part of its own (OpenAPI 3, Special
/// Considerations for `multipart` Content).
fn multipart(body: &Body, object: &Map<String, Value>) -> Result<(Vec<u8>, String), CallError> {
    let default = PartEncoding::default();
    let mut parts: Vec<(String, Vec<u8>)> = Vec::new();
    for (name, value) in object {
        let part = body.encoding.get(name).unwrap_or(&default);
        if part.content_type.as_deref().is_some_and(|name| !super::is_header_value(name)) {
            return Err(refuse(body, name, "its media type on the card contains control characters"));
        }
        let items = match value {
            Value::Array(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        for item in items.iter().filter(|item| !item.is_null()) {
            let json = part.content_type.as_deref().is_some_and(|name| media::of(name) == Media::Json);
            // Servers distinguish files from fields by the presence of a file name.
            let (file, media_type, bytes) = if part.base64 {
                let bytes = decode(item).ok_or_else(|| {
                    refuse(
                        body,
                        name,
                        "it must be a file's bytes in Base64 (standard alphabet, with padding)",
                    )
                })?;
                (true, part.content_type.as_deref().or(Some("application/octet-stream")), bytes)
            } else if let Some(text) = style::scalar(item).filter(|_| !json) {
                (false, part.content_type.as_deref(), text.into_bytes())
            } else {
                let media_type = part.content_type.as_deref().or(Some("application/json"));
                (false, media_type, item.to_string().into_bytes())
            };
            // Names are escaped as browsers do (WHATWG HTML, multipart/form-data encoding algorithm).
            let written = name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A");
            let file = if file { format!("; filename=\"{written}\"") } else { String::new() };
            let media_type = media_type.map_or_else(String::new, |media_type| {
                format!("\r\nContent-Type: {}", media::concrete(media_type))
            });
            let head = format!("Content-Disposition: form-data; name=\"{written}\"{file}{media_type}");
            parts.push((head, bytes));
        }
    }
    let boundary = boundary(&parts);
    let mut out = Vec::new();
    for (head, bytes) in parts {
        out.extend_from_slice(format!("--{boundary}\r\n{head}\r\n\r\n").as_bytes());
        out.extend_from_slice(&bytes);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok((out, boundary))
}

/// A boundary that occurs in none of the parts. It is searched for rather than random, so that the same
/// arguments make the same request.
fn boundary(parts: &[(String, Vec<u8>)]) -> String {
    let within = |boundary: &str| {
        parts
            .iter()
            .any(|(_, bytes)| bytes.windows(boundary.len()).any(|window| window == boundary.as_bytes()))
    };
    let mut number = 0u64;
    loop {
        let boundary = format!("autokit-form-{number:016}");
        if !within(&boundary) {
            return boundary;
        }
        number += 1;
    }
}
