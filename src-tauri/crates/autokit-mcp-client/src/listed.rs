//! The tools a server lists, parsed one by one, so that an invalid one does not affect the others.

use rmcp::model::{ServerResult, Tool};
use serde_json::Value;

/// Most characters of the name of a skipped tool.
const NAME_CHARS: usize = 80;

/// The tools of a server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerTools {
    /// The tools that could be parsed, in the order of the server, without duplicate names.
    pub tools: Vec<Tool>,
    /// The tools that were skipped.
    pub skipped: Vec<SkippedTool>,
}

/// A tool that was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedTool {
    /// Its name, if it has one, or else its position in the list.
    pub name: String,
    /// The reason, as the end of a sentence that starts with the name.
    pub why: String,
}

/// One page of the list.
pub(super) struct Page {
    pub(super) tools: Vec<Value>,
    pub(super) next: Option<String>,
}

impl Page {
    /// Returns the page in a response; `None` if the response is something else.
    pub(super) fn from_response(response: ServerResult) -> Option<Page> {
        // The SDK treats a page with an invalid tool as a response of an unknown kind.
        let value = match response {
            ServerResult::ListToolsResult(page) => serde_json::to_value(page).ok()?,
            ServerResult::CustomResult(result) => result.0,
            _ => return None,
        };
        let tools = value.get("tools")?.as_array()?.clone();
        let next = value.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        Some(Page { tools, next })
    }
}

impl ServerTools {
    pub(super) fn add(&mut self, page: Vec<Value>) {
        for tool in page {
            let position = self.tools.len() + self.skipped.len() + 1;
            let name = tool.get("name").and_then(Value::as_str).filter(|name| !name.trim().is_empty());
            let name = name.map_or_else(|| format!("tool {position}"), str::to_owned);
            let why = match parse_tool(tool) {
                Ok(parsed) if self.tools.iter().all(|other| other.name != parsed.name) => {
                    self.tools.push(parsed);
                    continue;
                }
                Ok(_) => "has the same name as another tool of the server".to_owned(),
                Err(why) => why,
            };
            self.skipped.push(SkippedTool { name: name.chars().take(NAME_CHARS).collect(), why });
        }
    }
}

fn parse_tool(tool: Value) -> Result<Tool, String> {
    match tool.get("inputSchema") {
        None | Some(Value::Null) => return Err("has no input schema".to_owned()),
        Some(Value::Object(_)) => {}
        Some(_) => return Err("has an input schema that is not an object".to_owned()),
    }
    let tool: Tool = serde_json::from_value(tool).map_err(|error| format!("cannot be read: {error}"))?;
    if tool.name.trim().is_empty() { Err("has no name".to_owned()) } else { Ok(tool) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn invalid_tools_are_skipped() {
        let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
        let mut listed = ServerTools::default();
        listed.add(vec![
            tool("a"),
            json!({"name": "b"}),
            tool("a"),
            json!({"name": "c", "inputSchema": []}),
            json!({"inputSchema": {}}),
            json!("d"),
            json!({"name": "e", "inputSchema": {}, "description": 7}),
            tool("A"),
        ]);
        let names: Vec<&str> = listed.tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["a", "A"]);
        let skipped: Vec<(&str, &str)> =
            listed.skipped.iter().map(|skipped| (skipped.name.as_str(), skipped.why.as_str())).collect();
        assert_eq!(skipped[0], ("b", "has no input schema"));
        assert_eq!(skipped[1], ("a", "has the same name as another tool of the server"));
        assert_eq!(skipped[2].1, "has an input schema that is not an object");
        assert_eq!(skipped[3].0, "tool 5");
        assert_eq!(skipped.len(), 6);
        assert!(skipped[5].1.starts_with("cannot be read"));
    }
}
