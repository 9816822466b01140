//! A server as listed by a registry.

use autokit_bundle::formats::{LaunchOption, Transport, launch_options};
use autokit_toolcard::{injections_in_value, visible};
use serde_json::{Map, Value, json};
use url::Url;

/// Most characters of a name.
const MAX_NAME: usize = 200;
/// Most characters of a description.
const MAX_DESCRIPTION: usize = 2_000;
/// Most characters of any other text.
const MAX_TEXT: usize = 200;
/// Most names of tools of one server.
const MAX_FUNCTIONS: usize = 50;
/// Most words in a command line, and most characters of each.
const WORDS: (usize, usize) = (60, 500);
/// Most inputs of one server.
const MAX_INPUTS: usize = 40;

/// Allowed commands, which download a package and run it. With another command, an entry could start any
/// program.
const RUNNERS: [&str; 9] = ["npx", "uvx", "docker", "podman", "dnx", "bunx", "pnpx", "pipx", "uv"];

/// Key of the official registry's own metadata.
const OFFICIAL: &str = "io.modelcontextprotocol.registry/official";
/// Key of the metadata provided by publishers.
const PUBLISHER: &str = "io.modelcontextprotocol.registry/publisher-provided";

/// Additional facts about a server, as its entry states them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Its category, in a word.
    pub category: Option<String>,
    /// Its price.
    pub price: Option<String>,
    /// Its rating, on the registry's scale.
    pub rating: Option<f64>,
    /// Names of its tools.
    pub functions: Vec<String>,
}

/// A server as listed by a registry.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// Its name in the registry, e.g. `io.github.acme/mail`.
    pub name: String,
    /// Its display name.
    pub title: Option<String>,
    /// What it does.
    pub description: String,
    /// Its newest version.
    pub version: Option<String>,
    /// The URL of a page about it.
    pub page: Option<String>,
    /// Whether the registry marks it as deprecated.
    pub deprecated: bool,
    /// Additional facts.
    pub facts: Facts,
    /// The ways in which it can be started or reached.
    pub launch_options: Vec<LaunchOption>,
    /// Ways to start or reach it that cannot be used, and why.
    pub notes: Vec<String>,
    /// Why its texts are flagged, if they hide something or contain instructions to a model.
    pub flagged: Option<String>,
}

/// Returns whether a text is a valid server name: a namespace and a name, of ASCII letters, digits and
/// `._-`.
pub(super) fn is_name(name: &str) -> bool {
    let is_valid = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
    };
    name.len() <= MAX_NAME
        && name.split_once('/').is_some_and(|(space, name)| is_valid(space) && is_valid(name))
}

fn shorten(text: &str, most: usize) -> String {
    visible(&text.chars().take(most).collect::<String>()).into_owned()
}

fn text(object: &Map<String, Value>, key: &str, most: usize) -> Option<String> {
    let text = object.get(key)?.as_str()?.trim();
    (!text.is_empty()).then(|| shorten(text, most))
}

