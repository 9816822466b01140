//! What calls showed, as sentences and as changes to the parameters' schema.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::tool::ToolDocument;

/// A difference between documentation and behaviour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "finding", rename_all = "snake_case")]
pub enum Finding {
    /// Calls without the parameter are refused, with it they succeed; it is not documented as required, or not at all.
    Required {
        /// The parameter.
        parameter: String,
        /// A value that works.
        example: Value,
        /// Whether it is documented at all.
        is_documented: bool,
    },
    /// Calls succeed without a parameter that is documented as required.
    Optional {
        /// The parameter.
        parameter: String,
    },
    /// A documented value of a parameter is refused where another is not.
    ValueRefused {
        /// The parameter.
        parameter: String,
        /// The value.
        value: Value,
    },
    /// Values that are not documented are accepted.
    ValuesAccepted {
        /// The parameter.
        parameter: String,
        /// The values that were tried.
        values: Vec<Value>,
    },
    /// Larger values are refused.
    Maximum {
        /// The parameter.
        parameter: String,
        /// The largest value that is accepted.
        value: i64,
    },
    /// Smaller values are refused.
    Minimum {
        /// The parameter.
        parameter: String,
        /// The smallest value that is accepted.
        value: i64,
    },
    /// Larger values are accepted, but no more items are returned.
    Capped {
        /// The parameter.
        parameter: String,
        /// The most items that were returned.
        items: u64,
    },
    /// Longer texts are refused.
    MaximumLength {
        /// The parameter.
        parameter: String,
        /// The most characters that are accepted.
        characters: u64,
    },
    /// Only texts in one of several tried formats are accepted.
    Format {
        /// The parameter.
        parameter: String,
        /// The format, as people write it: `YYYY-MM-DD`.
        format: String,
        /// A value in it.
        example: Value,
    },
    /// The parameter is refused as unknown.
    Unknown {
        /// The parameter.
        parameter: String,
    },
    /// The parameter is only accepted together with another one.
    Needs {
        /// The parameter.
        parameter: String,
        /// The other one.
        other: String,
    },
    /// Two parameters are each accepted, but not together.
    Excludes {
        /// The parameter.
        parameter: String,
        /// The other one.
        other: String,
    },
    /// Omitting the parameter gives what another value than its documented default gives.
    Default {
        /// The parameter.
        parameter: String,
        /// The value that gives the same.
        value: Value,
    },
    /// A documented field of the result does not occur, and one that is not documented does in its place.
    FieldRenamed {
        /// Path of the documented field: keys joined by dots, `[]` for items of a list.
        documented: String,
        /// Path of the field that occurs.
        actual: String,
    },
    /// A documented field of the result never occurs.
    FieldAbsent {
        /// Path of the field.
        field: String,
    },
    /// A field of the result is not documented.
    FieldUndocumented {
        /// Path of the field.
        field: String,
        /// Its type.
        of_type: String,
    },
    /// A field has another type than documented.
    FieldType {
        /// Path of the field.
        field: String,
        /// Documented type.
        documented: String,
        /// Type that occurs.
        actual: String,
    },
    /// What a refused call returns.
    ErrorShape {
        /// HTTP status, where there is one.
        status: Option<u16>,
        /// What leads to it.
        cause: String,
        /// Path of the message in the error; empty if it is all of it.
        message_at: String,
    },
    /// Arguments that work.
    Example {
        /// The arguments.
        arguments: Map<String, Value>,
        /// Whether it replaces a documented example that is refused.
        replaces_documented: bool,
    },
}

/// A finding with the calls that prove it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// What was found.
    pub finding: Finding,
    /// Positions of the calls among the trials.
    pub trials: Vec<usize>,
}

