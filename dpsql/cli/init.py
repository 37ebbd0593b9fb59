"""``dpsql init DB``: ask the owner a few questions, then check and write a policy.

    1 the unit    2 units of the other tables    3 the budget    4 the analysts    5 ranges and lists

The questions use only names, types and keys of the schema. Ranges and lists of values are published with
the policy, so they are never taken from the data: the owner writes what is known without looking.
"""

from __future__ import annotations

import shlex
import textwrap
from argparse import Namespace
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

from dpsql.advice.advice import one_count
from dpsql.advice.planner import Planner
from dpsql.advice.questions import table_in_sql
from dpsql.cli import questions
from dpsql.cli.init_questions import asked, guessed
from dpsql.cli.owner_commands import checked
from dpsql.cli.questions import Asker
from dpsql.dbapi.connection import beside
from dpsql.engines import Engine
from dpsql.engines.open_database import open_database
from dpsql.errors import Error, InterfaceError
from dpsql.policy.catalogue import Catalogue
from dpsql.policy.compose import compose
from dpsql.policy.model import Policy
from dpsql.policy.unit_guesses import doubts, names_people
from dpsql.session.checks import parse_policy
from dpsql.terminal.new_files import new_file
from dpsql.terminal.output import paint, put, refusal, tell

STOPPED, DECLINED, USAGE = 130, 1, 2


def init(options: Namespace) -> int:
    """Ask the questions, show the policy, check it and write it."""
    database: Path = options.database
    file: Path = options.policy or beside(database, ".toml")
    _refuse_existing(file)
    try:
        with closing(open_database(database)) as engine:
            asker = Asker(options.yes)
            catalogue = replace(engine.describe(), views=engine.views())
            if options.yes and not options.unit and _is_doubtful(catalogue, database):
                return USAGE
            policy = asked(asker, catalogue, options.unit or "")
            text = compose(policy, _introduction(policy))
            put("\n" + paint(f"{file.name}:", "bold") + "\n")
            put(text)
        read = parse_policy(text, file.name)
        with closing(open_database(database, read)) as engine:
            put(checked(read, engine, database.name) + "\n")
            said = _said(read, engine)
        wanted = asker.ask(f"write {file}?", "yes", questions.yes)
    except KeyboardInterrupt:
        tell("\nstopped: nothing was written")
        return STOPPED
    if not wanted:
        tell("nothing was written")
        return DECLINED
    new_file(text.encode(), file, help="copy the policy printed above into a file")
    put(_next_steps(database, file, policy, said))
    return 0


def _said(policy: Policy, engine: Engine) -> str:
    """Return how exact a count is at the policy's price, and how many fit; '' if that is not known."""
    found = None
    with suppress(Error), closing(Planner(policy, engine)) as planner:  # advice stops no policy
        found = one_count(planner)
    if found is None:
        return ""
    question, error, fit = found
    return "\n" + textwrap.fill(
        f"At its price of {policy.query.epsilon:g}, {question} is within ± {error:,.0f} (95 %), and "
        f"{fit:,} such questions fit.",
        78,
    )


def _is_doubtful(catalogue: Catalogue, database: Path) -> bool:
    """Whether the unit cannot be guessed without asking; say what to write."""
    guess = guessed(catalogue.tables)
    before = "" if guess.table is None else f"{guess.table.name}."
    taken = ",".join(f"{before}{column.name}" for column in guess.columns)
    others = doubts(catalogue.tables, guess)
    if others:
        title = f"who is protected? {taken} may be the person, or {' or '.join(others[:3])}"
    elif not names_people(guess):
        title = f"who is protected? nothing in {database.name} is named like a person"
    else:
        return False
    command = f"dpsql init {shlex.quote(str(database))} --yes --unit"
    said = shlex.quote(taken) if names_people(guess) else "TABLE.KEY, or --unit COLUMN"
    tell(refusal(InterfaceError(title, help=f"say it: {command} {said}; or leave out --yes, and be asked")))
    return True


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


def _next_steps(database: Path, file: Path, policy: Policy, said: str) -> str:
    arguments = shlex.quote(str(database))
    if file != beside(database, ".toml"):
        arguments += f" --policy {shlex.quote(str(file))}"
    who = f" --analyst {shlex.quote(policy.analysts[0].name)}" if policy.analysts else ""
    table = policy.unit.table or next(table.name for table in policy.tables if not table.public)
    question = shlex.quote(f"SELECT COUNT(*) FROM {table_in_sql(table)}")
    return f"""
{file} is written.{said}
Next steps:

    dpsql advise {arguments}
    dpsql explain {arguments} -c {question}
    dpsql query {arguments}{who} -c {question}
    dpsql shell {arguments}{who}"""
