//! `kill -9` in the middle of an import or of accepting proposals leaves a library that opens, with
//! whole batches and whole decisions present or absent and nothing half-written.

use std::collections::HashSet;

use anyhow::Result;

#[tokio::test(flavor = "multi_thread")]
async fn twenty_crashes_during_an_import_lose_no_whole_batch_and_leave_no_half() -> Result<()> {
    let remains = autokit_tests::crash::crash_imports(2000, 20).await?;
    let survived: HashSet<usize> = remains.iter().map(|left| left.cards).collect();
    // A test whose crashes all fell before or after the import would prove nothing.
    assert!(survived.len() >= 8, "the crashes fell at too few places: {survived:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_crashes_while_accepting_leave_whole_decisions_or_none() -> Result<()> {
    let remains = autokit_tests::crash::crash_accepts(12, 20).await?;
    let survived: HashSet<usize> = remains.iter().copied().collect();
    assert!(survived.len() >= 6, "the crashes fell at too few places: {survived:?}");
    Ok(())
}
