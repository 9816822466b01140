//! Finding tools: keyword, vector and hybrid search over an index in memory.
//!
//! ```
//! use autokit_search::{Document, Mode, Query, QueryPlan, SearchIndex};
//!
//! let mut index = SearchIndex::new();
//! index.upsert(&Document {
//!     id: "1",
//!     provider: "github",
//!     name: "create_issue",
//!     description: "Open a new issue in a repository.",
//!     ..Document::default()
//! })?;
//! let plan = QueryPlan::new("createIssue");
//! let hits = index.search(&Query { plan: &plan, vectors: &[], mode: Mode::Hybrid, limit: 5, filter: None })?;
//! assert_eq!(hits[0].id, "1");
//! assert!(hits[0].parts.name > 0.9);
//! # Ok::<(), autokit_search::RetrieveError>(())
//! ```
//!
//! [`Searcher`] is the one way to rank the cards of a library: everybody who asks, asks there. Below it,
//! [`SearchIndex`] embeds nothing: [`Document::dense_text`] and [`QueryPlan::texts_to_embed`] say what to
//! embed, vectors come in as slices of `f32`.
//!
//! | module | what it holds |
//! |---|---|
//! | `searcher` | a request's way from words to a verdict |
//! | `card_index` | the cards of a library with the model their vectors come from |
//! | `rerank` | the first candidates compared with the request token by token |
//! | `feedback` | what was said about earlier answers |
//! | `verdict`, `calibration` | when a score is an answer, by depth, and how that was measured |
//! | [`fusion`] | how keywords and vectors become one score, and what was measured |
//! | `analysis` | documents taken apart into terms |
//! | `keyword` | BM25F over an inverted index |
//! | `vector` | exact nearest neighbours by SIMD |
//! | `names` | queries that name a tool |
//! | [`tiers`] | the few tools found by keywords before the library is asked |
//! | `query`, `text` | clauses, words, terms |
//! | `gazetteer` | what the world knows by name, and a card need not say |
//! | `thesaurus` | everyday words, and what descriptions of tools call the same thing |
//! | [`metrics`], [`eval`] | measuring it |

mod analysis;
mod bitset;
mod calibration;
mod card_index;
mod chunks;
mod document;
mod error;
pub mod eval;
mod feedback;
pub mod fusion;
mod gazetteer;
mod index;
mod keyword;
pub mod metrics;
mod names;
mod query;
mod query_embedder;
mod rerank;
mod searcher;
mod text;
mod thesaurus;
pub mod tiers;
mod vector;
mod verdict;

pub use bitset::BitSet;
pub use calibration::{Calibration, Calibrations, JudgedHit, ReliabilityBin};
pub use card_index::{CardEntry, CardIndex, passage_of, vector_recipe};
pub use document::{Document, Field, Parameter};
pub use error::{EvalError, RetrieveError};
pub use feedback::Opinion;
pub use index::{Hit, IndexSize, MatchedTerm, Mode, Query, ScoreParts, SearchIndex};
pub use names::NameMatch;
pub use query::QueryPlan;
pub use query_embedder::{QueryEmbedder, dot};
pub use rerank::RERANKED;
pub use searcher::{Depth, MOST_NAMED, Passages, Ranking, SearchError, SearchRequest, Searcher};
pub use text::{is_generic_word, is_stop_word, name_words};
pub use vector::{Neighbour, VectorIndex};
pub use verdict::{Thresholds, Verdict};

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
