//! Compares the default model with candle's network, and the one it was trained from with vectors of a second
//! implementation (`tests/reference/make_vectors.py`).

use std::num::NonZeroUsize;
use std::path::PathBuf;

use autokit_embed::encoder::Precision;
use autokit_embed::{Backend, Embedder, EmbedderOptions, Error, Manifest, ModelStore};
use cpu_time::ThreadTime;

/// The default model, from `AUTOKIT_MODEL_DIR` or the user's store.
fn model(threads: usize, backend: Backend) -> Embedder {
    named(&Manifest::built_in().default, threads, backend)
}

fn named(name: &str, threads: usize, backend: Backend) -> Embedder {
    let threads = NonZeroUsize::new(threads);
    load(name, &EmbedderOptions { threads, backend, precision: Some(Precision::F32) })
}

fn load(name: &str, options: &EmbedderOptions) -> Embedder {
    let root = ModelStore::default_root().expect("HOME or XDG_DATA_HOME must be set");
    let folder = std::env::var_os("AUTOKIT_MODEL_DIR").map(PathBuf::from);
    let files = ModelStore::new(root).resolve(name, folder.as_deref()).unwrap_or_else(|error| {
        panic!("{error}\nThese tests need {name}: `cargo xtask test` installs it, or set AUTOKIT_MODEL_DIR to its folder.")
    });
    Embedder::load(&files, options).unwrap()
}

fn texts() -> Vec<String> {
    serde_json::from_str(include_str!("reference/texts.json")).unwrap()
}

fn reference() -> Vec<Vec<f32>> {
    let numbers: Vec<f32> = include_bytes!("reference/vectors.f32")
        .as_chunks::<4>()
        .0
        .iter()
        .map(|b| f32::from_le_bytes(*b))
        .collect();
    numbers.chunks(384).map(<[f32]>::to_vec).collect()
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[test]
fn every_vector_agrees_with_the_reference() {
    let (texts, reference) = (texts(), reference());
    assert!(texts.len() >= 60 && texts.len() == reference.len());
    let embedder = named("all-MiniLM-L6-v2", 2, Backend::Own);
    assert_eq!((embedder.dim(), embedder.id()), (384, "all-MiniLM-L6-v2@53aa51172d142c89"));
    let vectors = embedder.embed_passages(&texts).unwrap();
    for ((text, vector), reference) in texts.iter().zip(&vectors).zip(&reference) {
        let cosine = cosine(vector, reference);
        assert!(cosine >= 0.999_999, "{cosine} for {text:?}");
        let length = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>();
        assert!((length - 1.0).abs() < 1e-5, "{length} for {text:?}");
    }
}

#[test]
fn lower_precisions_stay_close_to_f32() {
    let texts = texts();
    let name = &Manifest::built_in().default;
    let exact = model(2, Backend::Own).embed_passages(&texts).unwrap();
    for (precision, allowed) in [(Precision::Bf16, 0.999), (Precision::Int8, 0.98)] {
        // Where the processor lacks it, nothing computes in it.
        if precision.is_available() {
            let embedder =
                load(name, &EmbedderOptions { precision: Some(precision), ..EmbedderOptions::default() });
            let rounded = embedder.embed_passages(&texts).unwrap();
            for ((text, rounded), exact) in texts.iter().zip(&rounded).zip(&exact) {
                let cosine = cosine(rounded, exact);
                assert!(cosine >= allowed && rounded != exact, "{precision:?}: {cosine} for {text:?}");
            }
        }
    }
}

#[test]
fn a_vector_does_not_depend_on_the_batch_or_the_threads() {
    let texts = texts();
    let (two, one) = (model(2, Backend::Own), model(1, Backend::Own));
    let all = two.embed_passages(&texts).unwrap();
    assert_eq!(one.embed_passages(&texts).unwrap(), all);
    for (text, vector) in texts.iter().zip(&all) {
        assert_eq!(&two.embed_query(text).unwrap(), vector, "{text:?}");
        assert_eq!(&one.embed_passages(&[text]).unwrap()[0], vector, "{text:?}");
    }
}

#[test]
fn the_own_encoder_agrees_with_the_stock_network() {
    let texts: Vec<String> = texts().into_iter().step_by(3).collect();
    let own = model(2, Backend::Own).embed_passages(&texts).unwrap();
    let stock = model(2, Backend::Other(autokit_candle::open)).embed_passages(&texts).unwrap();
    for ((text, own), stock) in texts.iter().zip(&own).zip(&stock) {
        assert!(cosine(own, stock) >= 0.999_999, "{} for {text:?}", cosine(own, stock));
    }
}

#[test]
fn related_texts_are_nearer_than_unrelated_ones() {
    let embedder = model(2, Backend::Own);
    let question = embedder.embed_query("I want a tool that can integrate with my google calendar").unwrap();
    let passages = embedder
        .embed_passages(&["Create an event in Google Calendar", "Resize an image to a given width"])
        .unwrap();
    assert!(cosine(&question, &passages[0]) > cosine(&question, &passages[1]) + 0.3);
}

#[test]
fn a_huge_text_costs_no_more_than_what_the_model_sees() {
    // With a single thread the work runs on the caller's thread, whose CPU time is measured.
    let embedder = model(1, Backend::Own);
    let words = "several words of a very long field ";
    let (huge, enough) = (words.repeat(10_000_000 / words.len()), words.repeat(100));
    let fastest = |text: &str| {
        let once = || {
            let started = ThreadTime::now();
            (embedder.embed_query(text).unwrap(), started.elapsed())
        };
        (0..5).map(|_| once()).min_by_key(|(_, took)| *took).unwrap()
    };
    let ((vector, took), (expected, usual)) = (fastest(&huge), fastest(&enough));
    assert_eq!(vector, expected);
    // Tokenising all ten megabytes takes seconds, encoding 256 tokens tens of milliseconds. CPU time is
    // unaffected by other processes.
    assert!(took < 10 * usual, "{took:?} instead of {usual:?}");
    // One word of two megabytes is one unknown token, and must not be slow either.
    let word = embedder.embed_query(&"x".repeat(2_000_000)).unwrap();
    assert!((cosine(&word, &word) - 1.0).abs() < 1e-6);
}

#[test]
fn a_named_folder_with_other_weights_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        std::fs::write(folder.path().join(file), "not what it says").unwrap();
    }
    let store = ModelStore::new(folder.path().join("store"));
    let error = store.resolve(&Manifest::built_in().default, Some(folder.path())).unwrap_err();
    assert!(matches!(error, Error::ChecksumMismatch { .. }), "{error}");
    assert!(error.to_string().contains("953f9c0d") && error.to_string().contains("got"), "{error}");
    assert!(error.remedy().unwrap().contains("was not changed"));
    assert_eq!(std::fs::read(folder.path().join("config.json")).unwrap(), b"not what it says");
}
