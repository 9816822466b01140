//! The tables of a team's database, and their version.

/// Version of the tables; a database with a higher one was made by a newer AutoKit.
pub(crate) const VERSION: i64 = 1;

/// The statements that define the tables, with a hash that no password has in place of `$decoy`.
pub(crate) fn statements(decoy: &str) -> String {
    include_str!("schema.surql").replace("$decoy", &format!("'{decoy}'"))
}
