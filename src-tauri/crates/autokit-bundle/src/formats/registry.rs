//! Reads a server's description for the MCP registry (`server.json`), alone or in a response of the registry:
//! one card per server.
//!
//! The name `io.github.user/server` becomes provider and name. The first package that a known program can run
//! becomes `usage`; the version, all packages and all remote URLs are kept in further fields. The field names
//! of earlier drafts (`registry_name`, `package_arguments` …) are accepted as well.

mod package;
mod start;

pub use self::start::{LaunchInput, LaunchOption, Transport, launch_options};

use std::collections::HashMap;
use std::io::Read;

use autokit_toolcard::{
    Candidate, Kind, Problem, ReadCards, Rejected, fields, is_web_address, read_exact_value, read_items,
};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::error::{self, FormatError};
use super::json::{self, Entries};
use super::mcp::redaction_note;
use super::redact;

/// Key under which the official registry puts its metadata of a server.
const OFFICIAL: &str = "io.modelcontextprotocol.registry/official";

/// Reads a `server.json`, a registry response with one server (`{"server": …}`) or a page of the registry's
/// list (`{"servers": […]}`). If a list has several versions of a server, the one the registry calls latest
/// is used. Positions count the servers in file order.
///
/// # Errors
/// [`FormatError`] when the input is not JSON or none of these.
pub fn read_server_json(reader: impl Read) -> Result<ReadCards, FormatError> {
    let text = error::text(reader)?;
    let none = || FormatError::NoServerJson { found: json::type_name(&text) };
    let file: Entries<'_> = match serde_json::from_str(&text) {
        Ok(file) => file,
        Err(error) if error.is_data() => return Err(none()),
        Err(error) => return Err(FormatError::Syntax(error)),
    };
    let whole: &RawValue = serde_json::from_str(&text).map_err(FormatError::Syntax)?;
    let entries = match file.list("servers") {
        Some(list) => list,
        None if file.object("server").is_some() || file.get("name").is_some() => vec![whole],
        None => return Err(none()),
    };
    let parsed: Vec<Result<Listed, Problem>> = entries.iter().map(|entry| listed(entry)).collect();
    let mut latest: HashMap<&str, usize> = HashMap::new();
    for (index, entry) in parsed.iter().enumerate() {
        if let Ok(entry) = entry
            && entry.latest == Some(true)
        {
            latest.entry(entry.name()).or_insert(index + 1);
        }
    }
    let more = file
        .object("metadata")
        .and_then(|metadata| {
            let cursor = metadata.get("nextCursor").or_else(|| metadata.get("next_cursor"))?;
            serde_json::from_str::<String>(cursor.get()).ok()
        })
        .is_some_and(|cursor| !cursor.is_empty());
    let items = parsed.iter().enumerate().map(|(index, entry)| {
        let position = index + 1;
        let reject = |name: Option<&str>, problem| Rejected {
            position,
            name: name.map(|name| name.chars().take(80).collect()),
            problems: vec![problem],
        };
        let entry = entry.as_ref().map_err(|problem| reject(None, problem.clone()))?;
        if let (Some(newest), Some(false)) = (latest.get(entry.name()), entry.latest) {
            let reason = format!("is an older version of item {newest}");
            return Err(reject(Some(entry.name()), Problem::error("", reason)));
        }
        let mut candidate = server(position, entry);
        if more && position == parsed.len() {
            let reason = "is the last on this page of the registry's list; import the next page for the rest";
            candidate.notes.push(Problem::warning("", reason));
        }
        Ok(candidate)
    });
    Ok(read_items(items))
}

/// A server and the registry's metadata of it.
struct Listed {
    server: Map<String, Value>,
    latest: Option<bool>,
    status: Option<String>,
}

impl Listed {
    fn name(&self) -> &str {
        json::text(&self.server, &["name"]).unwrap_or("")
    }
}

fn listed(entry: &RawValue) -> Result<Listed, Problem> {
    let Value::Object(mut entry) =
        read_exact_value(entry.get()).map_err(|reason| Problem::error("", reason))?
    else {
        let found = json::type_name(entry.get());
        return Err(Problem::error(
            "",
            format!("is {found}; a server is an object with \"name\" and \"packages\""),
        ));
    };
    let official = entry.get("_meta").and_then(|meta| meta.get(OFFICIAL)).and_then(Value::as_object).cloned();
    let official = official.unwrap_or_default();
    let server = match entry.remove("server") {
        Some(Value::Object(server)) => server,
        Some(_) => return Err(Problem::error("server", "is not an object")),
        None => entry,
    };
    let latest = ["isLatest", "is_latest"].iter().find_map(|key| official.get(*key)?.as_bool());
    let status =
        json::text(&official, &["status"]).or_else(|| json::text(&server, &["status"])).map(str::to_owned);
    Ok(Listed { server, latest, status })
}

