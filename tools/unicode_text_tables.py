#!/usr/bin/env python3
"""Writes framework/data/unicode_letters.cpp and unicode_bare.cpp: what the tokenizers of published models need to know.

Usage: tools/unicode_text_tables.py, in the root of the source tree; takes Python's own Unicode tables.
Letters, non-spacing marks and hidden characters are lists of inclusive ranges; `bare` lists characters that NFD takes
apart, with what is left of them without non-spacing marks. Hangul syllables follow from a rule and are left out."""
import unicodedata

from unicode_arrays import ALL, array, ranges

HEAD = f"""// Written by tools/unicode_text_tables.py from Unicode {unicodedata.unidata_version}; do not edit.
// clang-format off
#include "data/unicode_text_tables.h"

namespace attnlab::unicode_tables {{
namespace {{
"""


def category(c):
    return unicodedata.category(chr(c))


def bare(c):
    return [ord(x) for x in unicodedata.normalize("NFD", chr(c)) if unicodedata.category(x) != "Mn"]


def changed():
    rows = []
    for c in ALL:
        if 0xAC00 <= c <= 0xD7A3 or category(c) == "Mn" or bare(c) == [c]:
            continue
        assert 1 <= len(bare(c)) <= 3, hex(c)
        rows.append([c] + bare(c))
    return rows


def write(name, arrays, functions):
    with open(f"framework/data/{name}.cpp", "w") as out:
        out.write(HEAD + "\n\n".join(arrays) + "\n}  // namespace\n\n")
        for function, kind in functions:
            out.write(f"std::span<const {kind}> {function}() {{ return k{function.capitalize()}; }}\n")
        out.write("\n}  // namespace attnlab::unicode_tables\n")


hidden = lambda c: category(c) in ("Cc", "Cf", "Co") and c not in (9, 10, 13) or c in (0, 0xFFFD)
write("unicode_letters",
      [array("Range", "kLetters", ranges(lambda c: category(c)[0] == "L")),
       array("Range", "kMarks", ranges(lambda c: category(c) == "Mn")),
       array("Range", "kHidden", ranges(hidden))],
      [("letters", "Range"), ("marks", "Range"), ("hidden", "Range")])
write("unicode_bare", [array("Bare", "kBare", changed())], [("bare", "Bare")])
