"""The page: sections of HTML around the figures. Everything that comes from outside is escaped here."""

import html
import math
import pathlib

import figures
import style
from figures import format_number

HERE = pathlib.Path(__file__).parent
FEW_SEEDS = 5  # below that a bootstrap over seeds is much too narrow
MARKS = {"reproduced": ("reproduced", "✓"), "not reproduced": ("not", "✗")}


def text(value):
    return html.escape(str(value), quote=True)


def table(columns, rows, numbers=(), classes=None):
    """Cells are escaped unless they are Raw. `numbers`: columns set to the right."""
    side = lambda i: ' class="number"' if i in numbers else ""  # noqa: E731
    head = "".join(f"<th{side(i)}>{breakable(column)}</th>" for i, column in enumerate(columns))
    body = []
    for at, row in enumerate(rows):
        kind = f' class="{classes[at]}"' if classes and classes[at] else ""
        cells = "".join(f"<td{side(i)}>{cell if isinstance(cell, Raw) else text(cell)}</td>" for i, cell in enumerate(row))
        body.append(f"<tr{kind}>{cells}</tr>")
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'


def breakable(words):
    """Long names of metrics may go on in the next line."""
    return text(words).replace(".", ".<wbr>").replace("_", "_<wbr>")


class Raw(str):
    """HTML that is safe as it is."""


def figure(drawn):
    return f"<figure>{drawn.svg}<figcaption>{text(drawn.caption)}</figcaption></figure>" if drawn else ""


def more(words, content):
    """Folded up on a screen."""
    return f"<details><summary>{text(words)}</summary>{content}</details>" if content else ""


def verdict_mark(verdict, seeds=0):
    """A verdict with its sign; that of a single seed says so."""
    kind, sign = MARKS.get(verdict, ("open", "?"))
    single = "<br><span class='soft'>single seed</span>" if seeds == 1 else ""
    return Raw(f'<span class="verdict {kind}">{sign} {text(verdict)}</span>{single}')


def board(group):
    """Verdicts, and how many there are of each."""
    if not group.verdicts:
        return ""
    tally = {}
    for verdict in group.verdicts:
        tally[verdict["verdict"]] = tally.get(verdict["verdict"], 0) + 1
    counts = "".join(f"<span>{verdict_mark(f'{name}')} {count}</span>" for name, count in tally.items())
    tested = any(verdict.get("p") is not None for verdict in group.verdicts)
    rows = []
    for verdict in group.verdicts:
        claim = f"<strong>{text(verdict['claim'])}</strong>"
        if verdict.get("note"):
            claim += f'<br><span class="soft">{text(verdict["note"])}</span>'
        p, holm = verdict.get("p"), verdict.get("p_holm")
        tests = [format_number(p, 3), format_number(holm if p is not None else None, 3)] if tested else []
        rows.append([Raw(claim), verdict_mark(verdict["verdict"], verdict.get("seeds")), verdict.get("figures", ""), *tests,
                     verdict.get("seeds", 0), verdict.get("set", "?")])
    columns = ["claim", "verdict", "figures", *(["p", "p (Holm)"] if tested else []), "seeds", "threshold set"]
    return f'<div class="tally">{counts}</div>' + table(columns, rows, set(range(3, len(columns) - 1)))


def summary_cell(values):
    """The mean, and under it the deviation of several and the standard error of their mean."""
    if not values:
        return "–"
    mean, sd = figures.mean_sd(values)
    error = format_number(sd / math.sqrt(len(values)), 2)
    spread = f"<br><span class='soft'>± {format_number(sd, 2)}, s.e.m. {error}</span>" if len(values) > 1 else ""
    return Raw(format_number(mean) + spread)


def interval_cell(interval):
    return f"{format_number(interval[0], 3)} … {format_number(interval[1], 3)}" if interval else "–"


