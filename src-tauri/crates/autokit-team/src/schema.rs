//! The tables of a team's database, and their version.

use crate::owner::Lifetimes;

/// Version of the tables; a database with a higher one was made by a newer AutoKit.
pub(crate) const VERSION: i64 = 5;
/// The first version whose rows have audiences, with which their ids are made.
pub(crate) const WITH_AUDIENCES: i64 = 5;

/// Most bytes of a card or proposal: an answer with a page of them still fits into one message of the server.
pub const MAX_TEXT: usize = 256 << 10;
/// Most bytes of a reason.
pub(crate) const MAX_REASON: usize = 16 << 10;

/// Whether a row is shown to a member: their statement names its audience in `$audiences`, and the audience is theirs.
///
/// The first part reads nothing, so that reading a table passes over rows of other audiences quickly. (A single row of another
/// audience cannot even be named: its id is made with a key that only the audience has.) `CONTAINSANY`, since `IN` also takes a
/// range, which includes every key.
const IS_VISIBLE: &str =
    "$audiences CONTAINSANY [audience] AND $is_identity AND audience IN $auth.member.audiences";

/// Whether `$auth` may be somebody's identity: no object that a statement put in its place, and no id that says what its row
/// would.
const IS_IDENTITY: &str = "type::is_record($auth, 'identity') AND type::is_string(record::id($auth))";

/// What a row with a key is named in an audience, in ids and indexes, as an expression of `$audience` and `$key`.
pub(crate) const ROW_NAME: &str = "crypto::sha256(string::concat(<string> $audience, ' ', $key))";

/// Permissions of fields of rows with an audience.
const GUARDED: &str =
    "PERMISSIONS FOR select WHERE audience IN $auth.member.audiences, FOR create, update FULL";

/// Permissions of fields that allow everything, but keep conditions from being tried before the permission of the row.
const UNTRIED: &str = "PERMISSIONS FOR select WHERE true, FOR create, update FULL";

/// Permissions of fields of rows that only administrators see, that whoever asked for something sees, and of the audit.
const TO_ADMINS: &str = "PERMISSIONS FOR select WHERE fn::may('admin'), FOR create, update FULL";
const TO_SENDER: &str = "PERMISSIONS FOR select WHERE member = $auth.member, FOR create, update FULL";
const TO_AUDITORS: &str = "PERMISSIONS FOR select WHERE fn::may('admin') AND (audience = NONE OR fn::sees(audience)), FOR create, update FULL";

/// The statements that define the tables, with a hash that no password has in place of `$decoy`.
pub(crate) fn statements(decoy: &str, lifetimes: Lifetimes) -> String {
    include_str!("schema.surql")
        .replace("$is_visible", IS_VISIBLE)
        .replace("$is_identity", IS_IDENTITY)
        .replace("$row_name", ROW_NAME)
        .replace("$guarded", GUARDED)
        .replace("$untried", UNTRIED)
        .replace("$to_admins", TO_ADMINS)
        .replace("$to_sender", TO_SENDER)
        .replace("$to_auditors", TO_AUDITORS)
        .replace("$max_text", &MAX_TEXT.to_string())
        .replace("$max_reason", &MAX_REASON.to_string())
        .replace("$decoy", &format!("'{decoy}'"))
        .replace("$token_lifetime", &format!("{}h", lifetimes.token_hours))
        .replace("$session_lifetime", &format!("{}h", lifetimes.session_hours))
}
