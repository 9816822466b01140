//! Rows of tables in Markdown.

use crate::arguments::Inputs;
use crate::costs::PAGE;
use crate::model::{END, MEASURED, PATIENCE, REVOKED, Simulation};

/// Estimates, in bytes: the server's memory without members and cards; its disk of a card with its revisions, proposals
/// and audit; a replica's memory and disk of a card.
const RAM: f64 = 5e8;
const DISK_CARD: f64 = 8_000.0;
const REPLICA_RAM_CARD: f64 = 6_000.0;
const REPLICA_DISK_CARD: f64 = 10_000.0;
/// Seconds that a first sync or a purge may take.
const SYNC: f64 = 600.0;

const COLUMNS: &str = "way | members | cards | to 95 %: p50, p95, p99 | to all: p50, p95, p99 \
    | CPU %: notify, quiet, rounds, first sync, sign-in, write | CPU % | Mbit/s | first sync | sign-in | purge | hide \
    | lost | server RAM, disk | replica RAM, disk | breaks";

pub(crate) fn header() -> String {
    format!("| {COLUMNS} |\n{}|", "|---".repeat(COLUMNS.split(" | ").count()))
}

/// Simulates once.
pub(crate) fn row(way: &str, inputs: &Inputs) -> String {
    let outcome = Simulation::new(inputs).run();
    let least = inputs.first_sync().max(REVOKED - MEASURED.start);
    let first_sync = known_or(outcome.first_sync, least, inputs.page() + inputs.reads(PAGE));
    let purge = known_or(outcome.purge, END - REVOKED, inputs.purge());
    let [most, all] =
        outcome.took.each_ref().map(|took| [0.5, 0.95, 0.99].map(|share| quantile(took, share)));
    let cpu = outcome.used.iter().sum::<f64>();
    let ram = inputs.nodes * RAM + inputs.members * inputs.ram_connection + inputs.cards * inputs.ram_card;
    let kept = inputs.kept();
    let mut limits = [
        ("propagation", all[1] / 2.0),
        ("CPU", cpu / 0.7),
        ("first sync", first_sync.0 / SYNC),
        ("purge", purge.0 / SYNC),
        ("hide", inputs.hide() / PATIENCE),
        ("RAM", ram / (64.0 * 1024.0_f64.powi(3))),
    ];
    limits.sort_by(|one, other| other.1.total_cmp(&one.1));
    let breaks = limits.iter().filter(|limit| limit.1 > 1.0).map(|(name, times)| match *times {
        f64::INFINITY => (*name).to_owned(),
        times => format!("{name} {times:.1}×"),
    });
    let cells = [
        way.to_owned(),
        inputs.members.to_string(),
        inputs.cards.to_string(),
        most.map(duration).join(", "),
        all.map(duration).join(", "),
        outcome.used.map(|used| format!("{:.1}", used * 100.0)).join(" "),
        format!("{:.0}", cpu * 100.0),
        format!("{:.0}", outcome.sent * 8e-6 / (MEASURED.end - MEASURED.start)),
        first_sync.1,
        duration(outcome.sign_in),
        purge.1,
        duration(inputs.hide()),
        outcome.lost.map(|lost| lost.to_string()).join(" "),
        [ram, inputs.cards * DISK_CARD].map(bytes).join(", "),
        [kept * REPLICA_RAM_CARD, kept * REPLICA_DISK_CARD].map(bytes).join(", "),
        breaks.collect::<Vec<_>>().join(", "),
    ];
    format!("| {} |", cells.join(" | "))
}

/// Seconds with their text: those known, or else never if the longest answer is one that nobody waits for, or else the least.
fn known_or(known: Option<f64>, least: f64, longest: f64) -> (f64, String) {
    match known {
        Some(took) => (took, duration(took)),
        None if longest >= PATIENCE => (f64::INFINITY, duration(f64::INFINITY)),
        None => (least, format!("> {}", duration(least))),
    }
}

/// The time below which this share of the times is.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = sorted.len().saturating_sub(1) as f64 * share;
    sorted.get(at.round() as usize).copied().unwrap_or(f64::INFINITY)
}

fn duration(seconds: f64) -> String {
    match seconds {
        f64::INFINITY => "never".to_owned(),
        ..1.0 => format!("{:.0} ms", seconds * 1e3),
        ..120.0 => format!("{seconds:.1} s"),
        _ => format!("{:.0} min", seconds / 60.0),
    }
}

fn bytes(number: f64) -> String {
    if number < 1e9 { format!("{:.0} MB", number / 1e6) } else { format!("{:.1} GB", number / 1e9) }
}
