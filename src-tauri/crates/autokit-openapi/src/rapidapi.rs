//! Turns RapidAPI's documentation of an API into cards that are called like those of an OpenAPI document.
//!
//! The input is what RapidAPI shows for an API, as stored in the ToolBench data set (Qin et al. 2023,
//! arXiv:2307.16789, `toolenv/tools/<category>/<tool>.json`), as an object or a list of them: `tool_name`,
//! `tool_description`, `home_url`, `host` and `api_list` with `name`, `url`, `description`, `method`,
//! `required_parameters` and `optional_parameters`, each of these with `name`, `type`, `description` and
//! `default`.

use std::io::Read;

use autokit_toolcard::{Candidate, Kind, Problem, ReadCards, Rejected, fields, read_items};
use serde_json::{Map, Value, json};
use url::Url;

use super::call::{
    BODY_ARGUMENT, Body, CALL_VERSION, Call, ParamLocation, Parameter, Requirement, Scheme, Server,
};
use super::document;
use super::error::SpecError;
use super::servers::names;

/// Name of the API key, both as the header of every request and in storage.
pub const RAPIDAPI_KEY: &str = "X-RapidAPI-Key";

/// The header that names the API at RapidAPI's gateway.
const HOST_HEADER: &str = "X-RapidAPI-Host";

/// Suffix of every host that receives the key.
const GATEWAY: &str = ".rapidapi.com";

/// Whether a file is RapidAPI's documentation of one or several APIs: a JSON object, or a list of them, with
/// a list of endpoints that have a URL.
pub fn is_rapidapi(bytes: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Api {
        api_list: Vec<Endpoint>,
    }
    #[derive(serde::Deserialize)]
    struct Endpoint {
        #[serde(alias = "route")]
        url: Option<serde::de::IgnoredAny>,
    }
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum Apis {
        One(Api),
        Many(Vec<Api>),
    }
    /// Nothing is parsed unless the text contains this.
    const WORD: &str = "\"api_list\"";
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    if !text.contains(WORD) {
        return false;
    }
    let has_address = |api: &Api| api.api_list.iter().any(|endpoint| endpoint.url.is_some());
    match serde_json::from_str::<Apis>(text.trim_start_matches('\u{feff}')) {
        Ok(Apis::One(api)) => has_address(&api),
        Ok(Apis::Many(apis)) => apis.iter().any(has_address),
        Err(_) => false,
    }
}

/// Reads RapidAPI's documentation: one card per endpoint, with positions from 1 over all APIs.
///
/// # Errors
/// [`SpecError`] when nothing in the file can be used.
pub fn read_rapidapi(reader: impl Read) -> Result<ReadCards, SpecError> {
    let text = document::text(reader)?;
    let root: Value = serde_json::from_str(&text)
        .map_err(|error| SpecError::Syntax { format: "JSON", reason: error.to_string() })?;
    let apis = match &root {
        Value::Array(apis) => apis.as_slice(),
        one => std::slice::from_ref(one),
    };
    let endpoints: Vec<(&Value, &Value)> = apis
        .iter()
        .flat_map(|api| {
            let list = api.get("api_list").and_then(Value::as_array);
            list.into_iter().flatten().map(move |endpoint| (api, endpoint))
        })
        .collect();
    if endpoints.is_empty() {
        return Err(SpecError::NotRapidApi);
    }
    Ok(read_items(endpoints.into_iter().enumerate().map(|(index, (api, endpoint))| {
        let position = index + 1;
        card(position, api, endpoint).map_err(|reason| Rejected {
            position,
            name: text_of(endpoint, "name").map(|name| name.chars().take(80).collect()),
            problems: vec![Problem::error("", reason)],
        })
    })))
}

fn text_of<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
}

