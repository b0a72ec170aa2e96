"""Tables of figures without a peer: growth with length, scaling, products, memory-bound operations."""
from . import figures
from .rows import PRESETS, SLOPE


def rounds_of(rows, key):
    return rows.get(key, {}).get("rounds", [])


def matched(rounds, **wanted):
    """Of every round, our first line that has these values."""
    for one in rounds:
        for line in one["ours"]:
            if all(line.get(key) == value for key, value in wanted.items()):
                yield line
                break


def text_of(spread, digits=3):
    return "–" if spread is None else f"{spread.median:.{digits}g}"


def growth(rows, precision, table):
    rounds = rounds_of(rows, f"growth:{precision}")
    lines = []
    for kind in ("scaled_dot", "window", "linear", "linformer"):
        slopes = list(matched(rounds, kind=kind, to=max((line.get("to", 0) for one in rounds for line in one["ours"]), default=0)))
        if not slopes:
            continue
        time = figures.Spread.of(line["time_slope"] for line in slopes)
        memory = figures.Spread.of(line["memory_slope"] for line in slopes)
        cells = [kind, text_of(time), "–" if kind == "scaled_dot" else "reached" if time.median <= SLOPE else "short", text_of(memory)]
        for length in (1024, 4096, 16384):
            own = figures.Spread.of(line["median_s"] for line in matched(rounds, kind=kind, length=length))
            full = figures.Spread.of(line["median_s"] for line in matched(rounds, kind="scaled_dot", length=length))
            cells.append("–" if not own or not full else f"{full.median / own.median:.3g}×")
        lines.append(cells)
    if not lines:
        return []
    head = ["kind", "slope of time", f"≤ {SLOPE}", "slope of memory", "faster than scaled_dot at 1,024", "at 4,096", "at 16,384"]
    return [f"### Attention against length, {precision}\n",
            "Log-log slopes over all lengths from 1,024, forward and backward, eight heads of width 64.\n", table(head, lines)]


def scaling(rows, precision, table):
    rounds = rounds_of(rows, f"scaling:{precision}")
    lines = []
    for line in (line for one in rounds[:1] for line in one["ours"] if "exponent" in line):
        measured = figures.Spread.of(found["exponent"] for found in matched(rounds, axis=line["axis"], to=line["to"]))
        above = measured.median - line["theory"]
        lines.append([line["axis"], f"{line['from']}–{line['to']}", text_of(measured), f"{line['theory']:.3g}", f"{above:+.2f}"])
    if not lines:
        return []
    return [f"### Cost against work, {precision}\n",
            "Exponents of the time of a training step in one size at a time, the others as in preset small (length: 8 sentences; "
            "width: an MLP four times as wide), beside those of the multiply-adds a thread.\n",
            table(["size", "range", "measured", "theory", "above"], lines)]


def products(rows, precision, table):
    lines = []
    for preset in PRESETS:
        totals = [one["ours"][-1] for one in rounds_of(rows, f"matmul:{preset}:{precision}") if "best_s" in one["ours"][-1]]
        if totals:
            best = min(line["best_s"] for line in totals)
            own = min(line["attnlab_s"] for line in totals)
            lines.append([preset, f"{totals[0]['gflop']:.4g}", f"{best:.3g}", f"{totals[0]['gflop'] / best:.4g}", f"{best / own:.0%}"])
    if not lines:
        return []
    return [f"### Roofline: the products of a step alone, {precision}\n",
            "What oneDNN reaches on the very shapes in the best of many ways (its own threads, blocks of many sizes, weights in its "
            "own order), operands warm; and how near our calls come.\n",
            table(["preset", "GFLOP", "s at best", "GFLOP/s", "our calls"], lines)]


def operations(rows, precision, table):
    rounds = rounds_of(rows, f"ops:{precision}")
    lines = []
    for line in (line for one in rounds[:1] for line in one["ours"] if "gb_per_s" in line):
        same = list(matched(rounds, op=line["op"], direction=line["direction"]))
        speed = figures.Spread.of(found["gb_per_s"] for found in same)
        share = figures.Spread.of(found["share_of_copy"] for found in same)
        lines.append([line["op"], line["direction"], f"{line['rows']} × {line['columns']}", text_of(speed), text_of(share)])
    if not lines:
        return []
    return [f"### Operations that memory bounds, {precision}\n", "Bytes that have to move at least, over time.\n",
            table(["op", "direction", "shape", "GB/s", "of a copy's"], lines)]


def parts(rows, precision, table):
    return [text for part in (products, operations, growth, scaling) for text in part(rows, precision, table)]
