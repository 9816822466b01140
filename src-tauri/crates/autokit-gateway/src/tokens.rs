//! What tools cost in tokens.

use serde_json::{Map, Value};

/// Characters a token stands for (k in equation 3 of Kaman): what English and JSON Schema average at.
pub const CHARS_PER_TOKEN: usize = 4;

/// Tokens of a text by its characters, rounded up.
///
/// ```
/// assert_eq!(autokit_gateway::tokens::of_text("get_weather"), 3);
/// ```
pub fn of_text(text: &str) -> u32 {
    text.chars().count().div_ceil(CHARS_PER_TOKEN) as u32
}

/// Tokens of a tool's definition: (|name| + |description| + |schema|) / 4, rounded up (equation 3).
pub fn of_tool(name: &str, description: &str, schema: &Map<String, Value>) -> u32 {
    let schema = serde_json::to_string(schema).map_or(0, |text| text.chars().count());
    (name.chars().count() + description.chars().count() + schema).div_ceil(CHARS_PER_TOKEN) as u32
}