fn card(position: usize, api: &Value, endpoint: &Value) -> Result<Candidate, String> {
    let name = text_of(endpoint, "name").ok_or("has no name")?;
    let url = text_of(endpoint, "url").or_else(|| text_of(endpoint, "route")).ok_or("has no url")?;
    let method = text_of(endpoint, "method").unwrap_or("GET").to_ascii_uppercase();
    let (server, path, host) = address(url, text_of(api, "host"))?;

    let mut notes = Vec::new();
    let mut arguments = Arguments::default();
    // RapidAPI does not say where an argument goes. Those named in the path go there, the others into the
    // query, or into the body if the method has one.
    let in_body = matches!(method.as_str(), "POST" | "PUT" | "PATCH");
    for (key, required) in [("required_parameters", true), ("optional_parameters", false)] {
        for described in endpoint.get(key).and_then(Value::as_array).into_iter().flatten() {
            let Some(name) = text_of(described, "name") else {
                notes.push(Problem::warning("", "omits a parameter without a name"));
                continue;
            };
            arguments.add(name, described, required, &path, in_body);
        }
    }
    for name in names(&path) {
        if !arguments.properties.contains_key(name) {
            arguments.add(name, &Value::Null, true, &path, in_body);
        }
    }

    let (parameters, schema, body) = arguments.finish();
    let header = |name: &str| Scheme::ApiKey { place: ParamLocation::Header, name: name.to_owned() };
    let call = Call {
        version: CALL_VERSION,
        method,
        servers: vec![Server { url: server, description: None }],
        path,
        parameters,
        body,
        accept: None,
        fixed_headers: vec![(HOST_HEADER.to_owned(), host)],
        security: vec![vec![Requirement { key: RAPIDAPI_KEY.to_owned(), scheme: header(RAPIDAPI_KEY) }]],
    };
    let tool = text_of(api, "tool_name").or_else(|| text_of(api, "name"));
    let mut object = Map::new();
    let mut put = |field: &str, value: Option<Value>| {
        if let Some(value) = value {
            object.insert(field.to_owned(), value);
        }
    };
    let about_tool = text_of(api, "tool_description");
    let description = match (text_of(endpoint, "description"), about_tool) {
        (Some(own), Some(tool)) if own != tool => format!("{own}\n\n{tool}"),
        (Some(text), _) | (None, Some(text)) => text.to_owned(),
        (None, None) => String::new(),
    };
    put(fields::NAME, Some(name.into()));
    put(fields::PROVIDER, tool.map(Value::from));
    put(fields::KIND, Some(Kind::RestOperation.as_str().into()));
    put(fields::DESCRIPTION, Some(description.into()));
    put(fields::USAGE, Some(call.usage().into()));
    put(fields::PRICING, text_of(api, "pricing").map(Value::from));
    put(fields::DOCUMENTATION, text_of(api, "home_url").map(Value::from));
    put(fields::PARAMETERS, Some(schema));
    put(fields::CALL, Some(serde_json::to_value(&call).map_err(|error| error.to_string())?));
    Ok(Candidate { position, object, notes })
}

/// Server, path and gateway host of an endpoint's URL.
fn address(written: &str, host: Option<&str>) -> Result<(String, String, String), String> {
    let (server, path) = if let Some((scheme, rest)) = written.split_once("://") {
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        (format!("{scheme}://{host}"), path)
    } else {
        let host = host.ok_or("has a relative URL, and the API has no host")?;
        (format!("https://{host}"), written.trim_start_matches('/'))
    };
    let url = Url::parse(&server).map_err(|error| format!("has no valid URL: {error}"))?;
    // One key gives access to every API there, so a file must not be able to send it anywhere else.
    let at_gateway = url.host_str().is_some_and(|name| name.ends_with(GATEWAY));
    if url.scheme() != "https" || !at_gateway || !url.username().is_empty() || url.port().is_some() {
        return Err(format!("is not at https://…{GATEWAY}, the only host the key may be sent to"));
    }
    let host = host.or(url.host_str()).ok_or("has a URL without a host")?.to_owned();
    let path = path.split('#').next().unwrap_or("");
    Ok((url.as_str().trim_end_matches('/').to_owned(), format!("/{path}"), host))
}

