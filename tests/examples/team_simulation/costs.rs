//! What the server and the network take for each step, in seconds, and what needs no simulation.

use crate::arguments::Inputs;

/// Cards in one answer.
pub(crate) const PAGE: f64 = 1_000.0;
/// Cards that a replica may have.
pub(crate) const REPLICA_CARDS: f64 = 200_000.0;
pub(crate) const US: f64 = 1e-6;
/// Seconds in which a member does what it does in a day.
const WORKDAY: f64 = 8.0 * 3_600.0;
/// Share of the members from whom the group is taken.
const GROUP: f64 = 0.05;

impl Inputs {
    /// Cards that a replica gets.
    pub(crate) fn kept(&self) -> f64 {
        if self.partial { self.cards.min(REPLICA_CARDS) } else { self.cards }
    }

    /// Members from whom the group is taken.
    pub(crate) fn group(&self) -> usize {
        (self.members * GROUP).round().max(1.0) as usize
    }

    /// Times a second that something happens that each member does so many times a day.
    pub(crate) fn rate(&self, a_day: f64) -> f64 {
        self.members * a_day / WORKDAY
    }

    pub(crate) fn trip(&self) -> f64 {
        self.round_trip_ms * 1e-3
    }

    pub(crate) fn commit(&self) -> f64 {
        US * if self.tikv { 3.0 * self.tikv_raft_us } else { self.fsync_us }
    }

    /// Reads that wait for each other.
    pub(crate) fn reads(&self, number: f64) -> f64 {
        if self.tikv { number * self.tikv_get_us * US } else { 0.0 }
    }

    /// Microseconds of a query for changes.
    fn changes(&self, rows: f64) -> f64 {
        self.changes_us + rows * (self.row_us + self.scan_us)
    }

    /// The standing query, those for changes and, where it is not known, the one for the list of members.
    pub(crate) fn round(&self, rows: f64, is_delta: bool, knows_members: bool) -> f64 {
        let standing = if is_delta { 0.0 } else { self.standing_us + self.changes_us };
        let changed = if self.named { 1.0 } else { self.members };
        let list = if knows_members { 0.0 } else { self.changes_us + changed * self.name_us };
        (standing + self.changes(rows) + list) * US
    }

    /// The next page of a first sync that has so many cards.
    pub(crate) fn page(&self, had: f64) -> f64 {
        let after = if self.ordered { 0.0 } else { self.kept() - had };
        (self.page_us + after * self.scan_us) * US
    }

    /// The ids of all that may be seen, or the cards that a revocation says.
    pub(crate) fn purge(&self) -> f64 {
        US * if self.listed { self.changes(PAGE) } else { self.changes_us + self.kept() * self.scan_us }
    }

    /// On an idle server.
    pub(crate) fn first_sync(&self) -> f64 {
        let page = self.page(self.kept() / 2.0)
            + self.reads(PAGE)
            + (self.round_trip_ms + self.client_page_ms) * 1e-3;
        (self.kept() / PAGE).ceil() * page
    }

    /// Hiding one card from all but the group writes each member's row and tells each member of each.
    pub(crate) fn hide(&self) -> f64 {
        let hidden = if self.listed { 1.0 } else { self.members * (1.0 - GROUP) };
        (self.request_us + hidden * (self.changes_us + self.members * self.notify_us)) * US
    }
}
