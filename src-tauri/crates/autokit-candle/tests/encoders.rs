//! Encoders with tiny models and random weights, and with files that are not models.

mod tiny;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use autokit_candle::CandleEncoder;
use autokit_embed::encoder::{self, BertEncoder, Isa, Precision};
use autokit_embed::{Architecture, CONFIG_FILE, Delta, Encoder, ModelSpec, Pooling, Result, WEIGHTS_FILE};
use candle_core::{DType, Device, Tensor};
use tiny::{DIM, POSITIONS, VOCAB};

fn open(spec: &ModelSpec, folder: &Path, pool: &Arc<rayon::ThreadPool>) -> Result<Box<dyn Encoder>> {
    encoder::open(spec, folder, pool, Precision::F32, Some(autokit_candle::open))
}

/// The precisions other than f32 that this processor computes in.
fn low_precisions() -> impl Iterator<Item = Precision> {
    [Precision::Bf16, Precision::Int8].into_iter().filter(|precision| precision.is_available())
}

fn own_encoder(
    isa: Isa,
    precision: Precision,
    spec: &ModelSpec,
    folder: &Path,
    threads: usize,
) -> BertEncoder {
    BertEncoder::open_for(isa, precision, spec, folder, pool(threads)).unwrap()
}

fn pool(threads: usize) -> Arc<rayon::ThreadPool> {
    Arc::new(rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap())
}

/// Sequences of different lengths, long and short mixed.
fn batch() -> Vec<Vec<u32>> {
    [5, 1, 17, POSITIONS - 2, 2, 16, 32, 9, 5, 33]
        .iter()
        .enumerate()
        .map(|(i, n)| (0..*n).map(|j| ((i * 31 + j * 17 + 2) % VOCAB) as u32).collect())
        .collect()
}