/// Collects the arguments of an endpoint.
#[derive(Default)]
struct Arguments {
    parameters: Vec<Parameter>,
    properties: Map<String, Value>,
    required: Vec<String>,
    in_body: Map<String, Value>,
    required_in_body: Vec<String>,
}

impl Arguments {
    fn add(&mut self, name: &str, described: &Value, required: bool, path: &str, in_body: bool) {
        let place =
            if names(path).any(|part| part == name) { ParamLocation::Path } else { ParamLocation::Query };
        let (properties, needed) = if in_body && place != ParamLocation::Path {
            (&mut self.in_body, &mut self.required_in_body)
        } else {
            (&mut self.properties, &mut self.required)
        };
        if properties.insert(name.to_owned(), schema(described)).is_some() {
            return;
        }
        if required || place == ParamLocation::Path {
            needed.push(name.to_owned());
        }
        if in_body && place != ParamLocation::Path {
            return;
        }
        self.parameters.push(Parameter {
            name: name.to_owned(),
            wire_name: name.to_owned(),
            place,
            style: place.style(),
            explode: place == ParamLocation::Query,
            allow_reserved: false,
            required: required || place == ParamLocation::Path,
            content: None,
        });
    }

    fn finish(mut self) -> (Vec<Parameter>, Value, Option<Body>) {
        let body = (!self.in_body.is_empty()).then(|| {
            let required = !self.required_in_body.is_empty();
            let schema = object_schema(self.in_body, self.required_in_body);
            // A path parameter of this name would be overwritten, so it is renamed.
            if let Some(taken) = self.properties.shift_remove(BODY_ARGUMENT) {
                let other = format!("{BODY_ARGUMENT}_path");
                self.properties.insert(other.clone(), taken);
                self.required
                    .iter_mut()
                    .filter(|name| *name == BODY_ARGUMENT)
                    .for_each(|name| name.clone_from(&other));
                let same = self.parameters.iter_mut().filter(|known| known.name == BODY_ARGUMENT);
                same.for_each(|known| known.name.clone_from(&other));
            }
            self.properties.insert(BODY_ARGUMENT.to_owned(), Value::Object(schema));
            if required {
                self.required.push(BODY_ARGUMENT.to_owned());
            }
            Body {
                argument: BODY_ARGUMENT.to_owned(),
                media_type: "application/json".to_owned(),
                required,
                encoding: indexmap::IndexMap::new(),
            }
        });
        let mut schema = object_schema(self.properties, self.required);
        schema.insert("additionalProperties".to_owned(), false.into());
        (self.parameters, Value::Object(schema), body)
    }
}

fn object_schema(properties: Map<String, Value>, required: Vec<String>) -> Map<String, Value> {
    let mut out = Map::from_iter([("type".to_owned(), json!("object"))]);
    out.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        out.insert("required".to_owned(), required.into());
    }
    out
}

/// Converts RapidAPI's type names; an unknown type allows any value.
fn schema(described: &Value) -> Value {
    let mut out = Map::new();
    let sort = match text_of(described, "type").map(str::to_ascii_uppercase).as_deref() {
        Some("NUMBER") => Some("number"),
        Some("BOOLEAN") => Some("boolean"),
        Some("ARRAY") => Some("array"),
        Some("OBJECT") => Some("object"),
        Some(
            "STRING"
            | "ENUM"
            | "DATE (YYYY-MM-DD)"
            | "TIME (24-HOUR HH:MM)"
            | "GEOPOINT (LATITUDE, LONGITUDE)",
        ) => Some("string"),
        _ => None,
    };
    if let Some(sort) = sort {
        out.insert("type".to_owned(), sort.into());
    }
    if let Some(text) = text_of(described, "description") {
        out.insert("description".to_owned(), text.into());
    }
    let default = described.get("default").filter(|value| !value.is_null() && **value != json!(""));
    if let Some(value) = default {
        // Prefilled in the form on the page: an example, not a default that the server applies.
        out.insert("examples".to_owned(), json!([value]));
    }
    Value::Object(out)
}
