"""``dpsql export`` writes rows to give away; ``dpsql estimate`` estimates counts from randomized ones.

dpsql export DB -c "SELECT DP_RANDOMIZED_RESPONSE(ward, 0.5) ..." -o wards.csv     responses, of real rows
dpsql export DB --view census --rows 20000 -o rows.csv                             rows.synthetic.csv
"""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from dpsql.answer import Answer
from dpsql.cli import shared_arguments
from dpsql.cli.analyst_commands import check_output, write
from dpsql.cli.shared_arguments import Commands, command, opened, sql_of, text_of, values_of
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
        "write rows to give away: randomized responses (the owner's), or synthetic rows of a private view",
        "Write rows in which every column holds randomized responses, or synthetic rows that are drawn from "
        "a private view which is paid for; beside the file a manifest says what they are.",
        (
            "dpsql export clinic.duckdb -o wards.csv -c "
            '"SELECT DP_RANDOMIZED_RESPONSE(ward, 0.5) AS ward FROM patients"',
            "dpsql export clinic.duckdb --view census --rows 20000 -o rows.csv",
        ),
    )
    shared_arguments.database(parser)
    shared_arguments.query(parser)
    parser.add_argument(
        "--view", metavar="NAME", help="write synthetic rows of this private view, which is paid for: free"
    )
    parser.add_argument("--rows", type=int, metavar="N", help="how many synthetic rows")
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
    if options.view is not None:
        return _synthetic(options)
    if options.rows is not None:
        options.usage("--rows is for --view: a query says itself which rows it exports")
    sql, file = sql_of(options), options.output
    manifest = _checked_output(file)
    with opened(options) as db:
        values = values_of(options.param)
        result = beside(db, lambda: db.export(sql, values, epsilon=options.epsilon))
    _write(result, options.format, file, manifest)
    tell(
        f"{len(result.rows)} rows in {on_a_line(file.name)}, and what estimates need in "
        + on_a_line(manifest.name)
    )
    tell(summary(_answer(result)))
    return 0


def _synthetic(options: Namespace) -> int:
    """Write synthetic rows of a private view, under a name that says what they are."""
    given = (options.epsilon, text_of(options), *options.param)
    if options.rows is None or any(each is not None for each in given):
        options.usage("--view takes --rows, and neither a query nor a price: what it draws from is paid for")
    file = labelled(options.output)
    manifest = _checked_output(file)
    with opened(options) as db:
        result = beside(db, lambda: db.synthetic_rows(options.view, options.rows))
    _write(result, options.format, file, manifest)
    tell(
        f"{len(result.rows)} synthetic rows in {on_a_line(file.name)}, and what they are in "
        + on_a_line(manifest.name)
    )
    tell("free: drawn from what the ledger holds of the view")
    return 0


def labelled(file: Path) -> Path:
    """Return the name of a file of synthetic rows: rows.synthetic.csv for rows.csv."""
    if "synthetic" in file.name.casefold():
        return file
    return file.with_name(f"{file.stem}.synthetic{file.suffix}")


def _checked_output(file: Path) -> Path:
    """Refuse a file that cannot be written, or whose manifest cannot be; return the manifest's path."""
    from dpsql.estimates import manifest_beside

    manifest = manifest_beside(file)
    for path in (file, manifest):
        check_output(path)
    return manifest


def _write(result: Export, format: str, file: Path, manifest: Path) -> None:
    write(_content(result, format), file)
    content = json.dumps(result.manifest, indent=2, ensure_ascii=False) + "\n"
    write(content.encode("utf-8"), manifest)


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
