//! Tools in a test: operations of a web API on this machine, and calls a person makes.

use anyhow::{Result, bail, ensure};
use autokit_api::commands::{GetToolOutcome, RunTool, SetProviders};
use autokit_api::{JobRef, JobState, ProviderSettings, ToolOutcome, ToolRun, ToolRunStart};
use autokit_app::Need;
use autokit_app::engine::Vectors;
use autokit_app::node::Node;
use autokit_app::secrets::KeyStorage;
use serde_json::Value;

use crate::Workplace;
use crate::agent::job_end;

/// Calls a tool as a person does who granted this, and returns what it answers.
///
/// # Errors
/// When it waits for a person, or is not called.
pub async fn call_by_hand(
    node: &Node,
    tool: &str,
    arguments: Value,
    granted: Vec<Need>,
) -> Result<ToolOutcome> {
    let Value::Object(arguments) = arguments else { bail!("arguments are an object") };
    let run = ToolRun { tool: tool.to_owned(), profile: String::new(), arguments, granted };
    let ToolRunStart::Started { job } = node.call::<RunTool>(run).await? else {
        bail!("{tool} waits for a person");
    };
    let ended = job_end(node, &job).await?;
    ensure!(ended.state == JobState::Done, "{tool}: {:?}", ended.error);
    Ok(node.call::<GetToolOutcome>(JobRef { job }).await?)
}

/// Opens a library with the operations of a web API on this machine as cards.
///
/// # Errors
/// When it cannot be imported or opened.
pub async fn node_with_api(place: &Workplace, document: &str, hosts: Vec<String>) -> Result<Node> {
    let file = place.path("api.json");
    std::fs::write(&file, document)?;
    place.json(&["import", &file.display().to_string()])?;
    let node = place.node_with(Vectors::StandIn(32), KeyStorage::Memory).await?;
    let mut settings = ProviderSettings::default();
    settings.network.allowed_hosts = hosts;
    node.call::<SetProviders>(settings).await?;
    Ok(node)
}
