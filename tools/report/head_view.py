"""Attention for the head view: maps of every head as 16-bit numbers."""

import base64
import json
import pathlib

import numpy

from data import read_json


def load_view(folder, name):
    """One model: its sentences with their tokens and maps; None where nothing was found."""
    folder = pathlib.Path(folder)
    probe = read_json(folder / "attention_maps.json")
    if not probe:
        return None
    arrays = numpy.load(folder / "attention_maps.npz")
    sentences = {}
    for sentence, side, _, token in probe["tables"]["tokens"]["rows"]:
        sentences.setdefault(sentence, {"source": [], "target": [], "maps": []})[side].append(token)
    for array, sentence, kind, layer, heads, queries, keys in probe["tables"]["maps"]["rows"]:
        weights = arrays[array]
        scale = max(1.0, float(numpy.abs(weights).max(initial=0)))
        numbers = numpy.rint(numpy.abs(weights) / scale * 65535).astype("<u2")
        sentences[sentence]["maps"].append(
            {
                "type": kind, "layer": layer, "heads": heads, "queries": queries, "keys": keys, "scale": scale,
                "weights": base64.b64encode(numbers.tobytes()).decode("ascii"),
                "visible": arrays[array + ".visible"].astype(int).tolist(),
            }
        )
    return {"name": name, "sentences": [sentences[key] for key in sorted(sentences)]}


def to_script(views):
    """JSON that may stand inside a script element, whatever the tokens are."""
    text = json.dumps(views, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
