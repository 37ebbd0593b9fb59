"""What a statement is for: a question, a setting, the state of a transaction, a cursor, a copy.

    BEGIN; SET extra_float_digits = 3; SELECT COUNT(*) FROM patients
    Begin  Assign(extra_float_digits)  Ask(SELECT ...)

Only the first words decide, outside of quotes and comments. What is not known here is a question: whether it
is one of the catalogue is decided by its parsed tables (catalogues.py), and dpsql refuses what is none.
Test: tests/unit/test_server_statements.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from dpsql.errors import Error
from dpsql.lazy_dataclass import dataclass
from dpsql.parse.alert_statements import alert_statement
from dpsql.parse.scripts import tokens
from dpsql.parse.view_statements import view_statement


@dataclass(frozen=True, slots=True)
class Ask:
    """A question; ``start`` is its place in the client's text."""

    sql: str
    start: int = 0


@dataclass(frozen=True, slots=True)
class Empty:
    pass


@dataclass(frozen=True, slots=True)
class Begin:
    pass


@dataclass(frozen=True, slots=True)
class End:
    """COMMIT or ROLLBACK."""

    rollback: bool


@dataclass(frozen=True, slots=True)
class Savepoint:
    """``how`` is SAVEPOINT, RELEASE or ROLLBACK."""

    how: str
    name: str


@dataclass(frozen=True, slots=True)
class Assign:
    """SET and RESET: ``value`` None is the default, ``name`` 'all' is every setting."""

    name: str
    value: str | None
    local: bool = False
    tag: str = "SET"


@dataclass(frozen=True, slots=True)
class Show:
    name: str


@dataclass(frozen=True, slots=True)
class Done:
    """What needs nothing done, such as UNLISTEN."""

    tag: str


@dataclass(frozen=True, slots=True)
class Discard:
    """DISCARD ALL, or DEALLOCATE: of one prepared statement, or of all of them (None)."""

    tag: str
    name: str | None
    everything: bool = False


@dataclass(frozen=True, slots=True)
class Declare:
    name: str
    ask: Ask
    hold: bool


@dataclass(frozen=True, slots=True)
class Fetch:
    """``most`` is how many rows, None for all; a ``move`` shows none."""

    name: str
    most: int | None
    move: bool


@dataclass(frozen=True, slots=True)
class CloseCursor:
    """None closes all."""

    name: str | None


@dataclass(frozen=True, slots=True)
class Copy:
    """COPY (query) TO STDOUT; ``format`` is text, csv or binary."""

    ask: Ask
    format: str = "text"
    header: bool = False
    delimiter: str = ""
    null: str | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """A statement of a known kind that is not supported."""

    message: str
    hint: str


Statement: TypeAlias = (
    Ask
    | Empty
    | Begin
    | End
    | Savepoint
    | Assign
    | Show
    | Done
    | Discard
    | Declare
    | Fetch
    | CloseCursor
    | Copy
    | Unknown
)


class _Words:
    """The words of a statement, without spaces and comments."""

    def __init__(self, sql: str) -> None:
        self.sql = sql
        self._words = [(at, word) for at, word in tokens(sql) if not _is_blank(word)]
        self._at = 0

    def take(self, *words: str) -> bool:
        """Take these words if they come next."""
        upcoming = [word.upper() for _, word in self._words[self._at : self._at + len(words)]]
        if upcoming != list(words):
            return False
        self._at += len(words)
        return True

    def next(self) -> str:
        """Take the next word; '' at the end."""
        self._at += 1
        return self._words[self._at - 1][1] if self._at <= len(self._words) else ""

    def name(self) -> str:
        """Take a name: quoted names keep their case. A dot goes on: dpsql.epsilon."""
        word = _unquoted(self.next())
        while self.take("."):
            word += "." + _unquoted(self.next())
        return word

    def rest(self) -> str:
        """Return the text that is left."""
        return self.sql[self.start :].strip() if self._at < len(self._words) else ""

    @property
    def start(self) -> int:
        return self._words[self._at][0] if self._at < len(self._words) else len(self.sql)

    @property
    def ended(self) -> bool:
        return self._at >= len(self._words)

    def within(self) -> tuple[str, int] | None:
        """Take what is between parentheses, and its place; None if none open here."""
        if not self.take("("):
            return None
        start, depth = self.start, 1
        while depth and not self.ended:
            place, word = self.start, self.next()
            depth += {"(": 1, ")": -1}.get(word, 0)
            if depth == 0:
                return self.sql[start:place].strip(), start
        return None


