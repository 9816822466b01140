//! The embedder: texts in, vectors out.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use crate::encoder::{self, Encoder, OpenEncoder, Precision};
use crate::error::{Error, Result};
use crate::manifest::{ModelSpec, TOKENIZER_FILE, WEIGHTS_FILE};
use crate::stand_in::{StandInEncoder, hash_tokens};
use crate::store::ModelFiles;
use crate::token_vectors::TokenVectors;
use crate::tokenize::TextTokenizer;

/// Progress callback, called between chunks with the number of texts done and the total; `Break` cancels the
/// work.
pub type OnProgress<'a> = &'a dyn Fn(usize, usize) -> ControlFlow<()>;

/// Texts tokenised at a time: bounds memory, and is the range within which texts are sorted by length.
const BLOCK: usize = 8192;
/// Most tokens encoded between two calls of the progress callback.
const TOKENS_BETWEEN_CALLS: usize = 16 * 1024;
/// Texts whose tokens are encoded at a time.
const SLICE: usize = 16;
/// Fewer texts than this are tokenised on the calling thread, because waking others costs more.
const PARALLEL_TEXTS: usize = 16;

/// A tokenizer with its encoder.
///
/// `Send + Sync`: share one behind an `Arc`. It owns a thread pool whose threads sleep when idle.
pub struct Embedder {
    tokens: Tokens,
    encoder: Box<dyn Encoder>,
    pool: Arc<rayon::ThreadPool>,
    query_prefix: String,
    passage_prefix: String,
    id: String,
    name: String,
}

enum Tokens {
    Model(Box<TextTokenizer>),
    StandIn,
}

impl std::fmt::Debug for Embedder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Embedder").field("id", &self.id).field("dim", &self.dim()).finish_non_exhaustive()
    }
}

/// Which encoder runs a model.
#[derive(Debug, Clone, Copy, Default)]
pub enum Backend {
    /// This crate's own encoder, which only runs plain BERT.
    #[default]
    Own,
    /// The own encoder if it can run the model, otherwise another one.
    OwnOr(OpenEncoder),
    /// Another encoder, whatever the model.
    Other(OpenEncoder),
}

/// Options of an [`Embedder`].
#[derive(Debug, Clone, Default)]
pub struct EmbedderOptions {
    /// Number of threads to compute with; if `None`, one per core this process may use.
    pub threads: Option<NonZeroUsize>,
    /// Which encoder runs the model.
    pub backend: Backend,
    /// Precision of this crate's own encoder, or the next more exact one that this processor computes in; if `None`, the
    /// lowest that the model's vectors bear, see [`ModelSpec::precision`].
    pub precision: Option<Precision>,
}

impl Embedder {
    /// Loads a model from the files found by [`crate::ModelStore::resolve`] or [`crate::ModelStore::pull`].
    ///
    /// # Errors
    /// When files are missing, damaged or do not belong together; each error names the file.
    pub fn load(files: &ModelFiles, options: &EmbedderOptions) -> Result<Self> {
        let spec: &ModelSpec = files.spec();
        let pool = thread_pool(options.threads)?;
        let precision = options.precision.unwrap_or(spec.precision).or_next_supported();
        let encoder: Box<dyn Encoder> = match options.backend {
            Backend::Own => encoder::open(spec, files.folder(), &pool, precision, None)?,
            Backend::OwnOr(other) => encoder::open(spec, files.folder(), &pool, precision, Some(other))?,
            Backend::Other(open) => open(spec, files.folder())?,
        };
        if encoder.dim() != spec.dim {
            return Err(Error::BadWeights {
                path: files.folder().join(WEIGHTS_FILE),
                reason: format!("its vectors have {} numbers, {} has {}", encoder.dim(), spec.name, spec.dim),
            });
        }
        let path = files.folder().join(TOKENIZER_FILE);
        let tokens = TextTokenizer::from_file(&path, spec.max_tokens.min(encoder.max_positions()))?;
        if tokens.vocab_size() > encoder.vocab_size() {
            return Err(Error::BadTokenizer {
                path,
                reason: format!(
                    "it knows {} tokens, the weights {}",
                    tokens.vocab_size(),
                    encoder.vocab_size()
                ),
            });
        }
        Ok(Self {
            tokens: Tokens::Model(Box::new(tokens)),
            encoder,
            pool,
            query_prefix: spec.query_prefix.clone(),
            passage_prefix: spec.passage_prefix.clone(),
            id: files.id(),
            name: spec.name.clone(),
        })
    }

    /// Creates a deterministic stand-in for tests: no model file, hashed word features of length `dim`.
    ///
    /// # Panics
    /// When `dim` is 0.
    pub fn stand_in(dim: usize) -> Self {
        assert!(dim > 0, "the dimension must not be zero");
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap_or_else(|e| panic!("failed to start a thread: {e}"));
        Self {
            tokens: Tokens::StandIn,
            encoder: Box::new(StandInEncoder { dim }),
            pool: Arc::new(pool),
            query_prefix: String::new(),
            passage_prefix: String::new(),
            id: format!("stand-in-{dim}"),
            name: "stand-in".to_owned(),
        }
    }

