//! The tables of a team's database, and their version.

use crate::owner::Lifetimes;

/// Version of the tables; a database with a higher one was made by a newer AutoKit.
pub(crate) const VERSION: i64 = 3;

/// The statements that define the tables, with a hash that no password has in place of `$decoy`.
pub(crate) fn statements(decoy: &str, lifetimes: Lifetimes) -> String {
    include_str!("schema.surql")
        .replace("$decoy", &format!("'{decoy}'"))
        .replace("$token_lifetime", &format!("{}h", lifetimes.token_hours))
        .replace("$session_lifetime", &format!("{}h", lifetimes.session_hours))
}