def remarks(group, arm):
    """What an arm is, and what is to be known about its runs."""
    parts = [arm.note] if arm.note else []
    if arm.control:
        parts.insert(0, "control")
    if arm.rate:
        edge = ", at the edge of the grid" if arm.rate["at_edge"] else ""
        parts.append(f"rate {arm.rate['chosen']:g}{edge}; as good: {100 * arm.rate['basin_share']:.0f} % of the rates")
    if arm.stale and not group.all_stale():
        parts.append(f"{arm.stale} of {len(arm.runs)} runs made by other code")
    if len(group.precisions()) > 1:
        known = [run for run in arm.runs if run.precision]
        several = len({run.precision for run in known}) > 1
        if several:
            parts.append("seed " + ", ".join(f"{run.seed} in {run.precision}" for run in known))
        elif known:
            parts.append(f"in {known[0].precision}")
    states = [run.status for run in arm.runs if not run.finished()]
    if group.seeds:
        parts.extend(f"{states.count(state)} of {len(arm.runs)} runs {state}" for state in sorted(set(states)))
    else:
        parts.extend(sorted(set(states)))
    return "; ".join(parts)


def score_table(group):
    columns = ["arm", "seeds", style.label(group.metric)] if group.seeds else ["run", style.label(group.metric)]
    paired = any(arm.difference for arm in group.arms)
    published = any(arm.published is not None for arm in group.arms)
    known, known_differences = (any(getattr(arm, name) for arm in group.arms) for name in ("interval", "difference_interval"))
    over = "seeds, sentences" if group.seeds else "sentences"
    if known:
        columns += [f"95 % over {over}"]
    if paired:
        columns += ["difference", "p (paired t)"]
    if known_differences:
        columns += [f"difference, 95 % over {over}"]
    if published:
        columns += ["published"]
    shown = [c for c in group.columns if c != group.metric]
    columns += [style.label(c) for c in shown]
    rows, classes = [], []
    for arm in group.arms:
        said = remarks(group, arm)
        name = Raw(f"<div class='arm'>{text(arm.name)}" + (f"<br><span class='soft'>{text(said)}</span>" if said else "") + "</div>")
        row = [name, *([len(arm.values(group.metric))] if group.seeds else []), summary_cell(arm.values(group.metric))]
        if known:
            row.append(interval_cell(arm.interval))
        if paired:
            difference = arm.difference or {}
            row += [format_number(difference.get("mean"), 3), format_number(difference.get("p"), 2)]
        if known_differences:
            row.append(interval_cell(arm.difference_interval))
        if published:
            row.append(format_number(arm.published))
        for column in shown:
            row.append(format_number(arm.parameters) if column == "parameters" and arm.parameters else summary_cell(arm.values(column)))
        rows.append(row)
        classes.append("control" if arm.control else "")
    drawn = max((len(arm.values(group.metric)) for arm in group.arms), default=0)
    caution = ""
    if known and group.seeds and 1 < drawn < FEW_SEEDS:
        caution = (f"<p class='soft'>Intervals drawn again from {drawn} seeds are too narrow; where they and p disagree, "
                   "go by p.</p>")
    return table(columns, rows, set(range(1, len(columns))), classes) + caution


def curve_table(group):
    """Where every arm's curves end."""
    rows = []
    for arm in group.arms:
        for run in arm.runs:
            for metric in ("valid_nll", "loss"):
                points = figures.series(run, metric)
                if points:
                    rows.append([arm.name, run.seed or "–", style.label(metric), points[-1][0], format_number(points[-1][1]),
                                 format_number(min(value for _, value in points))])
    return table(["arm", "seed", "metric", "last step", "last value", "least"], rows, {1, 3, 4, 5}) if rows else ""


def cost_table(group):
    rows = []
    for arm in group.arms:
        if arm.values("training_seconds"):
            rows.append([arm.name, format_number(arm.parameters) if arm.parameters else "–", summary_cell(arm.values("training_seconds")),
                         summary_cell(arm.values("target_tokens_per_second")),
                         summary_cell([v / 2**20 for v in arm.values("peak_memory_bytes")])])
    return table(["arm", "weights", "training, s", "target tokens/s", "peak memory, MiB"], rows, {1, 2, 3, 4}) if rows else ""


