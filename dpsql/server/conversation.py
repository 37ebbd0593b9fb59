"""One client that has logged in: the simple and the extended protocol.

    Query ------------------------------> description, rows, notice, complete, ready
    Parse, Bind, Describe, Execute, Sync  the same in steps; after an error all is passed over until Sync

To describe is free: it plans, and pays for nothing. To execute pays, and to ask twice is free, as in every
tool. Statements that answer nothing (transactions, settings, cursors) are run here too.
Test: tests/drivers/test_server.py, tests/drivers/test_server_clients.py
"""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import islice
from sys import getsizeof
from typing import Any, TypeVar

from dpsql.ir.column import Value
from dpsql.lazy_dataclass import dataclass
from dpsql.parse.marks import Marked, marked
from dpsql.server import encoding
from dpsql.server import messages as m
from dpsql.server import statements as s
from dpsql.server.accounts import OWN_TABLES
from dpsql.server.copying import copied
from dpsql.server.notices import Fields, fields
from dpsql.server.parameters import BadValue, value_of
from dpsql.server.questions import Question, Questions
from dpsql.server.results import Column, Expelled, Failure, Result, alike, columns_of, expelled, failed, texts
from dpsql.server.room import Room, size_of_rows, size_of_values
from dpsql.server.settings import REPORTED, BadSetting, spelled
from dpsql.server.transactions import Transaction
from dpsql.server.wire import Gone, Wire

T = TypeVar("T")

LONGEST_TEXT = 200_000
"""Characters of one message's statements; dpsql takes 100,000 of one."""

_SHORT_TEXT = 10_000
"""Characters that are read at once: some forty milliseconds."""

LONGEST_MESSAGE = 4 << 20
_MOST_KEPT = 300
_SHORT_MESSAGE = 1 << 16
"""Bytes of a message that is not counted while it comes."""

_SEVERAL = 5_000
"""Rows that are counted in a thread."""

_OBJECTS = 2_000
"""Bytes of a statement or a portal beside its texts and values."""

_NUMBER = 36
"""Bytes of a number in a list."""

_BATCH = 500
"""Rows or statements after which others have their turn."""

_WITHIN = 60.0
"""Seconds in which a message that has begun must be there."""

_SAMPLES: dict[int, Value] = {
    **dict.fromkeys((encoding.INT2, encoding.INT4, encoding.INT8), 1),
    **dict.fromkeys((encoding.FLOAT4, encoding.FLOAT8), 1.5),
    encoding.NUMERIC: Decimal("1.5"),
    encoding.BOOL: True,
    encoding.DATE: datetime.date(2000, 1, 1),
    encoding.TIMESTAMP: datetime.datetime(2000, 1, 1),
    encoding.TIMESTAMPTZ: datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC),
}
"""Values with which a statement is described before it has any; of other types, a text."""


@dataclass(slots=True)
class Prepared:
    """A statement with a name. ``types`` are the oids of its values, once they are known.

    Once it is ``described``, its rows have these ``columns``, while ``shape`` is what it was then.
    """

    sql: str
    mark: Marked
    statement: s.Statement
    given: tuple[int, ...] = ()
    types: tuple[int, ...] | None = None
    columns: tuple[Column, ...] | None = None
    described: bool = False
    shape: object = None

    @property
    def size(self) -> int:
        """About how many bytes it keeps."""
        texts = 3 * getsizeof(self.sql)  # with the marks, and of the statement alone
        return _OBJECTS + texts + _NUMBER * (2 * len(self.given) + len(self.mark.order))

    def question(self, values: Sequence[Value]) -> Question | None:
        """Return the question that the statement asks; None if it asks none."""
        ask = self.statement.ask if isinstance(self.statement, s.Declare | s.Copy) else self.statement
        if not isinstance(ask, s.Ask):
            return None
        end = ask.start + len(ask.sql)
        while end < len(self.sql) and self.mark.text[end] == " " != self.sql[end]:
            end += 1  # a $1 at its end became a question mark and spaces
        written = self.sql[ask.start : end]
        return Question(ask.sql, written, ask.start, self.mark.values(values), tuple(values))


@dataclass(slots=True)
class Portal:
    """A statement with its values; and its rows, once it has run. One to ``hold`` outlives transactions."""

    prepared: Prepared
    values: tuple[Value, ...] = ()
    formats: tuple[int, ...] = ()
    result: Result | str | None = None
    at: int = 0
    hold: bool = False
    size: int = 0


