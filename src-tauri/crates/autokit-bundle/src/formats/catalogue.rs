//! Shared by the Markdown and HTML catalogues: the order of cards, headings by kind, and which links are safe
//! to follow.

use std::borrow::Cow;

use autokit_toolcard::{Kind, Toolcard, visible};

/// The heading over the cards of a kind.
pub(super) fn heading(kind: Kind) -> &'static str {
    match kind {
        Kind::Class => "Classes",
        Kind::RestOperation => "REST operations",
        Kind::McpTool => "MCP servers and tools",
        Kind::Cli => "Command-line programs",
        Kind::Other => "Other tools",
    }
}

/// The cards sorted by name, ignoring case; equal names are ordered by card key.
pub(super) fn by_name(cards: &[Toolcard]) -> Vec<&Toolcard> {
    let mut sorted: Vec<&Toolcard> = cards.iter().collect();
    sorted.sort_by_cached_key(|card| (card.name().to_lowercase(), card.key()));
    sorted
}

/// The number of tools, with a comma between thousands.
pub(super) fn count(cards: &[Toolcard]) -> String {
    let digits = cards.len().to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{grouped} {}", if cards.len() == 1 { "tool" } else { "tools" })
}

/// A short anchor for a card within the page, the same in every catalogue that contains the card.
pub(super) fn anchor(card: &Toolcard) -> String {
    let id = card.key().id();
    let digest = id.as_str().rsplit('-').next().unwrap_or_default();
    format!("card-{digest}")
}

/// The text with invisible characters made visible and CRLF line endings turned into LF.
pub(super) fn visible_text(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        Cow::Owned(visible(&text.replace("\r\n", "\n")).into_owned())
    } else {
        visible(text)
    }
}

/// The link target for a text that is an http or https URL; `None` for anything else. Invisible characters
/// and those that could end the URL early are percent-encoded.
pub(super) fn link(text: &str) -> Option<String> {
    let text = text.trim();
    let (scheme, rest) = text.split_once("://")?;
    let web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    if !web || rest.is_empty() || rest.starts_with('/') {
        return None;
    }
    let mut address = format!("{}://", scheme.to_ascii_lowercase());
    for c in rest.chars() {
        let mut buffer = [0; 4];
        let text: &str = c.encode_utf8(&mut buffer);
        if matches!(
            c,
            ' ' | '"' | '\'' | '<' | '>' | '\\' | '`' | '^' | '{' | '}' | '|' | '(' | ')' | '*' | '\t' | '\n'
        ) || visible(text) != text
        {
            address.extend(text.bytes().map(|byte| format!("%{byte:02X}")));
        } else {
            address.push(c);
        }
    }
    Some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        let card = Toolcard::from_json(r#"{"name":"a"}"#).expect("valid");
        let counted = |n| count(&vec![card.clone(); n]);
        assert_eq!(
            [0, 1, 143, 1000, 16_000].map(counted),
            ["0 tools", "1 tool", "143 tools", "1,000 tools", "16,000 tools"]
        );
    }

    #[test]
    fn only_the_web_is_linked() {
        assert_eq!(link("HTTPS://a.b/x?y=1&z#f"), Some("https://a.b/x?y=1&z#f".to_owned()));
        assert_eq!(
            link("https://a.b/>)\"\u{202e}x y"),
            Some("https://a.b/%3E%29%22%E2%80%AEx%20y".to_owned())
        );
        for none in [
            "javascript:alert(1)",
            "javascript://a.b/%0aalert(1)",
            "data:text/html,x",
            "/docs",
            "a.b",
            "https://",
            "https:///x",
            "\u{1}https://a.b",
        ] {
            assert_eq!(link(none), None, "{none}");
        }
    }
}
