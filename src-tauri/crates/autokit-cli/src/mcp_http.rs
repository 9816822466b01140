//! `autokit mcp-http`: the address for agents that cannot start a program.

use autokit_api::commands::{GetAgentsHttp, RenewAgentsHttp, SetAgentsHttp};
use autokit_api::{AgentsHttp, AgentsHttpRef, AgentsHttpSet};
use autokit_app::node::Node;
use clap::Subcommand;

use crate::outcome::{End, Result};
use crate::output::{Output, printable};

#[derive(Debug, Subcommand)]
pub(crate) enum McpHttpCommand {
    /// Open it, on this machine alone.
    On {
        /// Its port; the one it had, or 8427.
        #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
        port: Option<u16>,
    },
    /// Close it.
    Off,
    /// The lines for a program's settings, with the token of a profile.
    Show {
        /// The profile whose rules hold for programs with these lines; everybody's when not given.
        #[arg(long, default_value = "")]
        profile: String,
    },
    /// Replace the token of a profile; programs with the one before are refused from then on.
    Renew {
        /// The profile; everybody's when not given.
        #[arg(long, default_value = "")]
        profile: String,
    },
}

pub(crate) async fn run(node: &Node, out: &Output, command: McpHttpCommand) -> Result<End> {
    let set = |enabled, port| node.call::<SetAgentsHttp>(AgentsHttpSet { enabled, port });
    let address = match command {
        McpHttpCommand::On { port } => set(true, port).await?,
        McpHttpCommand::Off => set(false, None).await?,
        McpHttpCommand::Show { profile } => node.call::<GetAgentsHttp>(AgentsHttpRef { profile }).await?,
        McpHttpCommand::Renew { profile } => node.call::<RenewAgentsHttp>(AgentsHttpRef { profile }).await?,
    };
    out.show(&address, |text| write(text, &address))?;
    Ok(End::Done)
}

fn write(text: &mut dyn std::io::Write, address: &AgentsHttp) -> std::io::Result<()> {
    if !address.enabled {
        writeln!(text, "Off; open it with `autokit mcp-http on`")?;
        return Ok(());
    }
    writeln!(text, "{}", address.url)?;
    if let Some(problem) = &address.problem {
        writeln!(text, "  {}", printable(problem))?;
    }
    writeln!(text, "  answers while a window, `autokit serve` or `autokit mcp` is open")?;
    let whose = if address.profile.is_empty() { "everybody" } else { &address.profile };
    writeln!(text, "  with this token the rules for {whose} hold; `--profile NAME` shows another profile's")?;
    writeln!(text, "\n{}", printable(&address.lines))
}
