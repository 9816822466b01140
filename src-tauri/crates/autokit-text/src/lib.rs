//! Texts: their size in tokens and bytes, how alike two of them are, and names that resemble one.

mod bleu;
pub mod output;
mod similar;

pub use bleu::bleu;
pub use similar::did_you_mean;

/// Formats a number of bytes for people.
pub fn format_bytes(count: u64) -> String {
    match count {
        0..1024 => format!("{count} B"),
        1024..1_048_576 => format!("{:.0} KiB", count as f64 / 1024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", count as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", count as f64 / 1_073_741_824.0),
    }
}

// Pins one feature set for the whole workspace; nothing is imported from it.
use workspace_hack as _;
