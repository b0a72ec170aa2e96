#!/usr/bin/env python3
"""Golden values of small random published models, from Hugging Face transformers in f32.

    pip install torch transformers safetensors
    python tests/golden/published.py              # writes tests/golden/published/{gpt2,bert,llama}/

Each folder holds what such a model is published as (config.json, model.safetensors; GPT-2 in two files with an index,
Llama in bf16) and reference.json: ids, and for each sentence the hidden states before the first layer and after
the last, and the logits."""
import sys

sys.path.pop(0)  # statistics.py beside this file is not Python's module
import json
import pathlib
import shutil

import torch
from transformers import BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM
import transformers

V = 41
SENTENCES = [[3, 17, 5, 40, 8, 8, 21], [2, 9], [33, 0, 12, 7]]
TYPES = [[0, 0, 0, 1, 1, 1, 1], [0, 1], [0, 0, 0, 0]]
OUT = pathlib.Path(__file__).parent / "published"

MODELS = {
    "gpt2": GPT2LMHeadModel(GPT2Config(vocab_size=V, n_positions=16, n_embd=24, n_layer=3, n_head=3)),
    "bert": BertForMaskedLM(BertConfig(vocab_size=V, hidden_size=24, num_hidden_layers=2, num_attention_heads=4,
                                       intermediate_size=40, max_position_embeddings=16)),
    "llama": LlamaForCausalLM(LlamaConfig(vocab_size=V, hidden_size=24, num_hidden_layers=2, num_attention_heads=6,
                                          num_key_value_heads=2, intermediate_size=36, max_position_embeddings=32,
                                          rms_norm_eps=1e-5)),
}


def rounded(tensor):
    return [[float(f"{x:.7g}") for x in row] for row in tensor.tolist()]


def main():
    torch.manual_seed(11)
    for name, model in MODELS.items():
        for weight_name, weight in model.named_parameters():
            weight.data.normal_(0, 0.25)
            if "norm" in weight_name.lower() or "ln_" in weight_name:
                weight.data += 1 if weight_name.endswith("weight") else 0
            if name == "llama":  # what is stored in bf16; not the rates of the rotary positions
                weight.data = weight.data.to(torch.bfloat16).float()
        model.eval()
        sentences = []
        for ids, types in zip(SENTENCES, TYPES):
            extra = {"token_type_ids": torch.tensor([types])} if name == "bert" else {}
            with torch.no_grad():
                out = model(torch.tensor([ids]), output_hidden_states=True, **extra)
            sentences.append({"ids": ids, "types": types, "last_hidden": rounded(out.hidden_states[-1][0]),
                              "first_hidden": rounded(out.hidden_states[0][0]), "logits": rounded(out.logits[0])})
        folder = OUT / name
        shutil.rmtree(folder, ignore_errors=True)
        size = "40KB" if name == "gpt2" else "1GB"
        (model.to(torch.bfloat16) if name == "llama" else model).save_pretrained(folder, max_shard_size=size)
        (folder / "generation_config.json").unlink(missing_ok=True)
        made_by = f"tests/golden/published.py with transformers {transformers.__version__}, torch {torch.__version__}"
        (folder / "reference.json").write_text(json.dumps({"made_by": made_by, "sentences": sentences}) + "\n")
        print(name, sorted(p.name for p in folder.iterdir()))


main()
