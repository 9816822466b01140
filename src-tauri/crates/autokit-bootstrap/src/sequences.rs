//! Sequences of calls that agents make again and again.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::macros::{Argument, Macro, MacroStep};

/// A call that was made and succeeded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedCall {
    /// Name of the tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
    /// What it returned.
    pub result: Value,
}

/// What counts as a repeated sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceOptions {
    /// Fewest and most calls of a sequence.
    pub length: (usize, usize),
    /// Fewest occurrences that do not overlap.
    pub occurrences: usize,
    /// Fewest sessions with an occurrence: what one agent does in a loop is not a habit.
    pub sessions: usize,
}

impl Default for SequenceOptions {
    fn default() -> SequenceOptions {
        SequenceOptions { length: (2, 6), occurrences: 3, sessions: 2 }
    }
}

/// A sequence of calls that was made several times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sequence {
    /// Names of the tools, in order.
    pub tools: Vec<String>,
    /// Where it occurred: session and position of the first call.
    pub occurrences: Vec<(usize, usize)>,
    /// The calls as one tool.
    pub composed: Macro,
}

/// Finds sequences that were repeated, each session being the calls that succeeded in it, in order. Those that occur most
/// come first; one that is part of a longer one is left out, unless it also occurs where the longer one does not.
pub fn sequences(sessions: &[Vec<RecordedCall>], options: SequenceOptions) -> Vec<Sequence> {
    let (shortest, longest) = options.length;
    let mut found: Vec<Sequence> = Vec::new();
    for length in (shortest.max(2)..=longest).rev() {
        let mut places: BTreeMap<Vec<&str>, Vec<(usize, usize)>> = BTreeMap::new();
        for (session_at, session) in sessions.iter().enumerate() {
            let mut ends: HashMap<Vec<&str>, usize> = HashMap::new();
            for (at, calls) in session.windows(length).enumerate() {
                let tools: Vec<&str> = calls.iter().map(|call| call.tool.as_str()).collect();
                // The same tool again and again is a loop over items, not a sequence.
                if tools.iter().collect::<BTreeSet<_>>().len() == 1 {
                    continue;
                }
                if ends.get(&tools).is_some_and(|end| *end > at) {
                    continue;
                }
                ends.insert(tools.clone(), at + length);
                places.entry(tools).or_default().push((session_at, at));
            }
        }
        for (tools, occurrences) in places {
            let inside = |place: &(usize, usize)| {
                found.iter().any(|longer| {
                    longer.occurrences.iter().any(|(session, start)| {
                        *session == place.0
                            && *start <= place.1
                            && place.1 + length <= start + longer.tools.len()
                    })
                })
            };
            let outside = occurrences.iter().filter(|place| !inside(place)).count();
            let in_sessions = occurrences.iter().map(|(session, _)| session).collect::<BTreeSet<_>>().len();
            if outside < options.occurrences || in_sessions < options.sessions {
                continue;
            }
            let calls: Vec<&[RecordedCall]> =
                occurrences.iter().map(|(session, at)| &sessions[*session][*at..at + length]).collect();
            // Calls that share nothing only happened to follow each other.
            if let Some(composed) = compose(&calls) {
                let tools = tools.into_iter().map(str::to_owned).collect();
                found.push(Sequence { tools, occurrences, composed });
            }
        }
    }
    found.sort_by(|a, b| {
        let calls = |sequence: &Sequence| sequence.occurrences.len() * sequence.tools.len();
        calls(b).cmp(&calls(a)).then_with(|| a.tools.cmp(&b.tools))
    });
    found
}

/// Where a value comes from in every occurrence.
#[derive(Clone, Debug, PartialEq)]
enum Source {
    /// Always the same.
    Constant(Value),
    /// What an earlier step returned, at a JSON pointer.
    Result { step: usize, pointer: String, as_text: bool },
    /// Different each time; with the values.
    Varies(Vec<Value>),
}

/// Makes one tool of calls that were made once, in order. Every argument that no earlier call returned becomes an
/// optional parameter with its value as default. `None` without calls.
pub fn recorded(calls: &[RecordedCall]) -> Option<Macro> {
    calls.first()?;
    let mut composed = compose_any(&[calls], true)?.0;
    if let Some(properties) = composed.parameters.get_mut("properties").and_then(Value::as_object_mut) {
        for schema in properties.values_mut().filter_map(Value::as_object_mut) {
            if let Some(value) = schema.shift_remove("example") {
                schema.insert("default".to_owned(), value);
            }
        }
    }
    composed.parameters["required"] = Value::Array(Vec::new());
    Some(composed)
}

/// Makes one tool of occurrences of a sequence. `None` if no step uses what another one returned and no argument is the same
/// in two of them.
fn compose(occurrences: &[&[RecordedCall]]) -> Option<Macro> {
    compose_any(occurrences, false).filter(|(_, is_connected)| *is_connected).map(|(composed, _)| composed)
}

