#!/usr/bin/env python3
"""PyTorch's fused attention, forward and backward, at one length; the peer of `attnlab bench attention`."""
import argparse
import json
import resource
import statistics
import time

import torch
import torch.nn.functional as F


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--length", type=int, required=True)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--width", type=int, default=64, help="of a head")
    parser.add_argument("--causal", action="store_true")
    parser.add_argument("--precision", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    shape = (options.batch, options.heads, options.length, options.width)
    kind = torch.bfloat16 if options.precision == "bf16" else torch.float32
    inputs = [torch.randn(shape, dtype=kind, requires_grad=True) for _ in range(3)]
    before, seconds = peak_mb(), []
    for _ in range(1 + options.repeat):
        start = time.perf_counter()
        F.scaled_dot_product_attention(*inputs, is_causal=options.causal).sum().backward()
        for tensor in inputs:
            tensor.grad = None
        seconds.append(time.perf_counter() - start)
    seconds = seconds[1:]
    print(json.dumps({
        "peer": f"torch {torch.__version__}", "length": options.length, "batch": options.batch,
        "heads": options.heads, "width": options.width, "causal": options.causal, "backward": True,
        "precision": options.precision, "threads": options.threads, "median_s": statistics.median(seconds),
        "min_s": min(seconds), "max_s": max(seconds), "peak_growth_mb": round(peak_mb() - before, 1)}))


if __name__ == "__main__":
    main()