fn server(position: usize, entry: &Listed) -> Candidate {
    let server = &entry.server;
    let mut notes = Vec::new();
    let mut object = Map::new();
    let mut put = |field: &str, value: Option<Value>| {
        if let Some(value) = value {
            object.insert(field.to_owned(), value);
        }
    };
    match json::text(server, &["name"]).map(|name| (name, name.rsplit_once('/'))) {
        Some((_, Some((provider, name)))) if !provider.is_empty() && !name.is_empty() => {
            put(fields::NAME, Some(name.into()));
            put(fields::PROVIDER, Some(provider.into()));
        }
        // A name that is missing, not text or without a namespace is kept, so that validation reports it.
        _ => put(fields::NAME, server.get("name").cloned()),
    }
    put(fields::KIND, Some(Kind::McpTool.as_str().into()));
    put(fields::DESCRIPTION, server.get("description").cloned());

    let packages: Vec<package::Package<'_>> =
        json::list(server, &["packages"]).iter().filter_map(Value::as_object).map(package::Package).collect();
    let runnable = packages.iter().find_map(|package| Some((package, package.run()?)));
    let remotes: Vec<&Map<String, Value>> =
        json::list(server, &["remotes"]).iter().filter_map(Value::as_object).collect();
    let transport = match (&runnable, remotes.first()) {
        (None, Some(remote)) => {
            json::text(remote, &["type", "transport_type", "transport"]).unwrap_or("http")
        }
        (Some((package, _)), _) => package.transport(),
        (None, None) => packages.first().map_or("stdio", package::Package::transport),
    };
    if let Some((_, run)) = &runnable {
        put(fields::USAGE, Some(run.line.as_str().into()));
        if run.concealed {
            notes.push(redaction_note(fields::USAGE, ""));
        }
    }
    if packages.is_empty() && remotes.is_empty() {
        notes.push(Problem::warning("", "has neither packages nor remotes, so there is no way to run it"));
    }

    let repository = server.get("repository").and_then(Value::as_object);
    let repository = repository.and_then(|repository| json::text(repository, &["url"]));
    let website = json::text(server, &["websiteUrl", "website_url"]);
    let is_web = |url: &&str| is_web_address(url);
    put(fields::DOCUMENTATION, website.filter(is_web).or(repository.filter(is_web)).map(Value::from));
    for (key, url) in [("websiteUrl", website), ("repository", repository)] {
        if url.is_some_and(|url| !is_web(&url)) {
            notes.push(Problem::warning(key, "is not a web address; skipped"));
        }
    }
    put("repository", repository.filter(is_web).map(Value::from));
    put("title", json::text(server, &["title"]).map(Value::from));
    let detail = server.get("version_detail").and_then(Value::as_object);
    let version = json::text(server, &["version"]).or_else(|| json::text(detail?, &["version"]));
    put("version", version.map(Value::from));
    put("transport", (!packages.is_empty() || !remotes.is_empty()).then(|| transport.into()));
    put("packages", non_empty(packages.iter().map(package::Package::summary).collect()));
    put("remotes", non_empty(remotes.iter().map(|remote| summary(remote, &mut notes)).collect()));
    put("env", names(packages.iter().flat_map(package::Package::variables)));
    put("headers", names(remotes.iter().flat_map(|remote| json::list(remote, &["headers"]))));

    if let Some(status) = entry.status.as_deref().filter(|status| *status != "active") {
        let status: String = status.chars().take(40).collect();
        notes.push(Problem::warning("", format!("is listed as {status:?} by the registry")));
    }
    Candidate { position, object, notes }
}

fn non_empty(list: Vec<Value>) -> Option<Value> {
    (!list.is_empty()).then_some(Value::Array(list))
}

/// Transport and URL of a remote server.
fn summary(remote: &Map<String, Value>, notes: &mut Vec<Problem>) -> Value {
    let mut short = Map::new();
    if let Some(transport) = json::text(remote, &["type", "transport_type", "transport"]) {
        short.insert("type".into(), transport.into());
    }
    if let Some(url) = json::text(remote, &["url"]) {
        let concealed = redact::redact(url);
        if concealed != url {
            notes.push(redaction_note("remotes", ""));
        }
        short.insert("url".into(), concealed.into_owned().into());
    }
    Value::Object(short)
}

/// The distinct names of variables or headers. Values are ignored.
fn names<'a>(inputs: impl Iterator<Item = &'a Value>) -> Option<Value> {
    let mut names: Vec<Value> = Vec::new();
    for name in inputs.filter_map(|input| json::text(input.as_object()?, &["name"])) {
        if !names.iter().any(|known| known == name) {
            names.push(name.into());
        }
    }
    non_empty(names)
}

#[cfg(test)]
mod tests;
