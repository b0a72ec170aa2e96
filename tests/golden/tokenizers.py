#!/usr/bin/env python3
"""Golden ids of published kinds of tokenizers on hostile text, from the packages `tokenizers` and `sentencepiece`.

    pip install tokenizers sentencepiece
    python tests/golden/tokenizers.py             # writes tests/golden/tokenizers/

Small vocabularies are trained on the lines themselves, in the forms that published models have: byte_pairs as
vocab.json with merges.txt, single_digits as tokenizer.json, cased and lowercase word pieces as vocab.txt, and a
SentencePiece BPE model with byte fall-back. ids.json holds the lines and, for each of them, the ids."""
import sys

sys.path.pop(0)  # names in this folder are not Python's modules
import io
import json
import pathlib

import sentencepiece
import tokenizers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

OUT = pathlib.Path(__file__).parent / "tokenizers"
LINES = [
    "", " ", "   ", "a", " a", "a ", "  two  spaces   and a tail   ", "tab\there\tand\u00a0no-break\u2003em\u3000ideographic",
    "It's we'll they'RE I'd you've 'tis o'clock 'sorry' 's",
    "Hello, world! How are you?", "The quick brown fox jumps over the lazy dog. The quick brown fox jumps again.",
    "x = f(y[0], z->w) != 3.14e-10; // comment #1 @home 100% $5 ~/.bashrc", "...---...!!??((([[[{{{",
    "123 4567 89,012.34 ½ ² Ⅷ ٣٤٥ १२३ 四五六 abc123def 1a2b3c",
    "na\u00efve caf\u00e9 cafe\u0301 Zu\u0308rich \u00c5ngstr\u00f6m \u0130stanbul \u0131s\u0131 \u1e9eTRASSE Stra\u00dfe",
    "e\u0301\u0327\u0323\u0302 Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324\u031e\u0349\u035a\u032f\u031e\u0320\u034dA\u036b",
    "\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2 \u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u1f88\u1fb3\u1fbc \u01c4\u01c5\u01c6",
    "\u4f60\u597d\uff0c\u4e16\u754c\uff01 \u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8 \uf900\u2f804 \U00020000\U0002a6df mix\u4e2ded",
    "\ud55c\uad6d\uc5b4 \uac00\uac01\ud7a3 \u1112\u1161\u11ab", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e0a\u0e32\u0e27\u0e42\u0e25\u0e01",
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0650\u0633\u0652\u0645\u0650 \u05e9\u05dc\u05d5\u05dd \u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd",
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u0995\u09cb \u0b95\u0bcb \u0dc0\u0dde \u1b3b\u1b35",
    "\U0001f600 \U0001f469\u200d\U0001f4bb\U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea \U0001f44d\U0001f3ff \u2764\ufe0f 1\ufe0f\u20e3 \U0001fae0",
    "\U0001d54f\U0001d4ea \ufb01ne \uff21\uff22\uff23 \u2460\u2461 \u33a2 \u2126 \u212b \u00b5",
    "a\u0001b\u0007c\u001bd\u007fe\u0085f\u000bg\u000ch\u001ci\u200bj\ufeffk\u2060l\u00adm\u202en\ue000o\ufffdp\U000f0000q\U000e0001r",
    "line\u2028separator\u2029paragraph\rreturn",
    "w" * 100, "w" * 101, "ab" * 700, "\u00e9" * 120, "\u4e2d" * 130, "\U0001f600" * 40, "-" * 300, " " * 120,
    "<|endoftext|> [CLS] [SEP] [UNK] [MASK] <s> </s> <unk> <0x0A> ##ing \u2581low \u0120word",
    "\u0378\u0e80\U0001ffff\ufdd0 unassigned", "\u1680\u2000\u2001\u2002\u2009\u200a\u202f\u205f ogham", "\u061c\u180e\u2066\u2069x",
    "\u00a1\u00bfqu\u00e9? \u00abguillemets\u00bb \u201equotes\u201d \u2014dash\u2013 \u2026 \u3010cjk\u3011 \u30fb \u00b7 \u0589 \u2e3a",
    "\u20ac\u00a3\u00a5\u00a2 \u2190\u2191 \u221e\u2260\u2264 \u00a9\u00ae\u2122 ^`|~+<=>$", "CamelCaseWord snake_case_word kebab-case-word UPPER",
]


def byte_level(pre_tokenizer):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(LINES * 3, trainers.BpeTrainer(
        vocab_size=420, special_tokens=["<|endoftext|>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return tokenizer


def without_specials(tokenizer):
    """The same, but no text is a special entry, as in attnlab."""
    state = json.loads(tokenizer.to_str())
    state["added_tokens"] = []
    return Tokenizer.from_str(json.dumps(state))


def word_pieces(lowercase):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(LINES * 2 + ["hello world the brown fox"] * 9, trainers.WordPieceTrainer(
        vocab_size=460, min_frequency=1, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], limit_alphabet=240,
        show_progress=False))
    return tokenizer


def write_vocabulary(folder, tokenizer, lowercase):
    folder.mkdir(parents=True, exist_ok=True)
    entries = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    (folder / "vocab.txt").write_text("".join(entry + "\n" for entry, _ in entries), newline="")
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": lowercase}) + "\n")


def main():
    OUT.mkdir(exist_ok=True)
    result = {"made_by": f"tests/golden/tokenizers.py with tokenizers {tokenizers.__version__}, sentencepiece "
                         f"{sentencepiece.__version__}", "lines": LINES}
    plain = byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False))
    (OUT / "byte_pairs").mkdir(exist_ok=True)
    plain.model.save(str(OUT / "byte_pairs"))
    digits = byte_level(pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True),
                                                 pre_tokenizers.ByteLevel(add_prefix_space=False)]))
    (OUT / "single_digits").mkdir(exist_ok=True)
    (OUT / "single_digits" / "tokenizer.json").write_text(digits.to_str() + "\n")
    kinds = {"byte_pairs": plain, "single_digits": digits}
    for name, lowercase in (("lowercase", True), ("cased", False)):
        kinds[name] = word_pieces(lowercase)
        write_vocabulary(OUT / name, kinds[name], lowercase)
    for name, tokenizer in kinds.items():
        bare = without_specials(tokenizer)
        result[name] = [bare.encode(line, add_special_tokens=False).ids for line in LINES]
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([line for line in LINES if line.strip()]), model_writer=model, vocab_size=500, model_type="bpe",
        byte_fallback=True, character_coverage=0.98, normalization_rule_name="identity", remove_extra_whitespaces=False,
        minloglevel=2, num_threads=1)
    (OUT / "sentence_piece").mkdir(exist_ok=True)
    (OUT / "sentence_piece" / "tokenizer.model").write_bytes(model.getvalue())
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    result["sentence_piece"] = [processor.encode(line) for line in LINES]
    result["decoded_byte_pairs"] = [plain.decode(ids) for ids in ([[3], [200], [256, 3]] + [[i] for i in range(100, 257)])]
    (OUT / "ids.json").write_text(json.dumps(result, ensure_ascii=True) + "\n")


main()
