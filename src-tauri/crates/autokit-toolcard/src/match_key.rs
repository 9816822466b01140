//! Match keys: what two cards of the same tool have in common although their ids differ.

use std::hash::{DefaultHasher, Hash, Hasher};

use url::Url;

use crate::card::{Toolcard, fields};

/// Fewest words of a description that distinguishes tools.
const MIN_DESCRIPTION_WORDS: usize = 4;

/// Something that two cards of the same tool have in common, normalized for spelling.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MatchKey {
    /// Provider and name.
    Name(String),
    /// Module and class.
    Import(String),
    /// The documentation page. Not conclusive if several cards share it.
    Page(String),
    /// The description without the tool's own name.
    Description(String),
}

impl MatchKey {
    /// Returns the field it is derived from.
    pub fn field(&self) -> &'static str {
        match self {
            MatchKey::Name(_) => fields::NAME,
            MatchKey::Import(_) => fields::CLASS,
            MatchKey::Page(_) => fields::DOCUMENTATION,
            MatchKey::Description(_) => fields::DESCRIPTION,
        }
    }

    /// Returns a 64-bit hash of the key, valid within one process. In a library of a million cards, two
    /// different keys collide about once in ten million libraries.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }
}

impl Toolcard {
    /// Returns the keys by which the card is matched with another one of the same tool; at most one of each
    /// kind.
    pub fn match_keys(&self) -> Vec<MatchKey> {
        let key = self.key();
        let mut keys =
            vec![MatchKey::Name(format!("{} {}", normalized(&key.provider), normalized(&key.name)))];
        if let (Some(module), Some(class)) = (self.text(fields::MODULE), self.text(fields::CLASS))
            && !class.is_empty()
        {
            keys.push(MatchKey::Import(format!("{module} {class}")));
        }
        keys.extend(self.text(fields::DOCUMENTATION).and_then(normalized_page).map(MatchKey::Page));
        keys.extend(description_key(self).map(MatchKey::Description));
        keys
    }

    /// Returns the description without the tool's own name, which is all that differs in a copy under another
    /// name.
    pub fn unnamed_description(&self) -> String {
        let (text, name) = (self.description(), self.name());
        let (mut parts, mut start) = (Vec::new(), 0);
        for (at, _) in text.match_indices(name) {
            let end = at + name.len();
            let inside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            if at >= start && !inside(text[..at].chars().next_back()) && !inside(text[end..].chars().next()) {
                parts.push(&text[start..at]);
                start = end;
            }
        }
        parts.push(&text[start..]);
        parts.join(" ").trim_start_matches(|c: char| !c.is_alphanumeric()).to_owned()
    }
}

fn normalized(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Normalizes a URL: drops scheme, `www.`, fragment and trailing slash.
fn normalized_page(address: &str) -> Option<String> {
    let address = address.trim();
    let Ok(url) = Url::parse(address) else {
        let path = address.split('#').next().unwrap_or_default().trim_end_matches('/');
        return (!path.is_empty()).then(|| path.to_owned());
    };
    let host = url.host_str()?;
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    let host = host.strip_prefix("www.").unwrap_or(host);
    Some(format!("{host}{}{query}", url.path().trim_end_matches('/')))
}

/// Returns the normalized description if it is long enough to distinguish tools.
fn description_key(card: &Toolcard) -> Option<String> {
    let text = card.unnamed_description();
    let words: Vec<String> =
        text.split_whitespace().map(normalized).filter(|word| !word.is_empty()).collect();
    (words.len() >= MIN_DESCRIPTION_WORDS).then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn card(value: serde_json::Value) -> Toolcard {
        let serde_json::Value::Object(fields) = value else { unreachable!() };
        Toolcard::new(fields).expect("a valid card")
    }

    #[test]
    fn addresses_are_compared_without_what_does_not_tell_pages_apart() {
        let same = [
            "https://docs.example.org/Tools/x",
            "http://www.docs.example.org/Tools/x/",
            "HTTPS://DOCS.EXAMPLE.ORG/Tools/x#usage",
        ];
        for address in same {
            assert_eq!(normalized_page(address).as_deref(), Some("docs.example.org/Tools/x"), "{address}");
        }
        assert_ne!(
            normalized_page("https://docs.example.org/x?a=1"),
            normalized_page("https://docs.example.org/x?a=2")
        );
        assert_eq!(normalized_page("/docs/x/").as_deref(), Some("/docs/x"));
        assert_eq!((normalized_page(""), normalized_page("#top")), (None, None));
    }

    #[test]
    fn descriptions_too_short_to_tell_tools_apart_are_no_key() {
        let described = |name: &str, description: &str| {
            let keys = card(json!({ "name": name, "description": description })).match_keys();
            keys.into_iter().find(|key| matches!(key, MatchKey::Description(_)))
        };
        assert_eq!(described("one", "A tool."), None);
        let one = described("one", "Sends  messages to a channel.");
        assert!(one.is_some());
        assert_eq!(one, described("two", "sends messages to a Channel"));
        let kit = described("Kit", "Kit is a library that draws charts.");
        assert_eq!(kit, described("Box", "Box is a library that draws charts"));
    }

    #[test]
    fn fingerprints_differ_where_sort_or_text_differ() {
        let text = || "example.org/x".to_owned();
        let keys = [
            MatchKey::Name(text()),
            MatchKey::Import(text()),
            MatchKey::Page(text()),
            MatchKey::Description(text()),
            MatchKey::Page("example.org/y".to_owned()),
        ];
        let mut seen: Vec<u64> = keys.iter().map(MatchKey::fingerprint).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), keys.len());
    }
}
