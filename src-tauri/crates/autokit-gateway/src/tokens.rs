//! Estimates of the tokens of texts and tools.

use serde_json::{Map, Value};

/// Characters per token (k in equation 3 of Kaman): the average of English and JSON Schema.
pub const CHARS_PER_TOKEN: usize = 4;

/// Returns the estimated tokens of a text, rounded up.
///
/// ```
/// assert_eq!(autokit_gateway::tokens::of_text("get_weather"), 3);
/// ```
pub fn of_text(text: &str) -> u32 {
    text.chars().count().div_ceil(CHARS_PER_TOKEN) as u32
}

/// Returns the estimated tokens of a tool's definition: (|name| + |description| + |schema|) / 4, rounded up
/// (equation 3).
pub fn of_tool(name: &str, description: &str, schema: &Map<String, Value>) -> u32 {
    let schema = serde_json::to_string(schema).map_or(0, |text| text.chars().count());
    (name.chars().count() + description.chars().count() + schema).div_ceil(CHARS_PER_TOKEN) as u32
}
