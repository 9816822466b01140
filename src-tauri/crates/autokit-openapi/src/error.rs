//! Errors when reading a document or making a request.

use std::io;

/// Largest document that is read: GitHub's has 13 MB, the largest published ones have about 40.
pub const MAX_DOCUMENT_BYTES: u64 = 64 << 20;

/// Nothing in the document can be used. A bad operation among good ones is
/// [`Rejected`](autokit_toolcard::Rejected) instead.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// The disk or pipe failed.
    #[error("the document could not be read: {0}")]
    Io(#[from] io::Error),
    /// More than [`MAX_DOCUMENT_BYTES`].
    #[error("the document is larger than {} MiB", MAX_DOCUMENT_BYTES >> 20)]
    TooLarge,
    /// Not text.
    #[error("the document is not UTF-8 text: invalid byte at offset {offset}")]
    NotUtf8 {
        /// Offset of the first bad byte.
        offset: usize,
    },
    /// Nothing but white space.
    #[error("the document is empty")]
    Empty,
    /// Neither JSON nor YAML, or JSON that is nested too deeply.
    #[error("the document is not valid {format}: {reason}")]
    Syntax {
        /// `JSON` or `YAML`.
        format: &'static str,
        /// The parser's message with the position.
        reason: String,
    },
    /// YAML that is nested too deeply, or grows too large when its aliases are expanded.
    #[error("the document {reason}")]
    Limit {
        /// Which limit, as the end of a sentence.
        reason: String,
    },
    /// Swagger 2.0 or older.
    #[error("the document is Swagger {version}")]
    Swagger {
        /// The version as written.
        version: String,
    },
    /// An unsupported OpenAPI version.
    #[error("the document has OpenAPI version {version:?}")]
    Version {
        /// The version as written.
        version: String,
    },
    /// Not an OpenAPI document.
    #[error("the document is not an OpenAPI document: it is {found}")]
    NotOpenApi {
        /// What it is instead.
        found: &'static str,
    },
    /// Not RapidAPI documentation.
    #[error("the file does not contain RapidAPI documentation")]
    NotRapidApi,
    /// The given source is not a valid URL.
    #[error("{source_url:?} is not a valid document URL ({reason})")]
    Source {
        /// The URL as given.
        source_url: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl SpecError {
    /// Returns what the person can do, as a sentence.
    pub fn remedy(&self) -> &'static str {
        match self {
            SpecError::Io(_) => "Check the path.",
            SpecError::TooLarge => "Split it by tags or paths and import the parts.",
            SpecError::NotUtf8 { .. } => "Save it as UTF-8.",
            SpecError::Empty => "Download it again.",
            SpecError::Syntax { .. } => "Correct it there and import it again.",
            SpecError::Limit { .. } => "Expand its aliases (*name) or split it, and import it again.",
            SpecError::Swagger { .. } => {
                "Convert it to OpenAPI 3 first, for example with https://converter.swagger.io, and import the result."
            }
            SpecError::Version { .. } => "Convert it to OpenAPI 3.0, 3.1 or 3.2.",
            SpecError::NotOpenApi { .. } => "Import an object with \"openapi\": \"3.…\".",
            SpecError::NotRapidApi => {
                "Import an object, or a list of them, with endpoints under \"api_list\"."
            }
            SpecError::Source { .. } => "Enter a full http or https URL or none.",
        }
    }
}

/// Why a request could not be made from a call and its arguments. Messages never contain the value of an
/// argument or a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The call was written by a newer version of AutoKit.
    #[error("the card's `call` has version {version}, but this AutoKit supports version 1; update AutoKit")]
    Version {
        /// The version as written.
        version: u64,
    },
    /// The value is not a call.
    #[error("the card's `call` is not valid: {reason}; import the card again")]
    Malformed {
        /// What is wrong with it.
        reason: String,
    },
    /// The call has no server.
    #[error("the card's `call` has no server; add one under `call.servers`")]
    NoServer,
    /// The server is not one of the card's.
    #[error(
        "{server} is not one of the card's servers ({known}); choose one of them or add it under `call.servers`"
    )]
    UnknownServer {
        /// The server asked for.
        server: String,
        /// The card's servers, separated by commas.
        known: String,
    },
    /// Server, path and arguments do not form a valid URL.
    #[error("the server and the path do not form a valid URL: {reason}; correct `call` on the card")]
    Url {
        /// What is wrong.
        reason: String,
    },
    /// A required argument is missing.
    #[error("the argument `{name}` is missing; the operation requires it")]
    MissingArgument {
        /// The argument.
        name: String,
    },
    /// An argument that the operation does not have.
    #[error("unknown argument `{name}`; omit it or use one of: {known}")]
    UnknownArgument {
        /// The argument given.
        name: String,
        /// The arguments there are.
        known: String,
    },
    /// A value that cannot be written at its place in the request.
    #[error("the argument `{name}` cannot be sent: {reason}")]
    Argument {
        /// The argument.
        name: String,
        /// The reason, with what to do about it.
        reason: String,
    },
    /// A header that may not be set or that would break the request.
    #[error("the header {name} cannot be sent: {reason}")]
    Header {
        /// The header's name.
        name: String,
        /// The reason.
        reason: String,
    },
    /// Credentials that the operation requires are missing.
    #[error("credentials are missing; needed: {needed}; add them to the settings under these names")]
    MissingCredentials {
        /// The alternatives that would suffice.
        needed: String,
    },
    /// The operation requires an authentication method that is not supported.
    #[error("the operation requires an unsupported sign-in: {reason}")]
    UnsupportedSecurity {
        /// Which one.
        reason: String,
    },
}
