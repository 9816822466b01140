//! What happened, as pairs of a question and a card.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use autokit_adapter::Source;
use autokit_api::TurnKind;
use autokit_error::Result;
use autokit_gateway::{CallOutcome, Event};
use autokit_library::Library;
use autokit_serving::{Activity, activity_since, feedback_profile};
use autokit_toolcard::{CardId, Operation, Timestamp};
use serde::Deserialize;

/// How long after a card was found an edit of it counts as a consequence, in seconds.
const EDIT_WINDOW_SECS: i64 = 7 * 24 * 3600;

/// A question with a card that answered it, or did not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) question: String,
    pub(crate) card: CardId,
    pub(crate) helpful: bool,
    pub(crate) source: Source,
    pub(crate) at: Timestamp,
}

/// Sessions that are in memory at once.
const SESSIONS_AT_ONCE: usize = 100;
/// Most pairs of a profile that are learned from, the newest ones.
const MAX_PAIRS: usize = 2_000;

/// The pairs of every profile, by its name.
pub(crate) type Evidence = BTreeMap<String, Vec<Pair>>;

/// Reads all there is to learn from, oldest first in each profile.
pub(crate) async fn read(library: &Library) -> Result<Evidence> {
    let mut evidence = Evidence::new();
    for feedback in library.all_feedback().await? {
        evidence.entry(feedback.profile).or_default().push(Pair {
            question: feedback.question,
            card: feedback.card,
            helpful: feedback.helpful,
            source: Source::Answer,
            at: feedback.at,
        });
    }
    for (profile, pair) in calls(&activity_since(library, Timestamp::EPOCH).await?) {
        evidence.entry(profile).or_default().push(pair);
    }
    for (profile, pair) in edits(library).await? {
        evidence.entry(profile).or_default().push(pair);
    }
    for pairs in evidence.values_mut() {
        // A search for nothing fails.
        pairs.retain(|pair| !pair.question.trim().is_empty());
        pairs.sort_by_key(|pair| pair.at);
        let excess = pairs.len().saturating_sub(MAX_PAIRS);
        pairs.drain(..excess);
    }
    Ok(evidence)
}

/// Returns the calls of tools that the session's last search found, with the profiles of the agents.
fn calls(activity: &[Activity]) -> Vec<(String, Pair)> {
    // Only the last search counts: a tool that an earlier one found may have been called for another purpose.
    let mut searches: HashMap<&str, (String, BTreeSet<String>)> = HashMap::new();
    let mut pairs = Vec::new();
    for done in activity {
        // Events of other versions are skipped; there is nothing to learn from what cannot be read.
        let Ok(event) = serde_json::from_str::<Event>(&done.event) else { continue };
        match event {
            Event::Searched { query, found, .. } => {
                searches.insert(&done.session, (query, found.into_iter().collect()));
            }
            Event::Audited(audit) if audit.outcome == CallOutcome::Done => {
                if let Some((query, found)) = searches.get(done.session.as_str())
                    && found.contains(&audit.id)
                {
                    let pair = Pair {
                        question: query.clone(),
                        card: CardId::new(audit.id),
                        helpful: true,
                        source: Source::Use,
                        at: done.at,
                    };
                    pairs.push((feedback_profile(&audit.profile), pair));
                }
            }
            _ => {}
        }
    }
    pairs
}

/// What is read of a session of questions: its other fields may be many times as long.
#[derive(Deserialize)]
struct AskSession {
    at: Timestamp,
    turns: Vec<AskTurn>,
}

#[derive(Deserialize)]
struct AskTurn {
    kind: TurnKind,
    asked: String,
    by: Option<String>,
    at: Option<Timestamp>,
    #[serde(alias = "told")]
    answer: Option<Found>,
}

#[derive(Deserialize)]
struct Found {
    tool: Option<CardId>,
}

/// A question that a card answered.
struct Asked {
    /// When it was asked; in sessions of earlier versions, when the session began.
    at: Timestamp,
    by: String,
    question: String,
}

/// Returns the edits of cards within a week after they answered a question of the same person, with their authors.
async fn edits(library: &Library) -> Result<Vec<(String, Pair)>> {
    let mut found: BTreeMap<CardId, Vec<Asked>> = BTreeMap::new();
    let mut read = 0;
    let mut bodies = library.session_bodies(read, SESSIONS_AT_ONCE).await?;
    while !bodies.is_empty() {
        read += bodies.len();
        for body in bodies {
            // Sessions of other versions are skipped, as in the list of past sessions.
            let Ok(session) = serde_json::from_str::<AskSession>(&body) else { continue };
            for turn in session.turns.into_iter().filter(|turn| turn.kind == TurnKind::Ask) {
                if let (Some(Found { tool: Some(tool) }), Some(by)) = (turn.answer, turn.by) {
                    let asked = Asked { at: turn.at.unwrap_or(session.at), by, question: turn.asked };
                    found.entry(tool).or_default().push(asked);
                }
            }
        }
        bodies = library.session_bodies(read, SESSIONS_AT_ONCE).await?;
    }
    let mut pairs = Vec::new();
    for (card, questions) in found {
        // Cards that still exist and were changed since they were added.
        if !library.read(|replica| replica.get(&card).is_some_and(|record| record.number > 1)) {
            continue;
        }
        for revision in library.history(&card).await? {
            if !matches!(revision.operation, Operation::Edit | Operation::Accept) {
                continue;
            }
            let led_to = |asked: &&Asked| {
                let seconds = revision.at.instant().as_second() - asked.at.instant().as_second();
                asked.by == revision.author.0 && (0..=EDIT_WINDOW_SECS).contains(&seconds)
            };
            // The person's last question before the edit is the one it follows from.
            if let Some(asked) = questions.iter().filter(led_to).max_by_key(|asked| asked.at) {
                let pair = Pair {
                    question: asked.question.clone(),
                    card: card.clone(),
                    helpful: true,
                    source: Source::Edit,
                    at: revision.at,
                };
                pairs.push((revision.author.0.clone(), pair));
            }
        }
    }
    Ok(pairs)
}