impl Listing {
    /// Parses an entry of a registry; `None` for an older version or a deleted server.
    ///
    /// # Errors
    /// Why the entry cannot be used, with its name.
    pub(super) fn parse(entry: &Value) -> Result<Option<Listing>, String> {
        let entry = entry.as_object().ok_or("an entry is not an object")?;
        let server =
            entry.get("server").map_or(Some(entry), Value::as_object).ok_or("an entry has no server")?;
        let name = server.get("name").and_then(Value::as_str).ok_or("an entry has no name")?;
        if !is_name(name) {
            return Err(format!("{:?} is not a valid server name", shorten(name, 80)));
        }
        let meta = |key: &str| entry.get("_meta").and_then(|meta| meta.get(key)).and_then(Value::as_object);
        let official = meta(OFFICIAL);
        let status = official.and_then(|official| official.get("status")).and_then(Value::as_str);
        let latest = official.and_then(|official| official.get("isLatest")).and_then(Value::as_bool);
        if latest == Some(false) || status == Some("deleted") {
            return Ok(None);
        }
        let mut notes = Vec::new();
        let mut options = launch_options(server);
        options.retain(|start| match unusable(start) {
            Some(why) => {
                notes.push(why);
                false
            }
            None => true,
        });
        let published = server
            .get("_meta")
            .and_then(|meta| meta.get(PUBLISHER))
            .and_then(Value::as_object)
            .or(meta(PUBLISHER));
        let texts = json!([
            server.get("title"),
            server.get("description"),
            options.iter().map(texts_of).collect::<Vec<_>>(),
            published,
        ]);
        let marks = injections_in_value(&texts);
        let flagged = marks.first().and_then(|text| text.marks.first()).map(|mark| mark.why.clone());
        let page = ["websiteUrl", "website_url"].iter().find_map(|key| text(server, key, MAX_TEXT));
        let repository = server.get("repository").and_then(Value::as_object);
        let page = page.or_else(|| text(repository?, "url", MAX_TEXT)).filter(|url| is_web(url));
        Ok(Some(Listing {
            name: name.to_owned(),
            title: text(server, "title", MAX_TEXT),
            description: text(server, "description", MAX_DESCRIPTION).unwrap_or_default(),
            version: text(server, "version", MAX_TEXT),
            page,
            deprecated: status == Some("deprecated"),
            facts: facts(server, published),
            launch_options: options,
            notes,
            flagged,
        }))
    }
}

fn is_web(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https") && url.has_host() && url.username().is_empty()
    })
}

fn texts_of(start: &LaunchOption) -> Value {
    let inputs: Vec<_> =
        start.inputs.iter().map(|one| json!([one.name, one.description, one.default])).collect();
    match &start.transport {
        Transport::Program { command, args } => json!([command, args, inputs]),
        Transport::Address(url) => json!([url, inputs]),
    }
}

/// Returns why a way to start or reach a server cannot be used, if so.
fn unusable(start: &LaunchOption) -> Option<String> {
    let name_of_variable = |name: &str| {
        name.len() <= MAX_TEXT
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
    };
    if start.inputs.len() > MAX_INPUTS || !start.inputs.iter().all(|input| name_of_variable(&input.name)) {
        return Some("it requires inputs that are not supported".to_owned());
    }
    match &start.transport {
        Transport::Program { command, .. } if !RUNNERS.contains(&command.as_str()) => {
            Some(format!("it starts {:?}, which is not a known package runner", shorten(command, 80)))
        }
        Transport::Program { args, .. }
            if args.len() > WORDS.0 || args.iter().any(|word| word.len() > WORDS.1) =>
        {
            Some("its start command is too long".to_owned())
        }
        Transport::Address(url) if url.len() > WORDS.1 || !is_web(url) => {
            Some(format!("{:?} is not a valid URL", shorten(url, 80)))
        }
        Transport::Program { .. } | Transport::Address(_) => None,
    }
}

/// Collects the facts that the entry or its publisher states under the usual names.
fn facts(server: &Map<String, Value>, published: Option<&Map<String, Value>>) -> Facts {
    let sources = || [Some(server), published].into_iter().flatten();
    let first =
        |keys: &[&str]| sources().find_map(|source| keys.iter().find_map(|key| text(source, key, MAX_TEXT)));
    let rating =
        sources().find_map(|source| source.get("rating")?.as_f64()).filter(|rating| rating.is_finite());
    let lists = sources()
        .find_map(|source| ["tools", "functions"].iter().find_map(|key| source.get(*key)?.as_array()));
    let name = |one: &Value| {
        let name = one.as_str().or_else(|| one.get("name")?.as_str())?;
        (!name.trim().is_empty()).then(|| shorten(name.trim(), 80))
    };
    Facts {
        category: first(&["category"]),
        price: first(&["price", "pricing"]),
        rating,
        functions: lists.into_iter().flatten().filter_map(name).take(MAX_FUNCTIONS).collect(),
    }
}