fn encode(encoder: &dyn Encoder, batch: &[Vec<u32>]) -> Vec<Vec<f32>> {
    let ids: Vec<&[u32]> = batch.iter().map(Vec::as_slice).collect();
    let flat = encoder.encode(&ids).unwrap();
    assert_eq!(flat.len(), batch.len() * encoder.dim());
    flat.chunks(encoder.dim()).map(<[f32]>::to_vec).collect()
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[test]
fn the_states_of_tokens_are_those_that_are_pooled() {
    let folder = tempfile::tempdir().unwrap();
    tiny::write(Architecture::Bert, folder.path());
    let spec = tiny::spec(Architecture::Bert, Pooling::Cls);
    let encoder = own_encoder(Isa::detect(), Precision::F32, &spec, folder.path(), 2);
    let batch = batch();
    let ids: Vec<&[u32]> = batch.iter().map(Vec::as_slice).collect();
    let states = encoder.encode_tokens(&ids).unwrap().unwrap();
    // Pooling takes the first token's state.
    for ((ids, states), vector) in batch.iter().zip(&states).zip(encode(&encoder, &batch)) {
        assert_eq!(states.len(), ids.len() * DIM);
        assert_eq!(states[..DIM], vector);
        for state in states.chunks(DIM) {
            assert!((state.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-5);
        }
    }
    // The rest of the batch makes no difference.
    assert_eq!(encoder.encode_tokens(&ids[3..4]).unwrap().unwrap()[0], states[3]);
}

#[test]
fn the_own_encoder_agrees_with_candle_on_every_instruction_set() {
    let folder = tempfile::tempdir().unwrap();
    tiny::write(Architecture::Bert, folder.path());
    for pooling in [Pooling::Mean, Pooling::Cls] {
        let spec = tiny::spec(Architecture::Bert, pooling);
        let reference = encode(&CandleEncoder::open(&spec, folder.path()).unwrap(), &batch());
        // Random weights must not collapse to one direction, or any encoder would pass.
        assert!(cosine(&reference[0], &reference[2]) < 0.999);
        for isa in Isa::available() {
            for threads in [1, 3] {
                let own = own_encoder(isa, Precision::F32, &spec, folder.path(), threads);
                for (i, (a, b)) in encode(&own, &batch()).iter().zip(&reference).enumerate() {
                    assert!(cosine(a, b) > 0.999_999_9, "{isa:?} {pooling:?} sequence {i}: {}", cosine(a, b));
                    assert!((cosine(a, a) - 1.0).abs() < 1e-6);
                }
            }
        }
    }
}

#[test]
fn lower_precisions_stay_close_to_f32() {
    let folder = tempfile::tempdir().unwrap();
    tiny::write(Architecture::Bert, folder.path());
    let spec = tiny::spec(Architecture::Bert, Pooling::Mean);
    let reference = encode(&own_encoder(Isa::detect(), Precision::F32, &spec, folder.path(), 1), &batch());
    for precision in low_precisions() {
        let allowed = if precision == Precision::Bf16 { 0.999 } else { 0.98 };
        for threads in [1, 3] {
            let encoder = own_encoder(Isa::detect(), precision, &spec, folder.path(), threads);
            for (i, (a, b)) in encode(&encoder, &batch()).iter().zip(&reference).enumerate() {
                assert!(cosine(a, b) >= allowed, "{precision:?} sequence {i}: {}", cosine(a, b));
                assert_ne!(a, b, "{precision:?} is f32");
            }
        }
    }
}

#[test]
fn a_vector_has_the_same_bits_in_any_batch() {
    let folder = tempfile::tempdir().unwrap();
    tiny::write(Architecture::Bert, folder.path());
    let spec = tiny::spec(Architecture::Bert, Pooling::Mean);
    let exact = Isa::available().into_iter().map(|isa| (isa, Precision::F32));
    let faster = low_precisions().map(|precision| (Isa::detect(), precision));
    for (isa, precision) in exact.chain(faster) {
        let encoder = own_encoder(isa, precision, &spec, folder.path(), 2);
        let all = encode(&encoder, &batch());
        for (ids, together) in batch().iter().zip(&all) {
            assert_eq!(&encode(&encoder, std::slice::from_ref(ids))[0], together, "{isa:?} {precision:?}");
        }
        let mut reversed = batch();
        reversed.reverse();
        let mut again = encode(&encoder, &reversed);
        again.reverse();
        assert_eq!(again, all);
    }
}

#[test]
fn other_architectures_run_on_candle() {
    for architecture in [Architecture::NomicBert, Architecture::XlmRoberta, Architecture::ModernBert] {
        let folder = tempfile::tempdir().unwrap();
        tiny::write(architecture, folder.path());
        let spec = tiny::spec(architecture, Pooling::Mean);
        let encoder = open(&spec, folder.path(), &pool(1)).unwrap();
        assert_eq!((encoder.dim(), encoder.vocab_size()), (DIM, VOCAB));
        let all = encode(encoder.as_ref(), &batch());
        for (ids, together) in batch().iter().zip(&all) {
            let alone = &encode(encoder.as_ref(), std::slice::from_ref(ids))[0];
            assert!(cosine(alone, together) > 0.999_999, "{architecture:?}");
            assert!((cosine(together, together) - 1.0).abs() < 1e-6);
        }
        // Word order must matter: these networks have position embeddings.
        let mut shuffled = batch()[2].clone();
        shuffled.reverse();
        let other = &encode(encoder.as_ref(), &[shuffled])[0];
        assert!(cosine(other, &all[2]) < 0.999_99, "{architecture:?}");
    }
}

#[test]
fn an_activation_that_is_not_ours_goes_to_candle() {
    let folder = tempfile::tempdir().unwrap();
    tiny::write(Architecture::Bert, folder.path());
    let mut config = tiny::config(Architecture::Bert);
    config["hidden_act"] = "relu".into();
    std::fs::write(folder.path().join(CONFIG_FILE), config.to_string()).unwrap();
    let spec = tiny::spec(Architecture::Bert, Pooling::Mean);
    let refused = BertEncoder::open(&spec, folder.path(), pool(1)).err().unwrap();
    assert_eq!(refused.code(), "embed.bad_config");
    let encoder = open(&spec, folder.path(), &pool(1)).unwrap();
    let reference = CandleEncoder::open(&spec, folder.path()).unwrap();
    assert_eq!(encode(encoder.as_ref(), &batch()), encode(&reference, &batch()));
}

#[test]
fn impossible_batches_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    tiny::write(Architecture::Bert, folder.path());
    let spec = tiny::spec(Architecture::Bert, Pooling::Mean);
    let own = BertEncoder::open(&spec, folder.path(), pool(1)).unwrap();
    let candle = CandleEncoder::open(&spec, folder.path()).unwrap();
    for encoder in [&own as &dyn Encoder, &candle] {
        for (ids, word) in [(vec![], "empty"), (vec![1; POSITIONS + 1], "tokens"), (vec![VOCAB as u32], "id")]
        {
            let error = encoder.encode(&[&[1, 2], &ids]).unwrap_err();
            assert_eq!(error.code(), "embed.encode");
            assert!(error.to_string().contains("sequence 1") && error.to_string().contains(word), "{error}");
        }
        assert!(encoder.encode(&[]).unwrap().is_empty());
    }
}

/// Opens a model whose weights were changed by `damage`, with both encoders; each must report what is wrong
/// with which file.
fn with_damaged_weights(damage: impl Fn(&Path), said: &str) {
    let folder = tempfile::tempdir().unwrap();
    tiny::write(Architecture::Bert, folder.path());
    damage(folder.path());
    let spec = tiny::spec(Architecture::Bert, Pooling::Mean);
    let own: Result<_> = BertEncoder::open(&spec, folder.path(), pool(1)).map(|_| ());
    let error = own.unwrap_err();
    assert_eq!(error.code(), "embed.bad_weights", "{error}");
    let text = error.to_string();
    assert!(text.contains(WEIGHTS_FILE) && text.contains(said), "{text}");
    assert!(error.remedy().unwrap().contains("Download the model again in Settings"));
    let error = CandleEncoder::open(&spec, folder.path()).map(|_| ()).unwrap_err();
    assert_eq!(error.code(), "embed.bad_weights", "{error}");
}

fn edit_weights(folder: &Path, edit: impl FnOnce(&mut Vec<u8>)) {
    let path = folder.join(WEIGHTS_FILE);
    let mut bytes = std::fs::read(&path).unwrap();
    edit(&mut bytes);
    std::fs::write(path, bytes).unwrap();
}

/// Replaces a word in the file's header by one of the same length.
fn edit_contents(folder: &Path, from: &str, to: &str) {
    assert_eq!(from.len(), to.len());
    edit_weights(folder, |bytes| {
        let at = bytes.windows(from.len()).position(|w| w == from.as_bytes()).unwrap();
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    });
}

#[test]
fn truncated_weights() {
    with_damaged_weights(|f| edit_weights(f, |b| b.truncate(b.len() - 1000)), "bytes");
    with_damaged_weights(|f| edit_weights(f, |b| b.truncate(100)), "truncated");
    with_damaged_weights(|f| edit_weights(f, Vec::clear), "0 bytes");
}

#[test]
fn garbage_instead_of_weights() {
    with_damaged_weights(|f| edit_weights(f, |b| b.fill(0x2a)), "not a safetensors file");
    with_damaged_weights(|f| edit_weights(f, |b| b[8..40].fill(b'x')), "table of contents");
}

#[test]
fn weights_of_another_shape_or_type_or_name() {
    with_damaged_weights(
        |f| {
            let mut config = tiny::config(Architecture::Bert);
            config["intermediate_size"] = 81.into();
            std::fs::write(f.join(CONFIG_FILE), config.to_string()).unwrap();
        },
        "[80, 48]",
    );
    with_damaged_weights(
        |f| edit_contents(f, "layer.1.output.dense.weight", "layer.9.output.dense.weight"),
        "layer.1.output.dense.weight",
    );
}

#[test]
fn weights_that_are_not_f32() {
    let folder = tempfile::tempdir().unwrap();
    tiny::write(Architecture::Bert, folder.path());
    edit_weights(folder.path(), |bytes| {
        // I32 has the same size as F32, so the file stays consistent.
        while let Some(at) = bytes.windows(5).position(|w| w == b"\"F32\"") {
            bytes[at..at + 5].copy_from_slice(b"\"I32\"");
        }
    });
    let spec = tiny::spec(Architecture::Bert, Pooling::Mean);
    let error = BertEncoder::open(&spec, folder.path(), pool(1)).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("I32") && error.to_string().contains("F32"), "{error}");
}

