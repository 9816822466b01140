//! The backward pass, on a tiny random BERT.

use std::collections::HashMap;
use std::path::Path;

use autokit_train::loss::{MASKED, info_nce};
use autokit_train::network::{LoraOptions, Network, PackedBatch};
use candle_core::{Device, Tensor, Var};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;

const HIDDEN: usize = 16;
const INNER: usize = 32;
const WORDS: usize = 60;
const POSITIONS: usize = 24;
const LAYERS: usize = 2;

fn random(random: &mut Pcg64, shape: &[usize], scale: f32) -> Tensor {
    let count = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|_| random.random_range(-scale..scale)).collect();
    Tensor::from_vec(values, shape, &Device::Cpu).unwrap()
}

/// Writes a model of random weights.
fn write_model(folder: &Path) {
    let config = serde_json::json!({
        "hidden_size": HIDDEN, "intermediate_size": INNER, "num_attention_heads": 2,
        "num_hidden_layers": LAYERS, "layer_norm_eps": 1e-12, "vocab_size": WORDS,
        "max_position_embeddings": POSITIONS, "hidden_act": "gelu",
    });
    std::fs::write(folder.join("config.json"), config.to_string()).unwrap();
    let mut rng = Pcg64::seed_from_u64(5);
    let mut tensors = HashMap::new();
    let mut add = |name: String, shape: &[usize], scale: f32| {
        tensors.insert(name, random(&mut rng, shape, scale));
    };
    add("embeddings.word_embeddings.weight".into(), &[WORDS, HIDDEN], 1.0);
    add("embeddings.position_embeddings.weight".into(), &[POSITIONS, HIDDEN], 0.5);
    add("embeddings.token_type_embeddings.weight".into(), &[2, HIDDEN], 0.5);
    let mut norms = vec!["embeddings.LayerNorm".to_owned()];
    for layer in 0..LAYERS {
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        for (part, inputs, outputs) in [
            ("attention.self.query", HIDDEN, HIDDEN),
            ("attention.self.key", HIDDEN, HIDDEN),
            ("attention.self.value", HIDDEN, HIDDEN),
            ("attention.output.dense", HIDDEN, HIDDEN),
            ("intermediate.dense", HIDDEN, INNER),
            ("output.dense", INNER, HIDDEN),
        ] {
            add(format!("{}.weight", name(part)), &[outputs, inputs], 0.5);
            add(format!("{}.bias", name(part)), &[outputs], 0.2);
        }
        norms.extend([name("attention.output.LayerNorm"), name("output.LayerNorm")]);
    }
    for norm in norms {
        add(format!("{norm}.weight"), &[HIDDEN], 1.0);
        add(format!("{norm}.bias"), &[HIDDEN], 0.2);
    }
    candle_core::safetensors::save(&tensors, folder.join("model.safetensors")).unwrap();
}

/// A network whose deltas are all different from 0, as after some steps.
fn network(folder: &Path) -> Network {
    write_model(folder);
    let lora = LoraOptions { rank: 3, scale: 2.0 };
    let network = Network::load(folder, lora, 11, &Device::Cpu).unwrap();
    let mut rng = Pcg64::seed_from_u64(9);
    for (_, lora) in network.deltas() {
        lora.b.set(&random(&mut rng, lora.b.dims(), 0.3)).unwrap();
    }
    network
}

/// Sequences of different lengths, so that some of each batch is padding in attention.
fn sequences(count: usize, seed: u64) -> Vec<Vec<u32>> {
    let mut rng = Pcg64::seed_from_u64(seed);
    (0..count)
        .map(|_| (0..rng.random_range(2..POSITIONS)).map(|_| rng.random_range(0..WORDS as u32)).collect())
        .collect()
}

fn packed(sequences: &[Vec<u32>]) -> PackedBatch {
    let sequences: Vec<&[u32]> = sequences.iter().map(Vec::as_slice).collect();
    PackedBatch::new(&sequences, &Device::Cpu).unwrap()
}

fn loss(network: &Network) -> Tensor {
    // Five pairs, two more requests that nothing answers, and three more documents.
    let queries = network.forward(&packed(&sequences(7, 1))).unwrap();
    let documents = network.forward(&packed(&sequences(8, 2))).unwrap();
    let mut mask = vec![0.0; 5 * 8];
    (mask[3], mask[8 + 6]) = (MASKED, MASKED);
    let mask = Tensor::from_vec(mask, (5, 8), &Device::Cpu).unwrap();
    info_nce(&queries, &documents, &mask, 0.1).unwrap()
}

fn value(network: &Network) -> f64 {
    f64::from(loss(network).to_scalar::<f32>().unwrap())
}

#[test]
fn every_matrix_receives_the_gradient_of_finite_differences() {
    let folder = tempfile::tempdir().unwrap();
    let network = network(folder.path());
    assert_eq!(network.deltas().len(), 6 * LAYERS);
    let gradients = loss(&network).backward().unwrap();
    let mut rng = Pcg64::seed_from_u64(3);
    for (name, lora) in network.deltas() {
        for (which, variable) in [("a", &lora.a), ("b", &lora.b)] {
            let gradient =
                gradients.get(variable).unwrap_or_else(|| panic!("{name}.{which} has no gradient"));
            let direction = random(&mut rng, variable.dims(), 1.0);
            let along = (gradient * &direction).unwrap().sum_all().unwrap().to_scalar::<f32>().unwrap();
            let expected = finite_difference(&network, variable, &direction);
            let error = (f64::from(along) - expected).abs();
            assert!(
                error <= 0.02 * expected.abs().max(0.02),
                "{name}.{which}: the gradient says {along}, finite differences {expected}"
            );
        }
    }
}

/// The derivative of the loss along a direction.
fn finite_difference(network: &Network, variable: &Var, direction: &Tensor) -> f64 {
    const STEP: f64 = 2e-3;
    let start = variable.as_tensor().copy().unwrap();
    let at = |step: f64| {
        variable.set(&(&start + direction.affine(step, 0.0).unwrap()).unwrap()).unwrap();
        value(network)
    };
    let (forward, backward) = (at(STEP), at(-STEP));
    variable.set(&start).unwrap();
    (forward - backward) / (2.0 * STEP)
}

#[test]
fn a_sequence_has_the_same_vector_alone_and_in_a_batch() {
    let folder = tempfile::tempdir().unwrap();
    let network = network(folder.path());
    let sequences = sequences(6, 4);
    let together = network.forward(&packed(&sequences)).unwrap().to_vec2::<f32>().unwrap();
    for (sequence, expected) in sequences.iter().zip(together) {
        let alone =
            network.forward(&packed(std::slice::from_ref(sequence))).unwrap().to_vec2::<f32>().unwrap();
        for (a, b) in alone[0].iter().zip(&expected) {
            assert!((a - b).abs() < 1e-5, "{a} alone, {b} in a batch");
        }
    }
}
