"""Figures of what `attnlab probe … --out RUN/probes` found."""

import statistics
from functools import partial

import style
from data import number
from style import CONTROL, Figure


def rows_of(probe, table):
    """Rows of a table as dictionaries."""
    found = probe.get("tables", {}).get(table)
    if not found:
        return []
    return [dict(zip(found["columns"], row)) for row in found["rows"]]


def known(rows, *columns):
    """Rows with a number in each of these columns: what is 0/0, such as a norm over that of a vanished stream, has none."""
    return [row for row in rows if all(number(row.get(column)) is not None for column in columns)]


def within(rows, low=None):
    """Layers, and the lower and upper edge of a band of one deviation around the mean, where there is one."""
    rows = known(rows, "sd")
    lower, upper = ([row["mean"] + sign * row["sd"] for row in rows] for sign in (-1, 1))
    return [row["layer"] for row in rows], lower if low is None else [max(edge, low) for edge in lower], upper


def groups(rows, *keys):
    """Rows by the values of some columns, in their order."""
    found = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in keys), []).append(row)
    return found


def residual_norm(probe, name):
    lines = groups(known(rows_of(probe, "residual_norm"), "mean"), "stack", "centre", "norm")
    if not lines:
        return None
    deep = min(row["mean"] for rows in lines.values() for row in rows) < 1e-2
    figure, axes = style.plot(7.2, 3.3)
    styles = {("mean", "composite"): "-", ("minimiser", "composite"): "--", ("mean", "frobenius"): ":"}
    stacks = sorted({stack for stack, _, _ in lines})
    for (stack, centre, norm), rows in lines.items():
        xs = [row["layer"] for row in rows]
        shade = style.colour(stacks.index(stack))
        axes.plot(xs, [row["mean"] for row in rows], styles[centre, norm], color=shade, marker="o", markersize=3.5,
                  label=f"{stack}: {norm} norm, {'mean' if centre == 'mean' else 'best'} centre")
        if (centre, norm) == ("mean", "composite"):
            axes.fill_between(*within(rows, 1e-18), color=shade, alpha=0.15, linewidth=0)
            if deep:
                noisy = known(rows, "noise")
                axes.plot([row["layer"] for row in noisy], [row["noise"] for row in noisy], color=CONTROL, linewidth=1)
    if deep:
        axes.plot([], [], color=CONTROL, linewidth=1, label="noise of rounding")
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.set_xlabel("layer (0: embeddings)")
    axes.set_ylabel("norm of residual / norm of rows")
    axes.xaxis.get_major_locator().set_params(integer=True)
    style.legend_beside(axes, 2)
    return Figure(name, figure, "How far tokens are from being all alike, by depth: norm of the residual over that of the "
                                "rows. Band: one standard deviation over sentences" + ("; grey: what rounding alone makes." if deep else "."))


def token_cosine(probe, name):
    lines = groups(known(rows_of(probe, "token_cosine"), "mean"), "stack")
    if not lines:
        return None
    figure, axes = style.plot(4.6, 3.0)
    for index, ((stack,), rows) in enumerate(lines.items()):
        xs = [row["layer"] for row in rows]
        axes.plot(xs, [row["mean"] for row in rows], "o-", color=style.colour(index), markersize=3.5, label=stack)
        axes.fill_between(*within(rows), color=style.colour(index), alpha=0.15, linewidth=0)
    axes.set_xlabel("layer (0: embeddings)")
    axes.set_ylabel("mean cosine of token pairs")
    axes.xaxis.get_major_locator().set_params(integer=True)
    style.legend_beside(axes, len(lines))
    return Figure(name, figure, "How alike the tokens of a sentence are, by depth. Band: one standard deviation over sentences.")


