"""``dpsql demo``: answer a few queries on generated data, show a refusal and the budget."""

from __future__ import annotations

import shutil
import tempfile
import textwrap
from argparse import Namespace
from pathlib import Path

from dpsql.cli.analyst_commands import answered
from dpsql.cli.demo_data import PATIENTS, POLICY, build
from dpsql.cli.shared_arguments import Commands, command
from dpsql.dbapi import Connection, connect
from dpsql.errors import Error, InterfaceError
from dpsql.lazy_dataclass import dataclass
from dpsql.render.box import answer_text
from dpsql.shell import run as shell
from dpsql.shell.places import Files
from dpsql.terminal.accounts import budget_text
from dpsql.terminal.explanation import wrapped
from dpsql.terminal.output import flush, interactive, look, paint, put, refusal, width


def arguments(names: Commands) -> None:
    parser = command(
        names,
        "demo",
        "build a made-up clinic and show a few answers",
        "Build a made-up clinic, show a few answers and, in a terminal, open the shell on it.",
        ("dpsql demo", "dpsql demo --dir clinic"),
    )
    parser.add_argument("--dir", type=Path, metavar="DIR", help="keep the clinic's files in this folder")
    parser.set_defaults(run=demo)


@dataclass(frozen=True, slots=True)
class _Question:
    title: str
    sql: str
    remark: str = ""


_OLD = "SELECT COUNT(*) AS patients FROM patients WHERE age >= 65"

_BUILDINGS = """\
SELECT w.building, COUNT(*) AS visits, SUM(v.cost) AS cost
FROM visits v JOIN wards w ON v.ward = w.ward
GROUP BY w.building"""

_QUESTIONS = (
    _Question("How many patients are old?", _OLD),
    _Question(
        "How old are they, by ward?",
        "SELECT ward, COUNT(*) AS patients, AVG(age) AS age\nFROM patients GROUP BY ward",
        "The policy lists the wards, so each of them appears, even one without patients.",
    ),
    _Question(
        "What do the buildings cost? (A join with a public table.)",
        _BUILDINGS,
        "The margins are wider, because the noise hides all visits of any one patient.",
    ),
    _Question(
        "How often does a patient come? (First per patient, then over all.)",
        "SELECT AVG(n) AS visits, AVG(cost) AS cost\n"
        "FROM (SELECT patient_id, COUNT(*) AS n, SUM(cost) AS cost\n"
        "      FROM visits GROUP BY patient_id)",
        "A patient with more than 15 visits counts as if they had 15 (rows_per_unit). A\n"
        "margin measures the noise, not what the clipping takes away.",
    ),
    _Question(
        "Where do they live? (Nobody listed the towns.)",
        "SELECT town, COUNT(*) AS patients FROM patients\nGROUP BY town ORDER BY patients DESC LIMIT 8",
    ),
    _Question(
        "Which wards are crowded? (Plain SQL over what was released.)",
        "WITH n AS (SELECT ward, COUNT(*) AS patients FROM patients GROUP BY ward)\n"
        "SELECT ward, patients, beds, round(patients / beds, 1) AS per_bed\n"
        "FROM n JOIN wards USING (ward) ORDER BY per_bed DESC LIMIT 3",
    ),
    _Question("The first question again. (Nobody averages the noise away by asking twice.)", _OLD),
)

_NOSY = "SELECT patient_id, SUM(cost) FROM visits GROUP BY patient_id"


def demo(options: Namespace) -> int:
    """Build the clinic and show answers; in a terminal, open the shell on it."""
    keep = options.dir is not None or interactive()
    folder = _folder(options.dir)
    try:
        put(f"A made-up clinic: {PATIENTS:,} patients, their visits, a public table of wards.")
        flush()
        database = build(folder)
        put("Its owner's policy, in short:\n")
        put(textwrap.indent(_short_policy(), "    "))
        with connect(database, analyst="ana") as db:
            _show(db)
        if keep:
            put(_next_steps(folder))
        if interactive():
            put("\nAnd here is the shell, for questions of your own: \\? lists what there is, \\q leaves.\n")
            flush()
            return shell(Files(database, analyst="ana"))
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


def _folder(asked: Path | None) -> Path:
    if asked is None:
        return Path(tempfile.mkdtemp(prefix="dpsql-demo-"))
    if (asked / "clinic.duckdb").exists():
        raise InterfaceError(
            f"{asked} holds a clinic already", help="name another folder, or delete this one"
        )
    try:
        asked.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InterfaceError(
            f"{asked} cannot be created: {error.strerror}", help="name another folder"
        ) from None
    return asked


def _short_policy() -> str:
    """Return the first part of the policy: the budget, the analyst, the unit and one table."""
    return POLICY.split("[tables.visits]")[0].split("\n", 1)[1].rstrip("\n")


def _show(db: Connection) -> None:
    for question in _QUESTIONS:
        _heading(question.title, question.sql)
        put(answer_text(answered(db, question.sql), look()))
        if question.remark:
            put(question.remark)
        flush()
    _heading("Who costs most? (Refused, and free.)", _NOSY)
    try:
        db.execute(_NOSY)
    except Error as error:
        put(refusal(error))
    put(
        "\n" + paint("What did the third question release? (dpsql explain, in part; free as well.)\n", "bold")
    )
    put(wrapped(db.explain(_BUILDINGS), min(width(), 80), sql=False))
    put("\n" + paint("And the budget:", "bold") + "\n")
    put(budget_text(db, min(width(), 80)))


def _heading(title: str, sql: str) -> None:
    put("\n" + paint(title, "bold") + "\n")
    put(paint(textwrap.indent(sql, "    "), "cyan") + "\n")


def _next_steps(folder: Path) -> str:
    return f"""
The clinic stays in {folder}. Try:

    cd {folder}
    dpsql clinic.duckdb --analyst ana
    dpsql query clinic.duckdb --analyst ana -c "SELECT AVG(age) FROM patients"
    dpsql explain clinic.duckdb -c "SELECT SUM(cost) FROM visits"
    dpsql policy check clinic.duckdb
    dpsql budget clinic.duckdb"""
