"""How figures look, and how they are saved: SVG that follows the page's colours, PNG on white."""

import io
import re

import matplotlib

matplotlib.use("Agg")
import matplotlib.ticker  # noqa: E402
from matplotlib import pyplot  # noqa: E402

COLOURS = ["#3a7fc4", "#e0812b", "#2f9e75", "#b55fb3", "#c9483f", "#8a6d3b", "#4bb3c9", "#7f7fd5", "#9aa62f", "#d86f9a"]
CONTROL = "#8b919b"
PUBLISHED = "#c0392b"
INK = "#010203"  # stands for the page's own text colour in SVG
FAINT = "#040506"  # and for its lines

matplotlib.rcParams.update(
    {
        "font.family": "DejaVu Sans",
        "font.size": 9.5,
        "axes.titlesize": 10.5,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": FAINT,
        "axes.labelcolor": INK,
        "axes.titlecolor": INK,
        "text.color": INK,
        "xtick.color": FAINT,
        "ytick.color": FAINT,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": FAINT,
        "grid.alpha": 0.25,
        "grid.linewidth": 0.6,
        "legend.frameon": False,
        "lines.linewidth": 1.7,
        "lines.solid_capstyle": "round",
        "svg.fonttype": "path",
        "figure.dpi": 100,
        "savefig.bbox": "tight",
        "savefig.pad_inches": 0.06,
    }
)


def colour(index):
    return COLOURS[index % len(COLOURS)]


class Figure:
    """A finished picture: a name, SVG text, PNG bytes, and what it shows in words."""

    def __init__(self, name, figure, caption):
        self.name, self.caption = name, caption
        matplotlib.rcParams["svg.hashsalt"] = name
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        self.svg = _for_page(text.getvalue(), caption)
        for artist in figure.findobj():
            _plain_colours(artist)
        image = io.BytesIO()
        figure.savefig(image, format="png", dpi=160, facecolor="white", metadata={"Software": None})
        self.png = image.getvalue()
        pyplot.close(figure)

    def files(self):
        """SVG for other documents (dark on transparent) and PNG."""
        svg = self.svg.replace("currentColor", "#1d2129").replace("var(--faint)", "#6b7280")
        return {self.name + ".svg": svg.encode(), self.name + ".png": self.png}


def _for_page(svg, caption):
    svg = svg[svg.index("<svg") :]
    svg = svg.replace(INK, "currentColor").replace(FAINT, "var(--faint)")
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    label = caption.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    return svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)


def _plain_colours(artist):
    """The stand-ins for page colours become dark grey."""
    for get, put in (("get_color", "set_color"), ("get_edgecolor", "set_edgecolor")):
        if not hasattr(artist, get):
            continue
        value = getattr(artist, get)()
        try:
            text = matplotlib.colors.to_hex(value)
        except (ValueError, TypeError):
            continue
        if text in (INK, FAINT):
            getattr(artist, put)("#1d2129" if text == INK else "#9aa1ab")


def plot(width=6.6, height=3.2, **more):
    figure, axes = pyplot.subplots(figsize=(width, height), layout="constrained", **more)
    return figure, axes


def close_all():
    """Figures that were left half drawn."""
    pyplot.close("all")


def log_axis(axis, values):
    """A logarithmic axis: plain numbers at 1, 2 and 5, or powers of ten where the values span more than three."""
    (axis.axes.set_yscale if axis.axis_name == "y" else axis.axes.set_xscale)("log")
    if max(values) / min(values) > 1000:
        return
    axis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(matplotlib.ticker.NullFormatter())


def legend_beside(axes, entries):
    """Outside the axes, so that it covers nothing."""
    if 0 < entries:
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02), borderaxespad=0, fontsize=8.5, handlelength=2.8)


LABELS = {
    "nll": "nats a token (NLL)",
    "loss": "loss",
    "log_likelihood": "log-likelihood, nats a token",
    "bleu": "BLEU",
    "chrf": "chrF",
    "exact_match": "exact match",
    "perplexity": "perplexity",
    "accuracy": "token accuracy",
    "training_seconds": "training time, s",
    "parameters": "weights",
}


def label(metric):
    """A metric's name for people: "BLEU, test_2016_flickr", "residual: encoder, layer 5"."""
    for ending, words in LABELS.items():
        if metric == ending:
            return words
        if metric.endswith("_" + ending):
            where = metric[: -len(ending) - 1]
            return f"{words}, {'validation' if where == 'valid' else where}"
    probe, *path = metric.split(".")
    words = ", ".join(step.replace("_", " ") for step in path)
    return probe.replace("_", " ") + (f": {words}" if path else "")