impl Finding {
    /// Returns the finding as a sentence for documentation.
    pub fn sentence(&self) -> String {
        match self {
            Finding::Required { parameter, example, is_documented: true } => {
                format!("`{parameter}` is required, e.g. {}.", shown(example))
            }
            Finding::Required { parameter, example, is_documented: false } => {
                format!("A further parameter is required: `{parameter}`, e.g. {}.", shown(example))
            }
            Finding::Optional { parameter } => format!("`{parameter}` may be omitted."),
            Finding::ValueRefused { parameter, value } => {
                format!("`{parameter}` does not accept {}.", shown(value))
            }
            Finding::ValuesAccepted { parameter, values } => {
                format!("`{parameter}` accepts {}.", list(values))
            }
            Finding::Maximum { parameter, value } => format!("`{parameter}` is at most {value}."),
            Finding::Minimum { parameter, value } => format!("`{parameter}` is at least {value}."),
            Finding::Capped { parameter, items } => {
                format!("At most {items} items are returned, whatever `{parameter}` asks for.")
            }
            Finding::MaximumLength { parameter, characters } => {
                format!("`{parameter}` has at most {characters} characters.")
            }
            Finding::Format { parameter, format, example } => {
                format!("`{parameter}` has the format {format}, e.g. {}.", shown(example))
            }
            Finding::Unknown { parameter } => format!("`{parameter}` is not accepted."),
            Finding::Needs { parameter, other } => {
                format!("`{parameter}` is only accepted together with `{other}`.")
            }
            Finding::Excludes { parameter, other } => {
                format!("`{parameter}` and `{other}` cannot be used together.")
            }
            Finding::Default { parameter, value } => {
                format!("Without `{parameter}`, {} is used.", shown(value))
            }
            Finding::FieldRenamed { documented, actual } => {
                format!("The result has `{actual}` instead of `{documented}`.")
            }
            Finding::FieldAbsent { field } => format!("The result has no `{field}`."),
            Finding::FieldUndocumented { field, of_type } => {
                format!("The result also has `{field}` ({of_type}).")
            }
            Finding::FieldType { field, documented, actual } => {
                format!("`{field}` in the result is of type {actual}, not {documented}.")
            }
            Finding::ErrorShape { status, cause, message_at } => {
                let status = status.map(|status| format!(" with status {status}")).unwrap_or_default();
                let message = if message_at.is_empty() {
                    "the error is a text".to_owned()
                } else {
                    format!("the message is in `{message_at}`")
                };
                format!("If {cause}, the call fails{status}; {message}.")
            }
            Finding::Example { arguments, .. } => {
                format!("Example: `{}`.", Value::Object(arguments.clone()))
            }
        }
    }

    /// Returns the parameter that the finding is about.
    pub fn parameter(&self) -> Option<&str> {
        match self {
            Finding::Required { parameter, .. }
            | Finding::Optional { parameter }
            | Finding::ValueRefused { parameter, .. }
            | Finding::ValuesAccepted { parameter, .. }
            | Finding::Maximum { parameter, .. }
            | Finding::Minimum { parameter, .. }
            | Finding::Capped { parameter, .. }
            | Finding::MaximumLength { parameter, .. }
            | Finding::Format { parameter, .. }
            | Finding::Unknown { parameter }
            | Finding::Needs { parameter, .. }
            | Finding::Excludes { parameter, .. }
            | Finding::Default { parameter, .. } => Some(parameter),
            _ => None,
        }
    }
}

