#!/usr/bin/env python3
"""Measures attnlab beside PyTorch and CTranslate2 on this machine and writes docs/performance.md.

    tools/bench/compare.py --all --make-venv ~/.cache/attnlab-peers     every row; the peers are installed first
    tools/bench/compare.py --only step:toy,decode --venv v              some rows, with the peers of an environment
    tools/bench/compare.py --render                                     the page alone, from what was measured before

Both sides run in turn, process by process; a figure is a ratio of times of one round, its row the median of all rounds.
Figures gather in docs/performance.json by machine, so that a run may be broken off and rows measured one by one."""
import argparse
import pathlib
import sys
import tempfile

from comparison import machine, measure, page, rows

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def log(text):
    print(text, file=sys.stderr, flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--all", action="store_true", help="every row")
    what.add_argument("--only", metavar="ROW,…", help="rows whose names begin so, such as step or step:toy:f32")
    what.add_argument("--list", action="store_true", help="the names of all rows")
    what.add_argument("--render", action="store_true", help="write the page from the figures that there are")
    parser.add_argument("--program", default=SOURCE / "build/release/attnlab", help="attnlab")
    parser.add_argument("--venv", action="append", default=[], metavar="DIR", help="a virtual environment with a peer")
    parser.add_argument("--make-venv", metavar="DIR", help="make environments of the peers there (5 GB)")
    parser.add_argument("--precision", choices=["f32", "bf16"], help="only this one; otherwise both if the CPU has bf16")
    parser.add_argument("--isa", choices=["avx2"], help="work as a CPU without AVX-512 does")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, help="at most so many")
    parser.add_argument("--again", action="store_true", help="measure rows anew that are there already")
    parser.add_argument("--set", action="append", default=[], help="for the configuration of row text: data.root=…")
    parser.add_argument("--config", default="configs/translation/multi30k_en_de.yaml", help="of row text")
    parser.add_argument("--results", default=SOURCE / "docs/performance.json", help="where figures gather")
    parser.add_argument("--page", default=SOURCE / "docs/performance.md")
    parser.add_argument("--remarks", default=SOURCE / "docs/performance.remarks.md",
                        help="what people wrote about the figures; goes into the page if it exists")
    return parser.parse_args()


def main():
    options = arguments()
    native = machine.instruction_set(options.isa) in ("AMX", "AVX512-BF16")
    precisions = [options.precision] if options.precision else ["f32", "bf16"] if native else ["f32"]
    results = measure.Results(options.results)
    with tempfile.TemporaryDirectory(prefix="attnlab-compare-") as folder:
        every = rows.all_rows(precisions, options.config, f"{folder}/batches.json", options.set)
        if options.list:
            print("\n".join(row.key for row in every))
            return
        if not options.render:
            environments = options.venv + (machine.make_environments(options.make_venv) if options.make_venv else [])
            programs = machine.Programs(str(options.program), environments, options.threads, options.isa, log)
            wanted = every if options.all else rows.chosen(every, options.only.split(","))
            key = machine.machine_key(options.isa, options.threads)
            measure.measure(wanted, programs, results, key, options.again, options.rounds, log)
    remarks = pathlib.Path(options.remarks)
    pathlib.Path(options.page).write_text(page.render(results.machines, remarks.read_text() if remarks.exists() else ""))
    log(f"wrote {options.page}")


if __name__ == "__main__":
    main()
