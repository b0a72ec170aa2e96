"""Values of PyTorch's AdamW and SGD for tests/train/optimizer_test.cpp.

    python3 tests/golden/optimizers.py > tests/golden/optimizers.json     (needs torch)
"""
import json
import torch


def run(make, steps=10):
    torch.manual_seed(3)
    matrix = torch.nn.Parameter(torch.randn(3, 5, dtype=torch.float64))
    bias = torch.nn.Parameter(torch.randn(4, dtype=torch.float64))
    optimizer = make(matrix, bias)
    start = {"matrix": matrix.flatten().tolist(), "bias": bias.tolist()}
    trace = []
    for step in range(steps):
        matrix.grad, bias.grad = torch.randn_like(matrix), torch.randn_like(bias)
        rate = 0.01 * (step + 1)
        for group in optimizer.param_groups:
            group["lr"] = rate
        gradients = {"matrix": matrix.grad.flatten().tolist(), "bias": bias.grad.tolist()}
        optimizer.step()
        trace.append({"rate": rate, "gradients": gradients,
                      "values": {"matrix": matrix.detach().flatten().tolist(), "bias": bias.detach().tolist()}})
    return {"start": start, "steps": trace}


def groups(matrix, bias, decay, decay_all):
    return [{"params": [matrix], "weight_decay": decay}, {"params": [bias], "weight_decay": decay if decay_all else 0.0}]


CASES = {
    "adamw": ({"kind": "adamw", "beta1": 0.9, "beta2": 0.98, "epsilon": 1e-9, "decay": 0.1},
              lambda m, b: torch.optim.AdamW(groups(m, b, 0.1, False), betas=(0.9, 0.98), eps=1e-9)),
    "adamw_decay_all": ({"kind": "adamw", "beta1": 0.8, "beta2": 0.999, "epsilon": 1e-8, "decay": 0.3, "decay_all": True},
                        lambda m, b: torch.optim.AdamW(groups(m, b, 0.3, True), betas=(0.8, 0.999), eps=1e-8)),
    "sgd": ({"kind": "sgd"}, lambda m, b: torch.optim.SGD(groups(m, b, 0.0, False), lr=1)),
    "sgd_momentum": ({"kind": "sgd", "momentum": 0.9, "decay": 0.05},
                     lambda m, b: torch.optim.SGD(groups(m, b, 0.05, False), lr=1, momentum=0.9)),
    "sgd_nesterov": ({"kind": "sgd", "momentum": 0.7, "nesterov": True, "decay": 0.05, "decay_all": True},
                     lambda m, b: torch.optim.SGD(groups(m, b, 0.05, True), lr=1, momentum=0.7, nesterov=True)),
}
print(json.dumps({name: {"spec": spec, **run(make)} for name, (spec, make) in CASES.items()}))
