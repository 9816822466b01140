//! Writes tiny models with random weights as files, for tests.
#![allow(dead_code, reason = "each file of tests uses some of it")]

use std::collections::BTreeMap;
use std::path::Path;

use autokit_embed::encoder::Precision;
use autokit_embed::{Architecture, CONFIG_FILE, ModelFile, ModelSpec, Pooling, TOKENIZER_FILE, WEIGHTS_FILE};
use candle_core::{DType, Device, Tensor};
use candle_nn::{VarBuilder, VarMap};
use candle_transformers::models::{bert, modernbert, nomic_bert, xlm_roberta};

pub(crate) const DIM: usize = 48;
pub(crate) const VOCAB: usize = 97;
pub(crate) const POSITIONS: usize = 40;

/// A model specification without checksums, as for a model that is loaded only from a folder.
pub(crate) fn spec(architecture: Architecture, pooling: Pooling) -> ModelSpec {
    let file = |name: &str| ModelFile { name: name.to_owned(), size: 0, sha256: String::new() };
    ModelSpec {
        name: "tiny".to_owned(),
        title: "tiny".to_owned(),
        repo: "test/tiny".to_owned(),
        revision: "main".to_owned(),
        architecture,
        dim: DIM,
        max_tokens: 32,
        pooling,
        normalise: true,
        precision: Precision::F32,
        query_prefix: "query: ".to_owned(),
        passage_prefix: String::new(),
        licence: "none".to_owned(),
        source: "https://example.org".to_owned(),
        files: vec![file(CONFIG_FILE), file(TOKENIZER_FILE), file(WEIGHTS_FILE)],
        wheel: None,
        base: None,
        delta: None,
    }
}

/// The `config.json` of an architecture.
pub(crate) fn config(architecture: Architecture) -> serde_json::Value {
    match architecture {
        Architecture::Bert | Architecture::XlmRoberta => serde_json::json!({
            "model_type": "bert", "vocab_size": VOCAB, "hidden_size": DIM, "num_hidden_layers": 2,
            "num_attention_heads": 3, "intermediate_size": 80, "hidden_act": "gelu",
            "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1,
            "max_position_embeddings": POSITIONS, "type_vocab_size": 2, "initializer_range": 0.02,
            "layer_norm_eps": 1e-12, "pad_token_id": 1, "position_embedding_type": "absolute",
        }),
        Architecture::NomicBert => serde_json::json!({
            "model_type": "nomic_bert", "vocab_size": VOCAB, "n_embd": DIM, "n_head": 3,
            "n_layer": 2, "n_inner": 80, "n_positions": POSITIONS, "type_vocab_size": 2,
            "layer_norm_epsilon": 1e-12, "rotary_emb_fraction": 1.0, "rotary_emb_base": 1000.0,
            "rotary_emb_interleaved": false, "qkv_proj_bias": false, "mlp_fc1_bias": false,
            "mlp_fc2_bias": false, "activation_function": "swiglu", "prenorm": false,
        }),
        Architecture::ModernBert => serde_json::json!({
            "model_type": "modernbert", "vocab_size": VOCAB, "hidden_size": DIM,
            "num_hidden_layers": 3, "num_attention_heads": 3, "intermediate_size": 80,
            "max_position_embeddings": POSITIONS, "layer_norm_eps": 1e-5, "pad_token_id": 0,
            "global_attn_every_n_layers": 2, "global_rope_theta": 160_000.0,
            "local_attention": 8, "local_rope_theta": 10_000.0,
        }),
    }
}

/// Pseudorandom numbers in [-1, 1) from a linear congruential generator.
pub(crate) fn numbers(n: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

/// Writes `config.json` and random `model.safetensors`: building the network with candle determines the names
/// and shapes of the tensors.
pub(crate) fn write(architecture: Architecture, folder: &Path) {
    let config = config(architecture);
    std::fs::write(folder.join(CONFIG_FILE), config.to_string()).unwrap();
    let map = VarMap::new();
    let vb = VarBuilder::from_varmap(&map, DType::F32, &Device::Cpu);
    match architecture {
        Architecture::Bert => {
            let config: bert::Config = serde_json::from_value(config).unwrap();
            bert::BertModel::load(vb, &config).unwrap();
        }
        Architecture::NomicBert => {
            let config: nomic_bert::Config = serde_json::from_value(config).unwrap();
            nomic_bert::NomicBertModel::load(vb, &config).unwrap();
        }
        Architecture::XlmRoberta => {
            let config: xlm_roberta::Config = serde_json::from_value(config).unwrap();
            xlm_roberta::XLMRobertaModel::new(&config, vb).unwrap();
        }
        Architecture::ModernBert => {
            let config: modernbert::Config = serde_json::from_value(config).unwrap();
            modernbert::ModernBert::load(vb, &config).unwrap();
        }
    }
    let data = map.data().lock().unwrap();
    let sorted: BTreeMap<_, _> = data.iter().collect();
    for (seed, (name, var)) in sorted.into_iter().enumerate() {
        let norm = name.to_lowercase().contains("norm") || name.contains("_ln");
        let (scale, middle) = if norm && name.ends_with("weight") { (0.3, 1.0) } else { (0.25, 0.0) };
        let values = numbers(var.elem_count(), seed as u32).iter().map(|x| x * scale + middle).collect();
        var.set(&Tensor::from_vec::<_, f32>(values, var.shape(), &Device::Cpu).unwrap()).unwrap();
    }
    drop(data);
    map.save(folder.join(WEIGHTS_FILE)).unwrap();
}

/// Writes a `tokenizer.json` with a vocabulary of `size` words: `[UNK] [CLS] [SEP] w3 w4 ...`.
pub(crate) fn write_tokenizer(folder: &Path, size: usize) {
    let mut vocab: serde_json::Map<String, serde_json::Value> =
        ["[UNK]", "[CLS]", "[SEP]"].iter().zip(0..).map(|(w, i)| ((*w).to_owned(), i.into())).collect();
    vocab.extend((3..size).map(|i| (format!("w{i}"), i.into())));
    let special = |id: u32, text: &str| serde_json::json!({ "id": text, "ids": [id], "tokens": [text] });
    let tokenizer = serde_json::json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": { "type": "Whitespace" }, "decoder": null,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [
                { "SpecialToken": { "id": "[CLS]", "type_id": 0 } },
                { "Sequence": { "id": "A", "type_id": 0 } },
                { "SpecialToken": { "id": "[SEP]", "type_id": 0 } },
            ],
            "pair": [
                { "Sequence": { "id": "A", "type_id": 0 } },
                { "Sequence": { "id": "B", "type_id": 1 } },
            ],
            "special_tokens": { "[CLS]": special(1, "[CLS]"), "[SEP]": special(2, "[SEP]") },
        },
        "model": { "type": "WordLevel", "vocab": vocab, "unk_token": "[UNK]" },
    });
    std::fs::write(folder.join(TOKENIZER_FILE), tokenizer.to_string()).unwrap();
}