/// Returns the tool, and whether its calls have anything in common. With `vary`, values that are always the same become
/// parameters too.
fn compose_any(occurrences: &[&[RecordedCall]], vary: bool) -> Option<(Macro, bool)> {
    let first = occurrences.first()?;
    let mut steps: Vec<MacroStep> = Vec::new();
    let mut properties = Map::new();
    // Parameters by the values they had, so that one that is used twice is asked for once.
    let mut parameters: Vec<(String, Vec<Value>)> = Vec::new();
    let mut is_connected = false;
    for (step, call) in first.iter().enumerate() {
        let mut arguments: Vec<(String, Argument)> = Vec::new();
        let names: BTreeSet<&String> =
            occurrences.iter().flat_map(|calls| calls[step].arguments.keys()).collect();
        for name in names {
            let values: Vec<Option<&Value>> =
                occurrences.iter().map(|calls| calls[step].arguments.get(name)).collect();
            // An argument that is not always given is optional for the tool, and left out.
            let Some(values) = values.into_iter().collect::<Option<Vec<&Value>>>() else { continue };
            let found = match source(occurrences, step, &values) {
                Source::Constant(value) if vary => Source::Varies(vec![value]),
                found => found,
            };
            let argument = match found {
                Source::Constant(value) => Argument::Constant(value),
                Source::Result { step, pointer, as_text } => {
                    is_connected = true;
                    Argument::Result { step, pointer, as_text }
                }
                Source::Varies(values) => {
                    let known = parameters.iter().find(|(_, known)| *known == values);
                    let parameter = if let Some((parameter, _)) = known {
                        is_connected = true;
                        parameter.clone()
                    } else {
                        let taken = |name: &str| parameters.iter().any(|(known, _)| known == name);
                        let parameter = free_name(name, &call.tool, taken);
                        properties.insert(parameter.clone(), schema_of(&values));
                        parameters.push((parameter.clone(), values));
                        parameter
                    };
                    Argument::Parameter(parameter)
                }
            };
            arguments.push((name.clone(), argument));
        }
        steps.push(MacroStep { tool: call.tool.clone(), arguments });
    }
    let required: Vec<Value> = parameters.iter().map(|(name, _)| Value::from(name.as_str())).collect();
    let tools: Vec<&str> = first.iter().map(|call| call.tool.as_str()).collect();
    let composed = Macro {
        name: tools.join("_then_"),
        description: format!("Calls {} one after the other.", tools.join(", ")),
        parameters: serde_json::json!({"type": "object", "properties": properties, "required": required}),
        steps,
    };
    Some((composed, is_connected))
}

fn source(occurrences: &[&[RecordedCall]], step: usize, values: &[&Value]) -> Source {
    // What an earlier step returned, at the same place each time, latest step first. Small numbers and yes or no
    // are equal by chance.
    let is_telling = values.iter().all(|value| match value {
        Value::String(text) => text.len() > 1,
        Value::Number(number) => number.as_f64().is_some_and(|number| number.abs() >= 10.0),
        Value::Array(items) => !items.is_empty(),
        Value::Object(object) => !object.is_empty(),
        Value::Null | Value::Bool(_) => false,
    });
    let is_constant = values.windows(2).all(|pair| pair[0] == pair[1]);
    if is_telling && !(is_constant && values.len() > 1) {
        for of in (0..step).rev() {
            let mut pointers = Vec::new();
            pointers_to(&occurrences[0][of].result, values[0], "", &mut pointers, 0);
            let everywhere = |pointer: &String| {
                occurrences.iter().zip(values).all(|(calls, value)| {
                    calls[of].result.pointer(pointer).is_some_and(|own| is_same(own, value))
                })
            };
            if let Some(pointer) = pointers.into_iter().find(everywhere) {
                let as_text = occurrences[0][of].result.pointer(&pointer).is_some_and(Value::is_number)
                    && values[0].is_string();
                return Source::Result { step: of, pointer, as_text };
            }
        }
    }
    if is_constant {
        return Source::Constant(values[0].clone());
    }
    Source::Varies(values.iter().map(|value| (*value).clone()).collect())
}

/// Whether a returned value is what a later call was given: the same, or a number written as a text.
fn is_same(returned: &Value, given: &Value) -> bool {
    match (returned, given) {
        (Value::Number(number), Value::String(text)) => number.to_string() == *text,
        _ => returned == given,
    }
}

/// Most places at which a value is looked for in a result.
const PLACES: usize = 64;

fn pointers_to(within: &Value, wanted: &Value, at: &str, found: &mut Vec<String>, depth: usize) {
    if found.len() >= PLACES || depth > 12 {
        return;
    }
    if is_same(within, wanted) {
        found.push(at.to_owned());
    }
    match within {
        Value::Object(object) => {
            for (key, value) in object {
                let key = key.replace('~', "~0").replace('/', "~1");
                pointers_to(value, wanted, &format!("{at}/{key}"), found, depth + 1);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                pointers_to(value, wanted, &format!("{at}/{index}"), found, depth + 1);
            }
        }
        _ => {}
    }
}

