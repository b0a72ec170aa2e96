"""Figures of studies and runs: scores of arms, training curves, cost."""

import math
import statistics

import style
from style import CONTROL, PUBLISHED, Figure, label


def mean_sd(values):
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else 0.0


def colours_of(controls):
    """Controls in grey, the others in turn; `controls`: {name: whether it is one}."""
    colours, used = {}, 0
    for name, control in controls.items():
        colours[name] = CONTROL if control else style.colour(used)
        used += 0 if control else 1
    return colours


def arm_colours(arms):
    return colours_of({arm.name: arm.control for arm in arms})


def axis_arms(group):
    """Arms that differ along one axis with numbers: {axis: {stem of their names: [(value, arm)]}}, values rising."""
    axes = {}
    for arm in group.arms:
        if len(arm.point) != 1:
            continue
        (key, text), = arm.point.items()
        try:
            value = float(text)
        except ValueError:
            continue
        axes.setdefault(key, {}).setdefault(arm.stem(), []).append((value, arm))
    return {key: {stem: sorted(points, key=lambda item: item[0]) for stem, points in lines.items()}
            for key, lines in axes.items() if any(len(points) > 1 for points in lines.values())}


def rows_of_arms(arms, width, axes_label):
    """Axes with one row an arm, the first on top."""
    figure, axes = style.plot(width, 0.7 + 0.33 * len(arms))
    axes.set_yticks(range(len(arms)), [arm.name for arm in arms])
    axes.set_ylim(len(arms) - 0.5, -0.5)
    axes.set_xlabel(axes_label)
    axes.grid(axis="y", visible=False)
    axes.margins(x=0.05)
    return figure, axes


def draw_row(axes, row, values, interval, shade):
    """Dots, their mean, a bar of one deviation, and a line for the interval over seeds and sentences."""
    mean, sd = mean_sd(values)
    if len(values) > 1:
        axes.plot([mean - sd, mean + sd], [row, row], color=shade, linewidth=6, alpha=0.25, solid_capstyle="butt")
    if interval:
        axes.plot(interval, [row, row], color=shade, linewidth=1.2)
    axes.plot(values, [row] * len(values), "o", color=shade, markersize=4, alpha=0.75, markeredgewidth=0)
    axes.plot([mean], [row], "|", color=shade, markersize=14, markeredgewidth=2)


def explain_rows(seeds, intervals):
    """What the marks of draw_row are."""
    parts = ["dots: seeds; tick: mean; bar: one standard deviation" if seeds > 1 else "a single seed each: what seeds change is not known"]
    if intervals:
        over = "seeds and sentences" if seeds > 1 else "sentences"
        parts.append(f"line: central 95 % over {over} (bootstrap)")
    return parts


def scores(group, name):
    """Every arm's score: a dot a seed, mean and spread, the published number."""
    arms = [arm for arm in group.arms if arm.values(group.metric)]
    if not arms or (len(arms) == 1 and len(arms[0].values(group.metric)) == 1 and arms[0].published is None):
        return None
    base = next((arm for arm in arms if arm.name == group.baseline), None)
    shift = mean_sd(base.values(group.metric))[0] - base.published if base and base.published is not None else 0.0
    published = [(row, arm.published + shift) for row, arm in enumerate(arms)
                 if arm.published is not None and not (shift and arm is base)]
    figure, axes = rows_of_arms(arms, 7.2, label(group.metric))
    for row, arm in enumerate(arms):
        draw_row(axes, row, arm.values(group.metric), arm.interval, CONTROL if arm.control else style.colour(0))
    if published:
        axes.plot([x for _, x in published], [row for row, _ in published], "D", color=PUBLISHED, markersize=5,
                  markerfacecolor="none", label="published" if not shift else "published differences\nfrom the baseline")
        style.legend_beside(axes, 1)
    if base is not None:
        axes.axvline(mean_sd(base.values(group.metric))[0], color=style.FAINT, linewidth=0.8, alpha=0.6)
    shown = [v for arm in arms for v in arm.values(group.metric)] + [x for x, _ in published]
    if min(shown) > 0 and max(shown) / min(shown) > 1000:
        axes.set_xscale("log")
    seeds = max(len(arm.values(group.metric)) for arm in arms)
    parts = explain_rows(seeds, any(arm.interval for arm in arms))
    if base is not None:
        parts.append("upright line: baseline")
    if any(arm.control for arm in arms):
        parts.append("grey: controls")
    caption = f"{label(group.metric)} of every {'arm' if group.seeds else 'run'}; {'; '.join(parts)}."
    return Figure(name, figure, caption)


