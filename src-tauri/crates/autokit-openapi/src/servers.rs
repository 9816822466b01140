//! Where an operation is sent: the servers of the operation, else of its path, else of the document.

use serde_json::{Map, Value};
use url::Url;

use super::call::Server;
use super::document::Document;

/// Maximum number of URLs made from the variables of a server. Beyond it, only the default values are used.
const MAX_COMBINATIONS: usize = 64;

/// The servers for an operation, the default first.
///
/// # Errors
/// The reason why there is none, as the end of a sentence.
pub(super) fn servers(
    document: &Document,
    levels: [Option<&Value>; 3],
    notes: &mut Vec<String>,
) -> Result<Vec<Server>, String> {
    let written = levels
        .into_iter()
        .flatten()
        .find_map(|servers| servers.as_array().filter(|servers| !servers.is_empty()));
    // OpenAPI 3, OpenAPI Object: without `servers`, the host of the document is the server.
    let own = [serde_json::json!({"url": "/"})];
    let list = match written {
        Some(list) => list.as_slice(),
        None if document.source.is_some() => &own,
        None => {
            return Err("has no server; add `servers` to the document or import it from its URL".to_owned());
        }
    };
    let mut found: Vec<Server> = Vec::new();
    let mut reasons = Vec::new();
    for server in list {
        let description = server.get("description").and_then(Value::as_str).map(str::to_owned);
        match addresses(document, server, notes) {
            Ok(urls) => {
                for url in urls {
                    if found.iter().all(|known| known.url != url) {
                        found.push(Server { url, description: description.clone() });
                    }
                }
            }
            Err(reason) => reasons.push(reason),
        }
    }
    if found.is_empty() {
        return Err(format!("has no usable server: {}", reasons.join("; ")));
    }
    notes.extend(reasons.into_iter().map(|reason| format!("omits a server: {reason}")));
    Ok(found)
}

fn addresses(document: &Document, server: &Value, notes: &mut Vec<String>) -> Result<Vec<String>, String> {
    let template = server.get("url").and_then(Value::as_str).ok_or("one has no url")?;
    let none = Map::new();
    let variables = server.get("variables").and_then(Value::as_object).unwrap_or(&none);
    let mut used: Vec<(&str, Vec<String>)> = Vec::new();
    for name in names(template) {
        let variable = variables.get(name).ok_or_else(|| format!("{template} has no variable {{{name}}}"))?;
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let mut values: Vec<String> = variable.get("default").and_then(text).into_iter().collect();
        for value in variable.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(text) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        if values.is_empty() {
            return Err(format!("the variable {{{name}}} of {template} has no default"));
        }
        if used.iter().all(|(known, _)| *known != name) {
            used.push((name, values));
        }
    }
    let combinations = used.iter().try_fold(1usize, |all, (_, values)| all.checked_mul(values.len()));
    if combinations.is_none_or(|all| all > MAX_COMBINATIONS) {
        notes.push(format!(
            "uses only the defaults of the server {template}, which has more than {MAX_COMBINATIONS} combinations"
        ));
        for (_, values) in &mut used {
            values.truncate(1);
        }
    }
    let mut urls = vec![template.to_owned()];
    for (name, values) in used {
        let place = format!("{{{name}}}");
        urls = urls.iter().flat_map(|url| values.iter().map(|value| url.replace(&place, value))).collect();
    }
    urls.iter().map(|url| absolute(document, url)).collect()
}

/// The names in braces in a template.
pub(super) fn names(template: &str) -> impl Iterator<Item = &str> {
    template.split('{').skip(1).filter_map(|rest| rest.split_once('}').map(|(name, _)| name))
}

fn absolute(document: &Document, text: &str) -> Result<String, String> {
    let url = match (Url::parse(text.trim()), &document.source) {
        (Ok(url), _) => url,
        (Err(url::ParseError::RelativeUrlWithoutBase), Some(source)) => {
            source.join(text.trim()).map_err(|error| format!("{text}: {error}"))?
        }
        (Err(url::ParseError::RelativeUrlWithoutBase), None) => {
            return Err(format!(
                "{text} is relative to the document's URL, which is unknown; import it from there"
            ));
        }
        (Err(error), _) => return Err(format!("{text}: {error}")),
    };
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("{text} is not an http or https URL"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(format!("{text} has a query or a fragment, to which no path can be added"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("one has a user name or password in its URL".to_owned());
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}
