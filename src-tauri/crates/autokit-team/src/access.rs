//! Who may do and see what.

use std::fmt;

use serde::{Deserialize, Serialize};
use surrealdb::types::{Object, RecordId, RecordIdKey, Value};

use crate::error::{Code, Result, TeamError};

/// What a member may do. Each role may do what the ones before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Finds and reads cards.
    Reader,
    /// Proposes changes.
    Contributor,
    /// Decides on proposals, and changes cards.
    Reviewer,
    /// Invites members, and gives roles and groups.
    Admin,
}

impl Role {
    /// Every role, from the one that may do least.
    pub const ALL: [Role; 4] = [Role::Reader, Role::Contributor, Role::Reviewer, Role::Admin];

    /// Returns the name used in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Reader => "reader",
            Role::Contributor => "contributor",
            Role::Reviewer => "reviewer",
            Role::Admin => "admin",
        }
    }

    /// Parses the name used in the database.
    pub fn parse(text: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.as_str() == text)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

macro_rules! key {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(String);

        impl $name {
            /// Takes a key as the database gave it.
            pub fn new(key: impl Into<String>) -> $name {
                $name(key.into())
            }

            /// Returns the key.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

/// The key is the row's id.
macro_rules! record_key {
    ($(#[$doc:meta])* $name:ident, $table:literal) => {
        key!($(#[$doc])* $name);

        impl $name {
            pub(crate) fn record(&self) -> RecordId {
                RecordId::new($table, self.0.as_str())
            }

            pub(crate) fn of(value: &Value) -> Result<$name> {
                match value {
                    Value::RecordId(RecordId { table, key: RecordIdKey::String(key) }) if table.as_str() == $table => {
                        Ok($name(key.clone()))
                    }
                    other => Err(unexpected($table, other)),
                }
            }
        }
    };
}

/// The row's id is made of this key and that of its audience.
macro_rules! audience_key {
    ($(#[$doc:meta])* $name:ident) => {
        key!($(#[$doc])* $name);

        impl $name {
            pub(crate) fn value(&self) -> Value {
                Value::String(self.0.clone())
            }
        }
    };
}

record_key!(
    /// Key of a member.
    MemberKey,
    "member"
);
record_key!(
    /// Key of a group of members.
    GroupKey,
    "group"
);
audience_key!(
    /// Key of a card in the team's database, which gives it.
    CardKey
);

audience_key!(
    /// Key of a proposal in the team's database.
    ProposalKey
);

/// Who sees a card.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", content = "of", rename_all = "snake_case")]
pub enum Visibility {
    /// Whoever can read the team's library, also without being a member where the team allows that.
    Everyone,
    /// All members.
    Team,
    /// Members of a role or a higher one.
    Role(Role),
    /// Members of a group.
    Group(GroupKey),
    /// One member.
    Person(MemberKey),
}

impl Visibility {
    pub(crate) fn to_value(&self) -> Value {
        let mut object = Object::new();
        let (kind, detail) = match self {
            Visibility::Everyone => ("everyone", None),
            Visibility::Team => ("team", None),
            Visibility::Role(role) => ("role", Some(Value::String(role.as_str().to_owned()))),
            Visibility::Group(group) => ("group", Some(Value::RecordId(group.record()))),
            Visibility::Person(person) => ("person", Some(Value::RecordId(person.record()))),
        };
        object.insert("kind", kind.to_owned());
        if let Some(detail) = detail {
            object.insert(kind, detail);
        }
        Value::Object(object)
    }

    pub(crate) fn of(value: &Value) -> Result<Visibility> {
        let Value::Object(object) = value else { return Err(unexpected("visibility", value)) };
        let detail = |name: &str| object.get(name).unwrap_or(&Value::None);
        match object.get("kind") {
            Some(Value::String(kind)) => match kind.as_str() {
                "everyone" => Ok(Visibility::Everyone),
                "team" => Ok(Visibility::Team),
                "group" => GroupKey::of(detail("group")).map(Visibility::Group),
                "person" => MemberKey::of(detail("person")).map(Visibility::Person),
                "role" => match detail("role") {
                    Value::String(role) => Role::parse(role).map(Visibility::Role),
                    _ => None,
                }
                .ok_or_else(|| unexpected("role", detail("role"))),
                _ => Err(unexpected("visibility", value)),
            },
            _ => Err(unexpected("visibility", value)),
        }
    }
}

pub(crate) fn unexpected(what: &str, value: &Value) -> TeamError {
    TeamError::new(Code::Database, format!("the server gave an unexpected {what}: {value:?}"))
}
