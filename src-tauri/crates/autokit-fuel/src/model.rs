//! What a language model adds to the rules: claims the rules could not judge, and pages they did not find.
//! Nothing it says is trusted as such: a claim needs a quote that is on the page and, if it names a value, a
//! page that shows that value; a page it found is scored like any other.

use std::sync::Arc;

use autokit_llm::prompts::{self, Prompts};
use autokit_llm::{Model, React, Request, RunOutcome, Tool};
use autokit_pages::{Page, Subject, WebTools, content_words, distinctive_words};
use autokit_toolcard::{Toolcard, fields};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::claims::{Claim, ClaimVerdict};
use crate::fuel::Fuel;

/// Most characters of a page shown to a model.
const SHOWN: usize = 12_000;
/// Confidence of a claim that only a model makes.
const CONFIDENCE: f32 = 0.6;
/// Words of which a sentence about prices contains at least one.
const PRICE_WORDS: &[&str] = &[
    "free",
    "price",
    "pricing",
    "priced",
    "paid",
    "pay",
    "plan",
    "plans",
    "cost",
    "costs",
    "credit",
    "credits",
    "subscription",
    "tier",
    "billing",
    "billed",
    "trial",
    "commercial",
    "license",
];

/// Language models with their prompts.
#[derive(Clone, Debug)]
pub struct Advisor {
    /// Model that checks cards against pages.
    pub small: Model,
    /// Model that searches for pages and writes.
    pub large: Model,
    /// Prompts for both.
    pub prompts: Prompts,
}

#[derive(Debug, Deserialize)]
struct Answer {
    claims: Vec<ModelClaim>,
}

#[derive(Debug, Deserialize)]
struct ModelClaim {
    field: String,
    standing: ClaimVerdict,
    quote: String,
    #[serde(default)]
    value: Option<String>,
}

/// Formats a card for a model.
pub(crate) fn shown_card(card: &Toolcard) -> String {
    serde_json::to_string_pretty(card.object()).unwrap_or_default()
}

/// Formats a page for a model.
pub(crate) fn shown_page(page: &Page) -> String {
    page.text.chars().take(SHOWN).collect()
}

impl Advisor {
    /// Asks the model what the page says about the card, and fills in trustworthy claims where the rules
    /// found nothing. Returns whether any were added.
    pub(crate) async fn add_claims(
        &self,
        card: &Toolcard,
        subject: &Subject,
        page: &Page,
        claims: &mut [Claim],
    ) -> bool {
        if !claims.iter().any(Claim::is_not_found) {
            return false;
        }
        let schema = json!({
            "type": "object",
            "properties": {
                "about": { "type": "boolean" },
                "claims": { "type": "array", "items": {
                    "type": "object",
                    "properties": {
                        "field": { "type": "string" },
                        "standing": { "enum": ["supported", "contradicted"] },
                        "quote": { "type": "string" },
                        "value": { "type": ["string", "null"] },
                    },
                    "required": ["field", "standing", "quote"],
                } },
            },
            "required": ["about", "claims"],
        });
        let text = self.prompts.fill(
            &prompts::VERIFY,
            &[("card", shown_card(card).as_str()), ("page", shown_page(page).as_str())],
        );
        let request = Request::new("Answer with JSON after the schema and nothing else.", text);
        let answer = match self.small.structured(&request, "claims", &schema).await {
            Ok(answer) => answer.value,
            Err(error) => {
                tracing::info!(%error, "model failed to check a card against its page");
                return false;
            }
        };
        // The response was validated against the schema, so other standings cannot occur.
        let model_claims: Vec<ModelClaim> =
            serde_json::from_value::<Answer>(answer).map(|answer| answer.claims).unwrap_or_default();
        let mut added = false;
        for model_claim in model_claims {
            let open = claims
                .iter_mut()
                .find(|claim| claim.field == model_claim.field && claim.standing == ClaimVerdict::NotFound);
            if let Some(claim) = open
                && is_backed_by_page(&model_claim, subject, page)
            {
                claim.standing = model_claim.standing;
                claim.quote = model_claim.quote;
                claim.value = model_claim
                    .value
                    .filter(|_| model_claim.standing == ClaimVerdict::Contradicted)
                    .map(Value::from);
                claim.confidence = CONFIDENCE;
                claim.by_model = true;
                added = true;
            }
        }
        added
    }
}