def split(text: str) -> Iterator[tuple[str, int]]:
    """Yield the statements of a text and their places."""
    start: int | None = None
    end = 0
    for at, token in tokens(text):
        if token == ";":
            if start is not None:
                yield text[start:end], start
            start = None
        elif not _is_blank(token):
            start, end = at if start is None else start, at + len(token)
    if start is not None:
        yield text[start:end], start


def statement_of(sql: str, start: int = 0) -> Statement:
    """Return what a statement is for."""
    words = _Words(sql)
    if words.ended:
        return Empty()
    read = _READ.get(words.next().upper())
    return (read(words, start) if read is not None else None) or Ask(sql, start)


def _begin(words: _Words, start: int) -> Statement | None:
    return Begin()  # READ ONLY, ISOLATION LEVEL: each is as good as the other


def _start(words: _Words, start: int) -> Statement | None:
    return Begin() if words.take("TRANSACTION") else None


def _commit(words: _Words, start: int) -> Statement | None:
    _ = words.take("WORK") or words.take("TRANSACTION")
    return _plain_end(words, False)


def _plain_end(words: _Words, rollback: bool) -> Statement:
    if words.take("AND", "CHAIN") or words.take("PREPARED"):
        return Unknown("this end of a transaction is not supported", "write COMMIT or ROLLBACK")
    return End(rollback)


def _rollback(words: _Words, start: int) -> Statement | None:
    _ = words.take("WORK") or words.take("TRANSACTION")
    if words.take("TO"):
        words.take("SAVEPOINT")
        return Savepoint("ROLLBACK", words.name())
    return _plain_end(words, True)


def _savepoint(words: _Words, start: int) -> Statement | None:
    return Savepoint("SAVEPOINT", words.name())


def _release(words: _Words, start: int) -> Statement | None:
    words.take("SAVEPOINT")
    return Savepoint("RELEASE", words.name())


def _set(words: _Words, start: int) -> Statement | None:
    local = words.take("LOCAL")
    if words.take("SESSION", "CHARACTERISTICS") or words.take("TRANSACTION") or words.take("CONSTRAINTS"):
        return Done("SET")
    words.take("SESSION")
    if words.take("TIME", "ZONE"):
        return Assign("timezone", _value(words.rest()), local)
    if words.take("NAMES"):
        return Assign("client_encoding", _value(words.rest()), local)
    name = words.name().lower()
    if not (words.take("=") or words.take("TO")):
        return None
    return Assign(name, _value(words.rest()), local)


def _value(text: str) -> str | None:
    """Return the value of a setting, without quotes; None for its default."""
    if text.upper() in ("DEFAULT", "LOCAL"):
        return None
    if len(text) > 1 and text[0] == text[-1] == "'" and "'" not in text[1:-1].replace("''", ""):
        return text[1:-1].replace("''", "'")
    return _unquoted(text)


def _reset(words: _Words, start: int) -> Statement | None:
    if words.take("TIME", "ZONE"):
        return Assign("timezone", None, tag="RESET")
    return Assign(words.name().lower(), None, tag="RESET")


def _show(words: _Words, start: int) -> Statement | None:
    if words.take("TIME", "ZONE"):
        return Show("timezone")
    if words.take("TRANSACTION", "ISOLATION", "LEVEL"):
        return Show("transaction_isolation")
    if words.take("TABLES") or words.take("ALL", "TABLES") or words.take("DATABASES"):
        return None
    return Show(words.name().lower())


def _discard(words: _Words, start: int) -> Statement | None:
    everything = words.take("ALL")
    return Discard("DISCARD ALL" if everything else "DISCARD", None, everything)


def _deallocate(words: _Words, start: int) -> Statement | None:
    words.take("PREPARE")
    return Discard("DEALLOCATE ALL", None) if words.take("ALL") else Discard("DEALLOCATE", words.name())


def of_view(sql: str) -> bool:
    """Whether a text is a statement about a private view or alert, or begins like one and cannot be read."""
    try:
        return alert_statement(sql) is not None or view_statement(sql) is not None
    except Error:
        return True


