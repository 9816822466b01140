//! `kill -9` at any point of a change leaves a library that opens, with the whole change or nothing of it;
//! asked for again, it is made once.

use anyhow::Result;
use autokit_tests::crash::{Change, crash_changes, crash_imports};
use autokit_tests::on_deep_stack;

#[test]
fn crashes_during_an_import_leave_all_of_it_or_nothing() -> Result<()> {
    on_deep_stack(|| async {
        let remains = Box::pin(crash_imports(2_000, 24)).await?;
        let complete = remains.iter().filter(|remaining| remaining.cards > 0).count();
        // Crashes that all fell before or after the change was decided would prove nothing.
        assert!(remains.len() == 24 && (3..=21).contains(&complete), "{remains:?}");
        Ok(())
    })
}

#[test]
fn crashes_during_a_change_lose_and_duplicate_nothing() -> Result<()> {
    on_deep_stack(|| async {
        let crashes = Box::pin(crash_changes(&Change::ALL, 8)).await?;
        assert!(crashes >= 30, "{crashes} crashes");
        Ok(())
    })
}
