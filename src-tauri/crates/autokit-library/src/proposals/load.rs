//! Loading the pending proposals.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use autokit_toolcard::{CardId, Proposal};
use surrealdb::types::{RecordId, SurrealValue};

use crate::error::Result;
use crate::queue::Queue;
use crate::rows::{ProposalRow, key_text};
use crate::store::Library;

impl Library {
    /// Returns the pending proposals, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn pending(&self) -> Result<Vec<Arc<Proposal>>> {
        self.queue_in_step().await?;
        Ok(self.read_queue(Queue::pending))
    }

    /// Returns the number of pending proposals.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn count_pending(&self) -> Result<u32> {
        self.queue_in_step().await?;
        Ok(self.read_queue(|queue| queue.pending.len() as u32))
    }

    pub(super) fn read_queue<T>(&self, read: impl FnOnce(&Queue) -> T) -> T {
        read(&self.queue.read().expect("no writer panics"))
    }

    /// Reloads the queue if a write was abandoned midway, for example because its caller was dropped.
    async fn queue_in_step(&self) -> Result<()> {
        if self.queue_stale.load(Ordering::Acquire) {
            let _guard = self.writer.lock().await;
            self.recover_state().await?;
        }
        Ok(())
    }

    /// As [`Library::queue_in_step`], for a caller that holds the `writer` lock.
    pub(crate) async fn recover_state(&self) -> Result<()> {
        // One whose caller was dropped may be under way.
        self.database.settle().await;
        if self.is_redo_uncertain() {
            self.finish_redo().await?;
            self.delete_staged().await?;
            self.catch_up().await?;
            self.queue_stale.store(true, Ordering::Release);
        } else if self.cards_behind.load(Ordering::Acquire) {
            self.catch_up().await?;
        }
        if self.queue_stale.load(Ordering::Acquire) { self.load_queue().await } else { Ok(()) }
    }

    /// Loads the queue from the database and compares it with the cards.
    pub(crate) async fn load_queue(&self) -> Result<()> {
        #[derive(SurrealValue)]
        #[surreal(crate = "surrealdb::types")]
        struct Newest {
            id: RecordId,
        }
        let mut response = self
            .db()
            .await?
            .query(
                "SELECT * FROM proposal WHERE state = 'pending';
                 SELECT id FROM proposal ORDER BY id DESC LIMIT 1;",
            )
            .await
            .map_err(|error| self.failed(&error))?;
        let rows: Vec<ProposalRow> = response.take(0).map_err(|error| self.failed(&error))?;
        let newest: Vec<Newest> = response.take(1).map_err(|error| self.failed(&error))?;
        let mut queue = Queue {
            newest: newest.first().and_then(|row| key_text(&row.id).parse().ok()).unwrap_or_default(),
            ..Queue::default()
        };
        for row in rows {
            queue.put(row.into_proposal()?);
        }
        let cards: Vec<CardId> = queue.by_subject.keys().cloned().collect();
        *self.queue.write().expect("no reader panics") = queue;
        self.queue_stale.store(false, Ordering::Release);
        self.rebase(&cards).await
    }

    /// Reloads these proposals into the queue. The caller holds the `writer` lock.
    pub(crate) async fn requeue(&self, ids: Vec<RecordId>) -> Result<()> {
        let read = self.proposals_by_id(ids).await?;
        let mut queue = self.queue.write().expect("no reader panics");
        for proposal in read {
            queue.put(proposal);
        }
        Ok(())
    }
}