/// A delta of rank 2 for weights of these shapes.
fn delta(weights: &[(&str, [usize; 2])]) -> Arc<Delta> {
    let matrix = |rows: usize, columns: usize, seed: usize| {
        let values = tiny::numbers(rows * columns, seed as u32).iter().map(|x| x * 0.3).collect();
        let matrix = Tensor::from_vec::<_, f32>(values, (rows, columns), &Device::Cpu).unwrap();
        matrix.to_dtype(DType::F16).unwrap()
    };
    let mut tensors = HashMap::new();
    for (at, (name, [outputs, inputs])) in weights.iter().enumerate() {
        tensors.insert(format!("{name}.lora_a"), matrix(2, *inputs, 2 * at));
        tensors.insert(format!("{name}.lora_b"), matrix(*outputs, 2, 2 * at + 1));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("delta.safetensors");
    candle_core::safetensors::save(&tensors, &path).unwrap();
    Arc::new(Delta::parse(&std::fs::read(path).unwrap()).unwrap())
}

#[test]
fn a_delta_changes_both_encoders_alike() {
    let folder = tempfile::tempdir().unwrap();
    tiny::write(Architecture::Bert, folder.path());
    let plain = tiny::spec(Architecture::Bert, Pooling::Mean);
    let weights = [
        ("encoder.layer.0.attention.self.query", [DIM, DIM]),
        ("encoder.layer.0.intermediate.dense", [80, DIM]),
        ("encoder.layer.1.attention.output.dense", [DIM, DIM]),
        ("encoder.layer.1.output.dense", [DIM, 80]),
    ];
    let spec = ModelSpec { delta: Some(delta(&weights)), ..plain.clone() };
    let before = encode(&CandleEncoder::open(&plain, folder.path()).unwrap(), &batch());
    let reference = encode(&CandleEncoder::open(&spec, folder.path()).unwrap(), &batch());
    let own = encode(&BertEncoder::open(&spec, folder.path(), pool(1)).unwrap(), &batch());
    for ((own, reference), before) in own.iter().zip(&reference).zip(&before) {
        assert!(cosine(own, reference) > 0.999_999_9, "{}", cosine(own, reference));
        assert!(cosine(own, before) < 0.999, "the delta changes nothing");
    }
}

#[test]
fn a_delta_for_another_network_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    tiny::write(Architecture::Bert, folder.path());
    for (weights, expected) in [
        ([("encoder.layer.7.output.dense", [DIM, 80])], "encoder.layer.7.output.dense"),
        ([("encoder.layer.0.output.dense", [DIM, DIM])], "encoder.layer.0.output.dense"),
    ] {
        let spec = tiny::spec(Architecture::Bert, Pooling::Mean);
        let spec = ModelSpec { delta: Some(delta(&weights)), ..spec };
        let own = BertEncoder::open(&spec, folder.path(), pool(1)).map(|_| ()).unwrap_err();
        let candle = CandleEncoder::open(&spec, folder.path()).map(|_| ()).unwrap_err();
        for error in [own, candle] {
            assert_eq!(error.code(), "embed.bad_weights");
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}

#[test]
fn weights_that_are_not_numbers() {
    let folder = tempfile::tempdir().unwrap();
    tiny::write(Architecture::Bert, folder.path());
    edit_weights(folder.path(), |b| {
        let end = b.len();
        b[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    });
    let spec = tiny::spec(Architecture::Bert, Pooling::Mean);
    let error = BertEncoder::open(&spec, folder.path(), pool(1)).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("not finite"), "{error}");
}

#[test]
fn words_that_are_not_numbers() {
    let folder = tempfile::tempdir().unwrap();
    tiny::write(Architecture::Bert, folder.path());
    edit_weights(folder.path(), |bytes| {
        let header = u64::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
        let contents: serde_json::Value = serde_json::from_slice(&bytes[8..8 + header]).unwrap();
        let tensors = contents.as_object().unwrap();
        let (_, words) = tensors.iter().find(|(name, _)| name.ends_with("word_embeddings.weight")).unwrap();
        let at = 8 + header + words["data_offsets"][0].as_u64().unwrap() as usize;
        bytes[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    });
    let spec = tiny::spec(Architecture::Bert, Pooling::Mean);
    for precision in low_precisions().chain([Precision::F32]) {
        let encoder = own_encoder(Isa::detect(), precision, &spec, folder.path(), 1);
        // Words are read where they are used.
        assert!(encoder.encode(&[&[1, 2]]).is_ok());
        let error = encoder.encode(&[&[1, 2], &[0, 1]]).unwrap_err();
        assert!(error.code() == "embed.bad_weights" && error.to_string().contains("not finite"), "{error}");
    }
}

#[test]
fn a_configuration_that_cannot_be() {
    let folder = tempfile::tempdir().unwrap();
    tiny::write(Architecture::Bert, folder.path());
    let spec = tiny::spec(Architecture::Bert, Pooling::Mean);
    for (field, value) in [("num_attention_heads", 5), ("hidden_size", 0), ("vocab_size", 1 << 30)] {
        let mut config = tiny::config(Architecture::Bert);
        config[field] = value.into();
        std::fs::write(folder.path().join(CONFIG_FILE), config.to_string()).unwrap();
        let error = open(&spec, folder.path(), &pool(1)).map(|_| ()).unwrap_err();
        assert_eq!(error.code(), "embed.bad_config", "{field}: {error}");
        assert!(error.remedy().is_some());
    }
    std::fs::write(folder.path().join(CONFIG_FILE), "{").unwrap();
    let error = open(&spec, folder.path(), &pool(1)).map(|_| ()).unwrap_err();
    assert_eq!(error.code(), "embed.bad_config");
}
