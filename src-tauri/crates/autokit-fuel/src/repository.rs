//! What GitHub knows about the repository of a card's tool.

use autokit_toolcard::{Evidence, ProposedField, Toolcard, fields};
use serde_json::Value;

use crate::examine::CheckRequest;
use crate::fuel::Fuel;
use crate::report::RepositoryNote;

/// Most topics proposed as tags.
const MAX_TOPICS: usize = 10;

impl Fuel {
    /// Looks up the repository that a card or its page is in. `None` without one, and when GitHub does not answer: a
    /// check does not depend on it.
    pub(crate) async fn repository(&self, card: &Toolcard, page: &str) -> Option<RepositoryNote> {
        let github = self.github.as_ref()?;
        let sources = card.object().get(fields::SOURCES).and_then(Value::as_array);
        let sources = sources.into_iter().flatten().filter_map(Value::as_str);
        let full_name = card
            .text(fields::DOCUMENTATION)
            .into_iter()
            .chain(sources)
            .chain([page])
            .find_map(|url| github.repository_of(url))?;
        match github.facts(&full_name, false).await {
            Ok(facts) => {
                let facts = facts?;
                let repository = facts.repository;
                Some(RepositoryNote {
                    full_name: repository.full_name,
                    url: repository.html_url,
                    stars: repository.stars,
                    license: repository.license,
                    topics: repository.topics,
                    release: facts.latest_release.map(|release| release.tag_name),
                    changed_at: repository.pushed_at,
                    archived: repository.archived,
                })
            }
            Err(error) => {
                tracing::info!(%error, repository = full_name, "failed to look up a repository");
                None
            }
        }
    }
}

/// Proposes the topics of a repository as tags of a card that has none.
pub(crate) fn topics(case: &CheckRequest<'_>, repository: &RepositoryNote) -> Option<ProposedField> {
    let tags = case.card.object().get(fields::TAGS).and_then(Value::as_array);
    if repository.topics.is_empty() || tags.is_some_and(|tags| !tags.is_empty()) {
        return None;
    }
    let topics: Vec<&str> = repository.topics.iter().map(String::as_str).take(MAX_TOPICS).collect();
    let quote = format!("Topics: {}", topics.join(", "));
    Some(ProposedField {
        field: fields::TAGS.to_owned(),
        value: Some(Value::from(topics)),
        evidence: vec![Evidence::new(&repository.url, quote, case.now)],
        confidence: 0.8,
    })
}
