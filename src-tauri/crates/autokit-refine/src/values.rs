//! Values to try for a parameter.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Number, Value, json};

/// Most values suggested for one parameter.
const SUGGESTED: usize = 8;
/// Most values remembered of one field.
const REMEMBERED: usize = 16;

/// Values that tools returned, for arguments of others: an identifier is only valid if something has it.
#[derive(Clone, Debug, Default)]
pub struct ValuePool {
    fields: Vec<KnownField>,
}

#[derive(Clone, Debug)]
struct KnownField {
    /// The key, split into words.
    key: Vec<String>,
    /// Words of the key right above it.
    parent: Vec<String>,
    /// Words of what is above it: keys and the tool's name, without plural.
    above: BTreeSet<String>,
    values: Vec<Value>,
}

impl ValuePool {
    /// Remembers the scalar values in what a tool returned.
    pub fn learn(&mut self, tool: &str, result: &Value) {
        let above: Vec<String> = words(tool);
        self.walk(result, None, &[], &above, 0);
    }

    fn walk(&mut self, value: &Value, key: Option<&str>, parent: &[String], above: &[String], depth: usize) {
        if depth > 8 {
            return;
        }
        match value {
            Value::Object(object) => {
                let parent: Vec<String> = key.into_iter().flat_map(words).collect();
                let above = [above, &parent].concat();
                for (key, value) in object {
                    self.walk(value, Some(key), &parent, &above, depth + 1);
                }
            }
            Value::Array(items) => {
                for item in items.iter().take(REMEMBERED) {
                    self.walk(item, key, parent, above, depth + 1);
                }
            }
            Value::String(text) if text.len() > 200 => {}
            Value::String(_) | Value::Number(_) => {
                let Some(key) = key else { return };
                let key = words(key);
                let above: BTreeSet<String> = above.iter().cloned().collect();
                let is_same = |field: &&mut KnownField| {
                    field.key == key && field.parent == parent && field.above == above
                };
                let known = self.fields.iter_mut().find(is_same);
                match known {
                    Some(field) if field.values.len() < REMEMBERED && !field.values.contains(value) => {
                        field.values.push(value.clone());
                    }
                    Some(_) => {}
                    None => {
                        let (parent, values) = (parent.to_vec(), vec![value.clone()]);
                        self.fields.push(KnownField { key, parent, above, values });
                    }
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Returns values that the parameter of a tool may take, likeliest first.
    pub fn suggest(&self, tool: &str, parameter: &str) -> Vec<Value> {
        let wanted = words(parameter);
        let Some(last) = wanted.last() else { return Vec::new() };
        let tool = words(tool);
        let mut ranked: Vec<(usize, &KnownField)> = self
            .fields
            .iter()
            .filter_map(|field| {
                let of = &wanted[..wanted.len() - 1];
                let is_bare = field.key.len() == 1 && field.key.last() == Some(last);
                // `person_id` is a field `person_id`, or the `id` of something called person.
                let rank = if field.key == wanted && !of.is_empty() {
                    0
                } else if is_bare && !of.is_empty() && of.iter().all(|word| field.parent.contains(word)) {
                    1
                } else if is_bare && !of.is_empty() && of.iter().all(|word| field.above.contains(word)) {
                    2
                } else if field.key == wanted {
                    // A bare `id`: of what the tool is about.
                    if tool.iter().any(|word| field.parent.contains(word)) {
                        3
                    } else {
                        5 - usize::from(tool.iter().any(|word| field.above.contains(word)))
                    }
                } else {
                    return None;
                };
                Some((rank, field))
            })
            .collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        let mut found: Vec<Value> = Vec::new();
        for value in ranked.into_iter().flat_map(|(_, field)| &field.values) {
            if !found.contains(value) {
                found.push(value.clone());
            }
        }
        found.truncate(SUGGESTED);
        found
    }
}

/// Splits a name into lower-case stems: `UserIDs`, `user-ids` and `user_id` are `user`, `id`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let chars: Vec<char> = name.chars().collect();
    for (at, &c) in chars.iter().enumerate() {
        let begins = c.is_uppercase()
            && (chars
                .get(at.wrapping_sub(1))
                .is_some_and(|before| before.is_lowercase() || before.is_ascii_digit())
                || (chars.get(at + 1).is_some_and(|next| next.is_lowercase())
                    && chars.get(at.wrapping_sub(1)).is_some_and(|before| before.is_uppercase())
                    && chars.get(at + 2).is_some_and(|after| after.is_lowercase())));
        if (begins || !c.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words.into_iter().map(|word| stem(&word)).collect()
}

/// Removes the plural; `movies` and `categories` end alike, and so must `movie` and `category`.
fn stem(word: &str) -> String {
    match word {
        "people" => "person".to_owned(),
        _ if word.len() > 4 && word.ends_with("ies") => format!("{}y", &word[..word.len() - 3]),
        _ if word.len() > 4 && word.ends_with("ie") => format!("{}y", &word[..word.len() - 2]),
        _ if word.len() > 4 && (word.ends_with("ses") || word.ends_with("xes") || word.ends_with("ches")) => {
            word[..word.len() - 2].to_owned()
        }
        _ if word.len() > 2 && word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us") => {
            word[..word.len() - 1].to_owned()
        }
        _ => word.to_owned(),
    }
}

/// Returns the type a schema declares; the first one that is not null if it declares several.
pub(crate) fn type_of(schema: &Value) -> Option<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => Some(name),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        _ => schema.get("enum").and_then(Value::as_array).and_then(|values| values.first()).map(|first| {
            match first {
                Value::String(_) => "string",
                Value::Number(_) => "number",
                _ => "boolean",
            }
        }),
    }
}

/// Returns values for a parameter that should be valid, likeliest first.
pub(crate) fn valid(tool: &str, name: &str, schema: &Value, pool: &ValuePool) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    let mut add = |value: Value| {
        if fits(&value, schema) && !found.contains(&value) {
            found.push(value);
        }
    };
    let pooled = pool.suggest(tool, name);
    // Nobody documents an identifier that exists everywhere.
    let is_identifier = words(name).last().is_some_and(|last| last == "id");
    if is_identifier {
        pooled.iter().cloned().for_each(&mut add);
    }
    for key in ["const", "example", "default"] {
        schema.get(key).cloned().into_iter().for_each(&mut add);
    }
    schema.get("examples").and_then(Value::as_array).into_iter().flatten().cloned().for_each(&mut add);
    schema.get("enum").and_then(Value::as_array).into_iter().flatten().cloned().for_each(&mut add);
    for text in examples_in(schema.get("description").and_then(Value::as_str).unwrap_or("")) {
        typed(&text, schema).into_iter().for_each(&mut add);
    }
    pooled.into_iter().for_each(&mut add);
    typical(name, schema).into_iter().for_each(&mut add);
    found.truncate(SUGGESTED);
    found
}

/// Returns examples that a description gives: in code marks or quotes, or after "e.g.".
fn examples_in(description: &str) -> Vec<String> {
    static EXAMPLE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?i)(?:e\.g\.,?|for example,?|such as|example:|like)\s*[`'"“]?([A-Za-z0-9][A-Za-z0-9_:./+\-]*)|[`“"']([^`“”"'\s]{1,60})[`”"']"#)
            .expect("a valid pattern")
    });
    EXAMPLE
        .captures_iter(description)
        .filter_map(|found| found.get(1).or(found.get(2)))
        .map(|text| text.as_str().trim_end_matches(['.', ',', ';', ':']).to_owned())
        .collect()
}

