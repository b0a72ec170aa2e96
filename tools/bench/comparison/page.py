"""docs/performance.md from the figures."""
from . import bounds, details, figures
from .rows import ATTENTION, DECODING, FROZEN_MEMORY, FROZEN_TIME, LENGTHS, MEMORY, PRESETS, ROOFLINE, SPEED, STARTUP

HEAD = """# Performance

Written by `tools/bench/compare.py` from `docs/performance.json`; do not edit. A ratio is the time of the peer's best
setting over ours, both run in turn on the same machine, the median over rounds with the least and the greatest; above 1
we are faster. A step is everything: batch, forward, loss, backward, clip, AdamW. *Others* is the most CPU that other
programs took during a round, in CPUs: the nearer to 0, the better the figure.
"""


def number(value, digits=3):
    return "–" if value is None else f"{value:.{digits}g}" if abs(value) < 10**digits else f"{value:.0f}"


def spread_text(spread, digits=3):
    if spread is None:
        return "–"
    median, low, high = (number(value, digits) for value in (spread.median, spread.low, spread.high))
    return median if spread.count == 1 else f"{median} ({low}–{high})"


def table(head, lines):
    rule = "|".join(" --- " for _ in head)
    return "\n".join(["| " + " | ".join(head) + " |", f"|{rule}|", *("| " + " | ".join(line) + " |" for line in lines)]) + "\n"


def verdict(value, target, most=False):
    if value is None or target is None:
        return "–"
    return "reached" if (value <= target if most else value >= target) else "short"


def rounds_of(rows, key):
    return rows.get(key, {}).get("rounds", [])


def roofline_share(rows, preset, precision):
    """The time that the library needs for the step's products alone, over the time of the step."""
    steps, products = rounds_of(rows, f"step:{preset}:{precision}"), rounds_of(rows, f"matmul:{preset}:{precision}")
    if not steps or not products:
        return None
    best = min(one["ours"][-1]["best_s"] for one in products if "best_s" in one["ours"][-1])
    return best / figures.our_figure(steps).median


def compared(title, rows, key, target, seconds="median_s"):
    """A line of the table of targets for a row with a peer."""
    rounds = rounds_of(rows, key)
    ours = figures.our_figure(rounds, seconds)
    if ours is None:
        return None
    ratio = figures.ratio(rounds, seconds)
    name, lines = figures.peer_lines(rounds)
    peer = figures.Spread.of(line[seconds] for line in lines.values())
    value = ratio.median if ratio else None
    return [title, f"≥ {target}×", spread_text(ratio), verdict(value, target), spread_text(ours), spread_text(peer), name or "–",
            number(figures.others(rounds), 2)]


def target_lines(rows, precision):
    speed = SPEED[precision]
    lines = [compared(f"step, {preset}", rows, f"step:{preset}:{precision}", speed[preset]) for preset in PRESETS]
    lines.append(compared("real text (Multi30k), all its steps", rows, f"text:{precision}", speed["text"], "total_s"))
    lines += [compared(f"decoding, {name}", rows, f"decode:{key}:{precision}", DECODING)
              for name, key in [("beam 5", "beam"), ("greedy", "greedy")]]
    lines += [compared(f"attention, {length}{', causal' if tail else ''}", rows, f"attention:{length}{tail}:{precision}", ATTENTION)
              for tail in ("", ":causal") for length in LENGTHS]
    return [line for line in lines if line]


def limit_line(title, value, target, spread, rounds, unit=""):
    return [title, f"≤ {target}{unit}", spread_text(spread), verdict(value, target, most=True), number(figures.others(rounds), 2)]


