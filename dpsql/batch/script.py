"""The text of a script -> its tasks: statements with names, prices and time limits.

SET epsilon = 0.2;
-- name: old                          Task("old", "SELECT COUNT(*) ...", line 4, epsilon=0.2)
SELECT COUNT(*) FROM patients ...;
SELECT * FROM wards;                  Task("statement_02", ...)
"""

from __future__ import annotations

import unicodedata

from dpsql.errors import Error, refuse
from dpsql.ir.source import Span
from dpsql.lazy_dataclass import dataclass
from dpsql.parse.scripts import Statement, amount, in_script, statements

SETTINGS = {
    "epsilon": "the price of each statement that follows, or default",
    "timeout": "the seconds after which each statement that follows is interrupted, or off",
    "workload": "off, to measure each statement that follows by itself, or on",
}

RESERVED = "manifest"


@dataclass(frozen=True, slots=True)
class Task:
    """One statement, with the price and the time limit of the SETs before it.

    ``apart``: it is measured by itself.
    """

    name: str
    statement: Statement
    epsilon: float | None
    timeout: float | None
    apart: bool = False

    @property
    def sql(self) -> str:
        return self.statement.text

    @property
    def said(self) -> tuple[str, str, float | None, float | None]:
        """Return what must not change during a run; the time limit may."""
        return self.name, self.sql, self.epsilon, self.statement.weight


@dataclass(frozen=True, slots=True)
class Script:
    """A text, its name for messages, and its tasks in order."""

    text: str
    name: str
    tasks: tuple[Task, ...]

    def error(self, error: Error, task: Task) -> Error:
        """Return an error of a statement with its span in the whole text; without one, the first word."""
        error = in_script(error, task.statement, self.text, self.name)
        if error.start is None:
            error.text, error.name = self.text, self.name
            error.start = task.statement.start
            error.end = error.start + len(task.sql.split(maxsplit=1)[0])
        return error


def read(text: str, name: str) -> Script:
    """Read all statements of a text; raise D107 for an unknown comment or setting."""
    try:
        tasks = _tasks(statements(text, name))
        if not tasks:
            raise refuse("D101", "there is no statement here", help="write a SELECT")
        _check_names(tasks)
    except Error as error:
        raise error.within(text, name) from None
    return Script(text, name, tasks)


def _tasks(parsed: tuple[Statement, ...]) -> tuple[Task, ...]:
    number = sum(statement.setting is None for statement in parsed)
    digits = max(2, len(str(number)))
    settings: dict[str, float | None] = dict.fromkeys(SETTINGS)
    apart = False
    tasks: list[Task] = []
    for statement in parsed:
        if statement.setting is not None and statement.setting[0] == "workload":
            apart = _off(statement, statement.setting[1])
            continue
        if statement.setting is not None:
            settings[statement.setting[0]] = _value(statement, *statement.setting)
            continue
        name = statement.name or f"statement_{len(tasks) + 1:0{digits}}"
        tasks.append(
            Task(name, statement, settings["epsilon"], settings["timeout"], apart or statement.apart)
        )
    return tuple(tasks)


def _span(statement: Statement) -> Span:
    return Span(statement.start, statement.start + len(statement.text))


def _off(statement: Statement, text: str) -> bool:
    value = text.strip("'").casefold()
    if value not in ("off", "on", "default"):
        raise refuse("D107", "workload is on or off", _span(statement), help="write SET workload = off;")
    return value == "off"


def _value(statement: Statement, name: str, text: str) -> float | None:
    if name not in SETTINGS:
        raise refuse(
            "D107",
            f"there is no setting {name}",
            _span(statement),
            label="a file can set epsilon, timeout and workload",
            notes=tuple(f"SET {setting}: {meaning}" for setting, meaning in SETTINGS.items()),
            help="write SET epsilon = 0.2; or leave it out",
        )
    try:
        return amount(text)
    except ValueError:
        wanted = "SET epsilon = 0.2" if name == "epsilon" else "SET timeout = 30"
        raise refuse(
            "D107", f"{name} is a positive number", _span(statement), help=f"write {wanted};"
        ) from None


def _check_names(tasks: tuple[Task, ...]) -> None:
    """Refuse duplicate names: each becomes a file name, and some file systems ignore case."""
    first: dict[str, Task] = {}
    for task in tasks:
        key = unicodedata.normalize("NFC", task.name).casefold()
        if key == RESERVED:
            raise refuse(
                "D107",
                f"no result can be called {task.name}",
                _span(task.statement),
                label="manifest.json is the manifest of the run",
                help="give it another name",
            )
        before = first.setdefault(key, task)
        if before is not task:
            position_note = (
                ""
                if task.statement.name is not None
                else " (it has no name, so it is called by its position)"
            )
            raise refuse(
                "D107",
                f"two statements are called {task.name}{position_note}",
                _span(task.statement),
                label=f"{before.name} is on line {before.statement.line} already: each name becomes a file",
                help="give them different names: -- name: visits_by_ward",
            )
