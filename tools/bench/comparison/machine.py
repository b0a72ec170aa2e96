"""The machine and its programs: what a figure holds for."""
import json
import os
import pathlib
import resource
import subprocess
import time

# Makes a machine with AVX-512 work as one without it, as far as each program lets itself be told.
AVX2_ONLY = {"ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2",
             "CT2_FORCE_CPU_ISA": "AVX2"}


def cpu_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(": ", 1)[1]
    return "unknown CPU"


def cpu_flags():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            return set(line.split(": ", 1)[1].split())
    return set()


def instruction_set(isa):
    """The widest that matters for products: AMX, AVX512-BF16, AVX-512 or AVX2."""
    flags = cpu_flags()
    if isa == "avx2":
        return "AVX2"
    for flag, name in [("amx_bf16", "AMX"), ("avx512_bf16", "AVX512-BF16"), ("avx512f", "AVX-512")]:
        if flag in flags:
            return name
    return "AVX2"


def commit():
    """Of the source tree, as Git names it; empty outside of a repository."""
    command = ["git", "-C", pathlib.Path(__file__).parent, "describe", "--always", "--dirty"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def machine_key(isa, threads):
    return f"{cpu_name()}, {instruction_set(isa)}, {threads} threads"


def busy_seconds():
    """CPU time that all programs took since the machine started."""
    user, nice, system, idle, waiting, *rest = map(int, pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:])
    return (user + nice + system + sum(rest[:2])) / os.sysconf("SC_CLK_TCK")


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class OthersWatch:
    """How many CPUs other programs kept busy while this one's children ran."""

    def __init__(self):
        self.start, self.busy, self.own = time.monotonic(), busy_seconds(), children_seconds()

    def share(self):
        took = max(time.monotonic() - self.start, 1e-3)
        return round(max(0.0, busy_seconds() - self.busy - (children_seconds() - self.own)) / took, 3)


class Programs:
    """Runs attnlab and the peers' scripts with the same surroundings."""

    def __init__(self, program, environments, threads, isa, log):
        self.program, self.environments, self.threads, self.log = program, environments, threads, log
        self.surroundings = {**os.environ, "OMP_NUM_THREADS": str(threads), **(AVX2_ONLY if isa == "avx2" else {})}
        self.source = pathlib.Path(__file__).resolve().parents[3]
        self.scripts = pathlib.Path(__file__).resolve().parents[1] / "peers"

    def python(self, environment):
        """The interpreter of a peer, or None if there is no such environment."""
        for folder in self.environments:
            python = pathlib.Path(folder) / "bin/python"
            if python.exists() and subprocess.run([python, "-c", f"import {environment}"], capture_output=True).returncode == 0:
                return str(python)
        return None

    def lines(self, command):
        """The JSON lines that a command prints, or one line that says what went wrong."""
        self.log(" ".join(map(str, command)))
        done = subprocess.run(command, capture_output=True, text=True, env=self.surroundings, cwd=self.source)
        found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode != 0 or not found:
            return [{"error": (done.stderr.strip().splitlines() or ["no result"])[-1][:300]}]
        return found

    def ours(self, arguments):
        return self.lines([self.program, *arguments, "--json", *self.threads_for(arguments)])

    def threads_for(self, arguments):
        return [] if arguments[1] == "startup" else ["--threads", str(self.threads)]

    def peer(self, python, arguments):
        script, *rest = arguments
        return self.lines([python, self.scripts / script, *rest, "--threads", str(self.threads)])[-1]


def make_environments(folder):
    """Two virtual environments, as the two peers ask for different libraries. Returns their folders."""
    made = []
    for name, packages in [("torch", ["torch", "numpy"]), ("ctranslate2", ["ctranslate2", "numpy", "setuptools"])]:
        place = pathlib.Path(folder) / name
        if not (place / "bin/python").exists():
            subprocess.run(["python3", "-m", "venv", place], check=True)
        subprocess.run([place / "bin/pip", "install", "--quiet", *packages], check=True)
        made.append(str(place))
    return made
