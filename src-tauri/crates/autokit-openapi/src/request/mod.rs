//! Makes an HTTP request from a call and its arguments.

mod curl;
mod payload;
mod style;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};
use url::Url;

use super::call::{Call, ParamLocation, Parameter, Style};
use super::credentials::{AuthParts, Credentials, authenticate};
use super::error::CallError;
use super::media::{self, Media};
use super::servers::names;
use style::{Escape, Parts};

/// A request that is ready to be sent. Its `Debug` output shows neither arguments nor secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// The method in upper case.
    pub method: String,
    /// The absolute URL.
    pub url: String,
    /// Headers in the order in which they are sent. Values may contain non-ASCII characters, to be sent as
    /// UTF-8.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Option<Vec<u8>>,
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = Url::parse(&self.url).ok().and_then(|url| url.host_str().map(str::to_owned));
        f.debug_struct("HttpRequest")
            .field("method", &self.method)
            .field("host", &host.unwrap_or_default())
            .field("headers", &self.headers.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("body_bytes", &self.body.as_ref().map(Vec::len))
            .finish_non_exhaustive()
    }
}

impl Call {
    /// Makes the request. Which values are valid is up to the card's `parameters` schema; here they only have
    /// to be writable at their places.
    ///
    /// `server` is the URL of one of [`Call::servers`], by default the first. Any other is refused, so that
    /// credentials only go where the card says.
    ///
    /// # Errors
    /// [`CallError`], which names the argument or credential it is about.
    pub fn request(
        &self,
        arguments: &Map<String, Value>,
        credentials: &Credentials,
        server: Option<&str>,
    ) -> Result<HttpRequest, CallError> {
        if !is_token(&self.method) {
            let reason = "its method is none that HTTP knows".to_owned();
            return Err(CallError::Malformed { reason });
        }
        self.check_names(arguments)?;
        let server = self.server(server)?;
        let auth_parts = authenticate(&self.security, credentials)?;
        let given = |parameter: &Parameter| arguments.get(&parameter.name).filter(|value| !value.is_null());

        let mut in_path = BTreeMap::new();
        let mut query = Vec::new();
        let mut headers: Vec<(String, String)> = Vec::new();
        let mut cookies = Vec::new();
        for parameter in &self.parameters {
            let missing = || CallError::MissingArgument { name: parameter.name.clone() };
            let Some(value) = given(parameter) else {
                if parameter.required || parameter.place == ParamLocation::Path {
                    return Err(missing());
                }
                continue;
            };
            let Some(written) = SerializedValue::of(parameter, value)? else {
                if parameter.required || parameter.place == ParamLocation::Path {
                    return Err(missing());
                }
                continue;
            };
            match parameter.place {
                ParamLocation::Path => {
                    in_path.insert(parameter.wire_name.as_str(), written.path(parameter)?);
                }
                ParamLocation::Query => query.extend(written.query(parameter)?),
                ParamLocation::Header => {
                    headers.push((parameter.wire_name.clone(), written.header(parameter)?));
                }
                ParamLocation::Cookie => cookies.extend(written.query(parameter)?),
            }
        }
        let AuthParts { headers: auth_headers, query: keys, cookies: key_cookies } = auth_parts;
        let encode = |text: &str| Escape::Percent.apply(text);
        query.extend(keys.into_iter().map(|(name, key)| format!("{}={}", encode(&name), encode(&key))));
        // An API key is sent unencoded if a cookie can hold it.
        cookies.extend(key_cookies.into_iter().map(|(name, key)| {
            let key = if key.bytes().all(is_cookie_octet) { key } else { encode(&key) };
            format!("{}={key}", encode(&name))
        }));

        let url = self.address(server, &in_path, &query)?;
        let body = self.body(arguments)?;
        // Arguments must not override authentication headers.
        headers.retain(|(name, _)| auth_headers.iter().all(|(known, _)| !known.eq_ignore_ascii_case(name)));
        headers.extend(auth_headers);
        headers.extend(self.fixed_headers.iter().cloned());
        if let Some(accept) = &self.accept {
            headers.push(("Accept".to_owned(), accept.clone()));
        }
        if !cookies.is_empty() {
            headers.push(("Cookie".to_owned(), cookies.join("; ")));
        }
        let body = body.map(|(bytes, media_type)| {
            headers.push(("Content-Type".to_owned(), media_type));
            bytes
        });
        for (name, value) in &headers {
            check_header(name, value)?;
        }
        Ok(HttpRequest { method: self.method.clone(), url, headers, body })
    }

