//! Cells a spreadsheet would run as a formula.

/// What makes a spreadsheet take a cell as a formula: the signs, their full-width forms, and the
/// control characters that are skipped before one.
pub(super) fn starts_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'])
}

/// Whether the cell is a formula behind any number of apostrophes; counting those makes adding and
/// taking off one the exact reverse of each other.
fn is_guarded_or_formula(cell: &str) -> bool {
    starts_formula(cell.trim_start_matches('\''))
}

/// The cell as it is written.
pub(super) fn guard(cell: String) -> String {
    if is_guarded_or_formula(&cell) { format!("'{cell}") } else { cell }
}

/// The cell as it was before [`guard`].
pub(super) fn unguard(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(rest) if is_guarded_or_formula(rest) => rest,
        _ => cell,
    }
}
