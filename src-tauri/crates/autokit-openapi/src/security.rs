//! The credentials an operation requires, from `security` and `components/securitySchemes`.

use serde_json::Value;
use url::Url;

use super::call::{ParamLocation, Requirement, Scheme};
use super::document::Document;

/// The alternatives for an operation: its own, else those of the document.
pub(super) fn security(document: &Document, operation: &Value) -> Vec<Vec<Requirement>> {
    let alternatives = operation.get("security").or_else(|| document.root.get("security"));
    alternatives
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .map(|all| all.iter().map(|(key, scopes)| requirement(document, key, scopes)).collect())
        .collect()
}

fn requirement(document: &Document, key: &str, scopes: &Value) -> Requirement {
    let scopes =
        scopes.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    let described = document.root.get("components").and_then(|all| all.get("securitySchemes")?.get(key));
    let scheme = match described.map(|scheme| document.resolve(scheme)) {
        Some(Ok(scheme)) => read(document, scheme, scopes),
        Some(Err(error)) => unsupported(format!("its description {error}")),
        None => unsupported("the document does not describe it".to_owned()),
    };
    Requirement { key: key.to_owned(), scheme }
}

fn unsupported(reason: String) -> Scheme {
    Scheme::Unsupported { reason }
}

fn read(document: &Document, scheme: &Value, scopes: Vec<String>) -> Scheme {
    let text = |key: &str| scheme.get(key).and_then(Value::as_str).unwrap_or("");
    match text("type") {
        "apiKey" => {
            let place = match text("in") {
                "header" => ParamLocation::Header,
                "query" => ParamLocation::Query,
                "cookie" => ParamLocation::Cookie,
                other => return unsupported(format!("an API key in {other:?}")),
            };
            match text("name") {
                "" => unsupported("an API key without a name".to_owned()),
                name => Scheme::ApiKey { place, name: name.to_owned() },
            }
        }
        // Scheme names are case-insensitive (RFC 9110 section 11.1).
        "http" => match text("scheme").to_ascii_lowercase().as_str() {
            "basic" => Scheme::Basic,
            "bearer" => Scheme::Bearer,
            other => unsupported(format!("the HTTP authentication scheme {other:?}")),
        },
        "oauth2" => {
            let flows = scheme.get("flows").and_then(Value::as_object);
            let token_url = flows
                .and_then(|flows| flows.get("clientCredentials")?.get("tokenUrl")?.as_str())
                .and_then(|address| absolute(document, address));
            let flows = flows.into_iter().flat_map(|flows| flows.keys());
            let flows = flows.filter(|flow| !flow.starts_with("x-")).cloned().collect();
            Scheme::Oauth2 { token_url, scopes, flows }
        }
        "openIdConnect" => {
            Scheme::Oauth2 { token_url: None, scopes, flows: vec!["openIdConnect".to_owned()] }
        }
        "mutualTLS" => unsupported("a client certificate".to_owned()),
        other => unsupported(format!("the type {other:?}")),
    }
}

fn absolute(document: &Document, address: &str) -> Option<String> {
    let url = match &document.source {
        Some(source) => source.join(address).ok()?,
        None => Url::parse(address).ok()?,
    };
    matches!(url.scheme(), "http" | "https").then(|| url.to_string())
}
