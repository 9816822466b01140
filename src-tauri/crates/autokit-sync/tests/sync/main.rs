//! Replicas of a team's library: what is exchanged, merged, refused and forgotten.

mod access;
mod edits;
mod embedding;
mod follow;
mod kitchen;
mod part;
mod proposals;
mod random;
