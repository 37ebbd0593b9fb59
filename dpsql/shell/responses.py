"""Rows of randomized responses: the owner writes them, and whoever gets them counts by them."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

from dpsql.answer import Answer
from dpsql.answer.box import box, summary
from dpsql.answer.digits import plain, printable
from dpsql.answer.files import rows_to_json, to_csv, to_parquet
from dpsql.estimates import estimates as estimated
from dpsql.estimates import manifest_beside
from dpsql.ir.survey import Export
from dpsql.screen.terminal import put, tell
from dpsql.screen.waiting import beside
from dpsql.shell.commands import check_output, opened, sql_of, values_of, write


def export(options: Namespace) -> int:
    """Write an export and its manifest."""
    sql, file = sql_of(options), options.output
    for each in (file, manifest_beside(file)):
        check_output(each)
    with opened(options) as db:
        values = values_of(options.param)
        made = beside(db, lambda: db.export(sql, values, epsilon=options.epsilon))
    write(_content(made, options.format), file)
    said = json.dumps(made.manifest, indent=2, ensure_ascii=False) + "\n"
    write(said.encode("utf-8"), manifest_beside(file))
    tell(f"{len(made.rows)} rows in {file.name}, and how to count by them in {manifest_beside(file).name}")
    tell(summary(_answer(made)))
    return 0


def estimate(options: Namespace) -> int:
    """The estimates of every column of an exported file."""
    file: Path = options.file
    for name, listed in estimated(file).items():
        cells = [
            (
                "NULL" if each.value is None else printable(plain(each.value)),
                f"{each.count:.1f}",
                f"{each.deviation:.1f}",
                f"{100 * each.share:.2f} %",
            )
            for each in listed
        ]
        put(box((name, "estimate", "deviation", "share"), cells, (False, True, True, True)))
    return 0


def _content(made: Export, format: str) -> bytes:
    answer = _answer(made)
    if format == "parquet":
        return to_parquet(answer)
    return (rows_to_json(answer) if format == "json" else to_csv(answer)).encode("utf-8")


def _answer(made: Export) -> Answer:
    """No value of it has a margin: what noise there is, is in the values."""
    margins: list[tuple[float | None, ...]] = [(None,) * len(made.columns)] * len(made.rows)
    return Answer(made.columns, made.types, made.rows, margins, made.cost, made.remaining, made.repeated)