def heat_map(probe, name, table, value, title, caption, low=None, high=None, signed=False):
    """Layers by heads, one map a type of attention. What is not known stays white."""
    all_rows = rows_of(probe, table)
    rows = known(all_rows, value)
    types = [kind for kind in ("encoder", "decoder", "cross") if any(row["type"] == kind for row in rows)]
    if not types:
        return None
    heads = max(row["head"] for row in all_rows) + 1
    layers = max(row["layer"] for row in all_rows) + 1
    values = [row[value] for row in rows]
    bottom = min(values) if low is None else low
    top = max(values) if high is None else high
    if signed:
        top = max(abs(v) for v in values) or 1
        bottom = -top
    figure, all_axes = style.plot(1.1 + (0.55 + 0.3 * heads) * len(types), 1.0 + 0.3 * layers, ncols=len(types), squeeze=False)
    image = None
    for axes, kind in zip(all_axes[0], types):
        grid = [[float("nan")] * heads for _ in range(layers)]
        for row in rows:
            if row["type"] == kind:
                grid[row["layer"]][row["head"]] = row[value]
        image = axes.imshow(grid, cmap="RdBu" if signed else "viridis", vmin=bottom, vmax=top, aspect="equal")
        axes.set_title({"encoder": "encoder self", "decoder": "decoder self", "cross": "cross"}[kind], fontsize=9)
        axes.set_xticks(range(heads), [str(h) for h in range(heads)])
        axes.set_yticks(range(layers), [str(layer) for layer in range(layers)])
        axes.set_xlabel("head")
        axes.grid(False)
    all_axes[0][0].set_ylabel("layer")
    bar = figure.colorbar(image, ax=all_axes[0][-1], fraction=0.08, pad=0.04)
    bar.set_label(title)
    bar.outline.set_visible(False)
    return Figure(name, figure, caption)


TYPES = {"encoder": "encoder self", "decoder": "decoder self", "cross": "cross", "pooled": "all types"}
ORDERS = {"importance": ("-", 0, "by importance"), "drop": ("--", 1, "by drop (oracle)"),
          "importance, one kept a layer": (":", 2, "by importance, one head\nkept in every layer")}


def curves_of(probes, kind):
    """{order: {share in %: scores of all runs}}; random orders are one, with all their scores."""
    found = {}
    for probe in probes:
        for row in known(rows_of(probe, "curves"), "share", "score"):
            if row["type"] == kind:
                order = "random" if row["order"].startswith("random") else row["order"]
                found.setdefault(order, {}).setdefault(round(row["share"] * 100, 6), []).append(row["score"])
    return found


def draw_curve(axes, curve, mark, shade, words, band=0.15):
    shares = sorted(curve)
    if band and any(len(curve[share]) > 1 for share in shares):
        axes.fill_between(shares, [min(curve[share]) for share in shares], [max(curve[share]) for share in shares], color=shade,
                          alpha=band, linewidth=0)
    axes.plot(shares, [statistics.fmean(curve[share]) for share in shares], mark, color=shade, label=words)


def pruning_axes(probes):
    """A panel for each type of attention that the probes have."""
    rows = [row for probe in probes for row in known(rows_of(probe, "curves"), "share", "score")]
    types = [kind for kind in TYPES if any(row["type"] == kind for row in rows)]
    if not types:
        return None, [], []
    figure, all_axes = style.plot(2.3 * len(types) + 2.0, 2.9, ncols=len(types), squeeze=False, sharey=True)
    for axes, kind in zip(all_axes[0], types):
        axes.set_title(TYPES[kind], fontsize=9)
        axes.set_xlabel("heads out, %")
    all_axes[0][0].set_ylabel(score_label(probes[0]))
    return figure, list(zip(all_axes[0], types)), next((probe["notes"][0] for probe in probes if probe.get("notes")), "")


def score_label(probe):
    """What a pruning probe scored by, from its first note: "scores: bleu; …"."""
    notes = " ".join(probe.get("notes", [])[:1])
    return style.label(notes.removeprefix("scores: ").split(";")[0]) or "score"


