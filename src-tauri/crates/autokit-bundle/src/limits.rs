//! Limits past which a bundle is refused instead of read. They keep a file from a stranger from filling
//! memory or disk, and are far above what people exchange.

/// Maximum size of a bundle file, in bytes.
pub const FILE_BYTES: u64 = 512 << 20;
/// Maximum total size unpacked, in bytes. A megabyte of zeros compresses to a kilobyte.
pub const UNPACKED_BYTES: u64 = 2 << 30;
/// Maximum number of cards.
pub const CARDS: usize = 200_000;
/// Maximum number of earlier revisions of one card.
pub const REVISIONS: usize = 10_000;
/// Maximum size of `bundle.json` or `signature.json`, in bytes.
pub const MANIFEST_BYTES: u64 = 1 << 20;
/// Maximum length of a line, in bytes: the largest card plus 1 MiB for its metadata.
pub const LINE_BYTES: usize = autokit_toolcard::Limits::CARD.card_bytes + (1 << 20);
/// Maximum count of numbers in the vectors of one card.
pub const VECTOR_NUMBERS: usize = 64 << 10;
/// Maximum length of a name, an author or a licence, in characters.
pub const LABEL_CHARS: usize = 200;
/// Maximum length of a note or a reason, in characters.
pub const NOTE_CHARS: usize = 4_000;
/// Maximum length of an id, in bytes.
pub const ID_BYTES: usize = 200;
/// Maximum number of names and synonyms together.
pub const VOCABULARY: usize = 1_000;