def differences(group, name):
    """What every arm but the controls scores more or less than its baseline, paired by seed."""
    by_name = {arm.name: arm for arm in group.arms}
    arms = [arm for arm in group.arms if not arm.control and arm.baseline in by_name and arm.baseline != arm.name
            and arm.differences(by_name[arm.baseline], group.metric)]
    if len(arms) < 2 or not group.seeds:
        return None
    figure, axes = rows_of_arms(arms, 7.2, f"{label(group.metric)}: difference from the baseline")
    published = []
    for row, arm in enumerate(arms):
        base = by_name[arm.baseline]
        draw_row(axes, row, arm.differences(base, group.metric), arm.difference_interval, style.colour(0))
        if arm.published is not None and base.published is not None:
            published.append((row, arm.published - base.published))
    axes.axvline(0, color=style.FAINT, linewidth=0.8, alpha=0.6)
    if published:
        axes.plot([x for _, x in published], [row for row, _ in published], "D", color=PUBLISHED, markersize=5,
                  markerfacecolor="none", label="published")
        style.legend_beside(axes, 1)
    baselines = sorted({arm.baseline for arm in arms})
    of = f"'{baselines[0]}'" if len(baselines) == 1 else "the baseline at its own point"
    seeds = max(len(arm.by_seed(group.metric)) for arm in arms)
    parts = explain_rows(seeds, any(arm.difference_interval for arm in arms))
    return Figure(name, figure, f"Differences from {of}, paired by seed, without controls; {'; '.join(parts)}.")


def draw_along(axes, metric, points, shade, mark, words):
    """Means of arms against where they lie, with a band and dots over seeds."""
    xs = [x for x, _ in points]
    means = [mean_sd(arm.values(metric)) for _, arm in points]
    axes.plot(xs, [m for m, _ in means], mark, color=shade, markersize=4, label=words)
    if any(len(arm.values(metric)) > 1 for _, arm in points):
        axes.fill_between(xs, [m - s for m, s in means], [m + s for m, s in means], color=shade, alpha=0.2, linewidth=0)
    for x, arm in points:
        axes.plot([x] * len(arm.values(metric)), arm.values(metric), ".", color=shade, alpha=0.5, markersize=4)


def along_axis(group, key, lines, name):
    """A score against an axis: a line for each stem of arms, `lines`: {stem: [(value, arm)]}."""
    lines = {stem: [(x, arm) for x, arm in points if arm.values(group.metric)] for stem, points in lines.items()}
    lines = {stem: points for stem, points in lines.items() if points}
    if not any(len(points) > 1 for points in lines.values()):
        return None
    several = len(lines) > 1
    controls = {stem: all(arm.control for _, arm in points) for stem, points in lines.items()}
    colours = colours_of(controls)
    figure, axes = style.plot(5.2, 3.0)
    published = {stem: [(x, arm.published) for x, arm in points if arm.published is not None] for stem, points in lines.items()}
    for index, (stem, points) in enumerate(lines.items()):
        mark = "o--" if several and (controls[stem] or index >= len(style.COLOURS)) else "o-"
        draw_along(axes, group.metric, points, colours[stem], mark, stem if several else "ours")
        if published[stem]:
            axes.plot(*zip(*published[stem]), "D--", color=colours[stem] if several else PUBLISHED, markersize=4,
                      markerfacecolor="none")
    if any(published.values()):
        axes.plot([], [], "D--", color=style.INK if several else PUBLISHED, markersize=4, markerfacecolor="none", label="published")
    xs = sorted({x for points in lines.values() for x, _ in points})
    if min(xs) > 0 and max(xs) / min(xs) >= 8:
        axes.set_xscale("log")
    if axes.get_xscale() == "log" or len(xs) <= 8:
        axes.set_xticks(xs, [f"{x:g}" for x in xs])
        axes.minorticks_off()
    axes.set_xlabel(key)
    axes.set_ylabel(label(group.metric))
    style.legend_beside(axes, 1 if several or any(published.values()) else 0)
    seeds = max(len(arm.values(group.metric)) for points in lines.values() for _, arm in points)
    marks = "Band: one standard deviation over seeds; dots: seeds" if seeds > 1 else "A single seed"
    grey = "; grey: controls" if any(controls.values()) else ""
    return Figure(name, figure, f"{label(group.metric)} against {key}. {marks}{grey}.")


