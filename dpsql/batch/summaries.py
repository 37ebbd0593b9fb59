"""What a person reads of a file of statements: before it is run, and after."""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.batch.bill import Bill
from dpsql.batch.item import Item
from dpsql.batch.manifest import Entry, Manifest
from dpsql.ir.price import Expected
from dpsql.render.box import box
from dpsql.render.digits import above, below, printable, wide

_ROOM = 44
"""Columns for expected errors."""

_LEAST = 12
"""Columns that a name keeps."""


def bill_text(bill: Bill, accountant: str, columns: int | None = None) -> str:
    """Each statement with its price and its expected error, and what the whole takes, in so many columns."""
    rows = {each.task.statement.start: _priced(each) for each in bill.items}
    rows |= {
        task.statement.start: (task.name, "", f"refused {error.code}", "") for task, error in bill.refused
    }
    heads = ("name", "price", "now", "expected error (95 %)")
    table = _box(heads, [rows[at] for at in sorted(rows)], (False, True, True, False), columns)
    return "\n".join([table, *_whole(bill, accountant)])


def _priced(item: Item) -> tuple[str, str, str, str]:
    errors = _errors(item.price.expected) if item.paid else ""
    return item.task.name, f"{item.epsilons:g}", _cost(item), errors


def _cost(item: Item) -> str:
    if not item.paid:
        return "free"
    if item.like and not item.cost:
        return f"free, as {item.like}"
    said = f"{item.cost:g}" if item.cost else "answered before"
    return f"at most {said}" if item.plan.steps and item.cost else said


def _errors(expected: tuple[Expected, ...]) -> str:
    """As many as there is room for."""
    said = [each for each in map(_error, expected) if each]
    found = ""
    for place, each in enumerate(said):
        longer = f"{found}, {each}" if found else each
        if len(longer) > _ROOM and place:
            return f"{found}, ..."
        found = longer
    return found


def _error(each: Expected) -> str:
    if each.error is None:
        return ""
    rows = "" if each.at_rows is None else f" at {each.at_rows:,} rows"
    return printable(f"{each.name} ± {each.error:.3g}{rows}")


def _whole(bill: Bill, accountant: str) -> list[str]:
    said = _counted(len(bill.items), "statement")
    lines = [f"{said}: epsilon {bill.price:g} in all" if bill.price else f"{said}: free"]
    before = bill.price - bill.cost
    if before > 1e-9:
        lines[0] += f", of which {before:g} was paid before"
    taken = bill.remaining - bill.after
    if bill.fits < len(bill.items):
        lines.append(f"more than what remains, which is {below(bill.remaining)}")
    else:
        if bill.cost:
            less = f" (under {accountant} less than the sum of prices)" if taken < 0.999 * bill.cost else ""
            lines.append(f"takes {above(taken)} off what remains{less}")
        lines.append(f"remaining {below(bill.remaining)} now, {below(bill.after)} afterwards")
    if bill.refused:
        others = "one more is" if len(bill.refused) == 1 else f"{len(bill.refused)} more are"
        lines.append(f"{others} refused: a run with --keep-going skips that, any other asks nothing")
    return lines


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def summary_text(manifest: Manifest, columns: int | None = None) -> str:
    """What became of each statement; so many columns wide."""
    rows = [
        (
            each.name,
            "" if each.rows is None else str(each.rows),
            "" if each.unpriced else f"{each.price:g}",
            f"{each.paid:g}" if each.paid else _free(each) if each.answered else "",
            each.file if each.answered and each.file else _state(each),
        )
        for each in manifest.statements
    ]
    return _box(("name", "rows", "price", "paid", "file"), rows, (False, True, True, True, False), columns)


def _box(
    heads: tuple[str, ...], rows: Sequence[tuple[str, ...]], right: tuple[bool, ...], columns: int | None
) -> str:
    """Where there is no room, names are cut: what is not a number."""
    if columns is None:
        return box(heads, rows, right)
    widths = [max(map(wide, column)) for column in zip(heads, *rows, strict=True)]
    room = (
        columns
        - 3 * len(heads)
        - 1
        - sum(width for width, number in zip(widths, right, strict=True) if number)
    )
    words = sorted((at for at, number in enumerate(right) if not number), key=widths.__getitem__)
    for place, at in enumerate(words):
        widths[at] = min(widths[at], max(_LEAST, room // (len(words) - place)))
        room -= widths[at]
    cut = [tuple(_cut(cell, width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return box(heads, cut, right)


def _cut(text: str, room: int) -> str:
    if wide(text) <= room:
        return text
    while wide(text) > room - 3:
        text = text[:-1]
    return f"{text}..."


def _free(entry: Entry) -> str:
    return "repeated" if entry.repeated else "free"


def _state(entry: Entry) -> str:
    return entry.state if entry.code is None else f"{entry.state} {entry.code}"


def account(manifest: Manifest) -> str:
    """What the run has come to, and what it has taken."""
    answered = sum(each.answered for each in manifest.statements)
    taken = manifest.had - manifest.remaining
    said = f"{answered} of {_counted(len(manifest.statements), 'statement')} answered"
    notes = []
    if manifest.total is not None and manifest.paid > 1.001 * manifest.total:
        notes.append(f"together as private as one price of {manifest.total:g}")
    if manifest.paid > 1.001 * taken > 0:
        notes.append(f"it took {above(taken)} off what remained")
    less = f" ({'; '.join(notes)})" if notes else ""
    return f"{said}, paid epsilon {manifest.paid:g}{less}, remaining {below(manifest.remaining)}"
