//! Answers that fit a JSON Schema.

use serde_json::Value;

use crate::client::Model;
use crate::error::{Error, Result};
use crate::message::{Form, Message, Reply, Request, Usage};

/// Problems told to the model and to the person at most.
const PROBLEMS: usize = 8;

/// An answer that fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Structured {
    /// Valid under the schema.
    pub value: Value,
    /// The first answer did not fit and was corrected.
    pub repaired: bool,
    /// Tokens of all attempts.
    pub usage: Usage,
    /// Milliseconds of all attempts.
    pub ms: u64,
}

impl Model {
    /// Asks for JSON after a schema. An answer that does not fit is sent back once with what is
    /// wrong with it.
    ///
    /// # Errors
    /// [`Error::Unstructured`] when the correction does not fit either; else see [`Error`].
    pub async fn structured(&self, request: &Request, name: &str, schema: &Value) -> Result<Structured> {
        let validator = jsonschema::validator_for(schema)
            .map_err(|error| Error::BadRequest { host: "the schema".into(), reason: error.to_string() })?;
        let mut request = request.clone();
        request.form = Form::Json { name: name.to_owned(), schema: schema.clone() };
        let (mut usage, mut ms) = (Usage::default(), 0);
        let mut problems = Vec::new();
        for repaired in [false, true] {
            let reply = self.chat(&request, &mut |_| {}).await?;
            usage += reply.usage;
            ms += reply.ms;
            let said = answer_of(&reply, name);
            problems = match json_in(&said) {
                None => vec!["it is no JSON object".to_owned()],
                Some(value) => {
                    let wrong: Vec<String> = problems_of(&validator, &value);
                    if wrong.is_empty() {
                        return Ok(Structured { value, repaired, usage, ms });
                    }
                    wrong
                }
            };
            // As words in both directions: a call without its result would break the conversation.
            let shown: String = said.chars().take(4000).collect();
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

/// What is wrong with a value, in words.
pub(crate) fn problems_of(validator: &jsonschema::Validator, value: &Value) -> Vec<String> {
    validator
        .iter_errors(value)
        .take(PROBLEMS)
        .map(|error| {
            let at = error.instance_path().to_string();
            let words: String = error.to_string().chars().take(200).collect();
            if at.is_empty() { words } else { format!("{at}: {words}") }
        })
        .collect()
}

fn answer_of(reply: &Reply, name: &str) -> String {
    let call = reply.calls.iter().find(|call| call.name == name).or(reply.calls.first());
    call.map_or_else(|| reply.text.clone(), |call| call.arguments.clone())
}

/// The JSON object in an answer: alone, in a fence, or among words.
pub(crate) fn json_in(text: &str) -> Option<Value> {
    let object = |text: &str| serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
    if let Some(value) = object(text.trim()) {
        return Some(value);
    }
    for (at, _) in text.match_indices('{') {
        // Reads one value and does not mind what follows.
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
    fn json_is_found_among_words() {
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
