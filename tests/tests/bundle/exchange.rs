//! A library that went through a bundle is the library it was.

use anyhow::Result;
use autokit_tests::bundle::exchange;

/// The full size, its time beside a bare insert and its memory are part of the bench.
#[tokio::test(flavor = "multi_thread")]
async fn a_library_goes_through_a_bundle_without_a_byte_lost() -> Result<()> {
    let figures = exchange(400).await?;
    assert!(figures.bytes > 0);
    Ok(())
}
