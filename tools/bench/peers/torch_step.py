#!/usr/bin/env python3
"""One whole PyTorch training step on random tokens; the peer of `attnlab bench step`. Prints one JSON line."""
import argparse
import json
import resource
import statistics
import time

import torch
from torch_model import Sizes, Trainer, Transformer

# layers of each side, width, heads, feed-forward, vocabulary, sentences, length, dropout
PRESETS = {
    "toy": (2, 64, 4, 256, 100, 32, 16, 0.1),
    "tiny": (4, 128, 4, 256, 8000, 128, 16, 0.1),
    "small": (3, 256, 4, 1024, 8000, 64, 16, 0.1),
    "base": (6, 512, 8, 2048, 10000, 32, 32, 0.1),
    "gpt2": (12, 768, 12, 3072, 50257, 4, 64, 0.0),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--preset", choices=PRESETS, required=True)
    parser.add_argument("--setting", choices=["eager", "fused", "compile", "compile+fused"], default="eager")
    parser.add_argument("--precision", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=7)
    parser.add_argument("--warm-up", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    *sizes, vocabulary, batch, length, dropout = PRESETS[options.preset]
    language_model = options.preset == "gpt2"
    model = Transformer(Sizes(*sizes, vocabulary, dropout, language_model=language_model))
    trainer = Trainer(model, options.setting, options.precision == "bf16", 0.0 if language_model else 0.1)
    source, target, labels = (torch.randint(vocabulary, (batch, length)) for _ in range(3))
    seconds = []
    for _ in range(options.warm_up + options.steps):
        start = time.perf_counter()
        trainer.step(source, target, labels)
        seconds.append(time.perf_counter() - start)
    seconds = seconds[options.warm_up :]
    median = statistics.median(seconds)
    print(json.dumps({
        "peer": f"torch {torch.__version__}", "setting": options.setting, "preset": options.preset,
        "precision": options.precision, "dropout": dropout, "threads": options.threads, "median_s": median,
        "min_s": min(seconds), "max_s": max(seconds), "target_tokens_per_s": round(batch * length / median),
        "parameters": sum(p.numel() for p in model.parameters()),
        "peak_rss_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9, 3)}))


if __name__ == "__main__":
    main()
