//! Needs that use shows: what was asked for and never found, and what people edit again and again. Repeated sequences of
//! calls are those of [`crate::macros`].

use std::collections::{BTreeSet, HashSet};

use autokit_api::{RepeatedCardEdit, Session, TurnKind, TurnState, UnansweredNeed};
use autokit_bootstrap::{Edit, repeated_edits};
use autokit_error::Result;
use autokit_search::dot;
use autokit_serving::uses::Experience;
use autokit_toolcard::Timestamp;
use autokit_workspace::background::in_background;
use serde_json::{Map, Value};

use super::GeneratedTools;

/// Fewest sessions with requests that are alike, or cards that are edited alike, to be called a need.
const REPEATED: usize = 3;
/// Newest sessions with the agent that are looked through.
const SESSIONS: u32 = 200;
/// Newest edits that are looked through.
const EDITS: u32 = 500;
/// Newest distinct requests that are compared with each other.
const COMPARED: usize = 300;
/// Cosine of the vectors of two requests that ask for the same.
const ALIKE: f32 = 0.7;
/// Share of the words two requests have in common if they ask for the same; used without a model.
const COMMON_WORDS: f32 = 0.5;

impl GeneratedTools {
    /// Returns requests of people and agents that were made in several sessions and not answered since, the most frequent
    /// first.
    pub(super) async fn unanswered(&self, experience: &Experience) -> Result<Vec<UnansweredNeed>> {
        let mut asked: Vec<Asked> = experience
            .searches
            .iter()
            .map(|search| Asked::new(search.at, &search.session, &search.query, search.found))
            .collect();
        let library = &self.workspace.library;
        for note in library.sessions(SESSIONS).await? {
            let Some(body) = library.session(&note.id).await? else { continue };
            // A session of another version tells nothing.
            let Ok(session) = serde_json::from_str::<Session>(&body) else { continue };
            for turn in session.turns {
                if let (TurnKind::Ask, TurnState::Done, Some(answer)) = (turn.kind, turn.state, &turn.answer)
                {
                    let at = turn.at.unwrap_or(note.at);
                    asked.push(Asked::new(at, note.id.as_str(), &turn.asked, answer.tool.is_some()));
                }
            }
        }
        asked.sort_by_key(|one| one.at);
        let embedder = self.models.embedder();
        in_background(move || {
            // Newest first; a request that was only ever answered is no need, whatever it is like.
            let mut texts: Vec<&str> = Vec::new();
            let mut seen: HashSet<&str> = HashSet::new();
            for one in asked.iter().rev() {
                if texts.len() < COMPARED && seen.insert(&one.text) {
                    texts.push(&one.text);
                }
            }
            let vectors = match &embedder {
                Some(embedder) if asked.iter().any(|one| !one.answered) => embedder.embed_queries(&texts)?,
                _ => Vec::new(),
            };
            Ok(needs(&asked, &texts, &vectors))
        })
        .await
    }

    /// Returns edits that were made by hand on several cards.
    pub(super) async fn repeated_edits(&self) -> Result<Vec<RepeatedCardEdit>> {
        let edited = self.workspace.library.recent_edits(EDITS).await?;
        let fields = |text: &str| serde_json::from_str::<Map<String, Value>>(text).unwrap_or_default();
        let both: Vec<_> =
            edited.iter().map(|card| (card, fields(&card.before), fields(&card.after))).collect();
        let edits = both.iter().map(|(card, before, after)| Edit { card: card.card.as_str(), before, after });
        Ok(repeated_edits(edits, REPEATED)
            .into_iter()
            .map(|edit| RepeatedCardEdit {
                field: edit.field,
                from: edit.from,
                to: edit.to,
                cards: edit.cards.len() as u32,
            })
            .collect())
    }
}

/// A request of a person or an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Asked {
    at: Timestamp,
    session: String,
    text: String,
    answered: bool,
}

impl Asked {
    fn new(at: Timestamp, session: &str, text: &str, answered: bool) -> Asked {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Asked { at, session: session.to_owned(), text, answered }
    }
}

/// Groups requests, oldest first, that ask for the same by `texts`, the distinct ones, and their vectors if there are any.
fn needs(asked: &[Asked], texts: &[&str], vectors: &[Vec<f32>]) -> Vec<UnansweredNeed> {
    let words: Vec<BTreeSet<String>> = texts.iter().map(|text| words_of(text)).collect();
    let alike = |a: usize, b: usize| {
        if let (Some(a), Some(b)) = (vectors.get(a), vectors.get(b)) {
            return dot(a, b) >= ALIKE;
        }
        let common = words[a].intersection(&words[b]).count() as f32;
        let all = words[a].union(&words[b]).count().max(1) as f32;
        common / all >= COMMON_WORDS
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for at in 0..texts.len() {
        match groups.iter_mut().find(|group| alike(group[0], at)) {
            Some(group) => group.push(at),
            None => groups.push(vec![at]),
        }
    }
    let mut needs: Vec<UnansweredNeed> = groups
        .into_iter()
        .filter_map(|group| {
            let of_group: HashSet<&str> = group.iter().map(|at| texts[*at]).collect();
            let mut open: Vec<&Asked> = Vec::new();
            for one in asked.iter().filter(|one| of_group.contains(one.text.as_str())) {
                // What was found later has been served.
                if one.answered {
                    open.clear();
                } else {
                    open.push(one);
                }
            }
            // One session that asks again and again is one need.
            let sessions = open.iter().map(|one| one.session.as_str()).collect::<HashSet<_>>().len();
            let question = open.last()?.text.clone();
            (sessions >= REPEATED).then_some(UnansweredNeed { question, times: sessions as u32 })
        })
        .collect();
    needs.sort_by(|a, b| b.times.cmp(&a.times).then_with(|| a.question.cmp(&b.question)));
    needs
}

fn words_of(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| word.chars().count() > 2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(at: u8, session: &str, text: &str, answered: bool) -> Asked {
        let at = format!("2026-01-{at:02}T00:00:00.000Z").parse().expect("a time");
        Asked::new(at, session, text, answered)
    }

    #[test]
    fn a_need_was_asked_in_several_sessions_and_not_answered_since() {
        let all = [
            asked(1, "a", "transpose sheet music", false),
            asked(2, "a", "transpose sheet music", false),
            asked(3, "b", "sheet music  transpose", false),
            asked(4, "c", "transpose sheet music up", false),
            asked(5, "a", "tune a piano", false),
            asked(6, "b", "tune a piano", false),
            asked(7, "c", "tune a piano", false),
            asked(8, "d", "tune a piano", true),
        ];
        let texts =
            ["tune a piano", "transpose sheet music up", "sheet music transpose", "transpose sheet music"];
        let found = needs(&all, &texts, &[]);
        assert_eq!(found, [UnansweredNeed { question: "transpose sheet music up".to_owned(), times: 3 }]);
    }
}
