//! Search for tools: keyword, vector and hybrid search over an in-memory index.
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
//! [`Searcher`] is the only way to rank the cards of a library; everything that searches uses it. Below it,
//! [`SearchIndex`] embeds nothing itself: [`Document::dense_text`] and [`QueryPlan::texts_to_embed`] say what
//! to embed, and vectors are passed in as slices of `f32`. Names of products and synonyms come from
//! [`autokit_vocabulary`].
//!
//! | module | contents |
//! |---|---|
//! | `searcher` | the path of a request from words to a verdict |
//! | `card_index` | the cards of a library with the model of their vectors |
//! | `feedback` | adjusting rankings by feedback on earlier answers |
//! | `verdict`, `confidence`, `calibration` | whether a first hit is an answer, how probably it is right, and how both were measured |
//! | `level` | how high requests score in a library that no tool serves |
//! | `candidates`, `possible` | the best cards of an index by keywords and vectors, and which cards may be among them |
//! | [`fusion`] | how keywords and vectors become one score, with measurements |
//! | `analysis` | splitting documents into terms |
//! | `keyword` | BM25F over an inverted index |
//! | `vector` | exact nearest neighbours by SIMD; large indexes as bytes first, with their rows in a file |
//! | `lookups` | tools that find the identifiers other tools take |
//! | `names` | queries that name a tool |
//! | [`tiers`] | the few tools that are found by keyword before the library is searched |
//! | `passages` | pieces of documents and functions of repositories |
//! | `query` | clauses, concepts |
//! | `constraints`, `traits` | what a request demands besides what a tool is to do, and whether a card meets it |
//! | `directions` | what a request wants turned into what, and whether a card goes that way |

mod analysis;
mod bitset;
mod calibration;
mod candidates;
mod card_index;
mod chunks;
mod confidence;
mod constraints;
mod directions;
mod document;
mod error;
mod federated;
mod feedback;
pub mod fusion;
mod index;
mod keyword;
mod late_interaction;
mod level;
mod lookups;
mod names;
mod passages;
mod possible;
mod query;
mod query_embedder;
mod searcher;
mod stored;
pub mod tiers;
mod tool_text;
mod traits;
mod vector;
mod verdict;

pub use autokit_vocabulary::{Vocabulary, is_generic_word, is_stop_word, name_words};
pub use bitset::BitSet;
pub use calibration::{Calibration, Calibrations, JudgedHit, ReliabilityBin};
pub use card_index::{
    CardEntry, CardIndex, CardPassages, CardVectors, INDEX_FORMAT, embed_by_card, passages_of, text_recipe,
    vector_recipe, vector_recipe_of,
};
pub use confidence::{ConfidenceCurve, calibration_error};
pub use constraints::{Constraint, understood};
pub use document::{Document, Field, Parameter, Vectors};
pub use error::RetrieveError;
pub use federated::{Scored, merge, score_of_evidence};
pub use feedback::{Opinion, Personal};
pub use index::{Hit, IndexSize, MatchedTerm, Mode, Query, ScoreParts, SearchIndex};
pub use late_interaction::late_interaction;
pub use level::{encode as encode_unservable, requests as unservable_requests};
pub use names::NameMatch;
pub use passages::{Passage, PassageHit, PassageIndex, PassageWeights};
pub use possible::Neighbour;
pub use query::QueryPlan;
pub use query_embedder::{QueryEmbedder, dot};
pub use searcher::{MAX_NAMED, Ranking, SearchError, SearchRequest, Searcher};
pub use tool_text::{MAX_ASKS_FOR, ToolText, parameter_texts};
pub use traits::Language;
pub use vector::VectorIndex;
pub use verdict::{Thresholds, Verdict};

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
