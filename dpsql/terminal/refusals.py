"""A refusal that keeps to the width of a terminal: the excerpt shows what its caret points at.

1 | ...CROSS JOIN wards e, wards f GROUP BY patient_id...
  |                        ^^^^^^^ no declared key of the public side is matched
  = help: join on the public side's key; or on at most 10,000 rows: (SELECT ...
          LIMIT 100)
"""

from __future__ import annotations

import re
import textwrap

_EXCERPT = re.compile(r"(?m)^(\d+) \| (.*)\n +\| ( *)(\^+) ?(.*)$")
_LEAST = 40


def fitted(text: str, columns: int) -> str:
    """The same refusal, no line of it longer than there is room."""
    columns = max(columns, _LEAST)
    found = _EXCERPT.search(text)
    if found is None:
        return "\n".join(_line(each, columns) for each in text.split("\n"))
    before, after = text[: found.start()].rstrip("\n"), text[found.end() :].lstrip("\n")
    parts = [*before.split("\n"), *_excerpt(found, columns), *(after.split("\n") if after else [])]
    return "\n".join(each if "|" in each[:8] else _line(each, columns) for each in parts)


def _excerpt(found: re.Match[str], columns: int) -> list[str]:
    number, line, space, carets, label = found.groups()
    room = columns - len(number) - 3
    at, gutter = len(space), " " * len(number)
    carets = carets[:room]
    if len(line) > room:
        behind = min(len(label) + 1, room // 2)
        left = max(0, min(at + len(carets) + behind - room, at))
        at -= left
        line = line[left:]
        if left:
            line, at = f"...{line[3:]}" if at >= 3 else line, at
        line = line if len(line) <= room else f"{line[: room - 3]}..."
    carets = carets[: room - at]
    lines = [f"{number} | {line}", f"{gutter} | {' ' * at}{carets} {label}".rstrip()]
    if label and at + len(carets) + 1 + len(label) > room:
        lines[1:] = [f"{gutter} | {' ' * at}{carets}"]
        lines += [f"{gutter} | {each}" for each in textwrap.wrap(label, room)]
    return lines


def _line(line: str, columns: int) -> str:
    """A line of words, continued below its first."""
    if len(line) <= columns:
        return line
    indent = " " * (len(re.match(r"  = \w+: |  = |", line)[0]))  # type: ignore[index]  # it matches nothing
    return textwrap.fill(
        line, columns, subsequent_indent=indent, drop_whitespace=True, break_on_hyphens=False
    )