/// Reads a text as a value of the type that a schema declares.
pub(crate) fn typed(text: &str, schema: &Value) -> Option<Value> {
    match type_of(schema) {
        Some("integer") => text.parse::<i64>().ok().map(Value::from),
        Some("number") => text.parse::<f64>().ok().and_then(Number::from_f64).map(Value::Number),
        Some("boolean") => text.parse::<bool>().ok().map(Value::Bool),
        Some("string") | None => Some(Value::String(text.to_owned())),
        _ => None,
    }
}

/// Whether a value has the declared type; what else a schema says is what is to be found out.
fn fits(value: &Value, schema: &Value) -> bool {
    match type_of(schema) {
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => !value.is_null(),
    }
}

/// Returns usual values by format, name and type.
fn typical(name: &str, schema: &Value) -> Vec<Value> {
    let format = schema.get("format").and_then(Value::as_str).unwrap_or("");
    let name_words = words(name);
    let named = |word: &str| name_words.iter().any(|own| own == word);
    match type_of(schema) {
        Some("integer") => {
            let least = schema.get("minimum").and_then(Value::as_i64).unwrap_or(1);
            vec![json!(least.max(1)), json!(least), json!(2)]
        }
        Some("number") => {
            let least = schema.get("minimum").and_then(Value::as_f64).unwrap_or(1.0);
            if named("lat") || named("latitude") {
                vec![json!(52.5)]
            } else if named("lon") || named("lng") || named("longitude") {
                vec![json!(13.4)]
            } else {
                vec![json!(least.max(1.0)), json!(least)]
            }
        }
        Some("boolean") => vec![json!(true), json!(false)],
        Some("array") => {
            let items = schema.get("items").cloned().unwrap_or_else(|| json!({"type": "string"}));
            let item = items
                .get("enum")
                .and_then(Value::as_array)
                .and_then(|values| values.first().cloned())
                .or_else(|| typical(name, &items).into_iter().next());
            item.map(|item| vec![json!([item])]).unwrap_or_default()
        }
        Some("object") => vec![Value::Object(object(schema, &ValuePool::default(), 0))],
        _ => {
            let text = match format {
                "date" => "2024-01-15",
                "date-time" => "2024-01-15T12:00:00Z",
                "time" => "12:00:00",
                "email" => "person@example.org",
                "uri" | "url" => "https://example.org/",
                "uuid" => "123e4567-e89b-42d3-a456-426614174000",
                "ipv4" => "192.0.2.1",
                _ if named("date") || named("since") || named("until") || named("day") => "2024-01-15",
                _ if named("email") => "person@example.org",
                _ if named("url") || named("uri") => "https://example.org/",
                _ if named("country") => "DE",
                _ if named("language") || named("lang") || named("locale") => "en",
                _ if named("currency") => "EUR",
                _ if named("city") || named("location") => "Berlin",
                _ if named("timezone") || named("zone") || named("tz") => "Europe/Berlin",
                _ => "test",
            };
            let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0) as usize;
            let mut text = text.to_owned();
            while text.len() < least {
                text.push('a');
            }
            vec![Value::String(text), json!("a"), json!("1")]
        }
    }
}

