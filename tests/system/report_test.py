"""attnlab report, as a user meets it: one page that needs nothing else, whatever is missing, in a real browser."""

import html.parser
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time
import unittest
import urllib.request

from support import SOURCE, SystemTest, main

EVIL = '<img src=x onerror="document.title=1">&"\''


def python_that_draws():
    """The first interpreter that has what figures need, or None."""
    for python in filter(None, map(shutil.which, ("python3", "/usr/bin/python3"))):
        if subprocess.run([python, "-c", "import matplotlib, numpy"], capture_output=True).returncode == 0:
            return python
    return None


class Links(html.parser.HTMLParser):
    """Everything that a page would fetch, and the names that links inside it need."""

    def __init__(self):
        super().__init__()
        self.fetched, self.targets, self.names, self.open = [], [], set(), []

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("src", "href", "xlink:href", "action") and value and not value.startswith(("#", "data:")):
                self.fetched.append((tag, value))
            if name == "href" and value.startswith("#") and tag == "a":
                self.targets.append(value[1:])
            if name == "id":
                self.names.add(value)


class Driver:
    """A headless Chromium through its WebDriver."""

    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.process = subprocess.Popen(
            [shutil.which("chromedriver"), f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 30
        while True:
            try:
                self.call("GET", "/status")
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
        browser = shutil.which("chromium") or shutil.which("google-chrome")
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1200,1000", f"--user-data-dir={folder}"]
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"binary": browser, "args": arguments}, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = f"/session/{made['sessionId']}"

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def open(self, path):
        self.call("POST", self.session + "/url", {"url": pathlib.Path(path).resolve().as_uri()})

    def run(self, script, *arguments):
        return self.call("POST", self.session + "/execute/sync", {"script": script, "args": list(arguments)})

    def element(self, selector):
        found = self.call("POST", self.session + "/element", {"using": "css selector", "value": selector})
        return next(iter(found.values()))

    def click(self, selector):
        self.call("POST", f"{self.session}/element/{self.element(selector)}/click", {})

    def move_to(self, selector):
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        origin = {"element-6066-11e4-a52e-4f735466cecf": self.element(selector)}
        self.call("POST", self.session + "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": [
            {"type": "pointerMove", "duration": 0, "origin": origin, "x": 0, "y": 0}]}]})

    def console(self):
        return self.call("POST", self.session + "/se/log", {"type": "browser"})

    def close(self):
        try:
            self.call("DELETE", self.session)
        finally:
            self.process.terminate()
            self.process.wait()


