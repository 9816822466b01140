//! `autokit mcp-http`: the MCP server over Streamable HTTP.

use autokit_api::Client;
use autokit_api::commands::{GetAgentsHttp, RenewAgentsHttp, SetAgentsHttp};
use autokit_api::{AgentsHttp, AgentsHttpRef, AgentsHttpSet};
use clap::Subcommand;

use crate::outcome::{Outcome, Result};
use crate::output::{Output, printable};

#[derive(Debug, Subcommand)]
pub enum McpHttpCommand {
    /// Enable it, on this machine only.
    On {
        /// Port; defaults to the previous one, or 8427.
        #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
        port: Option<u16>,
    },
    /// Disable it.
    Off,
    /// Show the client configuration with a profile's token.
    Show {
        /// Profile whose rules apply to clients with this token; defaults to the rules for everyone.
        #[arg(long, default_value = "")]
        profile: String,
    },
    /// Replace a profile's token; clients using the previous one are rejected.
    Renew {
        /// Profile; defaults to the rules for everyone.
        #[arg(long, default_value = "")]
        profile: String,
    },
}

pub(crate) async fn run(library: &dyn Client, out: &Output, command: McpHttpCommand) -> Result<Outcome> {
    let set = |enabled, port| library.call::<SetAgentsHttp>(AgentsHttpSet { enabled, port });
    let address = match command {
        McpHttpCommand::On { port } => set(true, port).await?,
        McpHttpCommand::Off => set(false, None).await?,
        McpHttpCommand::Show { profile } => library.call::<GetAgentsHttp>(AgentsHttpRef { profile }).await?,
        McpHttpCommand::Renew { profile } => {
            library.call::<RenewAgentsHttp>(AgentsHttpRef { profile }).await?
        }
    };
    out.show(&address, |text| write(text, &address))?;
    Ok(Outcome::Done)
}

fn write(text: &mut dyn std::io::Write, address: &AgentsHttp) -> std::io::Result<()> {
    if !address.enabled {
        writeln!(text, "Off. Enable it with `autokit mcp-http on`")?;
        return Ok(());
    }
    writeln!(text, "{}", address.url)?;
    if let Some(problem) = &address.problem {
        writeln!(text, "  {}", printable(problem))?;
    }
    writeln!(text, "  available while the window, `autokit serve` or `autokit mcp` is running")?;
    let whose = if address.profile.is_empty() { "everyone" } else { &address.profile };
    writeln!(
        text,
        "  clients with this token follow the rules for {whose}; use `--profile NAME` for another profile"
    )?;
    writeln!(text, "\n{}", printable(&address.lines))
}
