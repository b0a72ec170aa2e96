"""What would bound a big server and a cluster, from measured bytes and multiply-adds."""
from . import figures

CORES, SERVER_BANDWIDTH = 64, 300e9  # bytes a second: eight channels of DDR5-4800
NETWORKS = [("10 Gbit/s", 1.25e9), ("100 Gbit/s", 12.5e9)]

INTRODUCTION = """### What bounds a 64-core server and a cluster

Computed, not measured: from the multiply-adds and bytes of a step above, the products' speed a core as on this machine, and
{bandwidth:.0f} GB/s of memory. *Products* and *bytes* are least times of one step; where bytes take longer, more cores do not
help and larger batches do. In a cluster each rank does this step on its own sentences and the gradients (4 bytes a weight,
twice over the wire in a ring) are summed; the network hides behind backward as long as its time is below two thirds of the
step's.
"""


def rounds_of(rows, key):
    return rows.get(key, {}).get("rounds", [])


def line_of(rows, preset, precision):
    steps, products = rounds_of(rows, f"step:{preset}:{precision}"), rounds_of(rows, f"matmul:{preset}:{precision}")
    if not steps or not products or "gflop" not in steps[-1]["ours"][0] or "best_s" not in products[-1]["ours"][-1]:
        return None
    step, roof = steps[-1]["ours"][0], products[-1]["ours"][-1]
    a_core = roof["gflop_per_s"] / step["threads"]
    compute = step["gflop"] / (a_core * CORES)
    # The optimiser reads weights, gradients and two moments and writes three of them.
    moved = (step["moved_gb"] * 1e9 + 28 * step["parameters"]) / SERVER_BANDWIDTH
    least = max(compute, moved)
    cells = [preset, precision, f"{figures.our_figure(steps).median:.3g}", f"{compute:.2g}", f"{moved:.2g}",
             "bytes" if moved > compute else "products"]
    for _, network in NETWORKS:
        exchange = 8 * step["parameters"] / network
        cells.append(f"{exchange:.2g}{'' if exchange < least * 2 / 3 else ' (bound)'}")
    return cells


def part(rows, table):
    lines = [line for preset in ("small", "base", "gpt2") for precision in ("f32", "bf16")
             if (line := line_of(rows, preset, precision))]
    if not lines:
        return []
    head = ["preset", "precision", "here, s", f"products on {CORES} cores, s", "bytes, s", "bound by",
            *(f"gradients over {name}, s" for name, _ in NETWORKS)]
    return [INTRODUCTION.format(bandwidth=SERVER_BANDWIDTH / 1e9), table(head, lines)]
