//! What the server and the network take for each step, in seconds, and what needs no simulation.

use crate::arguments::Inputs;

/// Cards in one answer.
pub(crate) const PAGE: f64 = 100.0;
/// Cards in one answer that has only their ids.
pub(crate) const IDS: f64 = 10_000.0;
/// Cards that a revocation names in one answer, where it does.
const LISTED: f64 = 1_000.0;
/// Cards that a replica may have.
pub(crate) const REPLICA_CARDS: f64 = 200_000.0;
/// Live queries of a connection.
pub(crate) const LIVE_QUERIES: f64 = 5.0;
pub(crate) const US: f64 = 1e-6;
/// Seconds in which a member does what it does in a day.
const WORKDAY: f64 = 8.0 * 3_600.0;
/// Share of the members from whom the group is taken.
const GROUP: f64 = 0.05;

/// Rows of cards and proposals in an answer.
#[derive(Clone, Copy, Default)]
pub(crate) struct Rows {
    pub(crate) listed: f64,
    /// Those that the member does not have.
    pub(crate) new: f64,
}

impl Inputs {
    /// Cards that a replica gets.
    pub(crate) fn kept(&self) -> f64 {
        self.cards.min(REPLICA_CARDS)
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

    /// Microseconds of a query that lists rows, and of reading those that are new.
    fn changes(&self, rows: Rows) -> f64 {
        self.changes_us + rows.listed * self.scan_us + rows.new * self.row_us
    }

    /// The queries for cards and for proposals, in a whole look the standing query and the one for what was hidden as well, and,
    /// where it is not known, the one for the list of members.
    pub(crate) fn round(&self, rows: Rows, is_news: bool, knows_members: bool) -> f64 {
        let access = if is_news { 0.0 } else { self.standing_us + self.changes_us };
        let changed = if self.named { 1.0 } else { self.members };
        let list = if knows_members { 0.0 } else { self.changes_us + changed * self.name_us };
        (access + self.changes_us + self.changes(rows) + list) * US
    }

    /// The next page of a first sync.
    pub(crate) fn page(&self) -> f64 {
        self.page_us * US
    }

    /// The next ids of all cards that may be seen, or the cards that a revocation says.
    pub(crate) fn purge(&self) -> f64 {
        let rows = self.cards.min(IDS) * self.scan_us;
        US * if self.listed {
            self.changes(Rows { listed: LISTED, new: LISTED })
        } else {
            self.changes_us + rows
        }
    }

    /// Answers in which all ids come.
    pub(crate) fn purges(&self) -> f64 {
        if self.listed { 1.0 } else { (self.cards / IDS).ceil() }
    }

    /// On an idle server.
    pub(crate) fn first_sync(&self) -> f64 {
        let read = self.page() + self.reads(PAGE) + self.trip();
        let write = self.client_page_ms * 1e-3;
        // The next page is read while one is written.
        (self.kept() / PAGE).ceil() * read.max(write) + read.min(write)
    }

    /// Hiding one card from all but the group writes one row, of which each member is told, as of the card.
    pub(crate) fn hide(&self) -> f64 {
        (self.request_us + 2.0 * self.members * self.notify_us) * US
    }
}
