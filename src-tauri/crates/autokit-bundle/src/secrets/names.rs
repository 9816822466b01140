//! What the name of a field, an option or a header implies about its value.

use crate::words::split_words;

/// What the name of a field implies about its value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NameHint {
    /// Nothing.
    None,
    /// It may be a key, and counts as one if it looks random.
    Possible,
    /// It is a key or token unless it is a placeholder.
    Key,
    /// It is a password or similar, which people choose themselves and which may be short.
    Password,
}

/// Classifies a name by its last word, because `token_count` is a number and `max_tokens` a limit.
pub(super) fn name_hint(name: &str) -> NameHint {
    let mut words = split_words(name);
    while words.len() > 1 && words.last().is_some_and(|last| last.bytes().all(|b| b.is_ascii_digit())) {
        words.pop();
    }
    let Some(last) = words.last() else { return NameHint::None };
    let before = words.len().checked_sub(2).map_or("", |at| words[at].as_str());
    let whole = words.concat();
    let ends = |endings: &[&str]| endings.iter().any(|ending| whole.ends_with(ending));
    // Language models and paginated lists call a piece of text or a position a token.
    let pieces = [
        "page",
        "next",
        "eos",
        "bos",
        "pad",
        "unk",
        "mask",
        "sep",
        "cls",
        "stop",
        "special",
        "end",
        "start",
        "sync",
        "continuation",
        "max",
        "min",
        "previous",
    ];
    match last.as_str() {
        "password" | "passwd" | "pwd" | "passphrase" | "passcode" | "secret" | "cookie" | "cookies"
        | "authorization" | "credential" | "credentials" => NameHint::Password,
        "pass" if words.len() > 1 => NameHint::Password,
        "token" if pieces.contains(&before) => NameHint::None,
        "token" | "bearer" | "pat" | "jwt" => NameHint::Key,
        "key" if ["public", "primary", "foreign", "sort"].contains(&before) => NameHint::None,
        _ if ends(&["password", "passwd", "passphrase", "connectionstring", "clientsecret", "setcookie"]) => {
            NameHint::Password
        }
        _ if ends(&[
            "apikey",
            "accesskey",
            "secretkey",
            "privatekey",
            "accountkey",
            "authkey",
            "signingkey",
            "encryptionkey",
            "masterkey",
            "subscriptionkey",
            "accesstoken",
            "authtoken",
            "bearertoken",
            "refreshtoken",
            "apitoken",
        ]) =>
        {
            NameHint::Key
        }
        "key" | "auth" | "sig" | "signature" => NameHint::Possible,
        _ => NameHint::None,
    }
}
