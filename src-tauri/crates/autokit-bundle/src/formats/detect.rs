//! Detects the format of a file from its content, and from its name only where the content is ambiguous.

use std::path::Path;

use serde_json::value::RawValue;

use super::csv;
use super::json::Entries;

/// The formats cards are read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// A JSON array of cards, or one card alone ([`autokit_toolcard::read_cards`]).
    AutokitJson,
    /// A zip archive.
    Bundle,
    /// The servers in the settings of an MCP client ([`super::read_mcp_servers`]).
    McpServers,
    /// A server's own description for the MCP registry, or a response of the registry
    /// ([`super::read_server_json`]).
    ServerJson,
    /// A table whose first row names fields ([`super::read_csv`]).
    Csv,
    /// None of these.
    Unknown,
}

/// Detects the format of a file from its bytes, and from its name where the bytes are not enough, as with
/// truncated JSON: the reader of that format then reports what is wrong.
pub fn detect(bytes: &[u8], name: Option<&str>) -> Format {
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return Format::Bundle;
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match bytes.trim_ascii_start().first() {
        // A table can start with a bracket too; that is for the CSV reader to recognise.
        Some(b'[') if serde_json::from_slice::<Vec<&RawValue>>(bytes).is_ok() => return Format::AutokitJson,
        Some(b'{') => {
            if let Ok(object) = serde_json::from_slice::<Entries<'_>>(bytes) {
                return of_object(&object);
            }
        }
        _ => {}
    }
    if std::str::from_utf8(bytes).is_ok_and(csv::has_name_column) {
        return Format::Csv;
    }
    by_name(name)
}

/// The format of a JSON object. A single card and a `server.json` both have a name and a description; only
/// the latter lists packages or remotes.
fn of_object(object: &Entries<'_>) -> Format {
    let settings = object.object("mcp").is_some_and(|mcp| mcp.object("servers").is_some());
    if object.object("mcpServers").is_some() || object.object("servers").is_some() || settings {
        return Format::McpServers;
    }
    let schema = object.get("$schema").is_some_and(|schema| schema.get().contains("server.schema.json"));
    let one = object.get("name").is_some()
        && (object.list("packages").is_some() || object.list("remotes").is_some());
    let answer = object.list("servers").is_some() || object.object("server").is_some();
    if schema || one || answer {
        return Format::ServerJson;
    }
    if object.get("name").is_some() { Format::AutokitJson } else { Format::Unknown }
}

fn by_name(name: Option<&str>) -> Format {
    let Some(name) = name else { return Format::Unknown };
    let file = Path::new(name).file_name().and_then(|file| file.to_str()).unwrap_or("").to_lowercase();
    match (file.as_str(), file.rsplit_once('.').map(|(_, ending)| ending)) {
        ("server.json", _) => Format::ServerJson,
        ("mcp.json" | ".mcp.json" | "claude_desktop_config.json" | "mcp_settings.json", _) => {
            Format::McpServers
        }
        (_, Some("json")) => Format::AutokitJson,
        (_, Some("csv" | "tsv")) => Format::Csv,
        (_, Some("zip")) => Format::Bundle,
        _ => Format::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Format {
        detect(text.as_bytes(), None)
    }

    #[test]
    fn content_tells() {
        assert_eq!(told(r#"[{"name":"a"}]"#), Format::AutokitJson);
        assert_eq!(told(r#"{"name":"a","description":"x"}"#), Format::AutokitJson);
        assert_eq!(told("\u{feff} {\"mcpServers\":{}}"), Format::McpServers);
        assert_eq!(told(r#"{"inputs":[],"servers":{"a":{}}}"#), Format::McpServers);
        assert_eq!(told(r#"{"editor.x":1,"mcp":{"servers":{"a":{}}}}"#), Format::McpServers);
        assert_eq!(told(r#"{"name":"a/b","description":"x","packages":[]}"#), Format::ServerJson);
        assert_eq!(told(r#"{"servers":[{"server":{}}],"metadata":{}}"#), Format::ServerJson);
        assert_eq!(told(r#"{"server":{"name":"a/b"},"_meta":{}}"#), Format::ServerJson);
        assert_eq!(told("provider;name\nx;y\n"), Format::Csv);
        assert_eq!(told("\u{feff}\"name\"\tdescription\r\n"), Format::Csv);
        assert_eq!(detect(b"PK\x03\x04....", Some("cards.csv")), Format::Bundle);
        for nothing in ["", "{}", "hello", "7", "{\"x\":1}", "a,b\n1,2"] {
            assert_eq!(told(nothing), Format::Unknown, "{nothing}");
        }
    }

    #[test]
    fn the_name_decides_only_what_content_leaves_open() {
        assert_eq!(detect(b"[{\"name\":", Some("cards.JSON")), Format::AutokitJson);
        assert_eq!(detect(b"{\"mcpServers\": // mine\n{}}", Some("/home/a/mcp.json")), Format::McpServers);
        assert_eq!(detect(b"title,text\n", Some("x.csv")), Format::Csv);
        assert_eq!(detect(b"name,text\n", Some("x.json")), Format::Csv);
        assert_eq!(detect(b"\xff\xfe", Some("x.bin")), Format::Unknown);
    }
}