@unittest.skipUnless(python_that_draws(), "SKIPPED: no Python with matplotlib here; tools/setup.sh installs one")
class ReportTest(SystemTest):
    def page(self, name="report.html"):
        return (self.folder / name).read_text(encoding="utf-8")

    def test_a_run_as_one_page_without_network(self):
        self.train("run")
        self.attnlab("probe", "run", "residual_norm", "token_cosine", "head_importance", "attention_entropy", "value_norms",
                     "--out", "run/probes", "--sentences", "4")
        self.attnlab("prune", "run", "--out", "run/probes", "--set", "head_pruning.random_orders=2", "--set",
                     "head_pruning.metric=log_likelihood")
        done = self.attnlab("report", "run", "--out", "report.html")
        self.assertIn("report.html", done.out)
        links = Links()
        links.feed(self.page())
        self.assertEqual(links.fetched, [])
        self.assertEqual(set(links.targets) - links.names, set())
        self.assertNotIn("@import", self.page())
        self.assertIsNone(re.search(r"url\((?!#)", self.page()))
        drawn = sorted(path.name for path in (self.folder / "report_figures").iterdir())
        for name in ("training.svg", "training.png", "residual_norm_run.svg", "head_pruning_run.png"):
            self.assertIn(name, drawn)
        for png in (self.folder / "report_figures").glob("*.png"):
            self.assertEqual(png.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")

    def test_a_classifier_of_vectors(self):
        self.write("bits.yaml", "precision: f32\ndata: {task: {kind: bit_xor, bits: 3, train: 32, valid: 8, test: 8}}\n"
                   "model: {kind: decoder, head: last, tie: none, width: 16, heads: 2, layers: 1}\n"
                   "train: {max_steps: 3, batch_tokens: 12}\n")
        self.attnlab("run", "bits.yaml", "--out", "bits")
        self.attnlab("report", "bits", "--sentences", "2")
        views = json.loads(re.search(r"id='attention-data'>(.*?)</script>", self.page(), re.S).group(1))
        sentence = views[0]["sentences"][0]
        self.assertEqual(sentence["source"], [str(place) for place in range(1, sentence["maps"][0]["keys"] + 1)])
        self.assertNotIn("cannot be drawn", self.page())

    def test_what_is_missing_is_named_and_the_rest_drawn(self):
        self.train("run")
        self.train("half", "--set", "train.max_steps=100000000", "--set", "train.schedule=constant", "--max-time", "1s")
        (self.folder / "half" / "result.json").unlink(missing_ok=True)
        with open(self.folder / "run" / "metrics.jsonl", "a") as metrics:
            metrics.write('{"step": 99, "lo')
        (self.folder / "broken").mkdir()
        self.attnlab("report", "run", "half", "nowhere", "broken")
        page = self.page()
        for words in ("nowhere: there is no such run", "broken: neither a run nor a study", "half: unfinished"):
            self.assertIn(words, page)
        self.assertIn('id="attention-data"'.replace('"', "'"), page)
        self.attnlab("report", "nowhere", code=2)

    def test_two_runs_are_compared(self):
        self.train("a")
        self.train("b", "--seed", "7", "--set", "model.heads=4")
        self.attnlab("report", "a", "b")
        page = self.page()
        self.assertIn("Paired bootstrap", page)
        self.assertIn("model.heads", page)
        self.assertIn("exact_match", page)

    def test_a_study_with_intervals_and_what_is_missing(self):
        self.write("study.yaml", """\
base: tiny.yaml
train: {max_steps: 40, validate_every: 20}
study:
  name: parts
  question: Is <b>this</b> escaped?
  source: a made-up <table>
  seeds: [1, 2]
  columns: [valid_nll, parameters]
  arms:
    full: {published: 0.9}
    narrow: {model: {width: 8}, published: 0.5, note: half & <i>half</i>}
    deep: {model: {layers: 2}}
    odd: {train: {early_stopping: {metric: valid_blue}}}
  probes:
    pruning: {probe: {kind: head_pruning, metric: log_likelihood, sentences: 8, random_orders: 2}, sentences: 4, arms: [full, deep]}
  expect: {"<b>narrow</b> is worse": {kind: difference, arm: narrow, at_most: 100}}
""")
        self.attnlab("run", "study.yaml")
        environment = self.folder / "runs/parts/deep/seed-2/environment.json"
        environment.write_text(environment.read_text().replace(json.loads(environment.read_text())["code"], "0" * 64))
        self.attnlab("run", "study.yaml", "--reuse-stale")
        shutil.rmtree(self.folder / "runs/parts/deep/seed-1")
        self.attnlab("report", "runs/parts", "--views", "1")
        page = self.page()
        for words in ("Is &lt;b&gt;this&lt;/b&gt; escaped?", "&lt;b&gt;narrow&lt;/b&gt; is worse", "half &amp; &lt;i&gt;half&lt;/i&gt;",
                      "95 % over seeds, sentences", "difference, 95 % over seeds, sentences", "drawn again from 2 seeds", "1 of 2 runs made by other code",
                      "2 of 2 runs failed", "s.e.m. 0", "1 key differs from full", "threshold set", "(seeds 1, 2)",
                      "parts: the folders of 1 of 6 finished runs are not there"):
            self.assertTrue(words in page, f"{words!r} is missing")
        for words in ("<b>", "<i>", "made-up <table>"):
            self.assertFalse(words in page, f"{words!r} is there")
        drawn = {path.name for path in (self.folder / "report_figures").iterdir()}
        for name in ("scores.svg", "differences.png", "training.svg", "cost.png", "pruning.svg", "pruning_full__seed_1_single.png"):
            self.assertIn(name, drawn)

    def test_names_and_sentences_are_escaped(self):
        name = 'a<b>&"c'
        self.train(name)
        self.write("text", "1 2 3\n")
        self.attnlab("report", name, "--text", "text")
        page = self.page()
        self.assertNotIn("a<b>&", page)
        self.assertIn("a&lt;b&gt;&amp;&quot;c", page)

    @unittest.skipUnless(shutil.which("chromium") and shutil.which("chromedriver"),
                         "SKIPPED: no chromium and chromedriver here (Debian: chromium chromium-driver)")
    def test_in_a_browser(self):
        self.train("run")
        words = self.folder / "run" / "vocabulary"
        for file in words.iterdir():  # a token that would be markup
            file.write_text(file.read_text().replace("\n3\n", f"\n{EVIL.replace(' ', '')}\n"))
        self.attnlab("report", "run")
        driver = Driver(self.folder / "browser")
        self.addCleanup(driver.close)
        driver.open(self.folder / "report.html")
        ready = "return document.querySelector('#head-view').dataset.ready"
        self.assertEqual(driver.run(ready), "true")
        self.assertEqual([entry for entry in driver.console() if entry["level"] == "SEVERE"], [])
        self.assertEqual(driver.run("return document.querySelectorAll('#head-view img').length"), 0)
        count = "return document.querySelectorAll(arguments[0]).length"
        # All lines until a token is pointed at; then its own, and weights on the other side that sum to one.
        many = driver.run(count, "#head-view .lines line")
        driver.move_to(".token[data-side=query][data-index='1']")
        self.assertLess(driver.run(count, "#head-view .lines line"), many)
        weights = driver.run("return [...document.querySelectorAll('.token[data-side=key] .weight')].map(n => +n.textContent)")
        self.assertAlmostEqual(sum(weights), 1, delta=0.005 * len(weights) + 0.01)
        # Decoder self-attention hides what comes later, and says so.
        driver.run("const s = document.getElementById('type-select'); s.value = 'decoder'; s.dispatchEvent(new Event('change'))")
        driver.move_to(".token[data-side=query][data-index='0']")
        keys = driver.run(count, ".token[data-side=key]")
        self.assertEqual(driver.run(count, ".token[data-side=key].hidden"), keys - 1)
        self.assertIn("hidden", driver.run("return document.querySelector('.token[data-side=key].hidden .weight').textContent"))
        # A small map chooses layer and head; a head's button switches it.
        driver.click(".small[data-head='1']")
        self.assertEqual(driver.run("return document.getElementById('head-select').value"), "1")
        self.assertEqual(driver.run(count, ".small[aria-pressed=true]"), 1)
        driver.click(".heads .head")
        self.assertEqual(driver.run(count, ".head[aria-pressed=true]"), 2)
        driver.run("const s = document.getElementById('type-select'); s.value = 'cross'; s.dispatchEvent(new Event('change'))")
        sides = driver.run("return [...document.querySelectorAll('.side h4')].map(n => n.textContent)")
        self.assertEqual(sides, ["looks (target)", "is looked at (source)"])
        self.assertEqual([entry for entry in driver.console() if entry["level"] == "SEVERE"], [])


if __name__ == "__main__":
    main()
