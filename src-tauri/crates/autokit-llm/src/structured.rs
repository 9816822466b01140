//! Replies that match a JSON Schema.

use serde_json::Value;

use crate::client::Model;
use crate::error::{Error, Result};
use crate::message::{Message, Reply, Request, ResponseFormat, Usage};

/// Maximum number of problems reported to the model and to the person.
const PROBLEMS: usize = 8;

/// A reply that matches the schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Structured {
    /// The JSON value, valid under the schema.
    pub value: Value,
    /// Whether the first reply did not match and was corrected.
    pub repaired: bool,
    /// Tokens used by all attempts.
    pub usage: Usage,
    /// Milliseconds spent on all attempts.
    pub ms: u64,
}

impl Model {
    /// Asks for JSON that matches a schema. A reply that does not match is sent back once with its problems.
    ///
    /// # Errors
    /// [`Error::Unstructured`] when the corrected reply does not match either; otherwise see [`Error`].
    pub async fn structured(&self, request: &Request, name: &str, schema: &Value) -> Result<Structured> {
        let validator = jsonschema::validator_for(schema)
            .map_err(|error| Error::BadRequest { host: "the schema".into(), reason: error.to_string() })?;
        let mut request = request.clone();
        request.response_format = ResponseFormat::Json { name: name.to_owned(), schema: schema.clone() };
        let (mut usage, mut ms) = (Usage::default(), 0);
        let mut problems = Vec::new();
        for repaired in [false, true] {
            let reply = self.chat(&request, &mut |_| {}).await?;
            usage += reply.usage;
            ms += reply.ms;
            let answer = answer_of(&reply, name);
            problems = match json_in(&answer) {
                None => vec!["it is not a JSON object".to_owned()],
                Some(value) => {
                    let wrong: Vec<String> = problems_of(&validator, &value);
                    if wrong.is_empty() {
                        return Ok(Structured { value, repaired, usage, ms });
                    }
                    wrong
                }
            };
            // Sent back as text rather than as a tool call: a call without its result would be an invalid
            // conversation.
            let shown: String = answer.chars().take(4000).collect();
            request.messages.push(Message::assistant(if shown.is_empty() {
                "(nothing)".into()
            } else {
                shown
            }));
            request.messages.push(Message::user(format!(
                "That does not fit the schema: {}. Answer again with the corrected JSON object and nothing else.",
                problems.join("; ")
            )));
        }
        Err(Error::Unstructured { problems })
    }
}

/// Describes how a value violates the schema.
pub(crate) fn problems_of(validator: &jsonschema::Validator, value: &Value) -> Vec<String> {
    validator
        .iter_errors(value)
        .take(PROBLEMS)
        .map(|error| {
            let at = error.instance_path().to_string();
            let message: String = error.to_string().chars().take(200).collect();
            if at.is_empty() { message } else { format!("{at}: {message}") }
        })
        .collect()
}

fn answer_of(reply: &Reply, name: &str) -> String {
    let call = reply.calls.iter().find(|call| call.name == name).or(reply.calls.first());
    call.map_or_else(|| reply.text.clone(), |call| call.arguments.clone())
}

/// Finds the JSON object in a reply: alone, in a code fence, or within text.
pub(crate) fn json_in(text: &str) -> Option<Value> {
    let object = |text: &str| serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
    if let Some(value) = object(text.trim()) {
        return Some(value);
    }
    for (at, _) in text.match_indices('{') {
        // Reads one value and ignores what follows.
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        if let Some(Ok(value)) = values.next()
            && value.is_object()
        {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_is_found_within_text() {
        let wanted = Some(json!({ "a": { "b": 1 } }));
        for text in [
            r#"{"a":{"b":1}}"#,
            "```json\n{\"a\": {\"b\": 1}}\n```",
            "Sure! {this is it} {\"a\":{\"b\":1}} Anything else?",
        ] {
            assert_eq!(json_in(text), wanted, "{text}");
        }
        assert_eq!(json_in("[1, 2]"), None);
        assert_eq!(json_in("{\"a\": "), None);
    }
}
