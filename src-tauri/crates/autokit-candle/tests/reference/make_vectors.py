"""Makes vectors.f32: the vectors of texts.json by a second, slow implementation in float64.

    pip install numpy tokenizers
    python make_vectors.py FOLDER_WITH_MODEL_FILES

Written from the BERT paper and the weights' names, one text at a time, with nothing in common
with the Rust encoder except the tokenizer library. Output: len(texts) x 384 little-endian f32.
"""

import json
import math
import pathlib
import sys

import numpy as np
from tokenizers import Tokenizer

here = pathlib.Path(__file__).parent
folder = pathlib.Path(sys.argv[1])
config = json.loads((folder / "config.json").read_text())
heads, layers, eps = (config[k] for k in ("num_attention_heads", "num_hidden_layers", "layer_norm_eps"))
erf = np.vectorize(math.erf, otypes=[np.float64])


def tensors(path):
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    for name, info in json.loads(raw[8 : 8 + size]).items():
        if name != "__metadata__" and info["dtype"] == "F32":
            begin, end = (8 + size + at for at in info["data_offsets"])
            yield name, np.frombuffer(raw[begin:end], "<f4").reshape(info["shape"]).astype(np.float64)


w = dict(tensors(folder / "model.safetensors"))


def linear(x, name):
    return x @ w[name + ".weight"].T + w[name + ".bias"]


def norm(x, name):
    centred = x - x.mean(axis=1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=1, keepdims=True) + eps)
    return centred / deviation * w[name + ".weight"] + w[name + ".bias"]


def attention(x, name):
    split = lambda part: np.stack(np.split(linear(x, f"{name}.{part}"), heads, axis=1))
    query, key, value = split("query"), split("key"), split("value")
    scores = np.einsum("hqd,hkd->hqk", query, key) / math.sqrt(query.shape[2])
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    weights /= weights.sum(axis=2, keepdims=True)
    return np.concatenate(list(np.einsum("hqk,hkd->hqd", weights, value)), axis=1)


def embed(ids):
    x = w["embeddings.word_embeddings.weight"][ids]
    x = x + w["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for i in range(layers):
        at = f"encoder.layer.{i}"
        mixed = linear(attention(x, at + ".attention.self"), at + ".attention.output.dense")
        x = norm(x + mixed, at + ".attention.output.LayerNorm")
        inner = linear(x, at + ".intermediate.dense")
        inner = inner * (1 + erf(inner / math.sqrt(2))) / 2
        x = norm(x + linear(inner, at + ".output.dense"), at + ".output.LayerNorm")
    mean = x.mean(axis=0)
    return mean / np.linalg.norm(mean)


tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
tokenizer.no_padding()
tokenizer.enable_truncation(256)
texts = json.loads((here / "texts.json").read_text(encoding="utf-8"))
vectors = np.stack([embed(tokenizer.encode(text).ids) for text in texts])
vectors.astype("<f4").tofile(here / "vectors.f32")
print(len(texts), "vectors;", sum(len(tokenizer.encode(t).ids) == 256 for t in texts), "texts were cut at 256 tokens")
