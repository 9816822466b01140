//! Cells that a spreadsheet would run as a formula.

/// Whether a spreadsheet would take a cell for a formula: it starts with a formula sign, its full-width form,
/// or a control character that is skipped before one.
pub(super) fn starts_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'])
}

/// Whether the cell is a formula after any number of apostrophes. Including those makes [`guard`] and
/// [`unguard`] exact inverses.
fn is_guarded_or_formula(cell: &str) -> bool {
    starts_formula(cell.trim_start_matches('\''))
}

/// Adds an apostrophe to a cell that would be run as a formula.
pub(super) fn guard(cell: String) -> String {
    if is_guarded_or_formula(&cell) { format!("'{cell}") } else { cell }
}

/// Removes the apostrophe that [`guard`] added.
pub(super) fn unguard(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(rest) if is_guarded_or_formula(rest) => rest,
        _ => cell,
    }
}
