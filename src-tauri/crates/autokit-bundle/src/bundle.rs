//! The result of reading a bundle.

use autokit_toolcard::Rejected;

use crate::content::BundleContents;
use crate::sign::Signature;

/// A bundle that was read.
#[derive(Debug)]
pub struct Bundle {
    /// The cards and metadata of the bundle.
    pub contents: BundleContents,
    /// Cards that were rejected as invalid.
    pub rejected: Vec<Rejected>,
    /// SHA-256 of the manifest including its checksums, in hexadecimal. It identifies the bundle.
    pub digest: String,
    /// The verified signature, if the bundle is signed.
    pub signature: Option<Signature>,
}
