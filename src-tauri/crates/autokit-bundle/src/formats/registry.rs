use super::FormatError;
use autokit_toolcard::ReadCards;
use std::io::Read;
/// x
/// # Errors
/// x
pub fn read_server_json(_reader: impl Read) -> Result<ReadCards, FormatError> {
    Err(FormatError::Empty)
}
