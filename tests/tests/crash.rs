//! `kill -9` in the middle of an import or of accepting proposals leaves a library that opens,
//! with the whole import and whole decisions present or absent and nothing half-written.

use std::collections::HashSet;

use anyhow::Result;

#[tokio::test(flavor = "multi_thread")]
async fn twenty_crashes_during_an_import_leave_all_of_it_or_nothing() -> Result<()> {
    let remains = autokit_tests::crash::crash_imports(2000, 20).await?;
    let inside = remains.iter().filter(|left| left.cut_off).count();
    // A test whose crashes all fell before or after the writing would prove nothing.
    assert!(inside >= 3, "the crashes fell at too few places: {remains:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_crashes_while_an_import_is_undone_leave_all_of_it_or_nothing() -> Result<()> {
    let undone = autokit_tests::crash::crash_undos(2000, 20).await?;
    assert!((1..20).contains(&undone), "the crashes all fell on one side: {undone} of 20 were undone");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_crashes_while_accepting_leave_whole_decisions_or_none() -> Result<()> {
    let remains = autokit_tests::crash::crash_accepts(12, 20).await?;
    let survived: HashSet<usize> = remains.iter().copied().collect();
    assert!(survived.len() >= 6, "the crashes fell at too few places: {survived:?}");
    Ok(())
}