/// Whether a model's claim can be trusted: its quote is on the page, and the page shows what the claim needs.
fn is_backed_by_page(claim: &ModelClaim, subject: &Subject, page: &Page) -> bool {
    if !page.contains_quote(&claim.quote) {
        return false;
    }
    let code = &page.facts.code;
    let value = claim.value.as_deref().map(str::trim).filter(|value| !value.is_empty());
    let contradicted = claim.standing == ClaimVerdict::Contradicted;
    if contradicted && value.is_none_or(|value| !claim.quote.contains(value)) {
        return false;
    }
    match (claim.field.as_str(), contradicted) {
        // The parser either finds an import or the page does not have it.
        (fields::CLASS, false) => subject.classes.iter().all(|class| code.has(class)),
        (fields::CLASS, true) => value.is_some_and(|value| code.imports_of(value).next().is_some()),
        (fields::MODULE, _) => {
            let module = if contradicted { value } else { subject.module.as_deref() };
            module.is_some_and(|module| code.imports.iter().any(|import| import.module == module))
        }
        (fields::INIT_ARGS, false) => subject.init_args.keys().all(|name| code.has(name)),
        (fields::NAME, false) => {
            let words = distinctive_words(&claim.quote);
            subject.name_words.iter().all(|word| words.contains(word))
        }
        (fields::DESCRIPTION, false) => {
            content_words(&claim.quote).intersection(&subject.content).count() >= 2
        }
        (fields::PRICING, contradicted) => {
            let quote = content_words(&claim.quote);
            let about_prices =
                PRICE_WORDS.iter().any(|word| quote.contains(*word)) || claim.quote.contains(['$', '€', '£']);
            let short = value.is_none_or(|value| value.chars().count() <= 80);
            let same = || {
                subject.pricing.as_deref().is_some_and(|pricing| !content_words(pricing).is_disjoint(&quote))
            };
            about_prices && short && (contradicted || same())
        }
        (fields::OPENAPI, false) => subject.openapi.as_deref().is_some_and(|url| page.text.contains(url)),
        _ => false,
    }
}

/// Result of a model's search for a page.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelSearch {
    /// Pages the model opened.
    pub(crate) opened: Vec<Arc<Page>>,
    /// URL of the page the model chose.
    pub(crate) chosen: Option<String>,
}

impl Fuel {
    /// Lets the model search for the page of a card.
    pub(crate) async fn search_with_model(
        &self,
        advisor: &Advisor,
        card: &Toolcard,
        problem: &str,
    ) -> ModelSearch {
        let text = advisor
            .prompts
            .fill(&prompts::REPAIR, &[("card", shown_card(card).as_str()), ("problem", problem)]);
        let request = Request::new("You find documentation pages.", text);
        let finish = Tool {
            name: "finish".to_owned(),
            description: "Hands in the address of the page, or \"nothing\".".to_owned(),
            schema: json!({
                "type": "object",
                "properties": { "url": { "type": "string" } },
                "required": ["url"],
            }),
        };
        let web = WebTools::new(&self.reader, &self.providers);
        let ended = React::default().run(&advisor.large, request, &web, &finish, |_| {}).await;
        let (_, opened) = web.into_results();
        let chosen = match ended {
            Ok((RunOutcome::Answer(answer), _)) => answer
                .get("url")
                .and_then(Value::as_str)
                .map(str::to_owned)
                .filter(|url| opened.iter().any(|page| page.requested_url == *url)),
            Ok((RunOutcome::GaveUp(why), _)) => {
                tracing::info!(?why, "model gave up searching for a page");
                None
            }
            Err(error) => {
                tracing::info!(%error, "model failed to search for a page");
                None
            }
        };
        ModelSearch { opened: opened.into_iter().map(|opened| opened.page).collect(), chosen }
    }
}
