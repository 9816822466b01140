//! Searching what was read.

use autokit_api::{MemoryFound, MemoryHit, MemoryKind, MemoryQuery, MemorySymbol};
use autokit_code::SymbolKind;
use autokit_embed::Embedder;
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_search::{PassageHit, PassageWeights, late_interaction};
use autokit_workspace::background::in_background;
use rustc_hash::FxHashSet;

use crate::code::cite_symbol;
use crate::content::{Content, split_passage_id};
use crate::documents::cite_piece;
use crate::files::absolute;
use crate::memory::Memory;
use crate::rows::{self, Source, StoredFile};

/// Results when no number is given.
const LIMIT: u32 = 5;
/// Most results.
const MAX_LIMIT: u32 = 50;
/// Most callers of a function.
const CALLERS: usize = 10;
/// Most pieces that an answer cites.
const CITED: u32 = 3;
/// Score of a piece from which on it bears on a question. Over 42 manuals, 17 of 201 requests for tools reach it, which
/// the manuals have nothing to do with, and 18 of 40 questions that they answer; for 12 of these the right piece is shown.
/// At 0.5 it is 51, 25 and 15.
const CITABLE: f32 = 0.55;
/// How far below the best piece the others may be.
const CITED_MARGIN: f32 = 0.1;
/// Passages that late interaction orders anew: of 80 functions asked for, 75 are among the first 50 of their package.
const CANDIDATES: usize = 50;
/// Longest question, in characters.
const LONGEST_QUERY: usize = 4000;

/// How words weigh against meaning. Chosen, as [`INTERACTION`], on the open halves of `documents-questions.jsonl` and
/// `code-questions.jsonl`.
fn weights(kind: MemoryKind, interacts: bool) -> PassageWeights {
    let keyword = if kind == MemoryKind::Code && !interacts { 0.5 } else { 0.25 };
    PassageWeights { keyword, mean: 0.0, discount: true }
}

/// How much late interaction weighs against both, see [`PassageHit::add_interaction`]. Of 80 questions each, right at rank
/// 1, 3 and 5 without and with it: functions within their package 27, 44, 54 and 31, 50, 57; pieces of manuals 35, 51, 59
/// and 41, 56, 59.
const INTERACTION: f32 = 1.0;

impl Memory {
    /// Returns the passages that fit a question best.
    ///
    /// # Errors
    /// `bad_request` for an empty or too long question; when the database or the model fails.
    pub async fn search(&self, query: MemoryQuery) -> Result<MemoryFound> {
        self.ranked(query, true).await
    }

    /// As [`Self::search`]; without late interaction it takes milliseconds, and with it about as long as embedding
    /// [`CANDIDATES`] passages.
    async fn ranked(&self, query: MemoryQuery, interacts: bool) -> Result<MemoryFound> {
        let text = query.query.trim().to_owned();
        if text.is_empty() || text.chars().count() > LONGEST_QUERY {
            let message = format!("a question has 1 to {LONGEST_QUERY} characters");
            return Err(ApiError::new(ErrorCode::BadRequest, message, "Say in a sentence what to find."));
        }
        let limit = query.limit.unwrap_or(LIMIT).clamp(1, MAX_LIMIT) as usize;
        self.load().await?;
        let sources = self.sources().await?;
        if !sources.iter().any(|source| source.kind == query.kind) {
            return Ok(MemoryFound { hits: Vec::new(), searched: 0, note: Some(nothing_added(query.kind)) });
        }
        let (memory, embedder, kind) = (self.clone(), self.models().embedder(), query.kind);
        let interacts = interacts && embedder.as_ref().is_some_and(|embedder| embedder.has_token_vectors());
        let candidates = if interacts { limit.max(CANDIDATES) } else { limit };
        let (question, embeds) = (text.clone(), embedder.clone());
        let (mut hits, searched) = in_background(move || {
            let vector = embeds.map(|embedder| embedder.embed_query(&question)).transpose()?;
            let index = memory.lock(kind).read().expect("no holder panics");
            let weights = weights(kind, interacts);
            let hits = index.index.search(&question, vector.as_deref(), candidates, None, weights);
            let hits = hits.map_err(|error| ApiError::internal(error.to_string()))?;
            Ok((hits, index.index.len() as u32))
        })
        .await?;
        let mut ids: Vec<String> =
            hits.iter().filter_map(|hit| Some(split_passage_id(&hit.id)?.0.to_owned())).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut files = rows::files_by_id(&self.workspace().library, &ids).await?;
        if let Some(embedder) = embedder.filter(|_| interacts) {
            (hits, files) = in_background(move || {
                interact(&embedder, &text, &mut hits, &files)?;
                Ok((hits, files))
            })
            .await?;
        }
        let hits = self.describe(&sources, &files, kind, &hits, limit);
        Ok(MemoryFound { hits, searched, note: self.models().keyword_only_reason() })
    }

