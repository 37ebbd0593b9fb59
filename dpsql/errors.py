"""The errors of dpsql: each has a code, a place in the text and a way out.

    Error (PEP 249)
    |-- InterfaceError              the API was used wrongly
    `-- DatabaseError
        |-- ProgrammingError        D1xx syntax, D2xx names and types, D8xx policy
        |-- NotSupportedError       D25x not answered, D3xx no finite bound, D4xx ownership lost
        |-- OperationalError        D5xx budget and ledger, D6xx engine
        |-- DataError, IntegrityError   (PEP 249 wants the names; nothing raises them)
        `-- InternalError           D9xx our bug; a debit already made stands

A refusal is raised by code: ``raise refuse("D301", "this SUM has no finite bound", span, help="...")``.
It depends on the query, the policy and the ledger, never on the data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Place(Protocol):
    """A start and an end in the source text."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


class Warning(Exception):  # noqa: A001 - PEP 249 fixes the name
    """PEP 249's Warning; dpsql raises none."""


class Error(Exception):
    """The base class of everything that dpsql raises on purpose."""

    def __init__(
        self,
        code: str,
        title: str,
        span: Place | None = None,
        *,
        label: str = "",
        notes: tuple[str, ...] = (),
        help: str = "",
    ) -> None:
        super().__init__(title)
        self.code = code
        self.title = title
        self.start = None if span is None else span.start
        self.end = None if span is None else span.end
        self.label = label
        self.notes = notes
        self.help = help
        self.text = ""
        self.name = "query"

    def within(self, text: str, name: str) -> Error:
        """Attach the text that the span points into (the innermost text wins) and return the error."""
        if not self.text:
            self.text, self.name = text, name
        return self

    def __reduce__(self) -> tuple[Callable[..., Error], tuple[type[Error], dict[str, object]]]:
        """Pickle and copy the attributes, whatever the class's constructor takes."""
        return _restore, (type(self), dict(self.__dict__))

    @property
    def position(self) -> tuple[int, int] | None:
        """Line and column, counted from one; None if the error has no place in a text."""
        if self.start is None or not self.text:
            return None
        before = self.text[: self.start]
        return before.count("\n") + 1, self.start - (before.rfind("\n") + 1) + 1

    @property
    def shown(self) -> tuple[int, int] | None:
        """Start and end of the part of the text that ``str`` shows: its line, at most 120 characters."""
        if self.position is None or self.start is None:
            return None
        column = self.position[1]
        left = self.start - (column - 1) + max(0, column - 60)
        end = self.text.find("\n", self.start)
        return left, min(left + 120, len(self.text) if end < 0 else end)

    def __str__(self) -> str:
        lines = [f"error[{self.code}]: {self.title}"]
        if self.position is not None and self.start is not None:
            lines += self._excerpt(*self.position, self.start, self.end or self.start + 1)
        elif self.label:
            lines.append(f"  = {self.label}")
        lines += [f"  = note: {note}" for note in self.notes]
        if self.help:
            lines.append(f"  = help: {self.help}")
        return "\n".join(lines)

    def _excerpt(self, line: int, column: int, start: int, end: int) -> list[str]:
        """Return the source line with a caret below the span."""
        source_line = self.text.split("\n")[line - 1]
        left = max(0, column - 60)
        shown = self.text[slice(*self.shown or (0, 0))].replace("\t", " ")
        width = max(1, min(end - start, len(source_line) - column + 1, 120 - (column - 1 - left)))
        gutter = " " * len(str(line))
        caret = " " * (column - 1 - left) + "^" * width
        return [
            f"{gutter}--> {self.name}:{line}:{column}",
            f"{gutter} |",
            f"{line} | {shown}",
            f"{gutter} | {caret} {self.label}".rstrip(),
        ]


def _restore(kind: type[Error], state: dict[str, object]) -> Error:
    """Rebuild an error from its attributes."""
    error = kind.__new__(kind)
    error.__dict__.update(state)
    error.args = (state["title"],)
    return error


class InterfaceError(Error):
    """Wrong use of the API: a closed cursor, a parameter of an unknown type."""

    def __init__(self, title: str, help: str = "") -> None:
        super().__init__("D001", title, help=help)


class DatabaseError(Error):
    """PEP 249's base class of errors about the database or the query."""


class ProgrammingError(DatabaseError):
    """The text, a name, a type or the policy is wrong."""


class NotSupportedError(DatabaseError):
    """Valid SQL that dpsql does not answer, with the reason."""


class OperationalError(DatabaseError):
    """Budget, ledger or engine: not a mistake in the query."""


class DataError(DatabaseError):
    """PEP 249 asks for the name. dpsql makes every function total, so nothing raises it."""


