//! What a card stores so that its operation can be called later without the document it was read from.

use autokit_toolcard::{Toolcard, fields};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::CallError;

/// The version of [`Call`] that this program writes and reads.
pub const CALL_VERSION: u64 = 1;
/// The argument that holds the request body.
pub const BODY_ARGUMENT: &str = "body";

/// An HTTP operation: where it is sent and where each argument goes.
///
/// Stored on a card as JSON with these field names. Unknown fields from later versions of AutoKit are ignored
/// as long as the version number is the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// [`CALL_VERSION`].
    pub version: u64,
    /// The method in upper case, e.g. `GET`.
    pub method: String,
    /// Servers it can be sent to, the default first. Absolute URLs without a trailing slash.
    pub servers: Vec<Server>,
    /// The path with `{name}` for each path parameter, by wire name; starts with `/`. Anything after a `?` is
    /// sent with every request.
    pub path: String,
    /// Where each argument goes, except the body.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Parameter>,
    /// The request body, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
    /// The `Accept` header, if the document says which media types are returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept: Option<String>,
    /// Headers sent with every request, as name and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixed_headers: Vec<(String, String)>,
    /// Alternative sets of credentials. One alternative suffices, but everything in it is required. An empty
    /// list or an empty alternative means that no credentials are required.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub security: Vec<Vec<Requirement>>,
}

/// A base URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// Absolute `http` or `https` URL without a query and without a trailing slash.
    pub url: String,
    /// Its purpose, according to the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Where one argument goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// The argument's name in the card's `parameters`.
    pub name: String,
    /// The name it is sent under, which differs from `name` when two places use the same one.
    pub wire_name: String,
    /// The part of the request it goes to.
    #[serde(rename = "in")]
    pub place: ParamLocation,
    /// How lists and objects are serialized.
    pub style: Style,
    /// Whether each item of a list or object is written separately.
    pub explode: bool,
    /// Whether characters with a meaning in URLs are left unencoded (query only).
    #[serde(default, skip_serializing_if = "is_false")]
    pub allow_reserved: bool,
    /// Whether a request without it is refused.
    #[serde(default, skip_serializing_if = "is_false")]
    pub required: bool,
    /// For parameters described by `content`: the media type that the value is encoded in before it is
    /// written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// A part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ParamLocation {
    /// A segment of the path.
    Path,
    /// The query, after the `?`.
    Query,
    /// A header.
    Header,
    /// The `Cookie` header.
    Cookie,
}

impl ParamLocation {
    /// The name used in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            ParamLocation::Path => "path",
            ParamLocation::Query => "query",
            ParamLocation::Header => "header",
            ParamLocation::Cookie => "cookie",
        }
    }

    /// The default style of this place (OpenAPI 3, Parameter Object, `style`).
    pub fn style(self) -> Style {
        match self {
            ParamLocation::Path | ParamLocation::Header => Style::Simple,
            ParamLocation::Query | ParamLocation::Cookie => Style::Form,
        }
    }

    /// Whether a style exists for this place (OpenAPI 3, Style Values).
    pub fn allows(self, style: Style) -> bool {
        match self {
            ParamLocation::Path => matches!(style, Style::Simple | Style::Label | Style::Matrix),
            ParamLocation::Query => !matches!(style, Style::Simple | Style::Label | Style::Matrix),
            ParamLocation::Header => style == Style::Simple,
            ParamLocation::Cookie => style == Style::Form,
        }
    }
}

/// How a value is serialized (OpenAPI 3, Style Values).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Style {
    /// `blue,black`.
    Simple,
    /// `.blue.black`.
    Label,
    /// `;color=blue;color=black`.
    Matrix,
    /// `color=blue&color=black`.
    Form,
    /// `color=blue%20black`.
    SpaceDelimited,
    /// `color=blue%7Cblack`.
    PipeDelimited,
    /// `color[R]=100`.
    DeepObject,
}

impl Style {
    /// Parses the name used in documents.
    pub fn parse(text: &str) -> Option<Style> {
        serde_json::from_value(Value::from(text)).ok()
    }
}

/// The request body; its value is the argument [`BODY_ARGUMENT`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Body {
    /// The argument's name in the card's `parameters`.
    pub argument: String,
    /// The media type that is sent. It determines how the argument is written: JSON as it is, forms from an
    /// object, text from a string, everything else from a string in Base64.
    pub media_type: String,
    /// Whether a request without a body is refused.
    #[serde(default, skip_serializing_if = "is_false")]
    pub required: bool,
    /// How individual properties of a form are written, where that differs from the default.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub encoding: IndexMap<String, PartEncoding>,
}

/// How a property of a form is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartEncoding {
    /// Media type of the part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// How lists and objects are serialized in a URL-encoded form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<Style>,
    /// See [`Parameter::explode`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explode: Option<bool>,
    /// See [`Parameter::allow_reserved`].
    #[serde(default, skip_serializing_if = "is_false")]
    pub allow_reserved: bool,
    /// Whether the argument holds the bytes of a file in Base64.
    #[serde(default, skip_serializing_if = "is_false")]
    pub base64: bool,
}

/// A credential that the operation requires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirement {
    /// Name of the scheme in the document, under which its secret is stored.
    pub key: String,
    /// The authentication scheme.
    #[serde(flatten)]
    pub scheme: Scheme,
}

/// How a credential is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Scheme {
    /// An API key in a header, the query or a cookie.
    ApiKey {
        /// Header, query or cookie.
        #[serde(rename = "in")]
        place: ParamLocation,
        /// The name it is sent under.
        name: String,
    },
    /// User name and password (RFC 7617).
    Basic,
    /// A token in the `Authorization` header (RFC 6750).
    Bearer,
    /// An access token of OAuth 2.0 or OpenID Connect, sent like [`Scheme::Bearer`].
    Oauth2 {
        /// Token endpoint for the client credentials flow (RFC 6749 section 4.4), with which a program gets a
        /// token.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token_url: Option<String>,
        /// Scopes that the token needs.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        scopes: Vec<String>,
        /// The flows the document offers. Without `clientCredentials`, a person has to obtain the token.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        flows: Vec<String>,
    },
    /// A scheme that is not supported, such as a client certificate.
    Unsupported {
        /// What it is, in words.
        reason: String,
    },
}

impl Call {
    /// The call stored on a card; `None` if it has none.
    ///
    /// # Errors
    /// [`CallError::Version`] for a call of a newer program, [`CallError::Malformed`] for anything else that
    /// is not a call.
    pub fn from_card(card: &Toolcard) -> Result<Option<Call>, CallError> {
        let Some(value) = card.object().get(fields::CALL).filter(|value| !value.is_null()) else {
            return Ok(None);
        };
        match value.get("version").and_then(Value::as_u64) {
            Some(CALL_VERSION) => {}
            Some(version) => return Err(CallError::Version { version }),
            None => return Err(CallError::Malformed { reason: "it has no version".to_owned() }),
        }
        match Call::deserialize(value) {
            Ok(call) => Ok(Some(call)),
            Err(error) => Err(CallError::Malformed { reason: error.to_string() }),
        }
    }

    /// A line for people to read: `GET https://api.example.org/things/{id}`.
    pub fn usage(&self) -> String {
        let server = self.servers.first().map_or("", |server| server.url.as_str());
        format!("{} {server}{}", self.method, self.path)
    }
}

/// For fields that are skipped when `false`.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_false(value: &bool) -> bool {
    !value
}
