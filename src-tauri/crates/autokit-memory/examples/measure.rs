//! Measures searches of documents and code: `measure documents|code FOLDER QUESTIONS…`.
#![allow(clippy::print_stdout, missing_docs)]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use autokit_code::{CodeFile, read_file, source_files};
use autokit_documents::{PieceOptions, pieces, read};
use autokit_embed::{Embedder, EmbedderOptions, ModelStore};
use autokit_memory::{PieceText, SymbolText, cite_piece, cite_symbol};
use autokit_search::{PassageHit, PassageIndex, PassageWeights, late_interaction};
use rayon::prelude::*;
use serde_json::Value;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, what, folder, questions @ ..] = arguments.as_slice() else {
        bail!("measure documents|code FOLDER QUESTIONS…")
    };
    let model = std::env::var("MODEL").unwrap_or_else(|_| "all-MiniLM-L6-v2".to_owned());
    let store = ModelStore::new(ModelStore::default_root().context("no folder of models")?);
    let embedder = Embedder::load(&store.resolve(&model, None)?, &EmbedderOptions::default())?;
    let folder = Path::new(folder);
    let questions: Vec<Vec<Value>> = questions
        .iter()
        .map(|path| {
            Ok(std::fs::read_to_string(path)?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
        })
        .collect::<Result<_>>()?;
    if what == "documents" {
        documents(folder, &questions, &embedder)
    } else {
        code(folder, &questions, &embedder)
    }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { files(&path, found)? } else { found.push(path) }
    }
    Ok(())
}

fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn documents(folder: &Path, questions: &[Vec<Value>], embedder: &Embedder) -> Result<()> {
    let mut paths = Vec::new();
    files(folder, &mut paths)?;
    paths.sort();
    let started = Instant::now();
    let read: Vec<(String, Result<Vec<PieceText>, String>)> = paths
        .par_iter()
        .map(|path| {
            let name = path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned();
            let result = std::fs::read(path)
                .map_err(|error| error.to_string())
                .and_then(|bytes| self::read(&name, &bytes).map_err(|error| error.to_string()))
                .map(|document| {
                    if !document.unread_pages.is_empty() {
                        println!("{name}: pages {:?} unread", document.unread_pages);
                    }
                    let pieces = pieces(&document, PieceOptions::default());
                    pieces
                        .iter()
                        .enumerate()
                        .map(|(at, piece)| PieceText::new(cite_piece(&name, at + 1), &name, piece))
                        .collect()
                });
            (name, result)
        })
        .collect();
    let mut texts: Vec<PieceText> = Vec::new();
    for (name, result) in read {
        match result {
            Ok(pieces) => texts.extend(pieces),
            Err(error) => println!("{name}: {error}"),
        }
    }
    println!(
        "read {} files, {} pieces in {:.1} s",
        paths.len(),
        texts.len(),
        started.elapsed().as_secs_f32()
    );
    let mut index = PassageIndex::default();
    let started = Instant::now();
    index.upsert_all(&texts.iter().map(PieceText::passage).collect::<Vec<_>>());
    println!("words in {:.1} s", started.elapsed().as_secs_f32());
    let started = Instant::now();
    let windows: Vec<&str> =
        texts.iter().flat_map(|text| text.windows().iter().map(String::as_str)).collect();
    let vectors = embedder.embed_passages(&windows)?;
    println!("{} windows embedded in {:.1} s", windows.len(), started.elapsed().as_secs_f32());
    let mut at = 0;
    for text in &texts {
        let values: Vec<f32> = vectors[at..at + text.windows().len()].concat();
        at += text.windows().len();
        index.set_windows(text.id(), &values, embedder.dim())?;
    }
    let by_id: HashMap<&str, &PieceText> = texts.iter().map(|text| (text.id(), text)).collect();
    let is_right = |id: &str, question: &Value| {
        let own = [question].into_iter().chain(question["also"].as_array().into_iter().flatten());
        let text = plain(by_id[id].passage().text);
        let file = id.rsplit_once('#').map_or("", |(file, _)| file);
        own.into_iter().any(|place| {
            place["file"].as_str() == Some(file)
                && text.contains(&plain(place["quote"].as_str().unwrap_or("?")))
        })
    };
    for question in questions.iter().flatten() {
        if !texts.iter().any(|text| is_right(text.id(), question)) {
            println!(
                "no piece has the quote of {}: {} {}",
                question["id"], question["file"], question["quote"]
            );
        }
    }
    let windows: HashMap<&str, &[String]> = texts.iter().map(|text| (text.id(), text.windows())).collect();
    report_all(&index, questions, embedder, &windows, &is_right)
}