def _declare(words: _Words, start: int) -> Statement | None:
    name, hold = words.name(), False
    while not words.ended:
        if words.take("FOR"):
            if of_view(words.rest()):
                return Unknown(
                    "a cursor is of a query", "send the statement about the private view or alert by itself"
                )
            return Declare(name, Ask(words.rest(), start + words.start), hold)
        if words.take("BINARY"):
            return Unknown("cursors are not binary", "leave BINARY out; the extended protocol has formats")
        if words.take("WITH", "HOLD"):
            hold = True
        else:
            words.next()
    return None


def _fetch(words: _Words, start: int) -> Statement | None:
    return _moved(words, False)


def _move(words: _Words, start: int) -> Statement | None:
    return _moved(words, True)


def _moved(words: _Words, move: bool) -> Statement:
    most: int | None = 1
    if words.take("FORWARD", "ALL") or words.take("ALL"):
        most = None
    elif words.take("NEXT") or words.take("FORWARD", "FROM") or words.take("FORWARD", "IN"):
        pass
    else:
        words.take("FORWARD")
        saved = words._at
        number = words.next()
        if number.isascii() and number.isdigit():
            most = int(number[:12])
        else:
            words._at = saved
    _ = words.take("FROM") or words.take("IN")
    name = words.name()
    if not words.ended or not name:
        return Unknown("a cursor moves forward only", "write FETCH 100 FROM name, or FETCH ALL FROM name")
    return Fetch(name, most, move)


def _close(words: _Words, start: int) -> Statement | None:
    return CloseCursor(None) if words.take("ALL") else CloseCursor(words.name())


def _unlisten(words: _Words, start: int) -> Statement | None:
    return Done("UNLISTEN")


def _copy(words: _Words, start: int) -> Statement | None:
    no = Unknown("this COPY is not supported", "write COPY (SELECT ...) TO STDOUT, with a query")
    inner = words.within()
    if inner is None or not words.take("TO", "STDOUT") or of_view(inner[0]):
        return no
    found: dict[str, str] = {}
    words.take("WITH")
    options = words.within()
    if options is not None:
        listed = _Words(options[0])
        while not listed.ended:
            name, value = listed.next().lower(), "true" if listed.ended else listed.next()
            if value == ",":
                value = "true"
            else:
                listed.take(",")
            if name not in ("format", "header", "delimiter", "null", "encoding"):
                return no
            found[name] = _value(value) or ""
    else:
        while not words.ended:
            word = words.next().upper()
            if word in ("CSV", "BINARY", "TEXT"):
                found["format"] = word.lower()
            elif word == "HEADER":
                found["header"] = "true"
            elif word in ("DELIMITER", "NULL"):
                words.take("AS")
                found[word.lower()] = _value(words.next()) or ""
            else:
                return no
    layout, delimiter = found.get("format", "text").lower(), found.get("delimiter", "")
    if (
        layout not in ("text", "csv", "binary")
        or len(delimiter.encode()) > 1
        or delimiter in ("\n", "\r", '"')
    ):
        return no
    header = found.get("header", "").lower() in ("true", "on", "1")
    return Copy(Ask(inner[0], start + inner[1]), layout, header, delimiter, found.get("null"))


_READ: dict[str, Callable[[_Words, int], Statement | None]] = {
    "BEGIN": _begin,
    "START": _start,
    "COMMIT": _commit,
    "END": _commit,
    "ROLLBACK": _rollback,
    "ABORT": _rollback,
    "SAVEPOINT": _savepoint,
    "RELEASE": _release,
    "SET": _set,
    "RESET": _reset,
    "SHOW": _show,
    "DISCARD": _discard,
    "DEALLOCATE": _deallocate,
    "DECLARE": _declare,
    "FETCH": _fetch,
    "MOVE": _move,
    "CLOSE": _close,
    "UNLISTEN": _unlisten,
    "COPY": _copy,
}


def _is_blank(token: str) -> bool:
    return token.isspace() or token.startswith(("--", "/*"))


def _unquoted(word: str) -> str:
    if len(word) > 1 and word[0] == word[-1] == '"':
        return word[1:-1].replace('""', '"')
    if len(word) > 1 and word[0] == word[-1] == "'":
        return word[1:-1].replace("''", "'")
    return word
