#!/usr/bin/env python3
"""Golden values of a whole encoder-decoder, from PyTorch's own modules in f64.

    pip install torch numpy safetensors
    python tests/golden/transformer.py            # writes tests/golden/transformer_*.safetensors

For pre- and post-norm, tied and untied: the initial weights under attnlab's names, a padded batch, the logits and the
loss of its real tokens, every gradient, and the weights after ten AdamW steps. PyTorch pads; attnlab does not."""
import math
import pathlib

import torch
from safetensors.torch import save_file
from torch import nn

torch.set_default_dtype(torch.float64)
D, H, F, LAYERS, V = 8, 2, 12, 2, 11
SOURCE = [[3, 4, 5, 6, 2], [7, 8, 2], [9, 2]]
TARGET = [[1, 5, 4, 3, 2], [1, 9, 2], [1, 3, 3, 10, 4, 2]]  # <s> … </s>
SMOOTHING = 0.1


def padded(rows):
    longest = max(map(len, rows))
    ids = torch.zeros(len(rows), longest, dtype=torch.long)
    mask = torch.ones(len(rows), longest, dtype=torch.bool)  # True: padding
    for i, row in enumerate(rows):
        ids[i, : len(row)] = torch.tensor(row)
        mask[i, : len(row)] = False
    return ids, mask


def sinusoids(length):
    position = torch.arange(length)[:, None]
    rate = torch.exp(-math.log(10000.0) * torch.arange(0, D, 2) / D)
    table = torch.zeros(length, D)
    table[:, 0::2], table[:, 1::2] = torch.sin(position * rate), torch.cos(position * rate)
    return table


class Model(nn.Module):
    def __init__(self, pre, tied):
        super().__init__()
        self.source, self.target = nn.Embedding(V, D), nn.Embedding(V, D)
        options = dict(d_model=D, nhead=H, dim_feedforward=F, dropout=0.0, batch_first=True, norm_first=pre)
        final = (lambda: nn.LayerNorm(D)) if pre else (lambda: None)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(**options), LAYERS, final(), enable_nested_tensor=False)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(**options), LAYERS, final())
        self.output = nn.Linear(D, V, bias=False)
        if tied:
            self.output.weight = self.target.weight
        for name, weight in self.named_parameters():
            torch.nn.init.normal_(weight, std=0.3)
            if "norm" in name and name.endswith("weight"):
                weight.data += 1

    def forward(self, source, source_mask, target, target_mask):
        embed = lambda table, ids: table(ids) * math.sqrt(D) + sinusoids(ids.shape[1])
        memory = self.encoder(embed(self.source, source), src_key_padding_mask=source_mask)
        causal = torch.triu(torch.ones(target.shape[1], target.shape[1], dtype=torch.bool), 1)
        rows = self.decoder(embed(self.target, target), memory, tgt_mask=causal, tgt_key_padding_mask=target_mask,
                            memory_key_padding_mask=source_mask)
        return self.output(rows)


def attention_names(prefix, tensor_of, torch_prefix):
    weight, bias = tensor_of(f"{torch_prefix}.in_proj_weight"), tensor_of(f"{torch_prefix}.in_proj_bias")
    for i, part in enumerate(("query", "key", "value")):
        yield f"{prefix}.{part}.weight", weight[i * D : (i + 1) * D]
        yield f"{prefix}.{part}.bias", bias[i * D : (i + 1) * D]
    for kind in ("weight", "bias"):
        yield f"{prefix}.output.{kind}", tensor_of(f"{torch_prefix}.out_proj.{kind}")


def attnlab_names(tensor_of, pre, tied):
    """Pairs of attnlab's parameter name and the tensor, for weights or gradients alike."""
    yield "source_embedding.weight", tensor_of("source.weight")
    yield "target_embedding.weight", tensor_of("target.weight")
    if not tied:
        yield "output.weight", tensor_of("output.weight")
    for stack, blocks in (("encoder", [("self_attention", "self_attn", "norm1")]),
                          ("decoder", [("self_attention", "self_attn", "norm1"), ("cross_attention", "multihead_attn", "norm2")])):
        for layer in range(LAYERS):
            ours, theirs = f"{stack}.layers.{layer}", f"{stack}.layers.{layer}"
            for name, module, norm in blocks:
                yield from attention_names(f"{ours}.{name}", tensor_of, f"{theirs}.{module}")
                for kind in ("weight", "bias"):
                    yield f"{ours}.{name}.norm.{kind}", tensor_of(f"{theirs}.{norm}.{kind}")
            for kind in ("weight", "bias"):
                yield f"{ours}.mlp.up.{kind}", tensor_of(f"{theirs}.linear1.{kind}")
                yield f"{ours}.mlp.down.{kind}", tensor_of(f"{theirs}.linear2.{kind}")
                yield f"{ours}.mlp.norm.{kind}", tensor_of(f"{theirs}.norm{len(blocks) + 1}.{kind}")
        if pre:
            for kind in ("weight", "bias"):
                yield f"{stack}.norm.{kind}", tensor_of(f"{stack}.norm.{kind}")


def make(pre, tied):
    torch.manual_seed(7)
    model = Model(pre, tied)
    source, source_mask = padded(SOURCE)
    target, target_mask = padded([row[:-1] for row in TARGET])
    labels = torch.tensor([token for row in TARGET for token in row[1:]])
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.01, betas=(0.9, 0.98), eps=1e-9, weight_decay=0.1)

    def weights(prefix):
        tensors = dict(model.named_parameters())
        tensors.setdefault("output.weight", model.output.weight)
        return {f"{prefix}/{n}": t.detach().clone() for n, t in attnlab_names(lambda k: tensors[k], pre, tied)}

    def loss_and_logits():
        logits = model(source, source_mask, target, target_mask)[~target_mask]
        return nn.functional.cross_entropy(logits, labels, label_smoothing=SMOOTHING), logits

    values = weights("start")
    for step in range(10):
        optimiser.zero_grad()
        loss, logits = loss_and_logits()
        loss.backward()
        if step == 0:
            values["logits"], values["loss"] = logits.detach().clone(), loss.detach().clone().reshape(1)
            gradients = {name: weight.grad for name, weight in model.named_parameters()}
            for name, gradient in attnlab_names(lambda k: gradients[k], pre, tied):
                values[f"gradient/{name}"] = gradient.clone()
        optimiser.step()
    values |= weights("after")
    name = f"transformer_{'pre' if pre else 'post'}_{'tied' if tied else 'untied'}.safetensors"
    metadata = {"made_by": f"tests/golden/transformer.py with PyTorch {torch.__version__}"}
    save_file({k: v.contiguous() for k, v in values.items()}, pathlib.Path(__file__).parent / name, metadata)
    print(name, f"loss {loss_and_logits()[0].item():.6f} after ten steps")


for pre in (True, False):
    for tied in (True, False):
        make(pre, tied)