    /// Returns the pieces of documents that bear on a question, best first.
    ///
    /// # Errors
    /// When the database or the model fails.
    pub async fn cite(&self, question: &str) -> Result<Vec<MemoryHit>> {
        let text = question.trim();
        let kind = MemoryKind::Documents;
        // Without a model, any piece that shares a word would do.
        let can_tell = self.models().embedder().is_some() && text.chars().count() <= LONGEST_QUERY;
        if text.is_empty() || !can_tell || !self.sources().await?.iter().any(|source| source.kind == kind) {
            return Ok(Vec::new());
        }
        let query = MemoryQuery { kind, query: text.to_owned(), limit: Some(CITED) };
        let found = self.ranked(query, false).await?;
        let best = found.hits.first().map_or(0.0, |hit| hit.score);
        let bears = |hit: &MemoryHit| hit.score >= CITABLE && hit.score >= best - CITED_MARGIN;
        Ok(found.hits.into_iter().filter(bears).collect())
    }

    /// Describes the first `limit` of what was found.
    fn describe(
        &self,
        sources: &[Source],
        files: &[StoredFile],
        kind: MemoryKind,
        hits: &[PassageHit],
        limit: usize,
    ) -> Vec<MemoryHit> {
        let mut found: Vec<MemoryHit> = hits
            .iter()
            .filter_map(|hit| {
                let (id, at) = split_passage_id(&hit.id)?;
                let file = files.iter().find(|file| file.id == id)?;
                let source = sources.iter().find(|source| source.id == file.source)?;
                // A file that was read again meanwhile may have fewer passages.
                describe_passage(source, file, at, hit.score)
            })
            .take(limit)
            .collect();
        if kind == MemoryKind::Code {
            let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
            let names: Vec<String> =
                found.iter().filter_map(|hit| Some(last(&hit.symbol.as_ref()?.name))).collect();
            let names: FxHashSet<&str> = names.iter().map(String::as_str).collect();
            let index = self.lock(kind).read().expect("no holder panics");
            let callers = index.callers(&names, CALLERS);
            for symbol in found.iter_mut().filter_map(|hit| hit.symbol.as_mut()) {
                let of_name = callers.get(&last(&symbol.name)).into_iter().flatten();
                symbol.callers = of_name
                    .map(|caller| format!("{}:{} {}", caller.file, caller.line, caller.name))
                    .collect();
            }
        }
        found
    }
}

/// Orders hits anew by late interaction with their closest windows, whose texts are in `files`. A model without vectors of
/// tokens leaves them as they are.
fn interact(
    embedder: &Embedder,
    question: &str,
    hits: &mut [PassageHit],
    files: &[StoredFile],
) -> Result<()> {
    let closest: Vec<String> = hits
        .iter()
        .map(|hit| {
            let (id, at) = split_passage_id(&hit.id)?;
            let file = files.iter().find(|file| file.id == id)?;
            file.content.window(&file.path, at, hit.window.unwrap_or_default() as usize)
        })
        .map(Option::unwrap_or_default)
        .collect();
    let Some((question, passages)) = embedder.token_vectors(question, &closest)? else { return Ok(()) };
    for (hit, interaction) in hits.iter_mut().zip(late_interaction(&question, &passages)) {
        hit.add_interaction(interaction, INTERACTION);
    }
    hits.sort_unstable_by(PassageHit::best_first);
    Ok(())
}

fn nothing_added(kind: MemoryKind) -> String {
    match kind {
        MemoryKind::Documents => "No documents were added yet.".to_owned(),
        MemoryKind::Code => "No code was added yet.".to_owned(),
    }
}

fn describe_passage(source: &Source, file: &StoredFile, at: usize, score: f32) -> Option<MemoryHit> {
    let path = if source.kind == MemoryKind::Code {
        absolute(source, &file.path).to_string_lossy().into_owned()
    } else {
        file.path.clone()
    };
    match &file.content {
        Content::Pieces(pieces) => {
            let piece = pieces.get(at)?;
            Some(MemoryHit {
                citation: cite_piece(&path, at + 1),
                file: path,
                title: file.title.clone(),
                heading: piece.path.clone(),
                page: piece.page,
                text: piece.text.clone(),
                symbol: None,
                score,
            })
        }
        Content::Symbols(symbols) => {
            let symbol = symbols.get(at)?;
            let kind = match symbol.kind {
                SymbolKind::Function => "function",
                SymbolKind::Method => "method",
                SymbolKind::Type => "type",
            };
            Some(MemoryHit {
                citation: cite_symbol(&path, symbol),
                file: path,
                title: file.title.clone(),
                heading: Vec::new(),
                page: None,
                text: symbol.documentation.clone(),
                symbol: Some(MemorySymbol {
                    kind: kind.to_owned(),
                    name: symbol.path(),
                    signature: symbol.signature.clone(),
                    lines: symbol.lines,
                    callers: Vec::new(),
                }),
                score,
            })
        }
    }
}