fn free_name(name: &str, tool: &str, taken: impl Fn(&str) -> bool) -> String {
    if !taken(name) {
        return name.to_owned();
    }
    let with_tool = format!("{tool}_{name}");
    let numbered = (2..).map(|number| format!("{with_tool}_{number}"));
    std::iter::once(with_tool.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(with_tool)
}

fn schema_of(values: &[Value]) -> Value {
    let name = |value: &Value| match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let types: BTreeSet<&str> = values.iter().map(name).collect();
    let mut schema = Map::new();
    if let [only] = types.iter().collect::<Vec<_>>().as_slice() {
        schema.insert("type".to_owned(), Value::from(**only));
    }
    if let Some(first) = values.first() {
        schema.insert("example".to_owned(), first.clone());
    }
    Value::Object(schema)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(tool: &str, arguments: Value, result: Value) -> RecordedCall {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        RecordedCall { tool: tool.to_owned(), arguments, result }
    }

    /// Finds a person, reads the first one's films and sends them to somebody.
    fn session(name: &str, id: u32, to: &str) -> Vec<RecordedCall> {
        vec![
            call("clock", json!({}), json!("12:00")),
            call("search", json!({"q": name, "lang": "en"}), json!({"results": [{"id": id}]})),
            call("films", json!({"person": id, "limit": 5}), json!({"text": format!("films of {name}")})),
            call(
                "send",
                json!({"to": to, "text": format!("films of {name}"), "about": name}),
                json!({"sent": true}),
            ),
        ]
    }

    #[test]
    fn a_repeated_sequence_becomes_one_tool() {
        let sessions = [
            session("Ada", 4711, "a@example.org"),
            [session("Bob", 4712, "b@example.org"), vec![call("clock", json!({}), json!("13:00"))]].concat(),
            session("Cy", 4713, "c@example.org"),
        ];
        let options = SequenceOptions { length: (2, 3), ..SequenceOptions::default() };
        let found = sequences(&sessions, options);
        let longest =
            found.iter().find(|sequence| sequence.tools.len() == 3 && sequence.tools[0] == "search").unwrap();
        assert_eq!(longest.tools, ["search", "films", "send"]);
        let composed = &longest.composed;
        assert_eq!(
            composed.parameters,
            json!({
                "type": "object",
                "properties": {
                    "q": {"type": "string", "example": "Ada"},
                    "to": {"type": "string", "example": "a@example.org"},
                },
                "required": ["q", "to"],
            })
        );
        assert_eq!(
            composed.steps[0].arguments,
            [
                ("lang".to_owned(), Argument::Constant(json!("en"))),
                ("q".to_owned(), Argument::Parameter("q".to_owned())),
            ]
        );
        assert_eq!(
            composed.steps[1].arguments[1],
            (
                "person".to_owned(),
                Argument::Result { step: 0, pointer: "/results/0/id".to_owned(), as_text: false }
            )
        );
        assert_eq!(composed.steps[2].arguments[0], ("about".to_owned(), Argument::Parameter("q".to_owned())));
        assert!(found.iter().all(|sequence| sequence.tools != ["search", "films"]), "part of the longer one");
    }

    #[test]
    fn what_one_session_does_or_shares_nothing_is_no_habit() {
        let once =
            [[session("Ada", 4711, "a"), session("Bob", 4712, "b"), session("Cy", 4713, "c")].concat()];
        assert!(sequences(&once, SequenceOptions::default()).is_empty());
        let unrelated = |word: &str| {
            vec![
                call("weather", json!({"city": word}), json!("rain")),
                call("joke", json!({}), json!("haha")),
            ]
        };
        let sessions = [unrelated("Rome"), unrelated("Oslo"), unrelated("Bern")];
        assert!(sequences(&sessions, SequenceOptions::default()).is_empty());
        let paging = |word: &str| vec![call("list", json!({"q": word}), json!([])); 4];
        let sessions = [paging("a"), paging("b"), paging("c")];
        assert!(sequences(&sessions, SequenceOptions::default()).is_empty());
    }

    #[test]
    fn calls_made_once_become_a_tool_with_defaults() {
        let calls = [
            RecordedCall {
                tool: "search".to_owned(),
                arguments: json!({"q": "Ada"}).as_object().cloned().unwrap(),
                result: json!({"results": [{"id": 71}]}),
            },
            RecordedCall {
                tool: "films".to_owned(),
                arguments: json!({"person": 71, "limit": 5}).as_object().cloned().unwrap(),
                result: json!({}),
            },
        ];
        let composed = recorded(&calls).unwrap();
        assert!(composed.is_sound());
        assert_eq!(
            composed.parameters,
            json!({
                "type": "object",
                "properties": {
                    "q": {"type": "string", "default": "Ada"},
                    "limit": {"type": "integer", "default": 5},
                },
                "required": [],
            })
        );
        let from = Argument::Result { step: 0, pointer: "/results/0/id".to_owned(), as_text: false };
        assert!(composed.steps[1].arguments.contains(&("person".to_owned(), from)));
        assert!(recorded(&[]).is_none());
    }
}
