"""The text of a script -> what is to be run, each statement under its own name.

SET epsilon = 0.2;
-- name: old                          Task("old", "SELECT COUNT(*) ...", line 4, epsilon=0.2)
SELECT COUNT(*) FROM patients ...;
SELECT * FROM wards;                  Task("statement_02", ...)
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from dpsql.errors import Error, refuse
from dpsql.ir.source import Span
from dpsql.parse.scripts import Statement, amount, in_script, statements

SETTINGS = {
    "epsilon": "what each statement from there on costs, or default",
    "timeout": "after how many seconds each statement from there on is interrupted, or off",
}

RESERVED = "manifest"


@dataclass(frozen=True, slots=True)
class Task:
    """One statement, and what holds for it: the price and the time limit that a SET before it says."""

    name: str
    statement: Statement
    epsilon: float | None
    timeout: float | None

    @property
    def sql(self) -> str:
        return self.statement.text

    @property
    def said(self) -> tuple[str, str, float | None, float | None]:
        """What may not change while a run lasts: more time may be allowed to it."""
        return self.name, self.sql, self.epsilon, self.statement.weight


@dataclass(frozen=True, slots=True)
class Script:
    """A text, its name for messages, and its tasks in order."""

    text: str
    name: str
    tasks: tuple[Task, ...]

    def error(self, error: Error, task: Task) -> Error:
        """An error of one of its statements, pointing into the whole text: at its first word, if at none."""
        error = in_script(error, task.statement, self.text, self.name)
        if error.start is None:
            error.text, error.name = self.text, self.name
            error.start = task.statement.start
            error.end = error.start + len(task.sql.split(maxsplit=1)[0])
        return error


def read(text: str, name: str) -> Script:
    """All statements of a text; D107 for a comment or a setting that means nothing."""
    try:
        tasks = _tasks(statements(text, name))
        if not tasks:
            raise refuse("D101", "there is no statement here", help="write a SELECT")
        _check_names(tasks)
    except Error as error:
        raise error.within(text, name) from None
    return Script(text, name, tasks)


def _tasks(found: tuple[Statement, ...]) -> tuple[Task, ...]:
    number = sum(each.setting is None for each in found)
    digits = max(2, len(str(number)))
    settings: dict[str, float | None] = dict.fromkeys(SETTINGS)
    tasks: list[Task] = []
    for each in found:
        if each.setting is not None:
            settings[each.setting[0]] = _value(each, *each.setting)
            continue
        name = each.name or f"statement_{len(tasks) + 1:0{digits}}"
        tasks.append(Task(name, each, settings["epsilon"], settings["timeout"]))
    return tuple(tasks)


def _span(each: Statement) -> Span:
    return Span(each.start, each.start + len(each.text))


def _value(each: Statement, name: str, said: str) -> float | None:
    if name not in SETTINGS:
        raise refuse(
            "D107",
            f"there is no setting {name}",
            _span(each),
            label="a file can set epsilon and timeout",
            notes=tuple(f"SET {known}: {what}" for known, what in SETTINGS.items()),
            help="write SET epsilon = 0.2; or leave it out",
        )
    try:
        return amount(said)
    except ValueError:
        wanted = "SET epsilon = 0.2" if name == "epsilon" else "SET timeout = 30"
        raise refuse("D107", f"{name} is a positive number", _span(each), help=f"write {wanted};") from None


def _check_names(tasks: tuple[Task, ...]) -> None:
    """Each name becomes a file's, also where files' names know no capitals."""
    first: dict[str, Task] = {}
    for task in tasks:
        key = unicodedata.normalize("NFC", task.name).casefold()
        if key == RESERVED:
            raise refuse(
                "D107",
                f"no result can be called {task.name}",
                _span(task.statement),
                label="manifest.json tells what the run has done",
                help="give it another name",
            )
        before = first.setdefault(key, task)
        if before is not task:
            own = "" if task.statement.name is not None else " (it has none of its own, so this is its place)"
            raise refuse(
                "D107",
                f"two statements are called {task.name}{own}",
                _span(task.statement),
                label=f"{before.name} stands on line {before.statement.line} already: each becomes a file",
                help="give them different names: -- name: visits_by_ward",
            )