class Conversation:
    """Answers one client, until it leaves or has to."""

    def __init__(self, wire: Wire, questions: Questions, idle: float, room: Room) -> None:
        self.questions = questions
        self._room = room
        self._wire, self._idle, self._settings = wire, idle, questions.settings
        self._transaction = Transaction()
        self._local: dict[str, str | None] = {}
        self._prepared: dict[str, Prepared] = {}
        self._portals: dict[str, Portal] = {}
        self._skipping = False
        self._waiting: asyncio.Task[Any] | None = None
        self._ending: Expelled | None = None
        wire.on_lost = self._leave

    # ---- from outside ------------------------------------------------------------------------------

    def cancel(self) -> None:
        """Interrupt the running question, if one runs."""
        if self.questions.asking:
            self.questions.stop.set()

    def end(self, why: Expelled, now: bool = False) -> None:
        """End the connection: at once while it waits, else after the running statement, or ``now``."""
        self._ending = why
        if self._waiting is not None:
            self._waiting.cancel()
        elif now:
            self.questions.stop.set()

    def forget(self) -> None:
        """Give back the room, when it is over."""
        self._room.settle(0)

    def _leave(self) -> None:
        self.questions.lost = True
        self.questions.stop.set()

    # ---- messages ----------------------------------------------------------------------------------

    async def run(self) -> None:
        """Answer until the client leaves."""
        await self._ready()
        while True:
            message = await self._next()
            if isinstance(message, m.Terminate):
                return
            await self._handle(message)

    async def _next(self) -> m.Message:
        if self._ending is not None:
            raise self._ending
        self._waiting = asyncio.current_task()
        try:
            async with asyncio.timeout(self._idle):
                head = await self._wire.take(5)
        except TimeoutError:
            raise expelled("57P05", "this connection was idle for too long") from None
        except asyncio.CancelledError:
            if self._ending is None:
                raise
            task = asyncio.current_task()
            assert task is not None
            task.uncancel()
            raise self._ending from None
        finally:
            self._waiting = None
        size = int.from_bytes(head[1:], "big")
        if not 4 <= size <= LONGEST_MESSAGE:
            raise expelled("08P01", "a message has no valid length")
        try:
            if size > _SHORT_MESSAGE:
                self._room.hold(self._kept() + 2 * size, passing=True)
            async with asyncio.timeout(_WITHIN):
                body = await self._wire.take(size - 4)
        except Failure as failure:
            raise Expelled({**failure.fields, "S": "FATAL", "V": "FATAL"}) from None
        except TimeoutError:
            raise expelled("08P01", "a message did not end in time") from None
        try:
            return m.message(head[:1], body)
        except m.Malformed as error:
            raise expelled("08P01", f"the protocol was violated: {error}") from None
        except m.NotText as error:
            if not self._skipping:
                self._fail(failed("22021", str(error)))
                if head[:1] == b"Q":
                    await self._ready()
                else:
                    self._skipping = True
            return m.Flush()

    async def _handle(self, message: m.Message) -> None:
        match message:
            case m.Sync():
                self._skipping = False
                if self._transaction.state == "I":
                    self._portals = {name: portal for name, portal in self._portals.items() if portal.hold}
                await self._ready()
            case m.Flush():
                await self._wire.flush()
            case m.CopyMessage() | m.Terminate():
                pass
            case _ if self._skipping:  # a Query too, as PostgreSQL does
                pass
            case m.Query(sql):
                await self._simple(sql)
            case m.FunctionCall():
                self._fail(failed("0A000", "functions are not called by this message", "write SELECT f(x)"))
                await self._ready()
            case _:
                try:
                    await self._step(message)
                except Exception as error:  # a bug fails the statement, and tells nothing but its kind
                    self._fail(self._failure(error))
                    self._skipping = True
                if self._wire.full:
                    await self._wire.flush()

    def _hold(self, more: int) -> None:
        """Hold the room of what is kept and of so many bytes more, or refuse them."""
        self._room.hold(self._kept() + more)

    def _kept(self) -> int:
        prepared = sum(each.size + getsizeof(name) for name, each in self._prepared.items())
        portals = sum(each.size + getsizeof(name) for name, each in self._portals.items())
        return prepared + portals + self._settings.size

    async def _ask(self, question: Question) -> tuple[Result, int]:
        """Answer a question, with the bytes of its answer: they are kept until the next message at least."""
        self._room.settle(self._kept())
        self._room.admit()
        result = await self.questions.ask(question)
        rows = result.rows
        few = len(rows) < _SEVERAL
        size = size_of_rows(rows) if few else await self.questions.in_thread(lambda: size_of_rows(rows))
        self._room.settle(self._kept() + size)
        return result, size

    async def _ready(self) -> None:
        self._room.settle(self._kept())
        self._wire.send(m.ready(self._transaction.state))
        await self._wire.flush()

    def _fail(self, failure: Failure) -> None:
        self._transaction.fail()
        self._wire.send(m.fields_message(b"E", failure.fields))

    def _failure(self, error: Exception) -> Failure:
        """Return what to tell of an error; raise again what ends the connection."""
        match error:
            case Failure():
                return error
            case Gone() | Expelled():
                raise error
        self.questions.write("broken", code=type(error).__name__)
        return failed("XX000", f"an error of the server's own ({type(error).__name__})", "please report it")

    def _notice(self, *notices: Fields | None) -> None:
        for notice in filter(None, notices):
            self._wire.send(m.fields_message(b"N", notice))

    # ---- the simple protocol -----------------------------------------------------------------------

    async def _simple(self, sql: str) -> None:
        self._portals.pop("", None)
        try:
            _check_size(sql)
            parts = await self._read(sql, lambda: [s.statement_of(*part) for part in s.split(sql)])
            if not parts:
                self._wire.send(m.EMPTY)
            for number, statement in enumerate(parts):
                await self._at_once(Prepared(sql, Marked(sql), statement))
                if number % _BATCH == _BATCH - 1:
                    await self._wire.flush()
                    await asyncio.sleep(0)  # others are waiting
        except Exception as error:  # a bug fails the statement, and tells nothing but its kind
            self._fail(self._failure(error))
        await self._ready()

    async def _read(self, sql: str, work: Callable[[], T]) -> T:
        """Return what reading a text gives: of a long one, in a thread, for others are waiting."""
        return work() if len(sql) <= _SHORT_TEXT else await self.questions.in_thread(work)

    async def _at_once(self, prepared: Prepared) -> None:
        """Run a statement of the simple protocol, whose values are all texts."""
        result, _ = await self._run(prepared, ())
        if isinstance(result, str):
            self._wire.send(m.complete(result))
        elif isinstance(prepared.statement, s.Copy):
            await self._copy(prepared.statement, result)
        else:
            self._describe(result.columns, ())
            await self._rows(result, 0, len(result.rows), ())
            self._finish(result, len(result.rows))

    def _finish(self, result: Result, shown: int) -> None:
        self._notice(*result.notices)
        counted = result.tag in ("SELECT", "FETCH")
        self._wire.send(m.complete(f"{result.tag} {shown}" if counted else result.tag))

    # ---- the extended protocol ---------------------------------------------------------------------

    async def _step(self, message: m.Message) -> None:
        match message:
            case m.Parse(name, sql, types):
                await self._parse(name, sql, types)
            case m.Bind():
                await self._bind(message)
            case m.Describe(portal, name):
                await (self._describe_portal(name) if portal else self._describe_statement(name))
            case m.Execute(portal, most):
                await self._execute(portal, most)
            case m.Close(portal, name):
                (self._portals if portal else self._prepared).pop(name, None)
                self._wire.send(m.CLOSED)

    async def _parse(self, name: str, sql: str, types: tuple[int, ...]) -> None:
        _check_size(sql)
        if name and name in self._prepared:
            raise failed("42P05", "there is a prepared statement of this name", "close it first")
        if len(self._prepared) >= _MOST_KEPT and name not in self._prepared:
            raise failed("54000", "too many prepared statements", "close some of them")
        mark, parts = await self._read(sql, lambda: _marked_parts(sql))
        if len(parts) > 1:
            raise failed("42601", "a prepared statement is one statement", "send them one by one")
        statement = parts[0] if parts else s.Empty()
        self._transaction.check(statement)
        prepared = Prepared(sql, mark, statement, types)
        self._hold(prepared.size + getsizeof(name))
        self._prepared[name] = prepared
        self._wire.send(m.PARSED)

    async def _types(self, prepared: Prepared) -> tuple[int, ...]:
        """Return the oids of the values: those that the client gave, else what the statement tells."""
        if prepared.types is None:
            count = max(prepared.mark.count, len(prepared.given))
            given = (*prepared.given, *(0,) * (count - len(prepared.given)))
            guessed: tuple[int, ...] = ()
            if not all(given):
                guessed = await self.questions.types(prepared.sql, prepared.mark)
            guessed = (*guessed[:count], *(encoding.TEXT,) * (count - len(guessed)))
            prepared.types = tuple(own or guess for own, guess in zip(given, guessed, strict=True))
        return prepared.types

    async def _bind(self, bind: m.Bind) -> None:
        prepared = self._statement(bind.statement)
        if bind.portal and bind.portal in self._portals:
            raise failed("42P03", "there is a portal of this name", "close it first")
        if len(self._portals) >= _MOST_KEPT and bind.portal not in self._portals:
            raise failed("54000", "too many portals", "close some of them")
        self._transaction.check(prepared.statement)
        types = await self._types(prepared)
        if len(bind.values) != len(types):
            raise failed("08P01", f"the statement takes {len(types)} values, {len(bind.values)} were bound")
        if len(bind.formats) not in (0, 1, len(types)):
            raise failed("08P01", "the formats of the values do not match the values")
        given = zip(types, _each(bind.formats, len(types)), bind.values, strict=True)
        try:
            values = tuple(value_of(*each) for each in given)
        except BadValue as error:
            raise failed(error.state, error.message, error.hint) from None
        size = _OBJECTS + size_of_values(values) + _NUMBER * len(bind.result_formats)
        self._hold(size + getsizeof(bind.portal))
        self._portals[bind.portal] = Portal(prepared, values, bind.result_formats, size=size)
        self._wire.send(m.BOUND)

    async def _describe_statement(self, name: str) -> None:
        prepared = self._statement(name)
        self._transaction.check(prepared.statement)
        types = await self._types(prepared)
        if not prepared.described:
            try:
                columns = await self._columns(prepared, [_SAMPLES.get(oid, "a") for oid in types])
            except Failure:
                if not types:
                    raise
                columns = await self._columns(prepared, [None] * len(types))
            prepared.columns, prepared.described = columns, True
            prepared.shape = await self.questions.shape()
        self._wire.send(m.parameter_types(types))
        self._describe(prepared.columns, ())

    async def _describe_portal(self, name: str) -> None:
        portal = self._portal(name)
        self._transaction.check(portal.prepared.statement)
        self._describe(await self._promised(portal), portal.formats)

    async def _promised(self, portal: Portal) -> tuple[Column, ...] | None:
        """Return the columns that the rows of a portal have, as they are described to the client."""
        if isinstance(portal.result, Result):
            return portal.result.columns
        prepared, shape = portal.prepared, await self.questions.shape()
        if prepared.described and not portal.values and prepared.shape == shape:
            return prepared.columns
        columns = await self._columns(prepared, portal.values)
        if prepared.described and not alike(columns, prepared.columns):
            raise failed(
                "0A000",
                "cached plan must not change result type",
                "prepare it again; cast values in it, $1::BIGINT, so that its columns have one type",
            )
        if not portal.values:
            prepared.columns, prepared.described, prepared.shape = columns, True, shape
        return columns

    async def _execute(self, name: str, most: int) -> None:
        portal = self._portal(name)
        prepared = portal.prepared
        if isinstance(prepared.statement, s.Empty):
            self._wire.send(m.EMPTY)
            return
        if portal.result is None:
            self._transaction.check(prepared.statement)
            if prepared.described:
                await self._promised(portal)  # or it is refused, before it is paid for
            portal.result, size = await self._run(prepared, portal.values)
            portal.size += 0 if most <= 0 else size
        result = portal.result
        if isinstance(result, str):
            self._wire.send(m.complete(result))
            return
        if most <= 0 and portal.at == 0 and not portal.hold:
            portal.result = replace(result, rows=[])  # all is sent now: nothing is left to keep
        if isinstance(prepared.statement, s.Copy):
            await self._copy(prepared.statement, result)
            return
        left = len(result.rows) - portal.at
        shown = left if most <= 0 else min(left, most)
        await self._rows(result, portal.at, portal.at + shown, portal.formats)
        portal.at = portal.at + shown if portal.result is result else 0
        if 0 < most <= left:
            self._wire.send(m.SUSPENDED)
        else:
            self._finish(result, shown)

    def _statement(self, name: str) -> Prepared:
        if name not in self._prepared:
            raise failed("26000", "there is no prepared statement of this name")
        return self._prepared[name]

    def _portal(self, name: str) -> Portal:
        if name not in self._portals:
            raise failed("34000", f"there is no portal or cursor {name}".rstrip())
        return self._portals[name]

    # ---- rows --------------------------------------------------------------------------------------

    def _describe(self, columns: tuple[Column, ...] | None, formats: tuple[int, ...]) -> None:
        if columns is None:
            self._wire.send(m.NO_DATA)
            return
        fields = [
            m.Field(column.name, column.kind.oid, column.kind.size, column.kind.modifier, how)
            for column, how in zip(columns, _each(formats, len(columns)), strict=True)
        ]
        self._wire.send(m.row_description(fields))

    async def _rows(self, result: Result, start: int, end: int, formats: tuple[int, ...]) -> None:
        how = _each(formats, len(result.columns))
        kinds = [(column.kind, each) for column, each in zip(result.columns, how, strict=True)]
        for first in range(start, end, _BATCH):
            for row in result.rows[first : min(first + _BATCH, end)]:
                cells = [kind.encode(value, each) for value, (kind, each) in zip(row, kinds, strict=True)]
                self._wire.send(m.data_row(cells))
                if self._wire.full:
                    await self._wire.flush()
            await asyncio.sleep(0)  # others are waiting

    async def _copy(self, statement: s.Copy, result: Result) -> None:
        self._wire.send(m.copy_out(int(statement.format == "binary"), len(result.columns)))
        for number, line in enumerate(copied(statement, result.columns, result.rows)):
            self._wire.send(m.copy_data(line))
            if self._wire.full:
                await self._wire.flush()
            if number % _BATCH == 0:
                await asyncio.sleep(0)  # others are waiting
        self._wire.send(m.COPY_DONE)
        self._notice(*result.notices)
        self._wire.send(m.complete(f"COPY {len(result.rows)}"))

    # ---- statements --------------------------------------------------------------------------------

    async def _run(self, prepared: Prepared, values: Sequence[Value]) -> tuple[Result | str, int]:
        """Run a statement; return its rows, or the tag of one without rows; and the bytes of its answer."""
        self._transaction.check(prepared.statement)
        question = prepared.question(values)
        if question is not None and not isinstance(prepared.statement, s.Declare):
            return await self._ask(question)
        return await self._done(prepared.statement, question), 0

    async def _done(self, statement: s.Statement, question: Question | None) -> Result | str:
        """Run a statement that answers nothing that is paid for, or that keeps it as a cursor."""
        match statement:
            case s.Declare(name, _, hold) if question is not None:
                return await self._declare(name, question, hold)
            case s.Begin():
                self._notice(self._transaction.begin())
                return "BEGIN"
            case s.End(rollback):
                return self._end(rollback)
            case s.Savepoint(how, name):
                return self._transaction.savepoint(how, name)
            case s.Assign():
                return await self._assign(statement)
            case s.Show(name):
                return await self._show(name)
            case s.Fetch(name, most, move):
                return self._fetch(name, most, move)
            case s.CloseCursor(name):
                return self._close_cursor(name)
            case s.Discard(tag, name, everything):
                return self._discard(tag, name, everything)
            case s.Unknown(message, hint):
                raise failed("0A000", message, hint)
            case s.Done(tag):
                return tag
        raise failed("0A000", "this statement is not supported")

    async def _columns(self, prepared: Prepared, values: Sequence[Value]) -> tuple[Column, ...] | None:
        """Return the columns of a statement, free; None if it has none."""
        match prepared.statement:
            case s.Show(name) if name in OWN_TABLES:
                return columns_of(OWN_TABLES[name])
            case s.Show("all"):
                return texts("name", "setting", "description")
            case s.Show(name):
                return texts(spelled(name))
            case s.Fetch(name, _, False):
                result = self._portal(name).result
                return result.columns if isinstance(result, Result) else None
            case s.Ask():
                question = prepared.question(values)
                return None if question is None else await self.questions.columns(question)
        return None

    def _end(self, rollback: bool) -> str:
        tag, warning = self._transaction.end(rollback)
        self._notice(warning)
        self._portals = {name: portal for name, portal in self._portals.items() if portal.hold}
        for name, value in self._local.items():
            self._settings.change(name, value)
        self._local.clear()
        return tag

    async def _declare(self, name: str, question: Question, hold: bool) -> str:
        if name in self._portals:
            raise failed("42P03", f"there is a cursor {name}", "close it first")
        if len(self._portals) >= _MOST_KEPT:
            raise failed("54000", "too many cursors", "close some of them")
        result, size = await self._ask(question)
        self._notice(*result.notices)
        result.notices = ()
        prepared = Prepared(question.written, Marked(question.sql), s.Ask(question.sql))
        lasting, size = hold or self._transaction.state == "I", size + _OBJECTS + prepared.size
        self._portals[name] = Portal(prepared, result=result, hold=lasting, size=size)
        return "DECLARE CURSOR"

    def _fetch(self, name: str, most: int | None, move: bool) -> Result | str:
        portal = self._portal(name)
        result = portal.result
        if not isinstance(result, Result):
            raise failed("34000", f"there is no cursor {name}")
        start = portal.at
        portal.at = len(result.rows) if most is None else min(len(result.rows), start + most)
        shown = result.rows[start : portal.at]
        return f"MOVE {len(shown)}" if move else Result(result.columns, shown, "FETCH")

    def _close_cursor(self, name: str | None) -> str:
        if name is None:
            self._portals.clear()
        else:
            self._portal(name)
            del self._portals[name]
        return "CLOSE CURSOR"

    def _discard(self, tag: str, name: str | None, everything: bool) -> str:
        if name is not None and self._prepared.pop(name, None) is None:
            raise failed("26000", f"there is no prepared statement {name}")
        if tag == "DEALLOCATE ALL" or everything:
            self._prepared.clear()
        if everything:
            self._portals.clear()
            self._settings.reset()
        return tag

    async def _assign(self, statement: s.Assign) -> str:
        name, settings = statement.name, self._settings
        if name == "all":
            settings.reset()
            return statement.tag
        before, old, known = settings.show(name), settings.epsilon, settings.known
        try:
            said = settings.change(name, statement.value)
        except BadSetting as error:
            raise failed(error.state, error.message, error.hint) from None
        if name == "dpsql.epsilon" and settings.epsilon is not None:
            try:
                await self.questions.check_price(settings.epsilon)
            except Failure:
                settings.epsilon = old
                raise
        if statement.local and self._transaction.state == "T" and name in known | settings.known:
            self._local.setdefault(name, None if before == "default" else before)
        self._notice(fields("NOTICE", "00000", said) if said else None)
        if name in REPORTED:
            self._wire.send(m.parameter_status(spelled(name), settings.show(name) or ""))
        return statement.tag

    async def _show(self, name: str) -> Result:
        if name in OWN_TABLES:
            return await self.questions.own_table(name)
        if name == "all":
            listed = [(*pair, "") for pair in self._settings.listed()]
            return Result(texts("name", "setting", "description"), listed, "SHOW")
        value = self._settings.show(name)
        if value is None:
            raise failed("42704", f"there is no setting {name}", "SHOW ALL lists them")
        return Result(texts(spelled(name)), [(value,)], "SHOW")


def _marked_parts(sql: str) -> tuple[Marked, list[s.Statement]]:
    """Return a text with marks, and its first two statements."""
    mark = marked(sql)
    return mark, [s.statement_of(*part) for part in islice(s.split(mark.text), 2)]


def _check_size(sql: str) -> None:
    if len(sql) > LONGEST_TEXT:
        raise failed("54001", f"the text is longer than {LONGEST_TEXT:,} characters", "split it")


def _each(formats: tuple[int, ...], count: int) -> tuple[int, ...]:
    """Return the format of each column: none means text, one is for all."""
    if len(formats) <= 1:
        return (formats or (0,)) * count
    if len(formats) != count:
        raise failed("08P01", f"there are {count} columns, and {len(formats)} formats")
    return formats
