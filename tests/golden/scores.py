#!/usr/bin/env python3
"""Writes tests/golden/scores.json: what sacreBLEU says about edge cases and random lines.

Needs: pip install sacrebleu (the stored values say which version). Usage: tests/golden/scores.py > tests/golden/scores.json
"""
import json
import random
import sys

import numpy
import regex
import sacrebleu
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest

RANDOM = random.Random(20240229)

# Lines that tokenizers and lower-casing stumble over.
LINES = [
    "", " ", "   \u3000\u00a0 ", "a", ".", "...", "-", "A test.", "This is a test, isn't it?",
    "It costs 3,000.50 dollars (or 2.5%), 10-20 of them; e.g. A.B.C.", "1.", "1,2", "1, 2", ",1", ".5", "5.", "a.b", "a,b,c",
    "5-6", "a-b", "5-a", "-5", "x--y", "..,,..", "a..b", ".,a", "\u00e9.\u00e9,", "1.\u00e9", "\u00e9.1",
    "&quot;quoted&quot; &amp; &lt;b&gt; &amp;lt; &apos;", "<skipped> rest <skipped>", "[x]{y}|z~`@#$%^&*()_+=\\/",
    "don't 'quote' \u2018single\u2019 \u201cdouble\u201d \u00abguillemets\u00bb", "price: \u20ac5, \u00a33.50, 5\u20ac",
    "tab\tand\u00a0no-break\u2009thin\u2028line\u2029para\u0085next\x1cfs\x1fus", "trailing space  ", "  leading",
    "\u4f60\u597d\uff0c\u4e16\u754c\u3002", "\u30c6\u30b9\u30c8\u3067\u3059\u3002\u3053\u308c\u306f\u300c\u62ec\u5f27\u300d\u3067\u3059\uff01",
    "\u0437\u0434\u0440\u0430\u0432\u0441\u0442\u0432\u0443\u0439, \u041c\u0418\u0420!", "\u0645\u0631\u062d\u0628\u0627\u060c \u0643\u064a\u0641 \u062d\u0627\u0644\u0643\u061f \u0661\u066b\u0662",
    "\u0928\u092e\u0938\u094d\u0924\u0947\u0964 \u0967,\u0968", "emoji \U0001F600\U0001F468\u200d\U0001F469 ok", "e\u0301 combining \u0301",
    "\u00bd cup, \u2160. chapter, x\u00b2", "STRASSE \u00df \u1e9e \u0130stanbul I\u0131", "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03a3 \u03a3. A\u03a3 A\u03a3\u0301 A\u03a3B A.\u03a3",
    "\u01c5 \u10a0 \u13a0 \uff21 \U00010400 \u2126 \u212a", "\ufeffBOM", "\u200bzero\u200bwidth", "a\u00adb", "http://x.y/z?a=1&b=2", "1\u20442", "10:30", "$5.00", "No. 5.", "U.S.A.", "3.5.7", "1,000,000.00.",
]
ALPHABET = list("abAB019  .,-'\"&;:()/") + ["\u00e9", "\u00c4", "\u4e2d", "\u3002", "\u20ac", "\u00bd", "\u2019", "\u00a0", "\u0130", "\u03a3", "\u03b1", "\U0001F600", "\u0661", "\u0301"]


def random_line():
    return "".join(RANDOM.choice(ALPHABET) for _ in range(RANDOM.randrange(0, 40)))


def changed(line):
    """A hypothesis for a reference: words dropped, doubled, swapped, changed in case."""
    words = line.split(" ")
    for _ in range(RANDOM.randrange(0, 3)):
        if not words:
            break
        i = RANDOM.randrange(len(words))
        RANDOM.choice([lambda: words.pop(i), lambda: words.insert(i, words[i]), lambda: words.append(words[i].upper()),
                       lambda: words.reverse()])()
    return " ".join(words)


WORDS = "the a man woman dog is are playing in on with red blue , . two young people street water ball 's 3.5 Paris".split()


def sentence():
    return " ".join(RANDOM.choice(WORDS) for _ in range(RANDOM.randrange(1, 16)))


