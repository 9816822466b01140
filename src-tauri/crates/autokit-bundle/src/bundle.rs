//! A bundle that was read.

use autokit_toolcard::Rejected;

use crate::content::Contents;
use crate::sign::Signature;

/// A bundle that was read.
#[derive(Debug)]
pub struct Bundle {
    /// What it holds.
    pub contents: Contents,
    /// Cards in it that cannot be taken.
    pub rejected: Vec<Rejected>,
    /// SHA-256 of what it says about itself, checksums included: names it.
    pub digest: String,
    /// Who signed it, if somebody did; the signature was checked.
    pub signature: Option<Signature>,
}