    /// Runs `work` on this model's threads. What it computes in parallel is computed by them, beside embeddings: threads of
    /// different pools get in each other's way, and each change from one to another costs as much as a short text.
    pub fn on_its_threads<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }

    /// Returns the length of a vector.
    pub fn dim(&self) -> usize {
        self.encoder.dim()
    }

    /// Returns the identity to store with vectors: model name and the start of the weights' sha256. Vectors
    /// with different identities must not be compared. The precision is not part of it: vectors of one model in two
    /// precisions differ less than texts that say the same.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the name of the model.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether a lower-case word is a whole entry of the model's vocabulary: common words are, invented names
    /// mostly are not. The stand-in knows every word.
    pub fn knows_word(&self, word: &str) -> bool {
        match &self.tokens {
            Tokens::Model(tokens) => tokens.knows(word),
            Tokens::StandIn => true,
        }
    }

    /// Embeds a query as a vector `[dim]`.
    ///
    /// # Errors
    /// [`Error::Tokenise`] or [`Error::Encode`].
    pub fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        let ids = self.tokenise(&self.query_prefix, text, 0)?;
        self.encoder.encode(&[&ids])
    }

    /// Embeds a few queries as vectors, in order, each `[dim]`. Together they take little longer than one: that is mostly
    /// reading the weights.
    ///
    /// # Errors
    /// [`Error::Tokenise`] or [`Error::Encode`].
    pub fn embed_queries<S: AsRef<str>>(&self, texts: &[S]) -> Result<Vec<Vec<f32>>> {
        let tokenise = |(index, text): (usize, &S)| self.tokenise(&self.query_prefix, text.as_ref(), index);
        let ids = texts.iter().enumerate().map(tokenise).collect::<Result<Vec<_>>>()?;
        let batch: Vec<&[u32]> = ids.iter().map(Vec::as_slice).collect();
        Ok(self.encoder.encode(&batch)?.chunks_exact(self.dim()).map(<[f32]>::to_vec).collect())
    }

    /// Embeds passages as vectors, in order, each `[dim]`.
    ///
    /// # Errors
    /// [`Error::Tokenise`] or [`Error::Encode`].
    pub fn embed_passages<S: AsRef<str>>(&self, texts: &[S]) -> Result<Vec<Vec<f32>>> {
        self.embed_passages_with(texts, &|_, _| ControlFlow::Continue(()))
    }

    /// As [`Self::embed_passages`], reporting progress between chunks.
    ///
    /// # Errors
    /// [`Error::Cancelled`] when `progress` returned `Break`; [`Error::Tokenise`] or [`Error::Encode`].
    pub fn embed_passages_with<S: AsRef<str>>(
        &self,
        texts: &[S],
        progress: OnProgress<'_>,
    ) -> Result<Vec<Vec<f32>>> {
        // The work is done in a non-generic function, so that it is compiled with this crate's optimisation.
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        self.embed_all(&texts, progress)
    }

    /// Whether [`Self::token_vectors`] returns anything.
    pub fn has_token_vectors(&self) -> bool {
        matches!(self.tokens, Tokens::Model(_)) && self.encoder.has_token_states()
    }

    /// Computes the vectors of the tokens of a query and of passages. `None` if the model has no vectors of tokens.
    ///
    /// # Errors
    /// [`Error::Tokenise`] or [`Error::Encode`].
    pub fn token_vectors<S: AsRef<str>>(
        &self,
        query: &str,
        passages: &[S],
    ) -> Result<Option<(TokenVectors, Vec<TokenVectors>)>> {
        let Tokens::Model(tokenizer) = &self.tokens else { return Ok(None) };
        let query = (self.query_prefix.as_str(), query);
        let passages = passages.iter().map(|text| (self.passage_prefix.as_str(), text.as_ref()));
        let mut marked = Vec::new();
        for (index, (prefix, text)) in std::iter::once(query).chain(passages).enumerate() {
            let tokens = tokenizer.encode_marked(prefix, text);
            marked.push(tokens.map_err(|reason| Error::Tokenise { index, reason })?);
        }
        let mut found = Vec::with_capacity(marked.len());
        // In slices, between which other work gets its turn on the threads.
        for slice in marked.chunks(SLICE) {
            let batch: Vec<&[u32]> = slice.iter().map(|(ids, _)| ids.as_slice()).collect();
            let Some(states) = self.encoder.encode_tokens(&batch)? else { return Ok(None) };
            for ((ids, is_own), states) in slice.iter().zip(states) {
                let tokens = ids.iter().zip(states.chunks_exact(self.dim())).zip(is_own);
                let own = tokens.filter(|(_, is_own)| **is_own).map(|(token, _)| token);
                let (ids, vectors): (Vec<u32>, Vec<&[f32]>) = own.unzip();
                found.push(TokenVectors::new(ids, vectors.concat()));
            }
        }
        let passages = found.split_off(1);
        Ok(found.pop().map(|query| (query, passages)))
    }

    fn embed_all(&self, texts: &[&str], progress: OnProgress<'_>) -> Result<Vec<Vec<f32>>> {
        let dim = self.dim();
        let mut out = vec![Vec::new(); texts.len()];
        let mut done = 0;
        for (block_at, block) in texts.chunks(BLOCK).enumerate() {
            let first = block_at * BLOCK;
            let ids = self.tokenise_all(block, first)?;
            // Longest first: the shortest sequences come last and even out the load of the threads.
            let mut order: Vec<usize> = (0..ids.len()).collect();
            order.sort_by_key(|i| std::cmp::Reverse(ids[*i].len()));
            let mut rest = order.as_slice();
            while !rest.is_empty() {
                if progress(done, texts.len()).is_break() {
                    return Err(Error::Cancelled);
                }
                let mut tokens = 0;
                let n = rest
                    .iter()
                    .take_while(|i| {
                        tokens += ids[**i].len();
                        tokens <= TOKENS_BETWEEN_CALLS
                    })
                    .count()
                    .max(1);
                let (now, later) = rest.split_at(n);
                let batch: Vec<&[u32]> = now.iter().map(|i| ids[*i].as_slice()).collect();
                let vectors = self.encoder.encode(&batch)?;
                for (i, vector) in now.iter().zip(vectors.chunks_exact(dim)) {
                    out[first + i] = vector.to_vec();
                }
                done += n;
                rest = later;
            }
        }
        // The last call reports completion; there is nothing left to cancel.
        let _ = progress(done, texts.len());
        Ok(out)
    }

    fn tokenise_all(&self, texts: &[&str], first: usize) -> Result<Vec<Vec<u32>>> {
        let one = |(i, text): (usize, &&str)| self.tokenise(&self.passage_prefix, text, first + i);
        if texts.len() < PARALLEL_TEXTS {
            texts.iter().enumerate().map(one).collect()
        } else {
            self.pool.install(|| texts.par_iter().enumerate().map(one).collect())
        }
    }

    fn tokenise(&self, prefix: &str, text: &str, index: usize) -> Result<Vec<u32>> {
        match &self.tokens {
            Tokens::Model(tokenizer) => {
                tokenizer.encode(prefix, text).map_err(|reason| Error::Tokenise { index, reason })
            }
            Tokens::StandIn => Ok(hash_tokens(text)),
        }
    }
}