def pruning(probes, name):
    """Scores with heads out: by importance, by drop, and the band of random orders; means and ranges over several runs."""
    figure, panels, notes = pruning_axes(probes)
    if figure is None:
        return None
    for axes, kind in panels:
        curves = curves_of(probes, kind)
        if "random" in curves:
            orders = max(len(scores) for scores in curves["random"].values())
            draw_curve(axes, curves["random"], "-", CONTROL, "mean of random orders", band=0)
            shares = sorted(curves["random"])
            axes.fill_between(shares, [min(curves["random"][s]) for s in shares], [max(curves["random"][s]) for s in shares],
                              color=CONTROL, alpha=0.25, linewidth=0, label=f"their range ({orders // len(probes)} orders"
                              + (f",\n{len(probes)} seeds)" if len(probes) > 1 else ")"))
        for order in sorted(set(curves) - {"random"}, key=lambda one: ORDERS.get(one, (":", 3, one))[1]):
            mark, shade, words = ORDERS.get(order, (":", 3, order))
            draw_curve(axes, curves[order], mark, style.colour(shade), words)
    style.legend_beside(panels[-1][0], 4)
    spread = " Lines: means over seeds; bands: their range." if len(probes) > 1 else ""
    return Figure(name, figure, f"Pruning heads without retraining; {notes}.{spread}")


def pruning_of_arms(arms, name):
    """`arms`: {name: probes}. Of one arm all orders, of several the order by importance."""
    if len(arms) == 1:
        return pruning(next(iter(arms.values())), name)
    figure, panels, notes = pruning_axes([probe for probes in arms.values() for probe in probes])
    if figure is None:
        return None
    for axes, kind in panels:
        for index, (arm, probes) in enumerate(arms.items()):
            curve = curves_of(probes, kind).get("importance")
            if curve:
                draw_curve(axes, curve, "-" if index < len(style.COLOURS) else "--", style.colour(index), arm)
    style.legend_beside(panels[-1][0], len(arms))
    return Figure(name, figure, f"Pruning heads by importance, without retraining; {notes}. Lines: means over seeds; bands: their range.")


def paths(probe, name):
    rows = rows_of(probe, "path_decomposition")
    scores = {"token_accuracy": "tokens", "sequence_accuracy": "sequences"}
    if not any(known(rows, column) for column in scores):
        return None
    numbers = probe.get("numbers", {})
    figure, axes = style.plot(4.6, 3.0)
    for index, (column, words) in enumerate(scores.items()):
        by_length = groups(known(rows, column), "length")
        xs = sorted(length for (length,) in by_length)
        means = [statistics.fmean(row[column] for row in by_length[x,]) for x in xs]
        axes.plot(xs, means, "o-", color=style.colour(index), markersize=3.5, label=words)
        for x in xs:
            axes.plot([x] * len(by_length[x,]), [row[column] for row in by_length[x,]], ".", color=style.colour(index),
                      alpha=0.5, markersize=4)
        whole = numbers.get(f"whole.{column}")
        if whole is not None:
            axes.axhline(whole, color=style.colour(index), linewidth=1, linestyle=":", label=f"{words}, whole network")
    axes.set_xlabel("length of paths")
    axes.set_ylabel("accuracy")
    axes.xaxis.get_major_locator().set_params(integer=True)
    style.legend_beside(axes, 4)
    return Figure(name, figure, "What sums of paths of one length score. Dots: draws of paths; dotted: the whole network.")


# Probes whose curves of all arms stand on shared axes: the table, what tells lines of one run apart, what is drawn.
SHARED = {
    "residual_norm": ("stack", "layer", "mean", "norm of residual / norm of rows", {"centre": "mean", "norm": "composite"}),
    "token_cosine": ("stack", "layer", "mean", "mean cosine of token pairs", {}),
    "path_decomposition": (None, "length", "token_accuracy", "token accuracy", {}),
}


