use crate::formats::About;
use autokit_toolcard::Toolcard;
use std::io;
/// x
/// # Errors
/// x
pub fn write_markdown(_out: &mut impl io::Write, _cards: &[Toolcard], _about: &About) -> io::Result<()> {
    Ok(())
}
