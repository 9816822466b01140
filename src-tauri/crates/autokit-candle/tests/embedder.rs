//! An embedder with tiny models and random weights: prefixes, limits, order, and invalid files.

mod tiny;

use autokit_embed::{
    Architecture, Embedder, EmbedderOptions, Manifest, ModelStore, Pooling, Result, TokenVectors,
    WEIGHTS_FILE,
};

fn tiny(folder: &std::path::Path, words: usize) -> Result<Embedder> {
    tiny::write(Architecture::Bert, folder);
    tiny::write_tokenizer(folder, words);
    let spec = tiny::spec(Architecture::Bert, Pooling::Mean);
    let manifest = Manifest { default: spec.name.clone(), models: vec![spec] };
    let store = ModelStore::new(folder.join("store")).with_manifest(manifest);
    Embedder::load(&store.resolve("tiny", Some(folder))?, &EmbedderOptions::default())
}

#[test]
fn questions_and_passages_have_their_own_prefixes() {
    let folder = tempfile::tempdir().unwrap();
    let embedder = tiny(folder.path(), tiny::VOCAB).unwrap();
    let text = "w5 w6 w7";
    let question = embedder.embed_query(text).unwrap();
    let passages = embedder.embed_passages(&[text, "query: w5 w6 w7"]).unwrap();
    assert_ne!(question, passages[0]);
    assert_eq!(question, passages[1]);
}

#[test]
fn tokens_have_vectors_in_the_order_of_their_texts() {
    let folder = tempfile::tempdir().unwrap();
    let embedder = tiny(folder.path(), tiny::VOCAB).unwrap();
    let passages = ["w9", "w5 w6 w7 w8", "", "w10 w11"];
    let (question, tokens) = embedder.token_vectors("w7 w5", &passages).unwrap().unwrap();
    let ids = |tokens: &TokenVectors| tokens.iter().map(|(id, _)| id).collect::<Vec<_>>();
    // Without the prefix of questions.
    assert_eq!(ids(&question), [7, 5]);
    assert_eq!(tokens.iter().map(ids).collect::<Vec<_>>(), [vec![9], vec![5, 6, 7, 8], vec![], vec![10, 11]]);
    assert!(tokens[1].iter().all(|(_, vector)| vector.len() == tiny::DIM));
    let (_, alone) = embedder.token_vectors("w3", &passages[1..2]).unwrap().unwrap();
    assert_eq!(alone[0], tokens[1]);
    assert!(embedder.has_token_vectors() && !Embedder::stand_in(8).has_token_vectors());
    assert!(Embedder::stand_in(8).token_vectors("w3", &passages).unwrap().is_none());
}

#[test]
fn long_texts_are_cut_to_the_models_limit() {
    let folder = tempfile::tempdir().unwrap();
    let embedder = tiny(folder.path(), tiny::VOCAB).unwrap();
    // 32 tokens: [CLS], 30 words, [SEP].
    let text = |n: usize| {
        let words: Vec<String> = (0..n).map(|i| format!("w{}", i % 50 + 5)).collect();
        words.join(" ")
    };
    let v = embedder.embed_passages(&[text(30), text(31), text(5000), text(29)]).unwrap();
    assert!(v[0] == v[1] && v[0] == v[2] && v[0] != v[3]);
}

#[test]
fn order_is_kept_whatever_the_lengths() {
    let folder = tempfile::tempdir().unwrap();
    let embedder = tiny(folder.path(), tiny::VOCAB).unwrap();
    let texts: Vec<String> = (0..200).map(|i| format!("w{} ", i % 90 + 4).repeat(i * 7 % 29 + 1)).collect();
    let together = embedder.embed_passages(&texts).unwrap();
    for (text, vector) in texts.iter().zip(&together) {
        assert_eq!(&embedder.embed_passages(&[text]).unwrap()[0], vector);
    }
}

#[test]
fn a_tokenizer_that_does_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let error = tiny(folder.path(), tiny::VOCAB + 1).unwrap_err();
    assert_eq!(error.code(), "embed.bad_tokenizer");
    assert!(error.to_string().contains("98") && error.to_string().contains("97"), "{error}");
}

#[test]
fn a_folder_without_weights() {
    let folder = tempfile::tempdir().unwrap();
    tiny(folder.path(), tiny::VOCAB).unwrap();
    std::fs::remove_file(folder.path().join(WEIGHTS_FILE)).unwrap();
    let spec = tiny::spec(Architecture::Bert, Pooling::Mean);
    let manifest = Manifest { default: spec.name.clone(), models: vec![spec] };
    let store = ModelStore::new(folder.path().join("store")).with_manifest(manifest);
    let error = store.resolve("tiny", Some(folder.path())).unwrap_err();
    assert_eq!(error.code(), "embed.missing_file");
    assert!(error.remedy().unwrap().contains(WEIGHTS_FILE));
}
