//! `autokit mcp-http`: the address for agents that cannot start a program.

use autokit_app::api::{AgentsHttp, AgentsHttpSet, Nothing};
use autokit_app::commands::{GetAgentsHttp, RenewAgentsHttp, SetAgentsHttp};
use autokit_app::node::Node;
use clap::Subcommand;

use crate::output::{Output, printable};
use crate::{End, Result};

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
    /// The lines for a program's settings, with the token.
    Show,
    /// Give it another token; who has the one before is refused from then on.
    Renew,
}

pub(crate) async fn run(node: &Node, out: &Output, command: McpHttpCommand) -> Result<End> {
    let set = |enabled, port| node.call::<SetAgentsHttp>(AgentsHttpSet { enabled, port });
    let address = match command {
        McpHttpCommand::On { port } => set(true, port).await?,
        McpHttpCommand::Off => set(false, None).await?,
        McpHttpCommand::Show => node.call::<GetAgentsHttp>(Nothing {}).await?,
        McpHttpCommand::Renew => node.call::<RenewAgentsHttp>(Nothing {}).await?,
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
    writeln!(text, "  a profile is named by `?profile=NAME` or the header `x-autokit-profile`")?;
    writeln!(text, "\n{}", printable(&address.lines))
}