    fn check_names(&self, arguments: &Map<String, Value>) -> Result<(), CallError> {
        let known: Vec<&str> = self
            .parameters
            .iter()
            .map(|parameter| parameter.name.as_str())
            .chain(self.body.as_ref().map(|body| body.argument.as_str()))
            .collect();
        match arguments.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => {
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                Err(CallError::UnknownArgument { name: name.chars().take(80).collect(), known })
            }
        }
    }

    fn server(&self, requested: Option<&str>) -> Result<&str, CallError> {
        let requested = match requested {
            None => return self.servers.first().map(|server| server.url.as_str()).ok_or(CallError::NoServer),
            Some(requested) => requested.trim_end_matches('/'),
        };
        let found = self.servers.iter().map(|server| server.url.as_str()).find(|url| *url == requested);
        found.ok_or_else(|| CallError::UnknownServer {
            server: requested.to_owned(),
            known: self.servers.iter().map(|server| server.url.as_str()).collect::<Vec<_>>().join(", "),
        })
    }

    fn body(&self, arguments: &Map<String, Value>) -> Result<Option<(Vec<u8>, String)>, CallError> {
        let Some(body) = &self.body else { return Ok(None) };
        match arguments.get(&body.argument) {
            None if body.required => Err(CallError::MissingArgument { name: body.argument.clone() }),
            None => Ok(None),
            // Null is a value in JSON; in other media types, and for an optional body, it means no body.
            Some(Value::Null) if !body.required => Ok(None),
            Some(Value::Null) if media::of(&body.media_type) != Media::Json => {
                Err(CallError::MissingArgument { name: body.argument.clone() })
            }
            Some(value) => payload::payload(body, value).map(Some),
        }
    }

    /// Builds the URL and checks that it leads to the intended server and path.
    fn address(
        &self,
        server: &str,
        in_path: &BTreeMap<&str, String>,
        query: &[String],
    ) -> Result<String, CallError> {
        let wrong = |reason: String| CallError::Url { reason };
        let (path, fixed) = self.path.split_once('?').unwrap_or((&self.path, ""));
        if !path.starts_with('/') {
            return Err(wrong("the path must start with a slash".to_owned()));
        }
        let mut segments = Vec::new();
        for template in path.split('/') {
            let segment = fill(template, in_path)?;
            if matches!(segment.as_str(), "." | "..") || segment.is_empty() && template.contains('{') {
                return Err(match names(template).next() {
                    Some(name) => path_error(self.argument(name)),
                    None => wrong("the path has a segment of dots".to_owned()),
                });
            }
            segments.push(segment);
        }
        let mut written = format!("{}{}", server.trim_end_matches('/'), segments.join("/"));
        let fixed = fill(fixed, in_path)?;
        let query: Vec<&str> = Some(fixed.as_str())
            .filter(|fixed| !fixed.is_empty())
            .into_iter()
            .chain(query.iter().map(String::as_str))
            .collect();
        if !query.is_empty() {
            written.push('?');
            written.push_str(&query.join("&"));
        }
        let base = Url::parse(server).map_err(|error| wrong(format!("{server}: {error}")))?;
        let url = Url::parse(&written).map_err(|error| wrong(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong(format!("{server} is not an http or https URL")));
        }
        let depth = |path: &str| path.bytes().filter(|byte| *byte == b'/').count();
        let expected = depth(base.path().trim_end_matches('/')) + segments.len() - 1;
        if url.origin() != base.origin() || url.fragment().is_some() || depth(url.path()) != expected {
            return Err(wrong("the path leads away from the server it starts at".to_owned()));
        }
        Ok(url.into())
    }

    /// The name of the argument for a path parameter.
    fn argument(&self, wire_name: &str) -> String {
        let found = self
            .parameters
            .iter()
            .find(|known| known.place == ParamLocation::Path && known.wire_name == wire_name);
        found.map_or(wire_name, |known| known.name.as_str()).to_owned()
    }
}

/// Replaces each `{name}` in a template.
fn fill(template: &str, values: &BTreeMap<&str, String>) -> Result<String, CallError> {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, behind)) = after.split_once('}') else { break };
        out.push_str(before);
        let value = values.get(name).ok_or_else(|| CallError::Url {
            reason: format!("the path has {{{name}}} without a parameter"),
        })?;
        out.push_str(value);
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

