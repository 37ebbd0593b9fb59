"""Rows of randomized responses: the owner writes them, and whoever gets them counts by them."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from dpsql.answer import Answer
from dpsql.cli import shared_arguments
from dpsql.cli.analyst_commands import check_output, write
from dpsql.cli.shared_arguments import Commands, command, opened, sql_of, values_of
from dpsql.render.box import box, summary
from dpsql.render.digits import on_a_line, plain, printable
from dpsql.render.formats import rows_to_json, to_csv, to_parquet
from dpsql.terminal.output import put, tell
from dpsql.terminal.waiting import beside

if TYPE_CHECKING:
    from dpsql.ir.export import Export


def arguments(names: Commands) -> None:
    made = command(
        names,
        "export",
        "the owner's: rows of randomized responses, to give away",
        "Write rows in which every column answers at random, and a manifest beside the file for whoever "
        "counts by them.",
        (
            "dpsql export clinic.duckdb -o wards.csv -c "
            '"SELECT DP_RANDOMIZED_RESPONSE(ward, 0.5) AS ward FROM patients"',
        ),
    )
    shared_arguments.database(made, analyst=False)
    shared_arguments.query(made)
    made.add_argument("--format", choices=("csv", "json", "parquet"), default="csv", help="default: csv")
    made.add_argument("-o", "--output", type=Path, metavar="FILE", required=True, help="the file to write")
    made.set_defaults(run=export, usage=made.error)

    made = command(
        names,
        "estimate",
        "how many have each value, by an exported file: free",
        examples=("dpsql estimate wards.csv",),
    )
    made.add_argument("file", type=Path, metavar="FILE", help="with its manifest beside it")
    made.set_defaults(run=estimate)


def export(options: Namespace) -> int:
    """Write an export and its manifest."""
    from dpsql.estimates import manifest_beside

    sql, file = sql_of(options), options.output
    for each in (file, manifest_beside(file)):
        check_output(each)
    with opened(options) as db:
        values = values_of(options.param)
        made = beside(db, lambda: db.export(sql, values, epsilon=options.epsilon))
    write(_content(made, options.format), file)
    said = json.dumps(made.manifest, indent=2, ensure_ascii=False) + "\n"
    write(said.encode("utf-8"), manifest_beside(file))
    tell(
        f"{len(made.rows)} rows in {on_a_line(file.name)}, and how to count by them in "
        + on_a_line(manifest_beside(file).name)
    )
    tell(summary(_answer(made)))
    return 0


def estimate(options: Namespace) -> int:
    """The estimates of every column of an exported file."""
    from dpsql.estimates import estimates as estimated

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
