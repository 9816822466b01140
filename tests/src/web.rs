//! A web of many hosts on this machine: pages from a folder, each host below a path of its own, and a search over their
//! visible text.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::site::Site;

/// Saturation of term counts and weight of lengths in the search (BM25).
const K1: f32 = 1.2;
const B: f32 = 0.75;
/// How often a word of the title counts.
const TITLE: usize = 3;

/// A page as the search sees it.
#[derive(Debug)]
pub struct IndexedPage {
    path: String,
    title: String,
    text: String,
    words: BTreeMap<String, f32>,
    length: f32,
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 1).map(|word| {
        let word = word.to_lowercase();
        word.strip_suffix('s').filter(|rest| rest.len() > 2).map_or(word.clone(), str::to_owned)
    })
}

impl IndexedPage {
    fn new(path: &str, title: &str, text: &str) -> IndexedPage {
        let mut counts = BTreeMap::new();
        let mut length = 0.0;
        let titles = std::iter::repeat_n(title, TITLE);
        for word in titles.chain([text]).flat_map(words) {
            *counts.entry(word).or_insert(0.0) += 1.0;
            length += 1.0;
        }
        IndexedPage {
            path: path.to_owned(),
            title: title.to_owned(),
            text: text.to_owned(),
            words: counts,
            length,
        }
    }

    /// The start of the text around the first word of the query.
    fn snippet(&self, query: &[String]) -> String {
        let lower = self.text.to_lowercase();
        let at = query.iter().filter_map(|word| lower.find(word.as_str())).min().unwrap_or(0);
        let skipped = lower[..at].chars().count().saturating_sub(60);
        self.text.chars().skip(skipped).take(180).collect()
    }
}

/// Returns the ten best pages for a query, as SearXNG lists them.
pub(crate) fn search(pages: &[IndexedPage], base: &str, query: &str) -> Vec<Value> {
    let mut query: Vec<String> = words(query).collect();
    query.sort_unstable();
    query.dedup();
    let count = pages.len() as f32;
    let average = pages.iter().map(|page| page.length).sum::<f32>() / count.max(1.0);
    let mut found: Vec<(f32, &IndexedPage)> = pages
        .iter()
        .map(|page| {
            let score = query.iter().filter_map(|word| {
                let times = page.words.get(word)?;
                let having = pages.iter().filter(|other| other.words.contains_key(word)).count() as f32;
                let rare = ((count - having + 0.5) / (having + 0.5) + 1.0).ln();
                Some(rare * times * (K1 + 1.0) / (times + K1 * (1.0 - B + B * page.length / average)))
            });
            (score.sum(), page)
        })
        .filter(|(score, _)| *score > 0.0)
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.path.cmp(&b.1.path)));
    let result = |(_, page): (f32, &IndexedPage)| json!({ "title": page.title, "url": format!("{base}{}", page.path), "content": page.snippet(&query) });
    found.into_iter().take(10).map(result).collect()
}

/// Serves the pages of a folder: `docs.example/a/b.html` at `/docs.example/a/b`. Links between its hosts stay inside.
///
/// # Errors
/// When the folder cannot be read.
pub async fn serve(folder: &Path) -> Result<Site> {
    let site = Site::serve([]).await?;
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    let mut indexed = Vec::new();
    for file in files {
        let name = file.strip_prefix(folder)?.with_extension("");
        let name = name.to_str().context("a path in UTF-8")?.replace('\\', "/");
        let path = match name.strip_suffix("/index") {
            Some(host) => format!("/{host}/"),
            None => format!("/{name}"),
        };
        let host = name.split('/').next().unwrap_or_default();
        let html = std::fs::read_to_string(&file)?;
        let html = rewrite(&html, &site.base, host);
        let page = autokit_web::extract(&html, Some("text/html"), &site.url(&path));
        indexed.push(IndexedPage::new(&path, &page.page_title, &page.text()));
        site.html(&path, &html);
    }
    site.index(indexed);
    Ok(site)
}

/// Lets links to the hosts of this web lead to this machine.
fn rewrite(html: &str, base: &str, host: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find("href=\"") {
        let (before, after) = rest.split_at(at + "href=\"".len());
        out.push_str(before);
        let end = after.find('"').unwrap_or(after.len());
        let target = &after[..end];
        let inside = target.strip_prefix("https://").or_else(|| target.strip_prefix("http://"));
        match inside.and_then(|rest| Some((rest, rest.split(['/', '#', '?']).next()?))) {
            Some((rest, other)) if other.ends_with(".example") => {
                let slash = if rest.len() == other.len() { "/" } else { "" };
                out.extend([base, "/", rest, slash]);
            }
            _ if target.starts_with('/') && !target.starts_with("//") => {
                out.extend([base, "/", host, target]);
            }
            _ => out.push_str(target),
        }
        rest = &after[end..];
    }
    out.push_str(rest);
    out
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|kind| kind == "html") {
            files.push(path);
        }
    }
    Ok(())
}
