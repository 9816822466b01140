//! What is listed of a folder.

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name; bytes that are not UTF-8 are shown as U+FFFD.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
}

/// What an entry is. A link is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// An ordinary file.
    File,
    /// A folder.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A FIFO, a socket, a device.
    Other,
}
