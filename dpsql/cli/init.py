"""``dpsql init DB``: ask the owner a few questions, then check and write a policy.

    1 the unit    2 units of the other tables    3 the budget    4 the analysts    5 ranges and lists

The questions use only names, types and keys of the schema. Ranges and lists of values are published with
the policy, so they are never taken from the data: the owner writes what is known without looking.
"""

from __future__ import annotations

import re
import shlex
from argparse import Namespace
from contextlib import closing
from pathlib import Path

from dpsql.cli import questions
from dpsql.cli.init_questions import asked
from dpsql.cli.owner_commands import checked
from dpsql.cli.questions import Asker
from dpsql.dbapi.connection import beside
from dpsql.engines.open_database import open_database
from dpsql.errors import InterfaceError
from dpsql.policy.compose import compose
from dpsql.policy.model import Policy
from dpsql.session.checks import parse_policy
from dpsql.terminal.new_files import new_file
from dpsql.terminal.output import paint, put, tell

STOPPED, DECLINED = 130, 1


def init(options: Namespace) -> int:
    """Ask the questions, show the policy, check it and write it."""
    database: Path = options.database
    file: Path = options.policy or beside(database, ".toml")
    _refuse_existing(file)
    try:
        with closing(open_database(database)) as engine:
            asker = Asker(options.yes)
            policy = asked(asker, engine.describe())
            text = compose(policy, _introduction(policy))
            put("\n" + paint(f"{file.name}:", "bold") + "\n")
            put(text)
        read = parse_policy(text, file.name)
        with closing(open_database(database, read)) as engine:
            put(checked(read, engine, database.name) + "\n")
        wanted = asker.ask(f"write {file}?", "yes", questions.yes)
    except KeyboardInterrupt:
        tell("\nstopped: nothing was written")
        return STOPPED
    if not wanted:
        tell("nothing was written")
        return DECLINED
    new_file(text.encode(), file, help="copy the policy printed above into a file")
    put(_next_steps(database, file, policy))
    return 0


def _introduction(policy: Policy) -> str:
    text = f"What is promised to each {policy.unit.name}, and what analysts may ask."
    if any(table.csv is not None for table in policy.tables):
        text += (
            "\n# Types of csv columns were guessed from the first lines: a value that does not fit is NULL."
        )
    return text


def _refuse_existing(file: Path) -> None:
    if file.exists() or file.is_symlink():
        raise InterfaceError(
            f"the policy {file} exists already, and is not overwritten",
            help="edit it and run dpsql policy check; or name another file: --policy FILE",
        )


def _next_steps(database: Path, file: Path, policy: Policy) -> str:
    arguments = shlex.quote(str(database))
    if file != beside(database, ".toml"):
        arguments += f" --policy {shlex.quote(str(file))}"
    who = f" --analyst {shlex.quote(policy.analysts[0].name)}" if policy.analysts else ""
    table = policy.unit.table
    if not re.fullmatch(r"\w+(\.\w+)?", table):
        table = '"' + table.replace('"', '""') + '"'
    question = shlex.quote(f"SELECT COUNT(*) FROM {table}")
    return f"""
{file} is written. Next steps:

    dpsql explain {arguments} -c {question}
    dpsql query {arguments}{who} -c {question}
    dpsql shell {arguments}{who}"""
