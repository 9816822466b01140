//! Names of the tools every session has.

/// Finds tools and binds them.
pub const SEARCH_TOOLS: &str = "search_tools";
/// Calls a tool that was found, for clients whose list of tools does not change.
pub const CALL_TOOL: &str = "call_tool";

/// Names of the tools every session has. A discovered tool never has one of these names.
pub const OWN_TOOLS: [&str; 6] =
    [SEARCH_TOOLS, CALL_TOOL, "ask", "discover", "propose_card", "report_outcome"];