def shared_curves(kind, arms, name):
    """One line an arm with a band over seeds; `arms`: (name, control, probes of its runs)."""
    split, x, y, words, only = SHARED[kind]
    lines = {}
    for arm, control, probes in arms:
        for probe in probes:
            for row in known(rows_of(probe, kind), y):
                if all(row[key] == value for key, value in only.items()):
                    panel = row[split] if split else ""
                    lines.setdefault(panel, {}).setdefault((arm, control), {}).setdefault(row[x], []).append(row[y])
    if not lines:
        return None
    noise = {row[x]: row["noise"] for _, _, probes in arms for probe in probes for row in known(rows_of(probe, kind), "noise")}
    values = [v for panel in lines.values() for line in panel.values() for vs in line.values() for v in vs]
    deep = kind == "residual_norm" and min(values) < 1e-2
    figure, all_axes = style.plot(3.9 * len(lines) + 1.9, 3.5, ncols=len(lines), squeeze=False, sharey=True)
    names = [arm for arm, _, _ in arms]
    for axes, (panel, by_arm) in zip(all_axes[0], sorted(lines.items(), key=lambda line: (line[0] != "encoder", line[0]))):
        for (arm, control), points in by_arm.items():
            xs = sorted(points)
            means = [statistics.fmean(points[at]) for at in xs]
            shade = CONTROL if control else style.colour(names.index(arm))
            mark = "--" if control or names.index(arm) >= len(style.COLOURS) else "-"
            axes.plot(xs, means, mark, color=shade, marker="o", markersize=3, label=arm)
            if any(len(points[at]) > 1 for at in xs):
                axes.fill_between(xs, [min(points[at]) for at in xs], [max(points[at]) for at in xs], color=shade, alpha=0.15,
                                  linewidth=0)
        if deep:
            axes.plot(sorted(noise), [noise[at] for at in sorted(noise)], ":", color=CONTROL, linewidth=1.2, label="noise of rounding")
            axes.set_yscale("log")
        axes.set_title(panel)
        axes.set_xlabel("layer (0: embeddings)" if x == "layer" else "length of paths")
        axes.xaxis.get_major_locator().set_params(integer=True)
    all_axes[0][0].set_ylabel(words)
    style.legend_beside(all_axes[0][-1], len(arms))
    captions = {
        "residual_norm": "How far tokens are from being all alike, by depth: composite norm of the residual around the mean, over that of "
                         "the rows.",
        "token_cosine": "How alike the tokens of a sentence are, by depth.",
        "path_decomposition": "What sums of paths of one length score.",
    }
    over = "draws and seeds" if kind == "path_decomposition" else "seeds"
    return Figure(name, figure, f"{captions[kind]} Lines: means over {over if 'draws' in over else 'seeds and sentences'}; "
                                f"bands: range over {over}.")


def single_heads(probe, name):
    return heat_map(probe, name, "single", "change", f"change of {score_label(probe)}",
                    "What the score loses (red) or gains (blue) when one head alone is out.", signed=True)


# What is drawn of a probe's results, by its kind: endings of names, and functions of the results and the name.
FIGURES = {
    "residual_norm": {"": residual_norm},
    "token_cosine": {"": token_cosine},
    "head_importance": {"": partial(
        heat_map, table="head_importance", value="importance", title="importance", low=0,
        caption="How much the loss would move with the gate of every head, over the norm of its layer.")},
    "attention_entropy": {"": partial(
        heat_map, table="attention_entropy", value="relative_entropy", title="entropy / ln(keys)", low=0, high=1,
        caption="How evenly every head looks: its entropy over the largest possible.")},
    "value_norms": {"": partial(
        heat_map, table="value_norms", value="value", title="norm of values", low=0,
        caption="How long the value vectors of every head are.")},
    "head_pruning": {"": lambda probe, name: pruning([probe], name), "_single": single_heads},
    "path_decomposition": {"": paths},
}
