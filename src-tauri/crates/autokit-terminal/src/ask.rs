//! `autokit ask` and `autokit search`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use autokit_agent::ask::{AgentAnswer, StepEvent};
use autokit_api::Client;
use autokit_api::commands::{GetCard, GetStatus, Search, StartAsk};
use autokit_api::{
    AgentQuestion, Answer, Candidate, CardRef, MemoryHit, Nothing, SearchRequest, SearchResponse, Verdict,
};
use autokit_error::{ApiError, ErrorCode};
use autokit_search::{Field, Mode, ScoreParts};
use autokit_toolcard::SessionId;
use clap::ValueEnum;
use owo_colors::OwoColorize;
use serde::Serialize;

use crate::agent;
use crate::cards::one_line;
use crate::memory;
use crate::outcome::{Failure, Outcome, Result};
use crate::output::{Output, count, printable, printable_line, width};
use crate::places::with_commands;

/// Which ranking to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Ranking {
    /// Keyword and semantic search combined.
    Hybrid,
    /// Keyword search only.
    Keyword,
    /// Semantic search only.
    Vector,
}

/// The output of `autokit ask --json`: the agent's answer, its candidates as cards, and the trace.
#[derive(Serialize)]
struct AskOutput<'a> {
    #[serde(flatten)]
    ranked: &'a Answer,
    session: &'a SessionId,
    answer: &'a AgentAnswer,
    documents: &'a [MemoryHit],
    events: &'a [StepEvent],
}

pub(crate) async fn ask(
    library: &dyn Client,
    out: &Output,
    question: String,
    limit: u32,
    session: Option<SessionId>,
) -> Result<Outcome> {
    let request = AgentQuestion { question: question.clone(), session, limit: Some(limit) };
    let started = library.call::<StartAsk>(request).await?;
    let session = agent::follow(library, out, &started.session).await?;
    let Some((agent_answer, turn)) =
        session.turns.last().and_then(|turn| Some((turn.answer.as_ref()?, turn)))
    else {
        return Err(ApiError::internal("the agent returned no answer").into());
    };
    let status = library.call::<GetStatus>(Nothing {}).await?;
    let answer = Answer {
        question,
        verdict: agent_answer.verdict,
        confidence: agent_answer.confidence,
        candidates: candidates(library, agent_answer).await?,
        notes: agent_answer.notes.iter().map(|note| with_commands(note)).collect(),
        searched: status.cards,
        took_ms: f64::from(turn.ms),
    };
    let output = AskOutput {
        ranked: &answer,
        session: &session.id,
        answer: agent_answer,
        documents: &turn.documents,
        events: &turn.events,
    };
    out.show(&output, |text| {
        write_answer(text, &answer, agent_answer)?;
        write_documents(text, &turn.documents)?;
        agent::write_follow_up(text, agent_answer, status.read_only.as_deref())
    })?;
    let nothing = agent_answer.verdict == Verdict::Nothing
        && agent_answer.findings.is_empty()
        && turn.documents.is_empty();
    Ok(if nothing { Outcome::NothingFound } else { Outcome::Done })
}

/// Returns the candidates of an answer with their cards, the recommended one first.
async fn candidates(library: &dyn Client, agent_answer: &AgentAnswer) -> Result<Vec<Candidate>> {
    let mut all = Vec::with_capacity(agent_answer.candidates.len());
    for ranked in &agent_answer.candidates {
        let recommended = agent_answer.tool.as_ref() == Some(&ranked.id);
        let card = match library.call::<GetCard>(CardRef { card: ranked.id.to_string() }).await {
            Ok(card) => card,
            // The card was removed since it was found.
            Err(error) if error.code == ErrorCode::NotFound && !recommended => continue,
            Err(error) if error.code == ErrorCode::NotFound => {
                let message = format!("the card for {} was removed in the meantime", ranked.name);
                return Err(Failure::Api(ApiError::new(ErrorCode::Conflict, message, "Ask again.")));
            }
            Err(error) => return Err(error.into()),
        };
        let (sentence, limits, stub) = if recommended {
            (agent_answer.sentence.clone(), agent_answer.limits.clone(), agent_answer.stub.clone())
        } else {
            (ranked.description.clone(), Vec::new(), card.stub)
        };
        let (score, parts) = (ranked.score, ranked.parts.clone());
        all.push(Candidate { card: card.summary, score, parts, sentence, limits, stub });
    }
    Ok(all)
}

