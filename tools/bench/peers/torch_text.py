#!/usr/bin/env python3
"""PyTorch on the sentences and batches of `attnlab bench text --write-batches FILE`, padded. Prints one JSON line."""
import argparse
import json
import pathlib
import resource
import statistics
import time

import torch
from torch_model import Sizes, Trainer, Transformer

PADDING = 0


def padded(sentences, filler=PADDING):
    longest = max(map(len, sentences))
    return torch.tensor([list(ids) + [filler] * (longest - len(ids)) for ids in sentences])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batches", type=pathlib.Path, required=True)
    parser.add_argument("--setting", choices=["eager", "fused", "compile", "compile+fused"], default="eager")
    parser.add_argument("--precision", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    plan = json.loads(options.batches.read_text())
    sizes = Sizes(plan["layers"], plan["width"], plan["heads"], plan["feed_forward"], plan["vocabulary"],
                  plan["dropout"], embedding_dropout=plan["dropout"], sinusoids=True)
    model = Transformer(sizes)
    trainer = Trainer(model, options.setting, options.precision == "bf16", plan["smoothing"], padding=-100)
    seconds, tokens, places, real = [], 0, 0, 0
    for number, batch in enumerate(plan["batches"]):
        start = time.perf_counter()
        source = padded(batch["source"])
        lengths = torch.tensor([len(ids) for ids in batch["source"]])
        visible = (torch.arange(source.shape[1]) < lengths[:, None])[:, None, None, :]
        target = padded([ids[:-1] for ids in batch["target"]])
        labels = padded([ids[1:] for ids in batch["target"]], -100)
        trainer.step(source, target, labels, visible)
        if number < plan["warm_up"]:
            continue
        seconds.append(time.perf_counter() - start)
        tokens += int((labels != -100).sum())
        real += int(lengths.sum()) + int((labels != -100).sum())
        places += source.numel() + target.numel()
    print(json.dumps({
        "peer": f"torch {torch.__version__}", "setting": options.setting, "precision": options.precision,
        "threads": options.threads, "steps": len(seconds), "median_s": statistics.median(seconds),
        "min_s": min(seconds), "max_s": max(seconds), "total_s": sum(seconds),
        "target_tokens_per_s": round(tokens / sum(seconds)), "padding": round(1 - real / places, 3),
        "parameters": sum(p.numel() for p in model.parameters()),
        "peak_rss_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9, 3)}))


if __name__ == "__main__":
    main()
