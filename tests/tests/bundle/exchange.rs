//! A library that went through a bundle is the library it was.

use anyhow::Result;
use autokit_tests::bundle::exchange;

#[tokio::test(flavor = "multi_thread")]
async fn a_library_goes_through_a_bundle_without_a_byte_lost() -> Result<()> {
    let figures = exchange(400).await?;
    assert!(figures.bytes > 0);
    Ok(())
}

/// The figures of the bench, at full size; `cargo xtask bench` prints them.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes a minute"]
async fn sixteen_thousand_cards_go_through_a_bundle() -> Result<()> {
    let figures = exchange(16_000).await?;
    println!("{figures:?}");
    assert!(figures.import <= 4 * figures.bare, "{figures:?}");
    assert!(figures.peak_kib <= 500 * 1024, "{figures:?}");
    Ok(())
}
