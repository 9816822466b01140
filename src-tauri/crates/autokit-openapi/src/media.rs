//! Classifies media types by how a body is encoded.

/// How a value is encoded as a body or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Media {
    /// JSON.
    Json,
    /// `application/x-www-form-urlencoded`.
    Form,
    /// `multipart/form-data`.
    Multipart,
    /// Text, sent as it is.
    Text,
    /// Anything else: bytes, given in Base64.
    Binary,
}

impl Media {
    /// Preference among several media types; the lowest rank wins.
    pub(super) fn rank(self) -> u8 {
        match self {
            Media::Json => 0,
            Media::Form => 1,
            Media::Multipart => 2,
            Media::Text => 3,
            Media::Binary => 4,
        }
    }
}

/// Classifies a media type, ignoring its parameters.
pub(super) fn of(media_type: &str) -> Media {
    let plain = media_type.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    let (sort, name) = plain.split_once('/').unwrap_or((&plain, ""));
    match (sort, name) {
        // Documents generated from code often name no media type where they mean JSON.
        ("*", _) | ("text", "json") | ("application", "json" | "*") => Media::Json,
        ("application", "x-www-form-urlencoded") => Media::Form,
        ("multipart", "form-data") => Media::Multipart,
        (_, name) if name.ends_with("+json") => Media::Json,
        ("text", _)
        | (
            "application",
            "xml" | "yaml" | "x-yaml" | "graphql" | "javascript" | "x-ndjson" | "jsonl" | "json-seq" | "sql",
        ) => Media::Text,
        (_, name) if name.ends_with("+xml") || name.ends_with("+yaml") => Media::Text,
        _ => Media::Binary,
    }
}

/// A media type that can be sent: a range is replaced by the type it is treated as.
pub(super) fn concrete(media_type: &str) -> String {
    if !media_type.contains('*') {
        return media_type.trim().to_owned();
    }
    match of(media_type) {
        Media::Json => "application/json",
        Media::Text => "text/plain",
        _ => "application/octet-stream",
    }
    .to_owned()
}
