"""Text tables of a run: prices before it, and results after it."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from dpsql.batch.bill import Bill
from dpsql.batch.item import Item
from dpsql.batch.manifest import Entry, Manifest
from dpsql.ir.price import Expected
from dpsql.render.box import box
from dpsql.render.digits import above, below, printable, wide

_ROOM = 44
"""Width for expected errors."""

_LEAST = 12
"""Least width of a name."""


def bill_text(bill: Bill, accountant: str, columns: int | None = None) -> str:
    """Return each statement with its price and expected error, and the totals, ``columns`` wide."""
    rows = {item.task.statement.start: _priced(item) for item in bill.items}
    rows |= {
        task.statement.start: (task.name, "", f"refused {error.code}", "") for task, error in bill.refused
    }
    heads = ("name", "price", "now", "expected error (95 %)")
    table = _box(heads, [rows[at] for at in sorted(rows)], (False, True, True, False), columns)
    return "\n".join([table, *_doubts(bill), *_together(bill), *_totals(bill, accountant)])


def _together(bill: Bill) -> list[str]:
    """Say which statements are measured together, how, and what that changes."""
    by_digest: dict[str, list[Item]] = {}
    for item in bill.items:
        if item.alone is not None:
            by_digest.setdefault(item.plan.digest, []).append(item)
    return [_of_all(items, len(bill.items)) for items in by_digest.values()]


def _of_all(items: list[Item], statements: int) -> str:
    (measure,) = items[0].plan.measures
    assert measure.joint is not None
    strategy = measure.joint.applied.strategy
    alone, together = (
        median([each.error for each in errors if each.error is not None] or [0.0])
        for errors in (
            [each for item in items if item.alone is not None for each in item.alone.expected],
            [each for item in items for each in item.price.expected],
        )
    )
    return (
        f"{len(items)} of {statements} together, as one measurement of {strategy.cells} cells "
        f"({strategy.name}): usually ± {together:.3g}, one by one ± {alone:.3g}"
    )


def _doubts(bill: Bill) -> list[str]:
    """Say which statements could hardly show what they ask for."""
    return [f"{item.task.name}: {doubt}" for item in bill.items if item.cost for doubt in item.price.doubts]


def _priced(item: Item) -> tuple[str, str, str, str]:
    errors = _errors(item.price.expected) if item.paid else ""
    return item.task.name, f"{item.epsilons:g}", _cost(item), errors


def _cost(item: Item) -> str:
    if not item.paid:
        return "free"
    if item.like and not item.cost:
        return f"{'with' if item.alone is not None else 'free, as'} {item.like}"
    cost = f"{item.cost:g}" if item.cost else "answered before"
    return f"at most {cost}" if item.plan.steps and item.cost else cost


def _errors(expected: tuple[Expected, ...]) -> str:
    """Return as many expected errors as fit."""
    errors = [text for text in map(_error, expected) if text]
    line = ""
    for place, error in enumerate(errors):
        longer = f"{line}, {error}" if line else error
        if len(longer) > _ROOM and place:
            return f"{line}, ..."
        line = longer
    return line


def _error(expected: Expected) -> str:
    if expected.error is None:
        return ""
    rows = "" if expected.at_rows is None else f" at {expected.at_rows:,} rows"
    return printable(f"{expected.name} ± {expected.error:.3g}{rows}")


def _totals(bill: Bill, accountant: str) -> list[str]:
    statements = _counted(len(bill.items), "statement")
    lines = [f"{statements}: epsilon {bill.price:g} in all" if bill.price else f"{statements}: free"]
    before = bill.price - bill.cost
    if before > 1e-9:
        lines[0] += f", {before:g} of it paid before"
    taken = bill.remaining - bill.after
    if bill.fits < len(bill.items):
        lines.append(f"more than what remains, which is {below(bill.remaining)}")
    else:
        if bill.cost:
            less = f" (under {accountant}, less than the sum of prices)" if taken < 0.999 * bill.cost else ""
            lines.append(f"takes {above(taken)} off what remains{less}")
        lines.append(f"remaining {below(bill.remaining)} now, {below(bill.after)} afterwards")
    if bill.refused:
        refused = "one more is" if len(bill.refused) == 1 else f"{len(bill.refused)} more are"
        lines.append(f"{refused} refused: a run with --keep-going skips it, without it nothing is asked")
    return lines


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def summary_text(manifest: Manifest, columns: int | None = None) -> str:
    """Return the result of each statement, ``columns`` wide."""
    rows = [
        (
            entry.name,
            "" if entry.rows is None else str(entry.rows),
            "" if entry.unpriced else f"{entry.price:g}",
            f"{entry.paid:g}" if entry.paid else _free(entry) if entry.answered else "",
            entry.file if entry.answered and entry.file else _state(entry),
        )
        for entry in manifest.statements
    ]
    return _box(("name", "rows", "price", "paid", "file"), rows, (False, True, True, True, False), columns)


def _box(
    heads: tuple[str, ...], rows: Sequence[tuple[str, ...]], numeric: tuple[bool, ...], columns: int | None
) -> str:
    """Return a table; cut texts, but no numbers, to fit the width."""
    if columns is None:
        return box(heads, rows, numeric)
    widths = [max(map(wide, column)) for column in zip(heads, *rows, strict=True)]
    room = (
        columns
        - 3 * len(heads)
        - 1
        - sum(width for width, number in zip(widths, numeric, strict=True) if number)
    )
    words = sorted((at for at, number in enumerate(numeric) if not number), key=widths.__getitem__)
    for place, at in enumerate(words):
        widths[at] = min(widths[at], max(_LEAST, room // (len(words) - place)))
        room -= widths[at]
    cut = [tuple(_cut(cell, width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return box(heads, cut, numeric)


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
    """Return how many statements are answered, what was paid and what remains."""
    answered = sum(entry.answered for entry in manifest.statements)
    taken = manifest.had - manifest.remaining
    answered_text = f"{answered} of {_counted(len(manifest.statements), 'statement')} answered"
    notes = []
    if manifest.total is not None and manifest.paid > 1.001 * manifest.total:
        notes.append(f"together as private as one query at {manifest.total:g}")
    if manifest.paid > 1.001 * taken > 0:
        notes.append(f"it took {above(taken)} off what remained")
    less = f" ({'; '.join(notes)})" if notes else ""
    return f"{answered_text}, paid epsilon {manifest.paid:g}{less}, remaining {below(manifest.remaining)}"
