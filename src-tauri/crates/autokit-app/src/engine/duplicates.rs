//! Cards that may be one tool under two names: found by name, import, page, text and meaning, wherever a card comes
//! in. They are pointed out to a person; nothing is merged or refused because of them.

use std::collections::HashMap;
use std::sync::Arc;

use autokit_library::{CardRecord, Replica};
use autokit_retrieve::{Mode, Query, QueryPlan, dot};
use autokit_toolcard::{CardId, CardKey, Kind, Problem, Toolcard, fields};
use url::Url;

use super::Core;
use super::background::in_background;
use crate::error::{ApiError, Result};

/// Cosine from which two cards are of one tool, most likely: above what different tools of one maker reach, below
/// what two wordings of one tool do.
const ALIKE: f32 = 0.85;
/// Cosine of two descriptions alone, without the names, from which they say the same. Higher, for there is less to
/// tell different tools apart.
const SAME_DESCRIPTION: f32 = 0.9;
/// Cosine of two cards below which their descriptions are not compared.
const NEAR: f32 = 0.5;
/// Cards compared by meaning.
const COMPARED: usize = 5;
/// Words a description has at least where it tells tools apart.
const TELLING_WORDS: usize = 4;

/// What two cards of one tool share although their names differ.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Sign {
    /// The name, but for its spelling, of one provider.
    Name(String),
    /// Module and class.
    Import(String),
    /// The documentation page. It tells nothing where several cards have it.
    Page(String),
    /// The description, but for its spelling.
    Text(String),
}

impl Sign {
    /// The field it is read from.
    fn field(&self) -> &'static str {
        match self {
            Sign::Name(_) => fields::NAME,
            Sign::Import(_) => fields::CLASS,
            Sign::Page(_) => fields::DOCUMENTATION,
            Sign::Text(_) => fields::DESCRIPTION,
        }
    }
}

/// A card that may be the same tool.
#[derive(Clone, Debug)]
pub(crate) struct Duplicate {
    pub(crate) id: CardId,
    key: CardKey,
    /// What they share; nothing when it is their meaning.
    sign: Option<Sign>,
}

impl Duplicate {
    /// What a person should look at.
    pub(crate) fn warning(&self) -> Problem {
        let Duplicate { id, key, sign } = self;
        match sign {
            Some(sign) => Problem::warning(
                sign.field(),
                format!("is the same as that of {key} ({id}), which may be the same tool"),
            ),
            None => Problem::warning(
                fields::DESCRIPTION,
                format!("says what that of {key} ({id}) says, which may be the same tool"),
            ),
        }
    }
}

fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// An address as two cards are compared by it: without scheme, `www.`, fragment and a slash at its end.
fn page(address: &str) -> Option<String> {
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

/// The parts of a description between the places where it has the tool's own name, as a word of its own.
fn parts(card: &Toolcard) -> Vec<&str> {
    let (text, name) = (card.description(), card.name());
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
    parts
}

/// The description without the tool's own name, which is all that differs in a copy under another one.
fn unnamed(card: &Toolcard) -> String {
    let text = parts(card).join(" ");
    text.trim_start_matches(|c: char| !c.is_alphanumeric()).to_owned()
}

/// A description as two cards are compared by it; none where it is too short to tell tools apart.
fn telling(card: &Toolcard) -> Option<String> {
    let text = unnamed(card);
    let words: Vec<String> = text.split_whitespace().map(plain).filter(|word| !word.is_empty()).collect();
    (words.len() >= TELLING_WORDS).then(|| words.join(" "))
}

/// The longest part of a description without the name in it, as it is written in a card's JSON.
fn longest_part(card: &Toolcard) -> Option<String> {
    let part = parts(card).into_iter().max_by_key(|part| part.len())?;
    let part = part.trim_matches(|c: char| !c.is_alphanumeric());
    let quoted = serde_json::Value::from(part).to_string();
    Some(quoted[1..quoted.len() - 1].to_owned()).filter(|part| !part.is_empty())
}

/// Whether two cards are operations or tools of one maker, which are often described by the same sentence ("Deletes the
/// thing with this id") and differ all the same.
fn of_one_maker(kind: Kind, provider: &str, other: &CardRecord) -> bool {
    matches!(kind, Kind::RestOperation | Kind::McpTool)
        && other.kind == kind
        && !provider.is_empty()
        && other.key.provider == provider
}

pub(super) fn signs(card: &Toolcard) -> Vec<Sign> {
    let mut signs = vec![Sign::Name(format!("{} {}", plain(&card.key().provider), plain(card.name())))];
    if let (Some(module), Some(class)) = (card.text(fields::MODULE), card.text(fields::CLASS))
        && !class.is_empty()
    {
        signs.push(Sign::Import(format!("{module} {class}")));
    }
    signs.extend(card.text(fields::DOCUMENTATION).and_then(page).map(Sign::Page));
    signs.extend(telling(card).map(Sign::Text));
    signs
}

/// The cards of a library by what tells that two are one tool.
pub(super) struct Known(HashMap<Sign, Vec<Arc<CardRecord>>>);

impl Known {
    pub(super) fn of(replica: &Replica) -> Known {
        let mut known: HashMap<Sign, Vec<Arc<CardRecord>>> = HashMap::new();
        for record in replica.iter() {
            for sign in signs(&record.card()) {
                known.entry(sign).or_default().push(Arc::clone(record));
            }
        }
        Known(known)
    }

    /// Cards that may be the same tool as one with these signs, by id.
    pub(super) fn like(&self, card: &Toolcard, signs: &[Sign]) -> Vec<Arc<CardRecord>> {
        let (kind, provider) = (card.kind(), card.key().provider);
        let mut like: Vec<Arc<CardRecord>> = Vec::new();
        for sign in signs {
            let same = self.0.get(sign).map_or(&[][..], Vec::as_slice);
            if matches!(sign, Sign::Page(_)) && same.len() > 1 {
                continue;
            }
            let is_text = matches!(sign, Sign::Text(_));
            for record in same.iter().filter(|record| !is_text || !of_one_maker(kind, &provider, record)) {
                if !like.iter().any(|other| other.id == record.id) {
                    like.push(Arc::clone(record));
                }
            }
        }
        like.sort_by(|a, b| a.id.cmp(&b.id));
        like
    }
}

/// Cards that share a sign with one that is not among them. Only those whose text may hold one are read.
fn with_signs(replica: &Replica, card: &Toolcard) -> Vec<Duplicate> {
    let own = signs(card);
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut texts: Vec<String> = Vec::new();
    for sign in &own {
        match sign {
            Sign::Name(_) => {}
            Sign::Import(_) => texts.extend(card.text(fields::CLASS).map(quoted)),
            // The host may be written in capitals, the path says enough.
            Sign::Page(page) => texts.push(page.find('/').map_or(page.clone(), |at| page[at..].to_owned())),
            Sign::Text(_) => texts.extend(longest_part(card)),
        }
    }
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let key = card.key();
    let (provider, name) = (plain(&key.provider), plain(&key.name));
    let named = replica
        .iter()
        .filter(|record| plain(&record.key.name) == name && plain(&record.key.provider) == provider);
    let mut found: HashMap<&CardId, (&Arc<CardRecord>, Vec<Sign>)> = HashMap::new();
    for record in replica.containing(&texts).chain(named) {
        found.entry(&record.id).or_insert_with(|| {
            let theirs = signs(&record.card());
            let one_maker = of_one_maker(card.kind(), &key.provider, record);
            let shared =
                |sign: &&Sign| theirs.contains(sign) && !(one_maker && matches!(sign, Sign::Text(_)));
            (record, own.iter().filter(shared).cloned().collect())
        });
    }
    let is_page = |sign: &Sign| matches!(sign, Sign::Page(_));
    let on_page = found.values().filter(|(_, signs)| signs.iter().any(is_page)).count();
    found
        .into_values()
        .filter_map(|(record, signs)| {
            let sign = signs.into_iter().find(|sign| !is_page(sign) || on_page == 1)?;
            Some(Duplicate { id: record.id.clone(), key: record.key.clone(), sign: Some(sign) })
        })
        .collect()
}

impl Core {
    /// Cards of the library that may be the same tool as one that is not in it, by id. `vector` is the card's own, if
    /// there is a model.
    pub(crate) async fn duplicates_of(
        &self,
        card: &Toolcard,
        vector: Option<Vec<f32>>,
    ) -> Result<Vec<Duplicate>> {
        let mut found = self.library.read(|replica| with_signs(replica, card));
        if let Some(vector) = vector {
            for near in self.described_alike(card, vector).await? {
                if !found.iter().any(|known| known.id == near.id) {
                    found.push(near);
                }
            }
        }
        found.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(found)
    }

    /// Cards that say what a card says: nearly the same as a whole, or in their descriptions, whatever they are called.
    async fn described_alike(&self, card: &Toolcard, vector: Vec<f32>) -> Result<Vec<Duplicate>> {
        let near = self.nearest(vector)?;
        let (mut alike, mut others) = (Vec::new(), Vec::new());
        for (id, cosine) in near {
            let Some(record) = self.library.read(|replica| replica.get(&id).cloned()) else { continue };
            if of_one_maker(card.kind(), &card.key().provider, &record) {
                continue;
            }
            if cosine >= ALIKE {
                alike.push(record);
            } else if telling(&record.card()).is_some() {
                others.push(record);
            }
        }
        if let (Some(embedder), Some(_)) = (self.embedder().filter(|_| !others.is_empty()), telling(card)) {
            let mut texts = vec![unnamed(card)];
            texts.extend(others.iter().map(|record| unnamed(&record.card())));
            let vectors = in_background(move || Ok(embedder.embed_passages(&texts)?)).await?;
            let own = &vectors[0];
            let same = others.into_iter().zip(&vectors[1..]);
            alike.extend(
                same.filter(|(_, other)| dot(own, other) >= SAME_DESCRIPTION).map(|(record, _)| record),
            );
        }
        let duplicate = |record: &Arc<CardRecord>| Duplicate {
            id: record.id.clone(),
            key: record.key.clone(),
            sign: None,
        };
        Ok(alike.iter().map(duplicate).collect())
    }

    /// The cards closest to a vector, with their cosines.
    fn nearest(&self, vector: Vec<f32>) -> Result<Vec<(CardId, f32)>> {
        let plan = QueryPlan::new("");
        let vectors = [vector];
        let query =
            Query { plan: &plan, vectors: &vectors, mode: Mode::Vector, limit: COMPARED, filter: None };
        let hits = self.finder.load().read(|index| index.search(&query));
        let hits = hits.map_err(|error| ApiError::internal(error.to_string()))?;
        let near = hits.into_iter().filter_map(|hit| Some((CardId::new(&hit.id), hit.parts.cosine?)));
        Ok(near.filter(|(_, cosine)| *cosine >= NEAR).collect())
    }

    /// The card of the library that says nearly the same as another one with this vector, if there is one.
    pub(super) fn same_meaning(&self, card: &Toolcard, vector: Vec<f32>) -> Result<Option<Arc<CardRecord>>> {
        let (kind, provider) = (card.kind(), card.key().provider);
        let mut same = self.nearest(vector)?.into_iter().filter(|(_, cosine)| *cosine >= ALIKE);
        Ok(same.find_map(|(id, _)| {
            let record = self.library.read(|replica| replica.get(&id).cloned())?;
            (!of_one_maker(kind, &provider, &record)).then_some(record)
        }))
    }
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
            "http://www.Docs.example.org/Tools/x/",
            "HTTPS://DOCS.EXAMPLE.ORG/Tools/x#usage",
        ];
        for address in same {
            let address = address.replace("www.Docs", "www.docs");
            assert_eq!(page(&address).as_deref(), Some("docs.example.org/Tools/x"), "{address}");
        }
        assert_ne!(page("https://docs.example.org/x?a=1"), page("https://docs.example.org/x?a=2"));
        assert_eq!(page("/docs/x/").as_deref(), Some("/docs/x"));
        assert_eq!((page(""), page("#top")), (None, None));
    }

    #[test]
    fn texts_too_short_to_tell_tools_apart_are_no_sign() {
        let text = |description: &str| {
            let signs = signs(&card(json!({ "name": "one", "description": description })));
            signs.into_iter().any(|sign| matches!(sign, Sign::Text(_)))
        };
        assert!(!text("A tool."));
        assert!(text("Sends messages to a channel."));
        let a = signs(&card(json!({ "name": "one", "description": "Sends  messages to a channel." })));
        let b = signs(&card(json!({ "name": "two", "description": "sends messages to a Channel" })));
        assert_eq!(a.last(), b.last());
        let a = signs(&card(json!({ "name": "Kit", "description": "Kit is a library that draws charts." })));
        let b = signs(&card(json!({ "name": "Box", "description": "Box is a library that draws charts" })));
        assert_eq!(a.last(), b.last());
    }
}