fn path_error(name: String) -> CallError {
    let reason = "in a path it must not be empty, \".\" or \"..\", which would change the path".to_owned();
    CallError::Argument { name, reason }
}

/// A value prepared for its parameter.
enum SerializedValue<'v> {
    Parts(Parts),
    /// For `deepObject`, which takes the value as a whole.
    Whole(&'v Value),
}

impl<'v> SerializedValue<'v> {
    /// `None` when there is nothing to send.
    fn of(parameter: &Parameter, value: &'v Value) -> Result<Option<SerializedValue<'v>>, CallError> {
        let refuse = |reason: String| CallError::Argument { name: parameter.name.clone(), reason };
        match &parameter.content {
            Some(media_type) => {
                let text = if media::of(media_type) == Media::Json {
                    value.to_string()
                } else {
                    style::scalar(value).ok_or_else(|| refuse(format!("it must be text in {media_type}")))?
                };
                Ok(Some(SerializedValue::Parts(Parts::One(text))))
            }
            None if parameter.style == Style::DeepObject => Ok(value
                .as_object()
                .is_none_or(|map| !map.is_empty())
                .then_some(SerializedValue::Whole(value))),
            None => Ok(style::parts(value).map_err(refuse)?.map(SerializedValue::Parts)),
        }
    }

    fn path(&self, parameter: &Parameter) -> Result<String, CallError> {
        let SerializedValue::Parts(parts) = self else { return Err(wrong_style(parameter)) };
        if let Parts::One(text) = parts
            && (matches!(text.as_str(), "." | "..") || text.is_empty() && parameter.style == Style::Simple)
        {
            return Err(path_error(parameter.name.clone()));
        }
        let Parameter { wire_name, style, explode, .. } = parameter;
        Ok(style::expand(wire_name, parts, *style, *explode, Escape::Percent))
    }

    fn query(&self, parameter: &Parameter) -> Result<Vec<String>, CallError> {
        let escape = if parameter.allow_reserved { Escape::AllowReserved } else { Escape::Percent };
        let Parameter { wire_name, style, explode, .. } = parameter;
        match self {
            SerializedValue::Parts(parts) => Ok(style::query(wire_name, parts, *style, *explode, escape)),
            SerializedValue::Whole(value) => style::deep_object(wire_name, value, escape)
                .map_err(|reason| CallError::Argument { name: parameter.name.clone(), reason }),
        }
    }

    fn header(&self, parameter: &Parameter) -> Result<String, CallError> {
        let SerializedValue::Parts(parts) = self else { return Err(wrong_style(parameter)) };
        let Parameter { wire_name, explode, .. } = parameter;
        Ok(style::expand(wire_name, parts, Style::Simple, *explode, Escape::Nothing))
    }
}

fn wrong_style(parameter: &Parameter) -> CallError {
    let reason = format!("its style on the card is not supported in a {}", parameter.place.as_str());
    CallError::Argument { name: parameter.name.clone(), reason }
}

fn check_header(name: &str, value: &str) -> Result<(), CallError> {
    let refuse = |reason: &str| Err(CallError::Header { name: name.to_owned(), reason: reason.to_owned() });
    if let Some(reason) = header_problem(name) {
        return refuse(reason);
    }
    if !is_header_value(value) {
        return refuse("its value contains control characters, which would break the request");
    }
    Ok(())
}

/// Why a parameter may not set this header. Headers about the connection determine where a request ends and
/// are set by the HTTP client.
pub(super) fn header_problem(name: &str) -> Option<&'static str> {
    const CONNECTION: [&str; 11] = [
        "host",
        "connection",
        "content-length",
        "transfer-encoding",
        "te",
        "trailer",
        "upgrade",
        "keep-alive",
        "expect",
        "proxy-connection",
        "proxy-authorization",
    ];
    if !is_token(name) {
        Some("its name is not a valid header name")
    } else if CONNECTION.iter().any(|known| name.eq_ignore_ascii_case(known)) {
        Some("it belongs to the connection and is set automatically")
    } else {
        None
    }
}

/// Whether a text is a token, as the names of methods and headers are (RFC 9110 section 5.6.2).
fn is_token(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(allowed)
}

/// Whether a byte is allowed in the value of a cookie (RFC 6265 section 4.1.1).
fn is_cookie_octet(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\",;\\".contains(&byte)
}

/// Whether a text is allowed as the value of a header.
pub(super) fn is_header_value(value: &str) -> bool {
    !value.chars().any(|c| c.is_control() && c != '\t')
}
