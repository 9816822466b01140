//! Detects encoded text that decodes to sentences.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use regex::Regex;

use super::{Found, InjectionKind};

/// Most characters of the decoded text that are shown.
const MAX_DECODED_CHARS: usize = 60;

static BASE64: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[A-Za-z0-9+/_-]{24,}={0,2}").expect("a valid expression"));
static HEX: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?:0x)?((?:[0-9A-Fa-f]{2}){16,})").expect("a valid expression"));
static ESCAPES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?:\\x[0-9A-Fa-f]{2}){8,}|(?:\\u00[0-9A-Fa-f]{2}){8,}|(?:%[2-7][0-9A-Fa-f]){8,}|(?:&#(?:[0-9]{2,3}|x[0-9A-Fa-f]{2});){6,}",
    )
    .expect("a valid expression")
});

pub(super) fn find(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut report = |at: std::ops::Range<usize>, decoded: Option<String>, how: &str, words: usize| {
        if let Some(decoded) = decoded.filter(|decoded| is_readable(decoded, words)) {
            let short: String = decoded.chars().take(MAX_DECODED_CHARS).collect();
            let more = if decoded.chars().count() > MAX_DECODED_CHARS { "…" } else { "" };
            found.push(Found::new(at, InjectionKind::Encoded, format!("{how} for “{short}{more}”.")));
        }
    };
    for hit in BASE64.find_iter(text) {
        report(hit.range(), base64(hit.as_str()), "Base64", 3);
    }
    for hit in HEX.captures_iter(text) {
        let (Some(whole), Some(digits)) = (hit.get(0), hit.get(1)) else { continue };
        let bytes = hex::decode(digits.as_str()).ok();
        report(whole.range(), bytes.and_then(|bytes| String::from_utf8(bytes).ok()), "Hexadecimal", 3);
    }
    for hit in ESCAPES.find_iter(text) {
        // There is no other reason to escape plain letters.
        report(hit.range(), escapes(hit.as_str()), "Escapes", 1);
    }
    found
}

fn base64(text: &str) -> Option<String> {
    let letters = if text.contains(['-', '_']) { alphabet::URL_SAFE } else { alphabet::STANDARD };
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    String::from_utf8(GeneralPurpose::new(&letters, config).decode(text).ok()?).ok()
}

fn escapes(text: &str) -> Option<String> {
    let decimal = text.starts_with("&#") && !text.starts_with("&#x");
    let pieces = text.split(['\\', '%', '&']).filter(|piece| !piece.is_empty());
    let bytes: Option<Vec<u8>> = pieces
        .map(|piece| {
            let digits = piece.trim_start_matches(['x', 'u', '#']).trim_end_matches(';');
            if decimal {
                digits.parse().ok()
            } else {
                u8::from_str_radix(digits.trim_start_matches("00"), 16).ok()
            }
        })
        .collect();
    String::from_utf8(bytes?).ok()
}

/// Whether decoded text consists of words, unlike keys, images and numbers.
fn is_readable(decoded: &str, words: usize) -> bool {
    let count = decoded.chars().count();
    let letters = decoded.chars().filter(|c| c.is_alphabetic() || *c == ' ').count();
    let odd = decoded.chars().any(|c| c.is_control() && !c.is_whitespace());
    let has = decoded.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count();
    count >= 6 && !odd && letters * 10 >= count * 7 && has >= words
}