def series(run, metric):
    return [(line["step"], line[metric]) for line in run.metrics if isinstance(line.get(metric), (int, float))]


def curve_metric(arms):
    """The first of these that was logged: what training curves show."""
    for metric in ("valid_nll", "valid_loss", "nll", "loss"):
        if any(series(run, metric) for arm in arms for run in arm.runs):
            return metric
    return None


def training_curves(group, name):
    """One line an arm: the mean over seeds at each step, a band of their range. Arms of one step are left out."""
    arms = [arm for arm in group.arms if any(len(series(run, m)) > 1 for run in arm.runs for m in ("loss", "valid_nll"))]
    metrics = [m for m in ("loss", "valid_nll") if any(len(series(run, m)) > 1 for arm in arms for run in arm.runs)]
    if not metrics:
        return None
    colours = arm_colours(group.arms)
    banded = False
    figure, all_axes = style.plot(4.1 * len(metrics) + 1.6, 3.3, ncols=len(metrics), squeeze=False)
    for axes, metric in zip(all_axes[0], metrics):
        top, lowest = [], []
        for arm in arms:
            by_step = {}
            for run in arm.runs:
                for step, value in series(run, metric):
                    by_step.setdefault(step, []).append(value)
            if not by_step:
                continue
            steps = sorted(by_step)
            means = [statistics.fmean(by_step[step]) for step in steps]
            line = "--" if arm.control or group.arms.index(arm) >= len(style.COLOURS) else "-"
            axes.plot(steps, means, line, color=colours[arm.name], label=arm.name, marker="o" if len(steps) < 20 else None, markersize=3)
            if any(len(by_step[step]) > 1 for step in steps):
                banded = True
                axes.fill_between(steps, [min(by_step[step]) for step in steps], [max(by_step[step]) for step in steps],
                                  color=colours[arm.name], alpha=0.18, linewidth=0)
            top.extend(means)
            lowest.extend(min(by_step[step]) for step in steps if min(by_step[step]) > 0)
        axes.set_xlabel("step")
        axes.set_ylabel(label(metric) if metric != "loss" else "training loss, nats")
        if top and min(top) > 0 and max(top) / min(top) > 20:
            style.log_axis(axes.yaxis, top + lowest)
    style.legend_beside(all_axes[0][-1], len(arms) if len(group.arms) > 1 else 0)
    return Figure(name, figure, "Training curves on shared axes" + (": means over seeds, bands of their range." if banded else "."))


def cost(group, name):
    """Training time of every arm."""
    arms = [arm for arm in group.arms if arm.values("training_seconds")]
    if len(arms) < 2:
        return None
    drawn_sd = False
    figure, axes = rows_of_arms(arms, 6.2, "training time of one run, s")
    for row, arm in enumerate(arms):
        mean, sd = mean_sd(arm.values("training_seconds"))
        axes.barh([row], [mean], color=CONTROL if arm.control else style.colour(0), height=0.62, alpha=0.85)
        if sd > 0:
            drawn_sd = True
            axes.plot([mean - sd, mean + sd], [row, row], color=style.INK, linewidth=1)
    axes.set_xlim(left=0)
    spread = " of every arm: mean over seeds; line: one standard deviation." if drawn_sd else "."
    return Figure(name, figure, "Cost: seconds of training of one run" + spread)


def format_number(value, digits=4):
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "–"
    if isinstance(value, int) or 1000 <= abs(value) < 1e12:
        return f"{round(value):,}".replace(",", "\u202f")
    return f"{value:.{digits}g}"
