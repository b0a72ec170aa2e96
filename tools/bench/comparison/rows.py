"""What is compared: every row of the table, how each side is run, and the target."""
from dataclasses import dataclass, field

PRESETS = ["toy", "tiny", "small", "base", "gpt2"]
LENGTHS = [1024, 2048, 4096, 8192]
TORCH_SETTINGS = ["eager", "fused", "compile", "compile+fused"]
SPEED = {  # PyTorch's time over ours
    "f32": {"toy": 5, "tiny": 2.5, "small": 2, "base": 1.5, "gpt2": 1.7, "text": 2.2},
    "bf16": {"toy": 5, "tiny": 3, "small": 3, "base": 2, "gpt2": 2, "text": 3},
}
MEMORY = {"base": 0.5, "gpt2": 0.75}  # our peak over PyTorch's
ROOFLINE = {"f32": 0.8, "bf16": 0.6}  # least share, of preset base
DECODING = ATTENTION = 1.2
FROZEN_TIME, FROZEN_MEMORY = 0.75, 0.5  # of full training
STARTUP = 0.3  # seconds
SLOPE = 1.1  # most, of linear kinds


@dataclass
class Row:
    """`ours` are arguments of attnlab; `peers` are the command lines of each setting of a peer's script."""

    key: str
    ours: list
    environment: str = ""  # of the peer: torch or ctranslate2
    peers: dict = field(default_factory=dict)
    second: list = field(default_factory=list)  # a further command of ours in every round, compared with the first
    rounds: int = 5


def torch_settings(script, *arguments, settings=None):
    return {name: [script, *arguments, "--setting", name] for name in settings or TORCH_SETTINGS}


def step_rows(precision):
    for preset in PRESETS:
        steps = {"toy": "50", "base": "5", "gpt2": "5"}.get(preset, "9")
        arguments = ["--preset", preset, "--precision", precision, "--steps", steps]
        yield Row(f"step:{preset}:{precision}", ["bench", "step", *arguments], "torch",
                  torch_settings("torch_step.py", *arguments))


def decode_rows(precision):
    for name, beam in [("beam", "5"), ("greedy", "1")]:
        yield Row(f"decode:{name}:{precision}", ["bench", "decode", "--beam", beam, "--precision", precision], "ctranslate2",
                  {"float32": ["ct2_decode.py", "--beam", beam]})


def attention_rows(precision):
    for length in LENGTHS:
        for causal in (False, True):
            shape = ["--causal"] if causal else []
            ours = ["bench", "attention", "--kind", "scaled_dot", "--lengths", str(length), "--precision", precision]
            peer = ["torch_attention.py", "--length", str(length), "--precision", precision, *shape]
            yield Row(f"attention:{length}{':causal' if causal else ''}:{precision}",
                      [*ours, "--causal" if causal else "--full"], "torch", {"fused": peer})


def text_rows(precision, config, batches, assignments):
    arguments = [part for assignment in assignments for part in ("--set", assignment)]
    ours = ["bench", "text", config, *arguments, "--precision", precision, "--write-batches", batches]
    peers = torch_settings("torch_text.py", "--batches", batches, "--precision", precision, settings=["eager", "fused"])
    yield Row(f"text:{precision}", ours, "torch", peers)


def own_rows(precision):
    """Rows without a peer."""
    kinds = [part for kind in ("scaled_dot", "window", "linear", "linformer") for part in ("--kind", kind)]
    frozen = ["bench", "step", "--preset", "gpt2", "--precision", precision, "--steps", "5"]
    yield Row(f"growth:{precision}", ["bench", "attention", *kinds, "--full", "--precision", precision, "--repeat", "3"],
              rounds=3)
    yield Row(f"frozen:{precision}", frozen, second=[*frozen, "--trainable", "layernorm_only"])
    for preset in PRESETS:
        yield Row(f"matmul:{preset}:{precision}", ["bench", "matmul", "--preset", preset, "--precision", precision], rounds=2)
    yield Row(f"ops:{precision}", ["bench", "ops", "--precision", precision], rounds=3)
    yield Row(f"scaling:{precision}", ["bench", "scaling", "--precision", precision], rounds=1)


def all_rows(precisions, config, batches, assignments):
    """Every row, the ones that others need first."""
    rows = [Row("startup", ["bench", "startup"], rounds=3)]
    for precision in precisions:
        for part in (own_rows, step_rows, decode_rows, attention_rows):
            rows.extend(part(precision))
        rows.extend(text_rows(precision, config, batches, assignments))
    return rows


def chosen(rows, wanted):
    """Rows whose key begins with one of the wanted words, such as step, step:toy or attention:1024."""
    keep = [row for row in rows if any((row.key + ":").startswith(word + ":") for word in wanted)]
    for word in wanted:
        if not any((row.key + ":").startswith(word + ":") for row in rows):
            raise SystemExit(f"--only: no row {word}; there are {', '.join(row.key for row in rows)}")
    return keep
