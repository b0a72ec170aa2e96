"""What the programs that write Unicode tables share: all characters, ranges of them, and C++ arrays."""
import sys

ALL = [c for c in range(sys.maxunicode + 1) if not 0xD800 <= c < 0xE000]


def ranges(wanted):
    """Inclusive ranges of the code points for which wanted(code) holds."""
    found = []
    for c in filter(wanted, ALL):
        if found and found[-1][1] == c - 1:
            found[-1][1] = c
        else:
            found.append([c, c])
    return found


def array(kind, name, rows, hexadecimal=4):
    """A std::array of rows of numbers, the first of each row in hexadecimal."""
    out, line = [f"const std::array<{kind}, {len(rows)}> {name}{{{{"], "   "
    for row in rows:
        item = " {" + ", ".join(hex(v) if i < hexadecimal else str(v) for i, v in enumerate(row)) + "},"
        if len(line) + len(item) > 110:
            out.append(line)
            line = "   "
        line += item
    return "\n".join(out + [line, "}};"])
