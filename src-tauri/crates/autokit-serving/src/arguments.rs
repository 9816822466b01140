//! Validates arguments against a tool's schema before it is called.

use serde_json::{Map, Value};

/// Most problems in one message.
const MAX_PROBLEMS: usize = 5;

/// Validates arguments and describes what is wrong with them. An invalid schema accepts everything; the
/// server will check the arguments itself.
///
/// # Errors
/// Returns what is wrong, without the values.
pub fn check(schema: &Map<String, Value>, arguments: &Map<String, Value>) -> Result<(), String> {
    let schema = Value::Object(schema.clone());
    let validator = match jsonschema::validator_for(&schema) {
        Ok(validator) => validator,
        Err(error) => {
            tracing::debug!(%error, "invalid input schema; skipping validation");
            return Ok(());
        }
    };
    let arguments = Value::Object(arguments.clone());
    let mut problems = validator.iter_errors(&arguments).map(|error| {
        let path = error.instance_path().to_string();
        // The value is left out: it may be secret, and the message is written to the journal.
        let error = error.masked();
        if path.is_empty() { error.to_string() } else { format!("{path}: {error}") }
    });
    let messages: Vec<String> = problems.by_ref().take(MAX_PROBLEMS).collect();
    if messages.is_empty() {
        return Ok(());
    }
    let others = problems.count();
    let more = if others > 0 { format!("; and {others} more") } else { String::new() };
    Err(format!("the arguments do not match the tool's input_schema: {}{more}", messages.join("; ")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn checked(schema: &Value, arguments: &Value) -> Result<(), String> {
        let object = |value: &Value| value.as_object().cloned().expect("an object");
        check(&object(schema), &object(arguments))
    }

    #[test]
    fn invalid_arguments_are_named() {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        assert_eq!(checked(&schema, &json!({"n": 1})), Ok(()));
        let wrong = checked(&schema, &json!({"n": "1"})).expect_err("wrong");
        assert!(wrong.contains("/n: ") && wrong.contains("integer"), "{wrong}");
        let missing = checked(&schema, &json!({})).expect_err("missing");
        assert!(missing.contains("\"n\" is a required property"), "{missing}");
        let many: Map<String, Value> = (0..9).map(|n| (format!("x{n}"), json!(n))).collect();
        let strict = json!({"type": "object", "additionalProperties": {"type": "string"}});
        let message = checked(&strict, &Value::Object(many)).expect_err("many");
        assert!(message.ends_with("; and 4 more"), "{message}");
        assert_eq!(checked(&json!({"type": 7}), &json!({})), Ok(()));
        // Remote references are not fetched.
        assert_eq!(checked(&json!({"$ref": "https://example.org/schema.json"}), &json!({})), Ok(()));
    }
}
