//! Past ask sessions, and people's feedback on answers.

use autokit_toolcard::{CardId, SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use surrealdb::types::{RecordId, RecordIdKey, object};

use crate::error::Result;
use crate::rows::{FeedbackRow, SessionRow, key_text, timestamp};
use crate::store::Library;

/// A person's feedback on a recommended tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feedback {
    /// When it was given.
    pub at: Timestamp,
    /// Profile of the person; people who share a library do not share feedback.
    pub profile: String,
    /// The question that was answered.
    pub question: String,
    /// The tool.
    pub card: CardId,
    /// Whether the tool was helpful.
    pub helpful: bool,
    /// The use case if it was helpful, else the reason why not.
    pub said: String,
}

/// List entry of a past ask session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionNote {
    /// The session's id.
    pub id: SessionId,
    /// When it started.
    pub at: Timestamp,
    /// The question.
    pub question: String,
}

impl Library {
    /// Stores feedback. A second call with the same request key changes nothing.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn put_feedback(&self, feedback: &Feedback, request: Option<&str>) -> Result<()> {
        let id = match request {
            Some(key) => RecordId::new("feedback", key),
            None => RecordId::new("feedback", RecordIdKey::rand()),
        };
        self.execute(
            "UPSERT $id CONTENT $row RETURN NONE",
            object! { id: id, row: object! {
                at: feedback.at.to_string(),
                profile: feedback.profile.clone(),
                question: feedback.question.clone(),
                card: feedback.card.as_str().to_owned(),
                helpful: feedback.helpful,
                said: feedback.said.clone(),
            } },
        )
        .await
    }

    /// Returns the feedback of a profile, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn feedback(&self, profile: &str) -> Result<Vec<Feedback>> {
        self.read_feedback("SELECT * FROM feedback WHERE profile = $profile ORDER BY at", profile).await
    }

    /// Returns the feedback of all profiles, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn all_feedback(&self) -> Result<Vec<Feedback>> {
        self.read_feedback("SELECT * FROM feedback ORDER BY at", "").await
    }

    async fn read_feedback(&self, query: &str, profile: &str) -> Result<Vec<Feedback>> {
        let rows: Vec<FeedbackRow> = self.select(query, object! { profile: profile }).await?;
        let feedback = |row: FeedbackRow| -> Result<Feedback> {
            Ok(Feedback {
                at: timestamp(&row.at)?,
                profile: row.profile,
                question: row.question,
                card: CardId::new(row.card),
                helpful: row.helpful,
                said: row.said,
            })
        };
        rows.into_iter().map(feedback).collect()
    }

    /// Returns the questions for which people found a card helpful, newest first, whoever they were.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn answered_questions(&self, card: &CardId) -> Result<Vec<String>> {
        let query = "SELECT VALUE question FROM \
                     (SELECT question, at FROM feedback WHERE card = $card AND helpful ORDER BY at DESC)";
        self.select(query, object! { card: card.as_str() }).await
    }

    /// Stores the current state of an ask session; a later call with the same id replaces it.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn put_session(&self, note: &SessionNote, body: &str) -> Result<()> {
        self.execute(
            "UPSERT $id CONTENT { at: $at, question: $question, body: $body } RETURN NONE",
            object! {
                id: RecordId::new("session", note.id.as_str()),
                at: note.at.to_string(),
                question: note.question.clone(),
                body: body.to_owned(),
            },
        )
        .await
    }

    /// Lists past ask sessions, newest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn sessions(&self, limit: u32) -> Result<Vec<SessionNote>> {
        let query = "SELECT id, at, question FROM session ORDER BY at DESC LIMIT $limit";
        let rows: Vec<SessionRow> = self.select(query, object! { limit: i64::from(limit) }).await?;
        let note = |row: SessionRow| -> Result<SessionNote> {
            Ok(SessionNote {
                id: SessionId::new(key_text(&row.id)),
                at: timestamp(&row.at)?,
                question: row.question,
            })
        };
        rows.into_iter().map(note).collect()
    }

    /// Returns the stored JSON of up to `limit` ask sessions in the order of their ids, after the first `skipped`.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn session_bodies(&self, skipped: usize, limit: usize) -> Result<Vec<String>> {
        let query = "SELECT VALUE body FROM session ORDER BY id LIMIT $limit START $skipped";
        self.select(query, object! { limit: limit as i64, skipped: skipped as i64 }).await
    }

    /// Deletes these ask sessions or, if they are to be `kept`, all others.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn delete_sessions(&self, ids: &[SessionId], kept: bool) -> Result<()> {
        let ids: Vec<RecordId> = ids.iter().map(|id| RecordId::new("session", id.as_str())).collect();
        let query = "DELETE session WHERE (id IN $ids) != $kept RETURN NONE";
        self.execute(query, object! { ids: ids, kept: kept }).await
    }

    /// Returns the stored JSON of an ask session.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn session(&self, id: &SessionId) -> Result<Option<String>> {
        let id = RecordId::new("session", id.as_str());
        let bodies: Vec<String> = self.select("SELECT VALUE body FROM $id", object! { id: id }).await?;
        Ok(bodies.into_iter().next())
    }
}
