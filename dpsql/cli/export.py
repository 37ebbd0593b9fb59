"""``dpsql export`` writes rows of randomized responses; ``dpsql estimate`` estimates counts from them."""

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
    parser = command(
        names,
        "export",
        "the owner's: write rows of randomized responses, to give away",
        "Write rows in which every column holds randomized responses, and beside the file a manifest that "
        "estimates need.",
        (
            "dpsql export clinic.duckdb -o wards.csv -c "
            '"SELECT DP_RANDOMIZED_RESPONSE(ward, 0.5) AS ward FROM patients"',
        ),
    )
    shared_arguments.database(parser, analyst=False)
    shared_arguments.query(parser)
    parser.add_argument("--format", choices=("csv", "json", "parquet"), default="csv", help="default: csv")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", required=True, help="the file to write")
    parser.set_defaults(run=export, usage=parser.error)

    parser = command(
        names,
        "estimate",
        "estimate how many rows have each value, from an exported file: free",
        examples=("dpsql estimate wards.csv",),
    )
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="an exported file, with its manifest beside it"
    )
    parser.set_defaults(run=estimate)


def export(options: Namespace) -> int:
    """Write an export and its manifest."""
    from dpsql.estimates import manifest_beside

    sql, file = sql_of(options), options.output
    for path in (file, manifest_beside(file)):
        check_output(path)
    with opened(options) as db:
        values = values_of(options.param)
        result = beside(db, lambda: db.export(sql, values, epsilon=options.epsilon))
    write(_content(result, options.format), file)
    manifest = json.dumps(result.manifest, indent=2, ensure_ascii=False) + "\n"
    write(manifest.encode("utf-8"), manifest_beside(file))
    tell(
        f"{len(result.rows)} rows in {on_a_line(file.name)}, and what estimates need in "
        + on_a_line(manifest_beside(file).name)
    )
    tell(summary(_answer(result)))
    return 0


def estimate(options: Namespace) -> int:
    """Print the estimated counts of every column of an exported file."""
    from dpsql.estimates import estimates as estimated

    file: Path = options.file
    for name, estimates in estimated(file).items():
        cells = [
            (
                "NULL" if estimate.value is None else printable(plain(estimate.value)),
                f"{estimate.count:.1f}",
                f"{estimate.deviation:.1f}",
                f"{100 * estimate.share:.2f} %",
            )
            for estimate in estimates
        ]
        put(box((name, "estimate", "deviation", "share"), cells, (False, True, True, True)))
    return 0


def _content(result: Export, format: str) -> bytes:
    answer = _answer(result)
    if format == "parquet":
        return to_parquet(answer)
    return (rows_to_json(answer) if format == "json" else to_csv(answer)).encode("utf-8")


def _answer(result: Export) -> Answer:
    """Return the rows as an answer without margins: the noise is in the values themselves."""
    margins: list[tuple[float | None, ...]] = [(None,) * len(result.columns)] * len(result.rows)
    return Answer(
        result.columns, result.types, result.rows, margins, result.cost, result.remaining, result.repeated
    )
