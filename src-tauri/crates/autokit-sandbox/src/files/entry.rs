//! Entries of a folder's listing.

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name; bytes that are not UTF-8 are replaced by U+FFFD.
    pub name: String,
    /// Its kind.
    pub kind: EntryKind,
}

/// The kind of an entry. Links are not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A FIFO, a socket or a device.
    Other,
}