def limit_lines(rows, precision):
    """Targets that are upper limits, and the share of the roofline."""
    lines = []
    for preset, target in MEMORY.items():
        rounds = rounds_of(rows, f"step:{preset}:{precision}")
        spread = figures.ratio(rounds, "peak_rss_gb", inverse=True)
        if spread:
            lines.append(limit_line(f"peak memory over PyTorch's, {preset}", spread.median, target, spread, rounds, "×"))
    frozen = rounds_of(rows, f"frozen:{precision}")
    for title, key, target in [("time", "median_s", FROZEN_TIME), ("peak memory", "peak_rss_gb", FROZEN_MEMORY)]:
        spread = figures.Spread.of(one["second"][0][key] / one["ours"][0][key] for one in frozen
                                   if key in one.get("second", [{}])[0] and key in one["ours"][0])
        if spread:
            lines.append(limit_line(f"{title} of training the LayerNorms alone, over full training, gpt2", spread.median,
                                    target, spread, frozen, "×"))
    share = roofline_share(rows, "base", precision)
    if share:
        target = ROOFLINE[precision]
        lines.append(["share of the roofline, base", f"≥ {target:.0%}", f"{share:.0%}", verdict(share, target), "–"])
    return lines


def step_lines(rows, precision):
    """Beside the targets: what a step is made of."""
    lines = []
    for preset in PRESETS:
        rounds = rounds_of(rows, f"step:{preset}:{precision}")
        ours = figures.our_figure(rounds)
        if ours is None:
            continue
        line = rounds[-1]["ours"][0]
        share = roofline_share(rows, preset, precision)
        _, peers = figures.peer_lines(rounds)
        memory = figures.Spread.of(peer["peak_rss_gb"] for peer in peers.values() if "peak_rss_gb" in peer)
        lines.append([preset, spread_text(ours), number(line["target_tokens_per_s"]), number(line.get("gflop")),
                      number(line.get("gflop", 0) / ours.median), "–" if share is None else f"{share:.0%}",
                      number(line.get("moved_gb")), spread_text(figures.our_figure(rounds, "peak_rss_gb")), spread_text(memory)])
    return lines


def versions(rows):
    found = {line["peer"] for row in rows.values() for one in row["rounds"]
             for line in [*one["ours"], *one.get("peers", {}).values()] if "peer" in line}
    days = sorted({row["when"] for row in rows.values()})
    commits = sorted({row["commit"] for row in rows.values() if row.get("commit")})
    return (f"{', '.join(sorted(found))}{'; commits ' if commits else ''}{', '.join(commits)}; "
            f"measured {' to '.join(days[:: max(1, len(days) - 1)])}.\n")


def precision_part(rows, precision):
    targets, limits, steps = (lines(rows, precision) for lines in (target_lines, limit_lines, step_lines))
    text = []
    if targets:
        text += [f"### Against peers, {precision}\n",
                 table(["row", "target", "ratio", "", "ours, s", "peer, s", "best setting", "others"], targets)]
    if limits:
        text += [f"### Limits, {precision}\n", table(["row", "target", "figure", "", "others"], limits)]
    if steps:
        text += [f"### Steps, {precision}\n",
                 table(["preset", "s a step", "target tokens/s", "GFLOP", "GFLOP/s", "of the roofline", "GB moved beside products",
                        "peak GB", "PyTorch's peak GB"], steps)]
    return text + details.parts(rows, precision, table)


def start_part(rows):
    rounds = rounds_of(rows, "startup")
    spread = figures.our_figure(rounds)
    if not spread:
        return []
    line = limit_line("start to the first step of the quickstart", spread.median, STARTUP, spread, rounds, " s")
    return ["### Start\n", table(["row", "target", "figure", "", "others"], [line])]


def machine_part(name, rows):
    text = [f"## {name}\n", versions(rows), *start_part(rows)]
    for precision in ("f32", "bf16"):
        text += precision_part(rows, precision)
    return "\n".join(text + bounds.part(rows, table))


def render(machines, remarks=""):
    """The page; `remarks` are what people wrote about the figures."""
    return "\n".join([HEAD, *([remarks] if remarks else []), *(machine_part(name, machines[name]) for name in sorted(machines))])