class IntegrityError(DatabaseError):
    """PEP 249 asks for the name. dpsql only reads, so nothing raises it."""


class InternalError(DatabaseError):
    """A bug in dpsql. What was debited stays debited."""


CODES: dict[str, str] = {
    "D001": "the API was used wrongly",
    "D101": "the text is not SQL that dpsql can read",
    "D102": "one statement at a time",
    "D103": "the text is too long or too deeply nested",
    "D104": "only queries are answered; this statement does something else",
    "D105": "this syntax is not supported",
    "D106": "the parameters do not match the question marks",
    "D107": "a comment or a setting of a script is not valid",
    "D201": "no such table",
    "D202": "no such column",
    "D203": "the column name is ambiguous",
    "D204": "no such function",
    "D205": "these types cannot be combined",
    "D251": "this function is not on the list of vetted functions",
    "D252": "this clause is not answered over private rows",
    "D253": "this aggregate is not answered",
    "D254": "a window over private rows reads several units",
    "D255": "a subquery over private rows is neither per unit nor a release",
    "D301": "a sum needs a finite bound",
    "D302": "nothing says where clipping one unit's rows starts",
    "D303": "a join may multiply private rows too often",
    "D304": "private group keys need a delta to be shown",
    "D305": "the numbers do not fit the fixed-point grid",
    "D401": "private tables are not joined on the unit",
    "D402": "single private rows are never shown",
    "D403": "the privacy unit, or what identifies one, is never an output",
    "D404": "rows kept by this outer join belong to no unit",
    "D405": "public rows would be chosen by private ones",
    "D406": "a set operation needs the unit on both sides",
    "D407": "a private view needs public values of its columns",
    "D408": "a private view has too many combinations",
    "D409": "a private view counts rows of private tables",
    "D410": "a question over a private view reads no other private rows",
    "D411": "the name of a private view or alert is taken",
    "D412": "an alert compares one count or sum that moves as it was declared",
    "D501": "the price exceeds the remaining budget",
    "D502": "the price is above the owner's limit for one query",
    "D503": "a price must be a finite positive number",
    "D504": "the policy has no such analyst or study",
    "D505": "the ledger belongs to another database or another promise",
    "D506": "the ledger is damaged",
    "D507": "the ledger is busy or cannot be written",
    "D508": "the owner's hook is closed to analysts",
    "D509": "a batch run cannot start or continue in this folder",
    "D510": "this analyst's share of the ledger is full",
    "D511": "the answer would show nothing at this price",
    "D512": "the ledger lacks entries that its witness or mirror knows",
    "D513": "a private view was bought under other declarations",
    "D514": "the file of units is not what the ledger knows",
    "D515": "the alert has said true as often as it was bought for",
    "D516": "the accountant of this ledger knows no price of this",
    "D601": "the engine failed; what was debited stays debited",
    "D602": "the database cannot be opened",
    "D603": "the query took longer than its time limit; what was debited stays debited",
    "D604": "the SQL above the release exceeds the owner's limits",
    "D605": "this is not answered by the engine of this database",
    "D801": "the policy is not TOML",
    "D802": "the policy has an unknown key",
    "D803": "a value in the policy is not valid",
    "D804": "the policy and the database's tables disagree",
    "D805": "a declared key is not known to be unique",
    "D806": "the unit is not of one kind everywhere",
    "D807": "the policy file cannot be read",
    "D808": "a view of the policy is not a query that dpsql can read from",
    "D809": "a unit is in another block than before",
    "D901": "an error of dpsql's own",
}


def class_of(code: str) -> type[DatabaseError]:
    """Return the PEP 249 class of a code."""
    match code[1], code[2]:
        case ("1", _) | ("8", _):
            return ProgrammingError
        case ("2", "5"):
            return NotSupportedError
        case ("2", _):
            return ProgrammingError
        case ("3", _) | ("4", _):
            return NotSupportedError
        case ("5", _) | ("6", _):
            return OperationalError
        case _:
            return InternalError


def refuse(
    code: str,
    title: str,
    span: Place | None = None,
    *,
    label: str = "",
    notes: tuple[str, ...] = (),
    help: str,
) -> DatabaseError:
    """Return an error of the code's class; ``help`` always says what to do instead."""
    assert code in CODES, code
    return class_of(code)(code, title, span, label=label, notes=notes, help=help)


_INTERRUPTED = "the query was interrupted"


def was_interrupted(error: Error) -> bool:
    """Whether this is the error of ``interrupted``."""
    return error.title == _INTERRUPTED


def interrupted() -> DatabaseError:
    """Return D601 for an interrupted query, whichever engine it was in."""
    return refuse(
        "D601",
        _INTERRUPTED,
        label="what was debited stays debited",
        help="ask the same query again: it is completed without paying twice",
    )
