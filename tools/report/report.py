"""Draws a report: report.py FOLDER --out FILE, where FOLDER holds what `attnlab report` gathered.

Writes one HTML file that needs nothing else, and beside it a folder FILE_figures with every figure as SVG and PNG.
"""

import argparse
import datetime
import pathlib

import data
import figures
import head_view
import page
import probe_figures
import style
from page import text


def safe_name(words):
    return "".join(c if c.isalnum() else "_" for c in words)[:60] or "figure"


class Report:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.gathered = data.read_json(self.folder / "report.json")
        self.problems = list(self.gathered.get("problems", []))
        self.names = set()  # of sections and figures
        self.groups = [data.study_group(study) for study in self.gathered["studies"]]
        if self.gathered["runs"]:
            self.groups.append(data.runs_group(self.gathered["runs"], self.gathered.get("comparison")))
        for group in self.groups:
            group.prefix = self.new_name(safe_name(group.title)) + "_" if len(self.groups) > 1 else ""
        self.drawn = []

    def new_name(self, words):
        """A name that nothing else here has, since it becomes a file or the target of a link."""
        name, count = words, 1
        while name in self.names:
            count += 1
            name = f"{words}_{count}"
        self.names.add(name)
        return name

    def attempt(self, what, make):
        """What `make` returns; None where that fails, for then the rest of the page is still worth drawing."""
        try:
            return make()
        except Exception as error:  # a probe's file may hold anything
            style.close_all()
            self.problems.append(f"{what} cannot be drawn: {type(error).__name__}: {error}")
            return None

    def title_of(self, group):
        """What stands before the name of something of the group."""
        return f"{group.title}: " if len(self.groups) > 1 else ""

    def keep(self, drawn):
        if drawn is not None:
            self.drawn.append(drawn)
        return page.figure(drawn)

    def board_section(self):
        parts = []
        for group in self.groups:
            if group.verdicts:
                parts.append((f"<h3>{text(group.title)}</h3>" if len(self.groups) > 1 else "") + page.board(group))
        return "<h2 id='verdicts'>Verdicts</h2>" + "".join(parts) if parts else ""

    def scores_section(self, group):
        if not group.metric:
            return ""
        name = group.prefix
        content = self.keep(figures.scores(group, self.new_name(name + "scores")))
        content += self.keep(figures.differences(group, self.new_name(name + "differences")))
        content += page.more("Numbers", page.score_table(group)).replace("<details>", "<details open>")
        for key, lines in figures.axis_arms(group).items():
            content += self.keep(figures.along_axis(group, key, lines, self.new_name(f"{name}along_{safe_name(key)}")))
        return f"<h2 id='{name}scores'>{text(group.title)}: scores</h2>" + content

    def curves_section(self, group):
        name = group.prefix
        drawn = figures.training_curves(group, self.new_name(name + "training"))
        if drawn is None:
            return ""
        return f"<h2 id='{name}training'>{text(group.title)}: training</h2>" + self.keep(drawn) + page.more("Numbers", page.curve_table(group))

    def cost_section(self, group):
        name = group.prefix
        table = page.cost_table(group)
        if not table:
            return ""
        drawn = self.keep(figures.cost(group, self.new_name(name + "cost")))
        return f"<h2 id='{name}cost'>{text(group.title)}: cost</h2>" + (drawn + page.more("Numbers", table) if drawn else table)

    def probes_section(self):
        parts = [self.probes_of_group(group) for group in self.groups]
        return "<h2 id='probes'>Probes</h2>" + "".join(parts) if any(parts) else ""

    def probes_of_group(self, group):
        """Curves of all arms together; maps of heads for the first run of every arm that has them."""
        kinds = {}
        for arm in group.arms:
            for run in arm.runs:
                kinds.update({name: probe["kind"] for name, probe in run.probes.items()})
        parts = []
        for name, kind in kinds.items():
            found = [(arm, run) for arm in group.arms for run in arm.runs if name in run.probes]
            if kind in probe_figures.SHARED and len(found) > 1:
                parts.append(self.shared_probe(group, name, kind))
            elif kind != "attention_maps":
                if kind == "head_pruning" and len(found) > 1:
                    parts.append(self.shared_pruning(group, name, found))
                first = {}
                for arm, run in found:
                    first.setdefault(arm.name, (arm, run))
                parts.extend(self.probe_of_run(group, name, arm, run) for arm, run in list(first.values())[:6])
        return "".join(parts)

    def shared_probe(self, group, name, kind):
        arms = [(arm.name, arm.control, [run.probes[name] for run in arm.runs if name in run.probes]) for arm in group.arms]
        arms = [arm for arm in arms if arm[2]]
        heading = self.title_of(group) + name.replace("_", " ")
        file = self.new_name(group.prefix + safe_name(name))
        drawn = self.keep(self.attempt(heading, lambda: probe_figures.shared_curves(kind, arms, file)))
        tables = "".join(page.more(f"{arm}", self.tables(f"{heading} of {arm}", probes[0])) for arm, _, probes in arms)
        return f"<h3>{text(heading)}</h3>{drawn}" + page.more("Numbers of the first seed", tables)

    def shared_pruning(self, group, name, found):
        """Curves over seeds, those of all arms on shared axes; the runs' own follow."""
        arms = {}
        for arm, run in found:
            arms.setdefault(arm.name, []).append(run.probes[name])
        heading = f"{self.title_of(group)}{name.replace('_', ' ')}: {'all arms' if len(arms) > 1 else 'all seeds'}"
        file = self.new_name(group.prefix + safe_name(name))
        return f"<h3>{text(heading)}</h3>" + self.keep(self.attempt(heading, lambda: probe_figures.pruning_of_arms(arms, file)))

    def probe_of_run(self, group, name, arm, run):
        probe = run.probes[name]
        label = f"{arm.name}{f', seed {run.seed}' if run.seed else ''}"
        heading = f"{self.title_of(group)}{label}: {name.replace('_', ' ')}"
        drawn = ""
        for ending, draw in probe_figures.FIGURES.get(probe["kind"], {}).items():
            file = self.new_name(group.prefix + safe_name(f"{name}_{label}") + ending)
            drawn += self.keep(self.attempt(heading, lambda: draw(probe, file)))
        notes = "".join(f"<p class='soft small-print'>{text(note)}</p>" for note in probe.get("notes") or [])
        return f"<h3>{text(heading)}</h3>{drawn}{notes}" + page.more("Numbers", self.tables(heading, probe))

    def tables(self, what, probe):
        return self.attempt(f"{what}: a table", lambda: "".join(
            page.table(table["columns"], [[self.cell(v) for v in row] for row in table["rows"][:400]])
            for table in probe.get("tables", {}).values())) or ""

    @staticmethod
    def cell(value):
        return figures.format_number(value) if isinstance(value, float) else "–" if value is None else value

    def views(self):
        views = []
        for view in self.gathered["views"]:
            name = f"{view['run']}, {view['weights']}"
            loaded = self.attempt(f"attention of {name}", lambda: head_view.load_view(self.folder / view["folder"], name))
            if loaded and loaded["sentences"]:
                views.append(loaded)
        return views

    def lead(self):
        when = datetime.datetime.now().strftime("%Y-%m-%d %H:%M")
        parts = []
        for group in self.groups:
            seeds = len(group.seeds)
            facts = [f"{len(group.arms)} {'arm' if len(group.arms) == 1 else 'arms'}"] if group.seeds else []
            if group.seeds:
                facts.append("a single seed" if seeds == 1 else f"{seeds} seeds")
            if group.quick:
                facts.append("quick version")
            if group.all_stale():
                facts.append("all runs made by other code than this program's")
            if group.question:
                parts.append(f"<p>{text(group.question)}</p>")
            if group.source:
                parts.append(f"<p>Published: {text(group.source)}</p>")
            if facts:
                parts.append(f"<p>{text(group.title)}: {text(', '.join(facts))}</p>")
        return "".join(parts) + f"<p>Drawn by attnlab on {when}.</p>"

    def html(self):
        for group in self.groups:
            for arm in group.arms:
                for run in arm.runs:
                    if not group.seeds and not run.finished():
                        self.problems.append(f"{arm.name}: {run.status}; drawn as far as it is")
        sections = [("verdicts", "Verdicts", self.board_section()),
                    ("comparison", "Scores side by side", page.comparison(self.gathered.get("comparison")))]
        for group in self.groups:
            for kind, make in (("scores", self.scores_section), ("training", self.curves_section), ("cost", self.cost_section)):
                words = self.title_of(group) + kind
                sections.append((group.prefix + kind, words if group.prefix else words.capitalize(), make(group)))
        sections.append(("probes", "Probes", self.probes_section()))
        sections.append(("attention", "Attention", page.head_view(self.views())))
        different = page.differences(self.gathered.get("differences", []))
        sections.append(("config", "Configuration", different and f"<h2 id='config'>Differences of configuration</h2><div id='config-details'>{different}</div>"))
        environments = page.environments(self.groups)
        sections.append(("environment", "Environment", environments and f"<h2 id='environment'>Environment</h2><div id='environment-details'>{environments}</div>"))
        names = [group.title for group in self.groups if group.seeds] or [run["name"] for run in self.gathered["runs"]]
        title = " and ".join(names[:3]) + (" …" if len(names) > 3 else "")
        return page.whole(title, self.lead(), sections, page.problems(self.problems))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--out", required=True, type=pathlib.Path)
    options = parser.parse_args()
    report = Report(options.folder)
    written = report.html()
    folder = options.out.with_name(options.out.stem + "_figures")
    folder.mkdir(parents=True, exist_ok=True)
    for drawn in report.drawn:
        for name, content in drawn.files().items():
            (folder / name).write_bytes(content)
    options.out.write_text(written, encoding="utf-8")
    print(f"{options.out}: {len(report.drawn)} figures, also in {folder}")


if __name__ == "__main__":
    main()
