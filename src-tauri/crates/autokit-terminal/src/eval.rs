//! Arguments of `autokit eval`.

use std::path::PathBuf;

use autokit_embed::encoder;
use clap::{Subcommand, ValueEnum};

/// Precision of the products with weights.
#[allow(missing_docs, reason = "the names say it")]
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Precision {
    F32,
    Bf16,
    Int8,
}

impl From<Precision> for encoder::Precision {
    fn from(precision: Precision) -> encoder::Precision {
        match precision {
            Precision::F32 => encoder::Precision::F32,
            Precision::Bf16 => encoder::Precision::Bf16,
            Precision::Int8 => encoder::Precision::Int8,
        }
    }
}

#[allow(missing_docs, reason = "a doc comment would replace the help of the command")]
#[derive(Debug, Subcommand)]
pub enum EvalCommand {
    /// NDCG, recall and MRR of keyword, vector and hybrid ranking.
    Retrieval {
        /// Folders with tools.jsonl and queries.jsonl.
        #[arg(required = true)]
        dirs: Vec<PathBuf>,
        /// Precision of the embeddings, or the next more exact one this processor computes in. Without it, the model's own.
        #[arg(long)]
        precision: Option<Precision>,
    },
    /// hit@1/3/5 of everyday questions, and refusals of questions that no card answers.
    Ask {
        /// Cards: AutoKit JSON, or an object with `cards[].card`. Without it, the starter cards.
        #[arg(long)]
        cards: Option<PathBuf>,
        /// Questions, one JSON object a line: `q` and the acceptable names in `gold` (none: no card answers it).
        /// Can be repeated.
        #[arg(long, required = true)]
        questions: Vec<PathBuf>,
        /// Site to read the cards' documentation pages from, so that ranking uses them.
        #[arg(long, value_name = "URL")]
        site: Option<String>,
        /// Precision of the embeddings, or the next more exact one this processor computes in. Without it, the model's own.
        #[arg(long)]
        precision: Option<Precision>,
        /// List the questions whose first answer is wrong.
        #[arg(long)]
        misses: bool,
    },
    /// Calibrate thresholds and report the reliability of scores.
    Calibrate {
        /// Cards: AutoKit JSON, or an object with `cards[].card`. Without it, the starter cards.
        #[arg(long)]
        cards: Option<PathBuf>,
        /// Questions, one JSON object a line: `q` and the acceptable names in `gold` (none: no card answers it).
        /// Can be repeated.
        #[arg(long, required = true)]
        questions: Vec<PathBuf>,
        /// Write the thresholds to this file; AutoKit's own are in `autokit-search/src/thresholds.json`.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Write the vectors of requests that no tool serves to this file; AutoKit's own are in
        /// `autokit-search/src/unservable.bin`.
        #[arg(long, value_name = "FILE")]
        vectors_out: Option<PathBuf>,
    },
    /// Tools found on a web site for needs the library does not answer, without a language model.
    Discover {
        /// Cards of the library: AutoKit JSON, or an object with `cards[].card`.
        #[arg(long)]
        cards: PathBuf,
        /// Needs, one JSON object a line: `id`, `need`, `named`, `expected` addresses (none: no page).
        #[arg(long)]
        needs: PathBuf,
        /// A search that answers as SearXNG does.
        #[arg(long)]
        search_url: String,
        /// With --json: everything that was weighed for each need.
        #[arg(long)]
        explain: bool,
    },
    /// Whether cards are found better with descriptions improved from their pages.
    Improve {
        /// Cards: AutoKit JSON, or an object with `cards[].card`.
        #[arg(long)]
        cards: PathBuf,
        /// Questions, one JSON object a line: `q` and the acceptable names in `gold`.
        #[arg(long)]
        questions: PathBuf,
        /// The site with the cards' pages; its search answers as SearXNG does.
        #[arg(long, value_name = "URL")]
        site: String,
        /// Cut descriptions to this many words first, as for cards written down in passing.
        #[arg(long, value_name = "WORDS")]
        thin: Option<usize>,
        /// The changed descriptions as well.
        #[arg(long)]
        explain: bool,
    },
    /// Retrieval with tool documentation before and after refinement, beside the published figures.
    Refine {
        /// Folder with sets as NAME-raw and NAME-draft, each with tools.jsonl and queries.jsonl.
        dir: PathBuf,
    },
    /// hit@1/3/5 of several libraries in one ranking, beside one library with all their cards.
    Libraries {
        /// Cards of a library: AutoKit JSON, or an object with `cards[].card`. Can be repeated.
        #[arg(long, required = true)]
        cards: Vec<PathBuf>,
        /// Questions, one JSON object a line: `q` and the acceptable names in `gold`. Can be repeated.
        #[arg(long, required = true)]
        questions: Vec<PathBuf>,
        /// Number of libraries to split the cards of each file into.
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
        parts: u16,
    },
    /// Past agent sessions, replayed with preloading: whether it would have spared searches.
    Sessions {
        /// Days back.
        #[arg(long, default_value_t = 92, value_parser = clap::value_parser!(u32).range(1..=92))]
        days: u32,
    },
    /// Broken cards, verified and repaired against a site: prints one JSON line a card.
    Linkrot {
        /// The cards: a JSON array of `{id, card}`.
        #[arg(long = "cards", value_name = "FILE")]
        cases: PathBuf,
        /// The site; its search answers as SearXNG does. Put in front of addresses without a host.
        #[arg(long, value_name = "URL")]
        site: String,
        /// What was found about each card as well.
        #[arg(long)]
        explain: bool,
    },
}
