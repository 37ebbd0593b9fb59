"""Fit a refusal to the width of a terminal; its excerpt is cut around the caret.

1 | ...CROSS JOIN wards e, wards f GROUP BY patient_id...
  |                        ^^^^^^^ no declared key of the public side is matched
  = help: join on the public side's key; or aggregate first, and join what is
          released: SELECT SUM(s) FROM (SELECT x, SUM(y) AS s FROM ... GROUP BY x)
          JOIN ...
"""

from __future__ import annotations

import re
import textwrap

_EXCERPT = re.compile(r"(?m)^(\d+) \| (.*)\n +\| ( *)(\^+) ?(.*)$")
_MIN_COLUMNS = 40


def fit_refusal(text: str, columns: int) -> str:
    """Return the refusal with no line longer than ``columns``."""
    columns = max(columns, _MIN_COLUMNS)
    excerpt = _EXCERPT.search(text)
    if excerpt is None:
        return "\n".join(_wrapped(line, columns) for line in text.split("\n"))
    before, after = text[: excerpt.start()].rstrip("\n"), text[excerpt.end() :].lstrip("\n")
    lines = [*before.split("\n"), *_excerpt(excerpt, columns), *(after.split("\n") if after else [])]
    return "\n".join(line if "|" in line[:8] else _wrapped(line, columns) for line in lines)


def _excerpt(match: re.Match[str], columns: int) -> list[str]:
    """Cut the line of an excerpt around its caret; wrap the label below it if it does not fit."""
    number, line, space, carets, label = match.groups()
    room = columns - len(number) - 3
    at, gutter = len(space), " " * len(number)
    carets = carets[:room]
    if len(line) > room:
        label_room = min(len(label) + 1, room // 2)
        left = max(0, min(at + len(carets) + label_room - room, at))
        at -= left
        line = line[left:]
        if left:
            line, at = f"...{line[3:]}" if at >= 3 else line, at
        line = line if len(line) <= room else f"{line[: room - 3]}..."
    carets = carets[: room - at]
    lines = [f"{number} | {line}", f"{gutter} | {' ' * at}{carets} {label}".rstrip()]
    if label and at + len(carets) + 1 + len(label) > room:
        lines[1:] = [f"{gutter} | {' ' * at}{carets}"]
        lines += [f"{gutter} | {part}" for part in textwrap.wrap(label, room)]
    return lines


def _wrapped(line: str, columns: int) -> str:
    """Wrap a line of prose, with a hanging indent for notes and help."""
    if len(line) <= columns:
        return line
    indent = " " * (len(re.match(r"  = \w+: |  = |", line)[0]))  # type: ignore[index]  # it can match ''
    return textwrap.fill(
        line, columns, subsequent_indent=indent, drop_whitespace=True, break_on_hyphens=False
    )
