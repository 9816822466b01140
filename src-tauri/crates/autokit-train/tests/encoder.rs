//! The training network against the encoder that serves, with the default model where it is installed.

use autokit_embed::encoder::Precision;
use autokit_embed::{Embedder, EmbedderOptions, ModelStore};
use autokit_train::network::{LoraOptions, Network, PackedBatch};
use autokit_train::tokens::tokenise;
use candle_core::Device;

#[test]
fn an_untrained_delta_changes_nothing() {
    let store = ModelStore::new(ModelStore::default_root().expect("there is a home folder"));
    let files = store
        .resolve("all-MiniLM-L6-v2", None)
        .expect("the default model is installed: run `cargo xtask setup`");
    let options = EmbedderOptions { precision: Some(Precision::F32), ..EmbedderOptions::default() };
    let embedder = Embedder::load(&files, &options).unwrap();
    let texts: Vec<String> = [
        "send a message to a channel",
        "Slack. chat.postMessage: Sends a message to a channel, a private group or a direct message",
        "x",
    ]
    .map(str::to_owned)
    .into();
    let lora = LoraOptions { rank: 4, scale: 2.0 };
    let network = Network::load(files.folder(), lora, 1, &Device::Cpu).unwrap();
    let tokens = tokenise(files.folder(), &texts, 64).unwrap();
    let sequences: Vec<&[u32]> = tokens.iter().map(Vec::as_slice).collect();
    let vectors = network.forward(&PackedBatch::new(&sequences, &Device::Cpu).unwrap()).unwrap();
    let vectors = vectors.to_vec2::<f32>().unwrap();
    for (vector, expected) in vectors.iter().zip(embedder.embed_passages(&texts).unwrap()) {
        let cosine: f32 = vector.iter().zip(&expected).map(|(a, b)| a * b).sum();
        assert!(cosine > 0.999_99, "cosine {cosine}");
    }
}