fn code(folder: &Path, questions: &[Vec<Value>], embedder: &Embedder) -> Result<()> {
    let started = Instant::now();
    let paths = source_files(folder)?;
    let results: Vec<_> = paths.par_iter().map(|path| (path, read_file(folder, path))).collect();
    let mut read: Vec<CodeFile> = Vec::new();
    for (path, result) in results {
        match result {
            Ok(file) => read.push(file),
            Err(error) => println!("{}: {error}", path.display()),
        }
    }
    let lines: u64 = read.iter().map(|file| u64::from(file.lines)).sum();
    let texts: Vec<SymbolText> = read
        .iter()
        .flat_map(|file| {
            file.symbols
                .iter()
                .map(|symbol| SymbolText::new(cite_symbol(&file.path, symbol), &file.path, symbol))
        })
        .collect();
    println!("{lines} lines, {} symbols parsed in {:.1} s", texts.len(), started.elapsed().as_secs_f32());
    let names: HashMap<String, (String, String)> = read
        .iter()
        .flat_map(|file| {
            file.symbols.iter().map(|symbol| {
                let id = cite_symbol(&file.path, symbol);
                (id, (file.path.clone(), symbol.name.clone()))
            })
        })
        .collect();
    let mut index = PassageIndex::default();
    let started = Instant::now();
    index.upsert_all(&texts.iter().map(SymbolText::passage).collect::<Vec<_>>());
    println!("words in {:.1} s", started.elapsed().as_secs_f32());
    let started = Instant::now();
    let windows: Vec<&str> =
        texts.iter().flat_map(|text| text.windows().iter().map(String::as_str)).collect();
    let vectors = embedder.embed_passages(&windows)?;
    println!("{} texts embedded in {:.1} s", vectors.len(), started.elapsed().as_secs_f32());
    let mut at = 0;
    for text in &texts {
        let values: Vec<f32> = vectors[at..at + text.windows().len()].concat();
        at += text.windows().len();
        index.set_windows(text.id(), &values, embedder.dim())?;
    }
    let is_right = |id: &str, question: &Value| {
        let (file, name) = &names[id];
        let own = [question].into_iter().chain(question["also"].as_array().into_iter().flatten());
        own.into_iter().any(|place| {
            let function = place["function"].as_str().unwrap_or("?");
            let last = function.rsplit(['.', ':']).next().unwrap_or(function);
            place["file"].as_str() == Some(file) && last == name
        })
    };
    for question in questions.iter().flatten() {
        if !names.keys().any(|id| is_right(id, question)) {
            println!("no symbol is {}: {} {}", question["id"], question["file"], question["function"]);
        }
    }
    let windows: HashMap<&str, &[String]> = texts.iter().map(|text| (text.id(), text.windows())).collect();
    report_all(&index, questions, embedder, &windows, &is_right)
}

fn report_all(
    index: &PassageIndex,
    questions: &[Vec<Value>],
    embedder: &Embedder,
    windows: &HashMap<&str, &[String]>,
    is_right: &dyn Fn(&str, &Value) -> bool,
) -> Result<()> {
    for questions in questions {
        report(index, questions, embedder, is_right)?;
        report_interaction(index, questions, embedder, windows, is_right)?;
    }
    Ok(())
}

/// Prints what late interaction makes of the first fifty.
fn report_interaction(
    index: &PassageIndex,
    questions: &[Value],
    embedder: &Embedder,
    windows: &HashMap<&str, &[String]>,
    is_right: &dyn Fn(&str, &Value) -> bool,
) -> Result<()> {
    for keyword in [0.25, 0.5] {
        let weights = PassageWeights { keyword, mean: 0.0, discount: true };
        let started = Instant::now();
        let mut found = Vec::new();
        for question in questions {
            let text = question["question"].as_str().unwrap_or_default();
            let hits = index.search(text, Some(&embedder.embed_query(text)?), 50, None, weights)?;
            let closest: Vec<&str> = hits
                .iter()
                .map(|hit| windows[hit.id.as_str()][hit.window.unwrap_or_default() as usize].as_str())
                .collect();
            let (question, tokens) =
                embedder.token_vectors(text, &closest)?.context("the model has no vectors of tokens")?;
            found.push((hits, late_interaction(&question, &tokens)));
        }
        let millis = started.elapsed().as_secs_f32() * 1000.0 / questions.len() as f32;
        for weight in [0.0, 0.5, 1.0, 2.0, 4.0, 8.0] {
            let mut at = [0; 4];
            for (question, (hits, interactions)) in questions.iter().zip(&found) {
                let mut hits = hits.clone();
                for (hit, interaction) in hits.iter_mut().zip(interactions) {
                    hit.add_interaction(*interaction, weight);
                }
                hits.sort_by(PassageHit::best_first);
                let rank = hits.iter().position(|hit| is_right(&hit.id, question));
                for (slot, limit) in at.iter_mut().zip([1, 3, 5, 10]) {
                    *slot += usize::from(rank.is_some_and(|rank| rank < limit));
                }
            }
            println!("keyword {keyword} interaction {weight}: hit@1/3/5/10 {at:?} ({millis:.0} ms)");
        }
    }
    Ok(())
}

fn report(
    index: &PassageIndex,
    questions: &[Value],
    embedder: &Embedder,
    is_right: &dyn Fn(&str, &Value) -> bool,
) -> Result<()> {
    let vectors: Vec<Vec<f32>> = questions
        .iter()
        .map(|question| embedder.embed_query(question["question"].as_str().unwrap_or_default()))
        .collect::<Result<_, _>>()?;
    for discount in [true, false] {
        for mean in [0.0, 0.5] {
            for keyword in [0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 1000.0] {
                let weights = PassageWeights { keyword, mean, discount };
                let mut at = [0; 4];
                let mut missed = Vec::new();
                let started = Instant::now();
                for (question, vector) in questions.iter().zip(&vectors) {
                    let text = question["question"].as_str().unwrap_or_default();
                    let hits = index.search(text, Some(vector), 10, None, weights)?;
                    let rank = hits.iter().position(|hit| is_right(&hit.id, question));
                    for (slot, limit) in at.iter_mut().zip([1, 3, 5, 10]) {
                        *slot += usize::from(rank.is_some_and(|rank| rank < limit));
                    }
                    if rank.is_none_or(|rank| rank >= 5) {
                        missed.push(question["id"].as_str().unwrap_or_default().to_owned());
                    }
                }
                let millis = started.elapsed().as_secs_f32() * 1000.0 / questions.len() as f32;
                println!(
                    "discount {discount} mean {mean} keyword {keyword}: hit@1/3/5/10 {at:?} of {} ({millis:.1} ms) {}",
                    questions.len(),
                    missed.join(" ")
                );
            }
        }
    }
    Ok(())
}
