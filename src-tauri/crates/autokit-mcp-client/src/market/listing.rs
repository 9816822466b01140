//! A server as listed by a registry.

use autokit_bundle::formats::{Start, Transport, launch_options};
use autokit_toolcard::{injections_in_value, visible};
use serde_json::{Map, Value, json};
use url::Url;

/// Most characters of a name.
const NAME: usize = 200;
/// Most characters of a description.
const DESCRIPTION: usize = 2_000;
/// Most characters of any other text.
const TEXT: usize = 200;
/// Most names of tools of one server.
const FUNCTIONS: usize = 50;
/// Most words in a command line, and most characters of each.
const WORDS: (usize, usize) = (60, 500);
/// Most inputs of one server.
const INPUTS: usize = 40;

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
    pub starts: Vec<Start>,
    /// Ways to start or reach it that cannot be used, and why.
    pub notes: Vec<String>,
    /// Why its texts are flagged, if they hide something or contain instructions to a model.
    pub suspect: Option<String>,
}

/// Returns whether a text is a valid server name: a namespace and a name, of ASCII letters, digits and
/// `._-`.
pub(super) fn is_name(name: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
    };
    name.len() <= NAME && name.split_once('/').is_some_and(|(space, name)| plain(space) && plain(name))
}

fn short(text: &str, most: usize) -> String {
    visible(&text.chars().take(most).collect::<String>()).into_owned()
}

fn text(object: &Map<String, Value>, key: &str, most: usize) -> Option<String> {
    let text = object.get(key)?.as_str()?.trim();
    (!text.is_empty()).then(|| short(text, most))
}

impl Listing {
    /// Parses an entry of a registry; `None` for an older version or a deleted server.
    ///
    /// # Errors
    /// Why the entry cannot be used, with its name.
    pub(super) fn of(entry: &Value) -> Result<Option<Listing>, String> {
        let whole = entry.as_object().ok_or("an entry is not an object")?;
        let server =
            whole.get("server").map_or(Some(whole), Value::as_object).ok_or("an entry has no server")?;
        let name = server.get("name").and_then(Value::as_str).ok_or("an entry has no name")?;
        if !is_name(name) {
            return Err(format!("{:?} is not a valid server name", short(name, 80)));
        }
        let meta = |key: &str| whole.get("_meta").and_then(|meta| meta.get(key)).and_then(Value::as_object);
        let official = meta(OFFICIAL);
        let status = official.and_then(|official| official.get("status")).and_then(Value::as_str);
        let latest = official.and_then(|official| official.get("isLatest")).and_then(Value::as_bool);
        if latest == Some(false) || status == Some("deleted") {
            return Ok(None);
        }
        let mut notes = Vec::new();
        let mut starts = launch_options(server);
        starts.retain(|start| match unusable(start) {
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
        let said = json!([
            server.get("title"),
            server.get("description"),
            starts.iter().map(words_of).collect::<Vec<_>>(),
            published,
        ]);
        let marks = injections_in_value(&said);
        let suspect = marks.first().and_then(|text| text.marks.first()).map(|mark| mark.why.clone());
        let page = ["websiteUrl", "website_url"].iter().find_map(|key| text(server, key, TEXT));
        let repository = server.get("repository").and_then(Value::as_object);
        let page = page.or_else(|| text(repository?, "url", TEXT)).filter(|url| is_web(url));
        Ok(Some(Listing {
            name: name.to_owned(),
            title: text(server, "title", TEXT),
            description: text(server, "description", DESCRIPTION).unwrap_or_default(),
            version: text(server, "version", TEXT),
            page,
            deprecated: status == Some("deprecated"),
            facts: facts(server, published),
            starts,
            notes,
            suspect,
        }))
    }
}

fn is_web(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https") && url.has_host() && url.username().is_empty()
    })
}

fn words_of(start: &Start) -> Value {
    let inputs: Vec<_> =
        start.inputs.iter().map(|one| json!([one.name, one.description, one.default])).collect();
    match &start.transport {
        Transport::Program { command, args } => json!([command, args, inputs]),
        Transport::Address(url) => json!([url, inputs]),
    }
}

/// Returns why a way to start or reach a server cannot be used, if so.
fn unusable(start: &Start) -> Option<String> {
    let name_of_variable = |name: &str| {
        name.len() <= TEXT && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
    };
    if start.inputs.len() > INPUTS || !start.inputs.iter().all(|input| name_of_variable(&input.name)) {
        return Some("it requires inputs that are not supported".to_owned());
    }
    match &start.transport {
        Transport::Program { command, .. } if !RUNNERS.contains(&command.as_str()) => {
            Some(format!("it starts {:?}, which is not a known package runner", short(command, 80)))
        }
        Transport::Program { args, .. }
            if args.len() > WORDS.0 || args.iter().any(|word| word.len() > WORDS.1) =>
        {
            Some("its start command is too long".to_owned())
        }
        Transport::Address(url) if url.len() > WORDS.1 || !is_web(url) => {
            Some(format!("{:?} is not a valid URL", short(url, 80)))
        }
        Transport::Program { .. } | Transport::Address(_) => None,
    }
}

/// Collects the facts that the entry or its publisher states under the usual names.
fn facts(server: &Map<String, Value>, published: Option<&Map<String, Value>>) -> Facts {
    let places = || [Some(server), published].into_iter().flatten();
    let first = |keys: &[&str]| places().find_map(|place| keys.iter().find_map(|key| text(place, key, TEXT)));
    let rating = places().find_map(|place| place.get("rating")?.as_f64()).filter(|rating| rating.is_finite());
    let lists =
        places().find_map(|place| ["tools", "functions"].iter().find_map(|key| place.get(*key)?.as_array()));
    let name = |one: &Value| {
        let name = one.as_str().or_else(|| one.get("name")?.as_str())?;
        (!name.trim().is_empty()).then(|| short(name.trim(), 80))
    };
    Facts {
        category: first(&["category"]),
        price: first(&["price", "pricing"]),
        rating,
        functions: lists.into_iter().flatten().filter_map(name).take(FUNCTIONS).collect(),
    }
}
