#!/usr/bin/env python3
"""Writes framework/data/unicode_tables.cpp from Unicode tables in Python.

Usage: tools/unicode_tables.py > framework/data/unicode_tables.cpp
Needs: pip install unicodedata2, for the classes; it is newer than Python's own table, from which lower case comes.
Classes are lists of inclusive ranges; lower case is a list of (first, last, step, difference).
"""
import unicodedata

import unicodedata2

from unicode_arrays import ALL, array, ranges


def counts_before_sigma(c):
    """Cased and not ignorable: alone before a capital sigma, it makes that one final."""
    return (c + "\u03a3").lower()[-1] == "\u03c2"


def ignorable(c):
    return ("A" + c + "\u03a3").lower()[-1] == "\u03c2" and not counts_before_sigma(c)


def lower_ranges():
    found = []
    for c in map(chr, ALL):
        low = c.lower()
        if low == c or c == "\u03a3" or len(low) > 1:
            continue
        code, difference = ord(c), ord(low) - ord(c)
        if found and found[-1][3] == difference:
            first, last, step, _ = found[-1]
            if first == last and code - last in (1, 2):
                found[-1][1:3] = [code, code - last]
                continue
            if first != last and code - last == step:
                found[-1][1] = code
                continue
        found.append([code, code, 1, difference])
    return found


def main():
    category = lambda letter: lambda c: unicodedata2.category(c)[0] == letter
    longer = [c for c in map(chr, ALL) if len(c.lower()) > 1]
    assert longer == ["\u0130"], longer  # handled by name in unicode.cpp
    print("// Written by tools/unicode_tables.py from Unicode " + unicodedata2.unidata_version +
          " (classes) and " + unicodedata.unidata_version + " (lower case); do not edit.")
    print("// clang-format off")
    print('#include "data/unicode_tables.h"\n\nnamespace attnlab::unicode_tables {\n')
    print(f'const char* const kVersion = "{unicodedata2.unidata_version}";\n')
    print("namespace {")
    for name, wanted in [("kPunctuation", category("P")), ("kSymbol", category("S")), ("kNumber", category("N")),
                         ("kCased", counts_before_sigma), ("kIgnorable", ignorable)]:
        print(array("Range", name, ranges(lambda code: wanted(chr(code)))))
    print(array("Lower", "kLower", lower_ranges(), hexadecimal=2))
    print("}  // namespace\n")
    for name in ["punctuation", "symbol", "number", "cased", "ignorable"]:
        print(f"std::span<const Range> {name}() {{ return k{name.capitalize()}; }}")
    print("std::span<const Lower> lower() { return kLower; }")
    print("\n}  // namespace attnlab::unicode_tables")


main()