def corpora():
    fuzz = LINES + [random_line() for _ in range(60)]
    plain = [sentence() for _ in range(60)]
    yield "fuzz", [changed(x) for x in fuzz], [fuzz]
    yield "plain", [changed(x) for x in plain], [plain]
    yield "case", [x.upper() for x in fuzz], [fuzz]
    yield "two references", [changed(x) for x in plain], [plain, [changed(changed(x)) for x in plain]]
    yield "three references", [changed(x) for x in fuzz], [fuzz, [changed(x) for x in fuzz], ["" if i % 2 else x for i, x in enumerate(fuzz)]]
    yield "equal", plain, [plain]
    yield "nothing in common", ["x y z w v"] * 3, [["a b c d e"] * 3]
    yield "empty hypotheses", ["", "", ""], [["a b", "c", "d e f g h"]]
    yield "empty references", ["a b", "c d e f"], [["", ""]]
    yield "all empty", ["", ""], [["", ""]]
    yield "some empty", ["a b c d e", "", "f g h i"], [["a b c d", "x", ""]]
    yield "one word", ["hello"], [["hello"]]
    yield "three words", ["a b c"], [["a b c"]]
    yield "short", ["a b", "c d"], [["a b x", "c d y"]]
    yield "no 4-gram match", ["a b c x d e f y"], [["a b c d e f g h"]]
    yield "no bigram match", ["a x b y c z"], [["a b c d e f"]]
    yield "too short", ["the man"] * 4, [["the man in the red street with two dogs"] * 4]
    yield "too long", ["the man in the red street with two dogs"] * 4, [["the man in the street"] * 4]
    yield "repeated words", ["the the the the the the the"], [["the cat is on the mat", ], ["there is a cat on the mat the"]]
    yield "closest length", ["a b c d"], [["a b c d e f"], ["a b"]]
    yield "single character", ["a"], [["b"]]


def bleu_options():
    for tokenize in ["13a", "intl", "char", "none"]:
        for lowercase in [False, True]:
            yield dict(tokenize=tokenize, lowercase=lowercase)
    for method, value in [("floor", None), ("floor", 0.01), ("add-k", None), ("add-k", 0.5), ("none", None)]:
        yield dict(smooth_method=method, smooth_value=value)
    yield dict(effective_order=True)
    yield dict(effective_order=True, smooth_method="floor")


def chrf_options():
    yield from [dict(), dict(word_order=2), dict(word_order=1, beta=3), dict(lowercase=True), dict(whitespace=True),
                dict(char_order=4), dict(word_order=2, lowercase=True, whitespace=True)]


def score_cases():
    for name, hypotheses, references in corpora():
        results = []
        for metric, make, all_options in [("bleu", BLEU, bleu_options()), ("chrf", CHRF, chrf_options())]:
            for options in all_options:
                scorer = make(**options)
                score = scorer.corpus_score(hypotheses, references)
                results.append(dict(metric=metric, options={k: v for k, v in options.items() if v is not None}, score=score.score,
                                    name=score.name, details=score._verbose, signature=scorer.get_signature().format()))
        yield dict(name=name, hypotheses=hypotheses, references=references, results=results)


def token_cases():
    lines = LINES + [random_line() for _ in range(150)]
    for line in lines:
        yield dict(line=line, lower=line.lower(), **{t: BLEU(tokenize=t)._preprocess_segment(line).split() for t in ["13a", "intl", "char", "none"]})


def bootstrap_case():
    references = [sentence() for _ in range(25)]
    baseline, system = ([changed(x) for x in references] for _ in range(2))
    test = PairedTest([("a", baseline), ("b", system)], {"bleu": BLEU(references=[references]), "chrf": CHRF(references=[references])},
                      [references], test_type="bs", n_samples=200)
    _, scores = test()
    draws = numpy.random.default_rng(12345).choice(25, size=(200, 25), replace=True)
    names = dict(bleu="BLEU", chrf="chrF2")
    result = {m: [dict(score=float(r.score), mean=float(r.mean), interval=float(r.ci), p=r.p_value) for r in scores[n]] for m, n in names.items()}
    return dict(references=references, baseline=baseline, system=system, draws=draws.tolist(), **result)


def unicode_sums():
    """Over all code points: how many are in each class, and a sum of places and lower-case values."""
    points = [c for c in range(sys.maxunicode + 1) if not 0xD800 <= c < 0xE000]
    result = {name: sum(bool(regex.match(p, chr(c))) for c in points)
              for name, p in [("punctuation", r"\p{P}"), ("symbol", r"\p{S}"), ("number", r"\p{N}")]}
    result["space"] = sum(chr(c).isspace() for c in points)
    result["lower"] = sum((c % 1009) * sum(map(ord, chr(c).lower())) for c in points)
    return result


json.dump(dict(unicode=unicode_sums(), sacrebleu=sacrebleu.__version__, scores=list(score_cases()), tokens=list(token_cases()), bootstrap=bootstrap_case()),
          sys.stdout, ensure_ascii=True, separators=(",", ":"), indent=None)
print()
