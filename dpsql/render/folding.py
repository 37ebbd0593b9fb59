"""Fit a table to a width: cut long text, split the columns into several boxes, or show rows as records.

┌────────────┬────────────┐         ┌──────────┬────────────┐
│ ward       │   patients │         │ ward     │ Cardiology │
├────────────┼────────────┤         │ patients │ 4422 ±  25 │
│ Cardiology │ 4422 ±  25 │         │ age      │ 65.8 ± 0.5 │
└────────────┴────────────┘         └──────────┴────────────┘
┌────────────┬────────────┐
│ ward       │        age │
├────────────┼────────────┤
│ Cardiology │ 65.8 ± 0.5 │
└────────────┴────────────┘
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import replace

from dpsql.lazy_dataclass import dataclass
from dpsql.render.digits import wide
from dpsql.render.display import Look

_MIN_TEXT_WIDTH, _MIN_NAME_WIDTH = 16, 8
_UNLIMITED = 1 << 20
_MAX_RECORDS = 3  # so few rows are easier to read with one column per line


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a cell: a clear part, then a dimmed part."""

    clear: str
    faint: str = ""

    @property
    def width(self) -> int:
        return wide(self.clear) + wide(self.faint)


@dataclass(frozen=True, slots=True)
class Column:
    """A name above its cells; a ``number`` column is right-aligned, and cut last."""

    name: str
    cells: tuple[Text, ...]
    number: bool

    @property
    def width(self) -> int:
        return max([wide(self.name), *(cell.width for cell in self.cells)])

    @property
    def least(self) -> int:
        """The smallest useful width."""
        if not self.number:
            return min(self.width, _MIN_TEXT_WIDTH)
        return max([min(wide(self.name), _MIN_NAME_WIDTH), *(cell.width for cell in self.cells)])


def draw_table(columns: Sequence[Column], look: Look) -> str:
    """Draw all columns within the width of the look."""
    if look.records and columns[0].cells:
        return _records(columns, look, look.width or _UNLIMITED)
    if look.width is None or _box_width(column.width for column in columns) <= look.width:
        return draw_box(columns, look)
    if 0 < len(columns[0].cells) <= _MAX_RECORDS and len(columns) > 1:
        return _records(columns, look, look.width)
    blocks = _blocks(columns, look.width)
    return "\n".join(draw_box(_narrowed(block, look.width, look.rows), look) for block in blocks)


def draw_box(columns: Sequence[Column], look: Look) -> str:
    """Draw a box as wide as its columns."""
    widths = [column.width for column in columns]
    numbers = [column.number for column in columns]
    rows = zip(*(column.cells for column in columns), strict=True)
    lines = [
        _rule("┌┬┐", widths),
        _line([Text(column.name) for column in columns], widths, numbers, look),
        _rule("├┼┤", widths),
        *(_line(row, widths, numbers, look) for row in rows),
        _rule("└┴┘", widths),
    ]
    return "\n".join(lines)


def cut(text: str, room: int) -> str:
    """Cut a text to a width, with … at the end."""
    if wide(text) <= room:
        return text
    while text and wide(text) >= room:
        text = text[: min(len(text) - 1, room)]
    return text.rstrip() + "…"


def _records(columns: Sequence[Column], look: Look, width: int) -> str:
    """Draw each row with a line for each column, and more lines for long text."""
    names = [cut(column.name, max(_MIN_NAME_WIDTH, width // 2 - 7)) for column in columns]
    name_width = max(map(wide, names))
    room = max(1, width - name_width - 7)
    blocks = [
        [
            (Text(name if first else ""), text)
            for name, column in zip(names, columns, strict=True)
            for first, text in _wrapped(column.cells[at], room, look.rows)
        ]
        for at in range(len(columns[0].cells))
    ]
    widths = [name_width, max(text.width for block in blocks for _, text in block)]
    lines = [_rule("┌┬┐", widths)]
    for block in blocks:
        lines += [_line(pair, widths, (False, False), look) for pair in block]
        lines.append(_rule("├┼┤", widths))
    return "\n".join([*lines[:-1], _rule("└┴┘", widths)])


def _wrapped(text: Text, room: int, most: int | None) -> list[tuple[bool, Text]]:
    """Wrap a text into ``most`` lines at most, each with a flag: True for the first line."""
    if text.width <= room:
        return [(True, text)]
    full = text.clear + text.faint
    start = full if most is None else full[: most * room]
    lines = textwrap.wrap(start, room, break_on_hyphens=False, drop_whitespace=True)
    while any(wide(line) > room for line in lines):  # some characters take two columns
        lines = [half for line in lines for half in _halves(line, room)]
    if most is not None and (len(lines) > most or start != full):
        lines = [*lines[: most - 1], cut(f"… {len(full):,} characters in all", room)]
    return [(at == 0, Text(line)) for at, line in enumerate(lines)]


def _halves(line: str, room: int) -> tuple[str, ...]:
    middle = len(line) // 2
    return (line,) if wide(line) <= room or not middle else (line[:middle], line[middle:])


def _blocks(columns: Sequence[Column], width: int) -> list[list[Column]]:
    """Split the columns into blocks that fit; each repeats the leading columns that name the row."""
    names: list[Column] = []
    for column in columns:
        if column.number or _box_width(member.least for member in (*names, column)) > width // 2:
            break
        names.append(column)
    blocks, block = [], list(names)
    for column in columns[len(names) :]:
        if len(block) > len(names) and _box_width(member.least for member in (*block, column)) > width:
            blocks.append(block)
            block = list(names)
        block.append(column)
    return [*blocks, block]


def _narrowed(columns: Sequence[Column], width: int, most: int | None) -> list[Column]:
    """Cut columns until they fit the width: the widest first, numbers last."""
    if len(columns) == 1:
        room = max(1, width - 4)
        lines = tuple(line for cell in columns[0].cells for _, line in _wrapped(cell, room, most))
        return [replace(columns[0], name=cut(columns[0].name, width - 4), cells=lines)]
    sizes = [(column.least, column.width) for column in columns]
    limit = width
    while limit > 1 and _box_width(max(least, min(full, limit)) for least, full in sizes) > width:
        limit -= 1
    rooms = [max(least, min(full, limit)) for least, full in sizes]
    over = max(0, _box_width(rooms) - width)
    return [_cut_column(column, max(1, room - over)) for column, room in zip(columns, rooms, strict=True)]


def _cut_column(column: Column, room: int) -> Column:
    texts = tuple(
        cell if cell.width <= room else Text(cut(cell.clear + cell.faint, room)) for cell in column.cells
    )
    return replace(column, name=cut(column.name, room), cells=texts)


def _box_width(widths: Iterable[int]) -> int:
    """Return the width of a box around columns of these widths."""
    return 1 + sum(width + 3 for width in widths)


def _rule(ends: str, widths: Sequence[int]) -> str:
    return ends[0] + ends[1].join("─" * (width + 2) for width in widths) + ends[2]


def _line(cells: Sequence[Text], widths: Sequence[int], right: Sequence[bool], look: Look) -> str:
    padded = []
    for cell, width, right_aligned in zip(cells, widths, right, strict=True):
        space = " " * (width - cell.width)
        text = cell.clear + (look.dim(cell.faint) if cell.faint else "")
        padded.append(space + text if right_aligned else text + space)
    return "│ " + " │ ".join(padded) + " │"
