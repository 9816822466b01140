//! Moments in time as they are stored and sent.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use ts_rs::TS;

/// A moment in UTC, to the millisecond.
///
/// Its text is RFC 3339 with exactly three decimals, `2026-11-22T10:00:00.000Z`, so that texts in the store
/// sort as the moments do. No other form is read: a time that came with a bundle leaves with the same text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, TS)]
#[ts(as = "String")]
pub struct Timestamp {
    /// Milliseconds since 1970, within the range of [`jiff::Timestamp`] and not negative: the text of a
    /// negative year would not be read back.
    millis: i64,
}

/// The form of the text: each 0 stands for a digit.
const FORMAT: &str = "0000-00-00T00:00:00.000Z";

/// A text that is not a time since 1970 in the form `2026-11-22T10:00:00.000Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a time since 1970 in the form {FORMAT}")]
pub struct InvalidTimestamp;

impl Timestamp {
    /// The start of 1970: no timestamp is earlier.
    pub const EPOCH: Timestamp = Timestamp { millis: 0 };

    /// Returns the moment for arithmetic and for showing it in a time zone.
    ///
    /// # Panics
    /// Never: a timestamp is only made from a moment within range.
    pub fn instant(self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.millis).expect("a timestamp is within range")
    }

    /// Returns the date in UTC, `YYYY-MM-DD`.
    pub fn date(self) -> String {
        self.instant().strftime("%Y-%m-%d").to_string()
    }
}

impl From<jiff::Timestamp> for Timestamp {
    /// A moment before 1970, which only a wrong clock shows, becomes 1970.
    fn from(instant: jiff::Timestamp) -> Timestamp {
        Timestamp { millis: instant.as_millisecond().max(0) }
    }
}

impl FromStr for Timestamp {
    type Err = InvalidTimestamp;

    fn from_str(text: &str) -> Result<Timestamp, InvalidTimestamp> {
        let fits = |(is, should): (u8, u8)| if should == b'0' { is.is_ascii_digit() } else { is == should };
        // jiff reads a leap second as the second before it.
        if text.len() != FORMAT.len() || !text.bytes().zip(FORMAT.bytes()).all(fits) || &text[17..19] == "60"
        {
            return Err(InvalidTimestamp);
        }
        let instant: jiff::Timestamp = text.parse().map_err(|_| InvalidTimestamp)?;
        if instant.as_millisecond() < 0 { Err(InvalidTimestamp) } else { Ok(instant.into()) }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.instant().strftime("%Y-%m-%dT%H:%M:%S%.3fZ"))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        let text = String::deserialize(deserializer)?;
        let shown: String = text.chars().take(40).collect();
        text.parse().map_err(|error| serde::de::Error::custom(format_args!("{shown:?} is {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    #[test]
    fn only_its_own_text_is_read() {
        for text in ["1970-01-01T00:00:00.000Z", "2024-02-29T23:59:59.999Z", "9999-12-30T21:59:59.999Z"] {
            assert_eq!(at(text).to_string(), text);
        }
        assert_eq!(at("2026-11-22T23:30:00.000Z").date(), "2026-11-22");
        for text in [
            "9999-99-99T99:99:99.999Z",
            "1969-12-31T23:59:59.999Z",
            "2023-02-29T00:00:00.000Z",
            "2100-02-29T00:00:00.000Z",
            "2024-04-31T00:00:00.000Z",
            "2024-00-01T00:00:00.000Z",
            "2024-01-00T00:00:00.000Z",
            "2024-01-01T24:00:00.000Z",
            "2024-01-01T00:60:00.000Z",
            "2024-01-01T00:00:60.000Z",
            "2024-01-01 00:00:00.000Z",
            "2024-01-01T00:00:00Z",
            "2024-01-01T00:00:00.0000Z",
            "2024-01-01T00:00:00+00:00",
            "yesterday",
            "",
        ] {
            assert_eq!(text.parse::<Timestamp>(), Err(InvalidTimestamp), "{text}");
        }
    }

    #[test]
    fn times_are_truncated_to_milliseconds() {
        let fine: jiff::Timestamp = "2026-11-22T10:00:00.123999Z".parse().expect("a moment");
        assert_eq!(Timestamp::from(fine).to_string(), "2026-11-22T10:00:00.123Z");
        assert_eq!(Timestamp::from(jiff::Timestamp::MIN), Timestamp::EPOCH);
    }

    #[test]
    fn texts_sort_chronologically() {
        let moments = ["1999-12-31T23:59:59.999Z", "2000-01-01T00:00:00.000Z", "2026-11-22T10:00:00.100Z"];
        assert!(moments.iter().map(|text| at(text)).is_sorted());
        assert!(moments.iter().map(|text| at(text).to_string()).is_sorted());
    }

    #[test]
    fn json_is_the_text() {
        let moment = at("2026-11-22T10:00:00.100Z");
        let json = serde_json::to_string(&moment).expect("json");
        assert_eq!(json, "\"2026-11-22T10:00:00.100Z\"");
        assert_eq!(serde_json::from_str::<Timestamp>(&json).expect("a time"), moment);
        assert!(serde_json::from_str::<Timestamp>("\"yesterday\"").is_err());
    }
}
