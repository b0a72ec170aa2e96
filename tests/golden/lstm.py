#!/usr/bin/env python3
"""Golden values of a long short-term memory of two layers, from torch.nn.LSTM in f64: outputs, and the gradients of the
sum of outputs times fixed numbers. Sentences run one by one, each from a zero state.

    pip install torch
    python tests/golden/lstm.py              # writes tests/golden/lstm.json"""
import sys

sys.path.pop(0)  # statistics.py beside this file is not Python's module
import json
import pathlib

import torch

WIDTH, LAYERS, LENGTHS = 4, 2, [5, 1, 3]


def rounded(tensor):
    return [float(f"{x:.15g}") for x in tensor.flatten().tolist()]


def main():
    torch.manual_seed(5)
    model = torch.nn.LSTM(WIDTH, WIDTH, num_layers=LAYERS, batch_first=True).double()
    for weight in model.parameters():
        weight.data.normal_(0, 0.6)
    x = torch.randn(sum(LENGTHS), WIDTH, dtype=torch.double, requires_grad=True)
    dy = torch.randn(sum(LENGTHS), WIDTH, dtype=torch.double)
    y = torch.cat([model(sentence[None])[0][0] for sentence in x.split(LENGTHS)])
    (y * dy).sum().backward()
    layers = []
    for i in range(LAYERS):
        part = {name: getattr(model, f"{name}_l{i}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}
        bias = part["bias_ih"] + part["bias_hh"]
        layers.append({
            "input.weight": rounded(part["weight_ih"]), "recurrent.weight": rounded(part["weight_hh"]),
            "input.bias": rounded(bias),
            "gradients": {"input.weight": rounded(part["weight_ih"].grad), "input.bias": rounded(part["bias_ih"].grad),
                          "recurrent.weight": rounded(part["weight_hh"].grad)}})
    out = {"made_by": f"tests/golden/lstm.py with torch {torch.__version__}", "width": WIDTH, "lengths": LENGTHS,
           "x": rounded(x), "dy": rounded(dy), "y": rounded(y), "dx": rounded(x.grad), "layers": layers}
    (pathlib.Path(__file__).parent / "lstm.json").write_text(json.dumps(out) + "\n")


main()