pub(crate) async fn search(
    library: &dyn Client,
    out: &Output,
    query: String,
    limit: u32,
    mode: Ranking,
) -> Result<Outcome> {
    let mode = match mode {
        Ranking::Hybrid => Mode::Hybrid,
        Ranking::Keyword => Mode::Keyword,
        Ranking::Vector => Mode::Vector,
    };
    let response =
        library.call::<Search>(SearchRequest { query, mode: Some(mode), limit: Some(limit) }).await?;
    out.show(&response, |text| write_results(text, &response))?;
    Ok(if response.results.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}

fn write_answer(out: &mut dyn Write, answer: &Answer, agent_answer: &AgentAnswer) -> io::Result<()> {
    match (answer.verdict, answer.candidates.split_first()) {
        (Verdict::Nothing, _) | (_, None) => {
            writeln!(out, "{}", "Nothing in your library clearly does this.".bold())?;
            if answer.searched == 0 {
                writeln!(
                    out,
                    "  It is empty. Add cards with `autokit import FILE`, or search the web with `autokit discover`."
                )?;
            }
            if let Some(closest) = answer.candidates.first() {
                let name = printable(&closest.card.name);
                writeln!(out, "  The closest match is {name}, but it doesn't fit well.")?;
            }
            if agent_answer.findings.is_empty() && answer.searched > 0 {
                writeln!(out, "  Search the web with `autokit discover`.")?;
            }
        }
        (verdict, Some((best, others))) => {
            write_best(out, best, verdict, agent_answer)?;
            if !others.is_empty() {
                writeln!(out, "\n{}", "Other candidates".dimmed())?;
                for candidate in others {
                    let name = printable_line(&candidate.card.name);
                    let room = width().saturating_sub("  0.00   ".len() + name.chars().count()).clamp(16, 64);
                    writeln!(
                        out,
                        "  {} {}  {}",
                        format!("{:.2}", candidate.score).dimmed(),
                        name.bold(),
                        one_line(&candidate.sentence, room).dimmed()
                    )?;
                }
            }
        }
    }
    writeln!(out)?;
    for note in &answer.notes {
        writeln!(out, "{}", printable(note).dimmed())?;
    }
    writeln!(
        out,
        "{}",
        format!("{} searched in {:.0} ms", count(answer.searched, "card"), answer.took_ms).dimmed()
    )
}

fn write_documents(out: &mut dyn Write, documents: &[MemoryHit]) -> io::Result<()> {
    if documents.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", "From your documents".bold())?;
    for hit in documents {
        memory::write_hit(out, hit)?;
    }
    Ok(())
}

fn write_best(
    out: &mut dyn Write,
    best: &Candidate,
    verdict: Verdict,
    agent_answer: &AgentAnswer,
) -> io::Result<()> {
    let card = &best.card;
    let badge = if card.verified {
        "✓ verified".green().to_string()
    } else {
        "not verified yet".yellow().to_string()
    };
    writeln!(out, "{}  {badge}", printable(&card.name).bold())?;
    let mut facts = Vec::new();
    if !card.provider.is_empty() {
        facts.push(printable(&card.provider));
    }
    facts.push(card.kind.as_str().replace('_', " "));
    facts.extend(card.language.as_deref().map(printable));
    writeln!(out, "{}", facts.join(" · ").dimmed())?;
    if !best.sentence.is_empty() {
        writeln!(out, "\n{}", printable(&best.sentence))?;
    }
    for limit in &best.limits {
        writeln!(out, "{}", printable(limit))?;
    }
    let confidence = agent_answer.confidence.map(|confidence| format!("{:.0}%", confidence * 100.0));
    match (verdict, confidence) {
        (Verdict::Unsure, Some(confidence)) => {
            let text = format!("{confidence} confidence. Check the other candidates too.");
            writeln!(out, "{}", text.yellow())?;
        }
        (Verdict::Unsure, None) => {
            writeln!(out, "{}", "Low confidence. Check the other candidates too.".yellow())?;
        }
        (_, Some(confidence)) => writeln!(out, "{}", format!("{confidence} confidence").dimmed())?,
        (_, None) => {}
    }
    writeln!(out, "\n  {} {:.2}: {}", "Why ".cyan(), best.score, explain_score(&best.parts))?;
    if let Some(url) = &card.documentation {
        writeln!(out, "  {} {}", "Docs".cyan(), printable(url))?;
    }
    for citation in &agent_answer.citations {
        writeln!(
            out,
            "  {} {} {}",
            "Page".cyan(),
            one_line(&citation.title, 60),
            printable(&citation.url).dimmed()
        )?;
    }
    if let Some(stub) = &best.stub {
        writeln!(out)?;
        for line in printable(&stub.code).lines() {
            writeln!(out, "    {line}")?;
        }
    }
    Ok(())
}

/// Describes how a score is composed.
fn explain_score(parts: &ScoreParts) -> String {
    let mut reasons = Vec::new();
    if parts.name > 0.0 {
        reasons.push(format!("name {:.2}", parts.name));
    }
    reasons.push(format!("keywords {:.2}", parts.keyword));
    if let Some(cosine) = parts.cosine {
        reasons.push(format!("semantic {:.2} (cosine {cosine:.2})", parts.vector));
    }
    if parts.constraints.abs() >= 0.005 {
        reasons.push(format!("conditions {:+.2}", parts.constraints));
    }
    if let Some(thing) = &parts.finds {
        reasons.push(format!("looks up {} IDs {:+.2}", printable(thing), parts.lookup));
    }
    if parts.direction.abs() >= 0.005 {
        reasons.push(format!("direction {:+.2}", parts.direction));
    }
    if parts.feedback.abs() >= 0.005 {
        reasons.push(format!("feedback {:+.2}", parts.feedback));
    }
    let (mut words, mut known): (BTreeSet<&str>, BTreeSet<&str>) = Default::default();
    let mut meanings: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for term in &parts.matched_terms {
        match &term.meaning {
            Some(meaning) => meanings.entry(meaning).or_default().insert(&term.word),
            None if term.field == Field::Known => known.insert(&term.word),
            None => words.insert(&term.word),
        };
    }
    known.retain(|word| !words.contains(word));
    let list = |words: BTreeSet<&str>| words.into_iter().collect::<Vec<_>>().join(", ");
    if !words.is_empty() {
        reasons.push(format!("matched {}", printable(&list(words))));
    }
    if !known.is_empty() {
        reasons.push(format!("{} (known about this product, not on the card)", printable(&list(known))));
    }
    for (meaning, words) in meanings {
        reasons.push(format!("{} → {meaning}", printable(&list(words))));
    }
    reasons.join(" · ")
}

fn write_results(out: &mut dyn Write, response: &SearchResponse) -> io::Result<()> {
    if response.results.is_empty() {
        return writeln!(out, "No results.");
    }
    for (rank, hit) in response.results.iter().enumerate() {
        let provider =
            if hit.provider.is_empty() { String::new() } else { format!(" · {}", printable(&hit.provider)) };
        writeln!(
            out,
            "{:>3}. {}{}  {}",
            rank + 1,
            printable(&hit.name).bold(),
            provider.dimmed(),
            format!("{:.3}", hit.score).cyan()
        )?;
        writeln!(out, "     {}", one_line(&hit.description, 90))?;
        writeln!(out, "     {}", explain_score(&hit.parts).dimmed())?;
    }
    if let Some(note) = autokit_search::understood(&response.constraints) {
        writeln!(out, "\n{}", note.dimmed())?;
    }
    if !response.also_named.is_empty() {
        let names: Vec<_> = response.also_named.iter().map(|name| printable(name)).collect();
        writeln!(out, "     Also named in the query: {}", names.join(", "))?;
    }
    writeln!(
        out,
        "{}",
        format!("{:?} ranking, {:.1} ms", response.mode, response.took_ms).to_lowercase().dimmed()
    )
}
