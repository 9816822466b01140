//! Types for ids that are texts.

/// Declares a type for the ids of one kind of thing, so that an id cannot be passed where another kind's
/// belongs. In JSON and in TypeScript an id is plain text. The calling crate needs `serde` and `ts_rs`.
#[macro_export]
macro_rules! text_id {
    ($(#[doc = $doc:literal])+ $name:ident) => {
        $(#[doc = $doc])+
        #[derive(
            Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ::serde::Serialize, ::serde::Deserialize,
            ::ts_rs::TS,
        )]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps an id that was assigned elsewhere or typed by a person.
            pub fn new(text: impl Into<String>) -> $name {
                $name(text.into())
            }

            /// Returns the id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

text_id! {
    /// Id of a session with the agent, in which a person asks questions.
    SessionId
}

/// The terminal parses its arguments by this.
impl From<String> for SessionId {
    fn from(text: String) -> SessionId {
        SessionId(text)
    }
}
