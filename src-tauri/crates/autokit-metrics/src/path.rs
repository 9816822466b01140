//! Whether an agent that follows a ranking makes the calls that a request needs (correct path rate; DRAFT, §3.1).

use crate::load::RetrievalSet;

/// Tools that the agent calls.
const CALLS: usize = 10;

/// Whether the relevant tools, in their order, are among the calls of an agent that calls the first results: those that
/// take no identifier first, since others take what these return, and otherwise by rank.
pub(crate) fn is_followed(set: &RetrievalSet, relevant: &[String], ranking: &[String]) -> bool {
    let takes_identifier = |id: &String| {
        let tool = set.tools.iter().find(|tool| tool.id == *id);
        tool.is_some_and(|tool| {
            let mut names = tool.parameters.iter().map(|(name, _)| name.to_lowercase());
            names.any(|name| name == "id" || name.ends_with("_id"))
        })
    };
    let mut calls: Vec<&String> = ranking.iter().take(CALLS).collect();
    calls.sort_by_key(|id| takes_identifier(id));
    is_subsequence(relevant, &calls)
}

fn is_subsequence(wanted: &[String], calls: &[&String]) -> bool {
    let mut calls = calls.iter();
    wanted.iter().all(|id| calls.any(|call| *call == id))
}

#[cfg(test)]
mod tests {
    use autokit_search::{ToolText, parameter_texts};

    use super::*;

    #[test]
    fn tools_that_find_are_called_before_those_that_take() {
        let tool = |id: &str, parameter: &str| ToolText {
            id: id.to_owned(),
            parameters: parameter_texts(&serde_json::json!([{"name": parameter, "type": "string"}])),
            ..ToolText::default()
        };
        let set = RetrievalSet {
            name: "films".to_owned(),
            tools: vec![tool("credits", "person_id"), tool("search", "query")],
            queries: Vec::new(),
            repeated_tools: 0,
            unknown_relevant: 0,
        };
        let ids = |all: &[&str]| all.iter().map(|&id| id.to_owned()).collect::<Vec<_>>();
        assert!(is_followed(&set, &ids(&["search", "credits"]), &ids(&["credits", "search"])));
        assert!(!is_followed(&set, &ids(&["credits", "search"]), &ids(&["credits", "search"])));
        assert!(!is_followed(&set, &ids(&["search", "other"]), &ids(&["credits", "search"])));
    }
}
