//! The two graders: whether everything in an answer is supported, and whether it answers the question.

use std::sync::Arc;

use autokit_toolcard::Stub;

use super::{Run, StepResult};
use crate::ask::graph::{Outcome, RETRIES};
use crate::ask::ground::Sources;
use crate::ask::local;
use crate::ask::{Retrieved, model};
use crate::error::Result;
use crate::outlier::is_outlier;

impl Run<'_> {
    /// Returns the sources for claims about a card: the card and its page, not other cards.
    pub(super) fn sources(&self, card: &Retrieved) -> Sources {
        let stub = card.stub.as_ref().map(|stub| stub.code.as_str());
        Sources::new([card.body.as_str()].into_iter().chain(stub))
            .with_page(card.cited.as_ref().map(|cited| cited.text.as_str()))
            .with_question(&self.question.full_text())
    }

    pub(super) fn supports(&self, sources: &Sources, sentence: &str) -> bool {
        sources.supports_sentence(sentence, &|word| self.retriever.is_word(word))
    }

    /// Grades by rules, because a model that invents claims would call its own answer grounded.
    pub(super) fn grade_grounded(&mut self) -> StepResult {
        let Some(mut draft) = self.draft.take() else {
            return StepResult::by_rules(Outcome::Exhausted, "No answer to check");
        };
        if !draft.by_model {
            self.draft = Some(draft);
            return StepResult::by_rules(Outcome::Grounded, "Taken from the card");
        }
        let card = Arc::clone(&draft.card);
        let sources = self.sources(&card);
        let mut problems = Vec::new();
        if !self.supports(&sources, &draft.sentence) {
            problems.push(format!("the sentence {:?} names things not in the sources", draft.sentence));
        }
        // Field names are left out, because they are the same on every card.
        let texts = Sources::new([card.name.as_str(), card.description.as_str()])
            .with_page(card.cited.as_ref().map(|cited| cited.text.as_str()));
        if !texts.is_about(&draft.sentence) {
            problems.push(format!("the sentence {:?} is not about {}", draft.sentence, card.name));
        }
        if !self.supports(&sources, &draft.why) {
            problems.push(format!("the reason {:?} names things not in the sources", draft.why));
        }
        let mut lines = Vec::new();
        if let Some(stub) = &draft.code {
            let (code, removed) = sources.supported_code(&stub.code);
            lines = removed;
            if !lines.is_empty() {
                problems.push(format!("no source supports: {}", lines.join(" ⏎ ")));
                draft.code = if code.is_empty() {
                    card.stub.clone()
                } else {
                    Some(Stub { language: stub.language.clone(), code })
                };
            }
        }
        // The reranker and the model read third-party text: a far worse match than the best one was more
        // likely promoted by its text than right.
        let best = self.retrieved.iter().map(|card| card.score).fold(0.0, f32::max);
        let outlier = is_outlier(card.score, best);
        if outlier {
            problems.push(format!("{} is far from the question", card.name));
        }
        if problems.is_empty() {
            self.draft = Some(draft);
            return StepResult::by_rules(
                Outcome::Grounded,
                "Every claim is supported by the cards or their pages",
            );
        }
        let text = format!("Not supported: {}", problems.join("; "));
        self.correction = format!("An earlier answer was rejected: {}.\n", problems.join("; "));
        for line in lines {
            if !self.removed.contains(&line) {
                self.removed.push(line);
            }
        }
        if self.tries < RETRIES {
            self.tries += 1;
            return StepResult::by_rules(Outcome::Ungrounded, text);
        }
        // No tries are left: unsupported text is replaced by the card's own.
        if outlier {
            self.draft = self.draft_by_rules();
        } else {
            draft.sentence = local::sentence(&card);
            draft.why = local::why(&card, &self.question.text);
            draft.code = draft.code.or_else(|| card.stub.clone());
            draft.by_model = false;
            self.draft = Some(draft);
        }
        self.notes.push(
            "The model's answer was not supported by its sources, so the card's own text is shown instead."
                .to_owned(),
        );
        match self.draft {
            Some(_) => StepResult::by_rules(Outcome::Grounded, text),
            None => StepResult::by_rules(Outcome::Exhausted, text),
        }
    }

    pub(super) async fn grade_answers(&mut self) -> Result<StepResult> {
        let Some(draft) = self.draft.clone() else {
            return Ok(StepResult::by_rules(Outcome::Misses, "No answer to grade"));
        };
        if let Some(small) = self.small.clone() {
            let answer = format!("{}: {} {}", draft.card.name, draft.sentence, draft.why);
            let question = self.question.full_text();
            let request = model::grade(&small, &self.deps.prompts, &question, &answer);
            match self.models_limit.run_model(request).await {
                Ok((answers, reason, usage)) => {
                    if !answers {
                        // The reason may become part of the answer, so the same rules apply to it.
                        let sources = Sources::new([draft.card.body.as_str(), &question]);
                        let supported = Some(&reason).filter(|reason| self.supports(&sources, reason));
                        self.reason = supported.map_or_else(
                            || "the closest card does not fit the request".to_owned(),
                            Clone::clone,
                        );
                    }
                    self.accepted = answers;
                    let outcome = if answers { Outcome::Answers } else { Outcome::Misses };
                    return Ok(StepResult {
                        outcome,
                        text: reason,
                        model: Some(small.config().model.clone()),
                        usage,
                    });
                }
                Err(error) => self.model_failed("Grading", &small, &error),
            }
        }
        let score = draft.card.score;
        // A card that is more likely wrong than right is not accepted yet: the web is searched first, and if
        // that finds nothing, the card is returned as an unsure answer.
        self.accepted = score >= self.thresholds.doubtful;
        self.doubtful = !self.accepted && score >= self.thresholds.nothing;
        Ok(if self.accepted {
            StepResult::by_rules(Outcome::Answers, "The card is close to the question")
        } else {
            "the closest card is far from the question".clone_into(&mut self.reason);
            StepResult::by_rules(Outcome::Misses, "The closest card is far from the question")
        })
    }
}