/// Creates a pool for one embedder; the global pool belongs to the program.
fn thread_pool(threads: Option<NonZeroUsize>) -> Result<Arc<rayon::ThreadPool>> {
    let threads = match threads {
        Some(n) => n.get(),
        None => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
    };
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|i| format!("embed-{i}"))
        .build()
        .map(Arc::new)
        .map_err(|e| Error::Encode { reason: format!("threads could not be started: {e}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn the_stand_in_is_deterministic_and_knows_shared_words() {
        let embedder = Embedder::stand_in(64);
        assert_eq!((embedder.dim(), embedder.id()), (64, "stand-in-64"));
        let texts = ["Create a calendar event", "create an EVENT", "weather in Oslo"];
        let vectors = embedder.embed_passages(&texts).unwrap();
        assert_eq!(vectors, Embedder::stand_in(64).embed_passages(&texts).unwrap());
        assert!(cosine(&vectors[0], &vectors[1]) > cosine(&vectors[0], &vectors[2]) + 0.2);
        assert!((cosine(&vectors[0], &vectors[0]) - 1.0).abs() < 1e-6);
        assert_eq!(embedder.embed_query(texts[0]).unwrap(), vectors[0]);
        assert_eq!(embedder.embed_queries(&texts).unwrap(), vectors);
        assert!(embedder.embed_queries::<&str>(&[]).unwrap().is_empty());
    }

    #[test]
    fn can_be_shared_among_threads() {
        fn shared<T: Send + Sync>(_: &T) {}
        shared(&Embedder::stand_in(4));
    }

    #[test]
    fn progress_counts_up_and_can_stop() {
        let embedder = Embedder::stand_in(8);
        let texts: Vec<String> = (0..20_000).map(|i| format!("text number {i} about things")).collect();
        let calls = std::cell::RefCell::new(Vec::new());
        let vectors = embedder
            .embed_passages_with(&texts, &|done, total| {
                calls.borrow_mut().push((done, total));
                ControlFlow::Continue(())
            })
            .unwrap();
        let calls = calls.into_inner();
        assert!(calls.len() > 3 && calls.is_sorted());
        assert_eq!((calls[0], calls[calls.len() - 1]), ((0, 20_000), (20_000, 20_000)));
        assert_eq!(vectors[12_345], embedder.embed_query(&texts[12_345]).unwrap());

        let error = embedder
            .embed_passages_with(&texts, &|done, _| {
                if done > 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .unwrap_err();
        assert_eq!(error.code(), "embed.cancelled");
    }

    #[test]
    fn empty_input_gives_empty_output() {
        let none: [&str; 0] = [];
        assert!(Embedder::stand_in(4).embed_passages(&none).unwrap().is_empty());
    }
}
