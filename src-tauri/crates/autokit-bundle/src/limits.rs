//! Sizes past which a bundle is refused instead of being read. Each keeps a file somebody sent from
//! filling memory or disk; all are far above what people exchange.

/// Bytes of the file as it comes.
pub const FILE_BYTES: u64 = 512 << 20;
/// Bytes of all that is in it, unpacked. A megabyte of zeros packs into a kilobyte.
pub const UNPACKED_BYTES: u64 = 2 << 30;
/// Cards.
pub const CARDS: usize = 200_000;
/// Earlier revisions of one card.
pub const REVISIONS: usize = 10_000;
/// Bytes of `bundle.json` or `signature.json`.
pub const MANIFEST_BYTES: u64 = 1 << 20;
/// Bytes of one line: a card at its largest, with what is said about it.
pub const LINE_BYTES: usize = autokit_toolcard::Limits::CARD.card_bytes + (1 << 20);
/// Numbers in the vectors of one card.
pub const VECTOR_NUMBERS: usize = 64 << 10;
/// Characters of a name, an author or a licence.
pub const LABEL_CHARS: usize = 200;
/// Characters of a note or a reason.
pub const NOTE_CHARS: usize = 4_000;
/// Bytes of an id.
pub const ID_BYTES: usize = 200;