/// Returns an object with a value for each property that a schema requires.
pub(crate) fn object(schema: &Value, pool: &ValuePool, depth: usize) -> Map<String, Value> {
    let mut object = Map::new();
    if depth > 4 {
        return object;
    }
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for name in required {
        let Some(own) = schema.get("properties").and_then(|properties| properties.get(name)) else {
            continue;
        };
        let value = if type_of(own) == Some("object") {
            Some(Value::Object(self::object(own, pool, depth + 1)))
        } else {
            valid("", name, own, pool).into_iter().next()
        };
        if let Some(value) = value {
            object.insert(name.to_owned(), value);
        }
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_words() {
        assert_eq!(words("userIDs"), ["user", "id"]);
        assert_eq!(words("movieId"), words("movies_id"));
        assert_eq!(words("person_id"), ["person", "id"]);
        assert_eq!(words("list-categories"), ["list", "category"]);
        assert_eq!(words("getHTTPStatus"), ["get", "http", "status"]);
    }

    #[test]
    fn identifiers_come_from_what_others_returned() {
        let mut pool = ValuePool::default();
        pool.learn("search_people", &json!({"results": [{"id": 7, "name": "A"}, {"id": 8, "name": "B"}]}));
        pool.learn("list_movies", &json!({"movies": [{"id": 99, "director": {"person_id": 12}}]}));
        assert_eq!(pool.suggest("get_person", "person_id"), [json!(12), json!(7), json!(8)]);
        assert_eq!(pool.suggest("get_movie", "movieId"), [json!(99)]);
        assert_eq!(pool.suggest("get_movie", "id")[0], json!(99));
        let schema = json!({"type": "integer", "example": 550});
        assert_eq!(
            valid("get_movie", "movie_id", &schema, &pool),
            [json!(99), json!(550), json!(1), json!(2)]
        );
    }

    #[test]
    fn what_is_documented_comes_first() {
        let pool = ValuePool::default();
        let schema = json!({"type": "string", "enum": ["asc", "desc"], "default": "desc"});
        assert_eq!(valid("t", "order", &schema, &pool)[..2], [json!("desc"), json!("asc")]);
        let schema = json!({"type": "string", "description": "ISO code, e.g. `FR`."});
        assert_eq!(valid("t", "code", &schema, &pool)[0], json!("FR"));
        assert_eq!(
            valid("t", "on", &json!({"type": "string", "format": "date"}), &pool)[0],
            json!("2024-01-15")
        );
        assert_eq!(valid("t", "n", &json!({"type": "integer", "minimum": 5}), &pool)[0], json!(5));
    }
}