fn shown(value: &Value) -> String {
    format!("`{}`", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

fn list(values: &[Value]) -> String {
    let shown: Vec<String> = values.iter().map(shown).collect();
    match shown.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Returns the description of a tool with what was found about its call as a whole; what concerns one parameter goes
/// into [`refined_parameters`].
pub fn refined_description(tool: &ToolDocument, observations: &[Observation]) -> String {
    let mut text = tool.description.trim().to_owned();
    if !text.is_empty() && !text.ends_with(['.', '!', '?']) {
        text.push('.');
    }
    for observation in observations {
        let has_parameter = observation.finding.parameter().is_some_and(|name| tool.property(name).is_some());
        let sentence = observation.finding.sentence();
        if !has_parameter && !text.contains(&sentence) {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&sentence);
        }
    }
    text
}

/// Returns the schema of a tool's parameters with what was found.
pub fn refined_parameters(tool: &ToolDocument, observations: &[Observation]) -> Value {
    let mut schema = tool.parameters.clone();
    if !schema.is_object() {
        schema = json!({"type": "object"});
    }
    for observation in observations {
        let finding = &observation.finding;
        let Some(name) = finding.parameter() else { continue };
        let Some(object) = schema.as_object_mut() else { continue };
        let properties = object.entry("properties").or_insert_with(|| json!({}));
        let Some(properties) = properties.as_object_mut() else { continue };
        if let Finding::Required { example, is_documented: false, .. } = finding {
            properties.entry(name).or_insert_with(|| json!({"type": type_name(example)}));
        }
        let Some(own) = properties.get_mut(name).and_then(Value::as_object_mut) else { continue };
        match finding {
            Finding::Required { example, .. } => {
                own.entry("example").or_insert_with(|| example.clone());
                let required = object.entry("required").or_insert_with(|| json!([]));
                if let Some(required) = required.as_array_mut()
                    && !required.iter().any(|known| known == name)
                {
                    required.push(json!(name));
                }
                continue;
            }
            Finding::Optional { .. } => {
                if let Some(required) = object.get_mut("required").and_then(Value::as_array_mut) {
                    required.retain(|known| known != name);
                }
                continue;
            }
            Finding::ValueRefused { value, .. } => {
                if let Some(values) = own.get_mut("enum").and_then(Value::as_array_mut) {
                    values.retain(|known| known != value);
                }
            }
            Finding::ValuesAccepted { values, .. } => {
                if let Some(known) = own.get_mut("enum").and_then(Value::as_array_mut) {
                    for value in values {
                        if !known.contains(value) {
                            known.push(value.clone());
                        }
                    }
                }
            }
            Finding::Maximum { value, .. } => {
                own.insert("maximum".to_owned(), json!(value));
            }
            Finding::Minimum { value, .. } => {
                own.insert("minimum".to_owned(), json!(value));
            }
            Finding::MaximumLength { characters, .. } => {
                own.insert("maxLength".to_owned(), json!(characters));
            }
            Finding::Default { value, .. } => {
                own.insert("default".to_owned(), value.clone());
            }
            Finding::Format { example, .. } => {
                own.insert("example".to_owned(), example.clone());
            }
            _ => {}
        }
        let sentence = finding.sentence();
        let description = own.get("description").and_then(Value::as_str).unwrap_or("").trim().to_owned();
        if !description.contains(&sentence) {
            let stop =
                if description.is_empty() || description.ends_with(['.', '!', '?']) { "" } else { "." };
            let text = format!("{description}{stop} {sentence}");
            own.insert("description".to_owned(), json!(text.trim()));
        }
    }
    schema
}

/// Returns the JSON Schema type of a value.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() || number.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_become_schema_and_sentences() {
        let tool = ToolDocument {
            name: "search".to_owned(),
            description: "Searches".to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "limit": {"type": "integer", "maximum": 100, "description": "Items"},
                    "order": {"type": "string", "enum": ["a", "b"]},
                    "q": {"type": "string"},
                },
                "required": ["q"],
            }),
            returns: None,
        };
        let observation = |finding| Observation { finding, trials: vec![0] };
        let found = [
            observation(Finding::Maximum { parameter: "limit".into(), value: 50 }),
            observation(Finding::ValueRefused { parameter: "order".into(), value: json!("b") }),
            observation(Finding::Optional { parameter: "q".into() }),
            observation(Finding::Required {
                parameter: "key".into(),
                example: json!("x"),
                is_documented: false,
            }),
            observation(Finding::FieldRenamed { documented: "items".into(), actual: "results".into() }),
        ];
        let schema = refined_parameters(&tool, &found);
        assert_eq!(
            schema,
            json!({
                "type": "object",
                "properties": {
                    "limit": {"type": "integer", "maximum": 50, "description": "Items. `limit` is at most 50."},
                    "order": {"type": "string", "enum": ["a"], "description": "`order` does not accept `b`."},
                    "q": {"type": "string"},
                    "key": {"type": "string", "example": "x"},
                },
                "required": ["key"],
            })
        );
        assert_eq!(
            refined_description(&tool, &found),
            "Searches. A further parameter is required: `key`, e.g. `x`. The result has `results` instead of `items`."
        );
    }
}
