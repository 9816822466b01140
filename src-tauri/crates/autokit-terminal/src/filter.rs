//! Options that select cards.

use clap::Args;

/// Which cards.
#[derive(Clone, Debug, Default, Args)]
pub struct Filter {
    /// Only cards whose name, provider or description contains this.
    #[arg(long)]
    pub(crate) text: Option<String>,
    /// Only this kind: class, rest_operation, mcp_tool, cli, other.
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// Only this programming language.
    #[arg(long)]
    pub(crate) language: Option<String>,
    /// Only this provider.
    #[arg(long)]
    pub(crate) provider: Option<String>,
    /// Only cards with this label.
    #[arg(long)]
    pub(crate) tag: Option<String>,
    /// Only cards of this collection.
    #[arg(long)]
    pub(crate) collection: Option<String>,
    /// Only verified cards.
    #[arg(long, conflicts_with = "unverified")]
    pub(crate) verified: bool,
    /// Only unverified cards.
    #[arg(long)]
    pub(crate) unverified: bool,
    /// Only cards with this latest check result.
    #[arg(long, value_enum)]
    pub(crate) health: Option<crate::checks::Health>,
}
