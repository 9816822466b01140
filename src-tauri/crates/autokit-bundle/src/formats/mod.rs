//! Formats other programs read and write.