def differences(entries):
    parts = []
    for entry in entries:
        rows = [[Raw(f"<code>{text(path)}</code>"), Raw(f"<code>{text(a) or '–'}</code>"), Raw(f"<code>{text(b) or '–'}</code>")]
                for path, a, b in entry["keys"]]
        content = table(["key", entry["reference"], entry["run"]], rows) if rows else "<p>The same but for its name.</p>"
        keys = "1 key differs" if len(rows) == 1 else f"{len(rows)} keys differ"
        study = f"{entry['study']}: " if entry.get("study") else ""
        parts.append(more(f"{study}{entry['run']}: {keys} from {entry['reference']}", content))
    return "".join(parts)


def environments(groups):
    """Each environment once, with the runs that had it."""
    seen = {}
    for group in groups:
        for arm in group.arms:
            for run in arm.runs:
                if run.environment:
                    facts = tuple((k, str(v)) for k, v in run.environment.items() if k != "started")
                    name = f"{group.title}: {arm.name}" if len(groups) > 1 else arm.name
                    seen.setdefault(facts, {}).setdefault(name, []).append(str(run.seed) if run.seed else "")
    parts = []
    for facts, arms in seen.items():
        names = [name + (f" (seed{'s' if len(seeds) > 1 else ''} {', '.join(seeds)})" if any(seeds) else "") for name, seeds in arms.items()]
        listed = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
        parts.append(more(f"{'All runs' if len(seen) == 1 else listed}", table(["fact", "value"], facts)))
    return "".join(parts)


def comparison(data):
    if not data:
        return ""
    rows = []
    for one in data["scores"]:
        rows.append([one["test"], one["metric"], f"{format_number(one['a'])} ± {format_number(one['a_interval'], 2)}",
                     f"{format_number(one['b'])} ± {format_number(one['b_interval'], 2)}", format_number(one["b"] - one["a"], 3),
                     format_number(one["p"], 3), Raw(f"<code>{text(one['signature'])}</code>")])
    if not rows:
        return ""
    columns = ["test set", "score", data["a"], data["b"], "difference", "p", "signature"]
    return ("<h2 id='comparison'>Scores side by side</h2><p class='soft'>Paired bootstrap over segments, 1,000 resamples; "
            "± is half of the central 95 %. One run of each: what seeds change is not in it.</p>"
            + table(columns, rows, {2, 3, 4, 5}))


def head_view(views):
    import head_view as module

    if not views:
        return ""
    two = any(sentence["target"] for view in views for sentence in view["sentences"])
    targets = " A token of the target is the one just read; looking around, it chooses the one after it." if two else ""
    colours = text("[" + ",".join(f'"{c}"' for c in style.COLOURS) + "]")
    return (f"<h2 id='attention'>Attention</h2><p class='soft'>Point at a token to see where it looks, or, on the right, who looks at it."
            f"{targets}</p>"
            f"<div class='view' id='head-view' data-colours=\"{colours}\"><noscript>The head view needs JavaScript.</noscript></div>"
            f"<script type='application/json' id='attention-data'>{module.to_script(views)}</script>")


def problems(items):
    if not items:
        return ""
    listed = "".join(f"<li>{text(item)}</li>" for item in items)
    return f"<div class='problems'><strong>Not everything could be drawn</strong><ul>{listed}</ul></div>"


def whole(title, lead, sections, warnings):
    """sections: (id, title, html), empty ones are left out."""
    sections = [section for section in sections if section[2]]
    links = "".join(f'<a href="#{name}">{text(words)}</a>' for name, words, _ in sections)
    body = "".join(content for _, _, content in sections)
    css = (HERE / "page.css").read_text(encoding="utf-8")
    script = (HERE / "page.js").read_text(encoding="utf-8")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="attnlab report">
<link rel="icon" href="data:,">
<title>{text(title)}</title>
<style>{css}</style>
</head>
<body>
<main>
<header><h1>{text(title)}</h1>{lead}<nav>{links}</nav></header>
{warnings}
{body}
</main>
<script>{script}</script>
</body>
</html>
"""
