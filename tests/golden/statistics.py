"""Values of SciPy and NumPy for tests/study/statistics_test.cpp.

    python3 tests/golden/statistics.py > tests/golden/statistics.json     (needs scipy)
"""
import json
import math

import numpy as np
from scipy import stats

random = np.random.default_rng(5)
CASES = [random.normal(mean, spread, n).round(6).tolist()
         for n, mean, spread in [(2, 1.0, 0.5), (3, -9.0, 0.4), (5, 0.1, 1.0), (6, 0.4, 0.3), (12, 0.0, 2.0)]]


def one_sample(values):
    a = np.array(values)
    n, error = len(a), stats.sem(a)
    positive, signed = int((a > 0).sum()), int((a != 0).sum())
    margin = 1.5
    lower = stats.ttest_1samp(a, -margin, alternative="greater").pvalue
    upper = stats.ttest_1samp(a, margin, alternative="less").pvalue
    low, high = stats.t.interval(0.95, n - 1, loc=a.mean(), scale=error)
    return {
        "values": values, "mean": a.mean(), "sd": a.std(ddof=1), "error": error,
        "above_quarter": stats.ttest_1samp(a, 0.25, alternative="greater").pvalue,
        "interval": [low, high],
        "sign": stats.binomtest(positive, signed, 0.5, alternative="greater").pvalue,
        "margin": margin, "equivalence": max(lower, upper),
    }


def holm(p):
    order, result, largest = np.argsort(p, kind="stable"), [0.0] * len(p), 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, p[place] * (len(p) - rank)))
        result[place] = largest
    return result


def hierarchical(seeds=3, sentences=7, resamples=40):
    """Shares of matches of two systems, crossed resampling of seeds and sentences."""
    hits = random.integers(0, 2, (2, seeds, sentences))
    seed_draws = random.integers(0, seeds, (resamples, seeds))
    sentence_draws = random.integers(0, sentences, (resamples, sentences))
    scores = [(hits[0][s][:, d] - hits[1][s][:, d]).mean() for s, d in zip(seed_draws, sentence_draws)]
    return {"hits": hits.tolist(), "seed_draws": seed_draws.tolist(), "sentence_draws": sentence_draws.tolist(),
            "difference": (hits[0] - hits[1]).mean(), "resampled": scores,
            "interval": np.percentile(scores, [2.5, 97.5]).tolist()}


X = [0.5, 1.0, 2.0, 3.0, 7.0]
Y = [0.2, 0.9, 3.1, 9.7, 55.0]
P = [0.01, 0.04, 0.03, 0.005, 0.2]
print(json.dumps({
    "samples": [one_sample(values) for values in CASES],
    "student": [{"t": t, "freedom": f, "cdf": stats.t.cdf(t, f)}
                for t in (-8.0, -1.3, 0.0, 0.7, 2.5, 40.0) for f in (1, 2, 4, 9, 30)],
    "quantile": [{"p": p, "freedom": f, "t": stats.t.ppf(p, f)}
                 for p in (0.001, 0.2, 0.5, 0.8, 0.975) for f in (1, 2, 5, 11)],
    "x": X, "y": Y, "slope": stats.linregress(np.log(X), np.log(Y)).slope,
    "p": P, "holm": holm(P),
    "binomial": [{"k": k, "n": n, "q": q, "tail": stats.binom.sf(k - 1, n, q)}
                 for k, n, q in [(0, 4, 0.3), (3, 3, 0.5), (2, 6, 1 / 6), (6, 6, 1 / 6), (40, 60, 0.5), (1, 1, 0.25)]],
    "hierarchical": hierarchical(),
    "detectable": {"sd": 0.7, "n": 5,
                   "value": (stats.t.ppf(0.975, 4) + stats.t.ppf(0.8, 4)) * 0.7 / math.sqrt(5)},
}, indent=1, default=float))
