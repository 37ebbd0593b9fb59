"""Questions of one client: to the catalogue, to their own account, or to dpsql, which pays before it looks.

    ask        rows: what is dpsql's is paid for, or repeated       columns   the same without rows, free

Claim   columns are told without a debit, and no private row is read for them.
Proof   ``columns`` calls ``Connection.headings``, which plans (pipeline.py), and the catalogue.
Test    tests/drivers/test_server_clients.py::test_describing_is_free_and_paying_is_not
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from dpsql.answer import Answer
from dpsql.errors import Error
from dpsql.ir.column import Value
from dpsql.ir.heading import Heading
from dpsql.lazy_dataclass import dataclass
from dpsql.parse.marks import Marked
from dpsql.parse.scripts import tokens
from dpsql.remote import calls, documents
from dpsql.server.accounts import OWN_TABLES, own_table
from dpsql.server.aside import Aside
from dpsql.server.calls import COLUMNS, called
from dpsql.server.catalogues import Names, Unanswered
from dpsql.server.dialect import Understood
from dpsql.server.explained import explaining
from dpsql.server.inference import inferred
from dpsql.server.log import Log
from dpsql.server.notices import fields, paid, refused
from dpsql.server.pool import Pool, Pooled, Unopened
from dpsql.server.results import Column, Failure, Result, columns_of, expelled, failed, widened, with_margins
from dpsql.server.settings import Settings

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Client:
    """Who is there, from where, and whether they still may be."""

    analyst: str
    address: str
    stands: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Question:
    """A text with question marks as dpsql takes it, the same as it was written, and its place in that.

    ``values`` are those of the question marks, in order; ``numbered`` those of ``$1``, ``$2`` ...
    """

    sql: str
    written: str
    start: int = 0
    values: tuple[Value, ...] = ()
    numbered: tuple[Value, ...] = ()


class Questions:
    """Asks for one client, with the client's settings."""

    def __init__(self, client: Client, pool: Pool, aside: Aside, settings: Settings, log: Log) -> None:
        self.client, self.settings = client, settings
        self.stop = asyncio.Event()
        self.lost = False
        self.asking = False
        self._pool, self._aside, self._log = pool, aside, log
        self._names: Names | None = None
        self._stamp: object = None
        self._seen: object = None

    async def ask(self, question: Question) -> Result:
        """Answer a question."""
        call = called(question.sql)
        if call is not None:
            return await self._call(call)
        typed, question = question, _explained(question)
        own = _own(question.sql)
        if own is not None:
            return await self.own_table(own)
        names, settings = await self.look(), self.settings
        text = await self._understood(names, question)
        if text is None:
            return await self._from_names(names, question)
        wide = settings.show("dpsql.margins") == "columns"

        plan: list[str] = []

        def work(pooled: Pooled) -> tuple[Answer, tuple[Heading, ...], object]:
            _set(pooled, settings)
            headings = pooled.db.headings(text.text, question.values) if wide else ()
            try:
                return pooled.db.execute(text.text, question.values), headings, pooled.stamp
            finally:
                plan.append(pooled.db.plan_digest)

        answer, headings, stamp = await self.in_pool(work, "question", text, question.start, plan)
        said = [paid(answer)] if settings.show("dpsql.notices") == "on" else []
        if stamp != self._stamp:
            self._stamp, self._names = stamp, None
            said.append(fields("NOTICE", "00000", "the data or the policy are new since your last question"))
        columns = columns_of(map(Heading, answer.columns, answer.types))
        explained = answer.columns == ("explain",) and typed.sql[:7].upper() == "EXPLAIN"
        result = Result(columns, answer.rows, "EXPLAIN" if explained else "SELECT", tuple(filter(None, said)))
        return with_margins(result, [each.noised for each in headings], answer) if wide else result

    async def columns(self, question: Question) -> tuple[Column, ...]:
        """Return the columns of what ``ask`` would return, free."""
        if called(question.sql) is not None:
            return COLUMNS
        question = _explained(question)
        own = _own(question.sql)
        if own is not None:
            return columns_of(OWN_TABLES[own])
        names, settings = await self.look(), self.settings
        text = await self._understood(names, question)
        if text is None:
            return (await self._from_names(names, question)).columns

        def work(pooled: Pooled) -> tuple[Heading, ...]:
            _set(pooled, settings)
            return pooled.db.headings(text.text, question.values)

        columns = columns_of(await self.in_pool(work, "describe", text, question.start))
        return widened(columns) if settings.show("dpsql.margins") == "columns" else columns

    async def _call(self, document: str) -> Result:
        """Answer a call of ``dpsql shell``; its refusals are answers, whole as the shell shows them."""
        try:
            call = calls.read(document)
        except Error as error:
            raise Failure(refused(error, Understood("", ()))) from None
        longest = self.settings.timeout

        plan: list[str] = []

        def work(pooled: Pooled) -> tuple[object, str]:
            pooled.db.timeout = min(call.timeout or longest, longest)
            found = calls.result_of(pooled.db, call, plan)
            return found, documents.written(("ok", found))

        try:
            _, text = await self.in_pool(work, "question" if call.pays else "call", plan=plan)
        except Failure as failure:
            if failure.refusal is None:
                raise
            refusal = calls.refusal_of(failure.refusal, call.arguments.get("sql", ""))
            text = documents.written(("refused", refusal))
        return Result(COLUMNS, [(text,)])

    async def types(self, written: str, mark: Marked) -> tuple[int, ...]:
        """Return the oids of the values of a statement, as far as it tells them."""
        names = await self.look()

        def work() -> tuple[int, ...]:
            return names.parameter_oids(written) if names.asks(written) else inferred(mark, names.types)

        return await self.in_thread(work)

    async def own_table(self, name: str) -> Result:
        """Return a table of the analyst's own account."""
        rows = await self.in_pool(lambda pooled: own_table(pooled.db, name), name)
        return Result(columns_of(OWN_TABLES[name]), rows)

    async def check_price(self, epsilon: float) -> None:
        """Refuse a price that the policy does not let anybody set."""
        await self.in_pool(lambda pooled: setattr(pooled.db, "epsilon", epsilon), "price")

    async def look(self) -> Names:
        """Return what exists for the analyst: again, if a file of the database has changed."""
        seen = self._pool.place.stamp(), self._pool.place.ledger_stamp()
        if self._names is None or seen != self._seen:
            looked = await self.in_thread(lambda: self._pool.known_names(self.client.analyst))
            if looked is None:
                looked = await self.in_pool(lambda pooled: (self._pool.names(pooled), pooled.stamp), "open")
            if self._names is None:
                self._stamp = looked[1]
            self._names, self._seen = looked[0], seen
        return self._names

    async def shape(self) -> object:
        """Return what columns depend on beside a statement and its values: it changes when they may."""
        return (await self.look()).version, self.settings.show("dpsql.margins")

    async def _understood(self, names: Names, question: Question) -> Understood | None:
        """Return a question in the spelling that dpsql reads; None if it is one of the catalogue."""

        known = names.read_before(question.written, question.sql)
        if known is not None:
            return known
        return await self.in_thread(lambda: names.read(question.written, question.sql))

    async def _from_names(self, names: Names, question: Question) -> Result:
        try:
            return await self.in_thread(lambda: names.answer(question.written, question.numbered))
        except Unanswered as error:
            kept = await self.in_thread(self._pool.place.keeps_texts)
            self.write("catalogue", code="0A000", **({"why": str(error)} if kept else {}))
            raise failed("0A000", f"the catalogue does not answer this: {error}") from None

    # ---- threads -----------------------------------------------------------------------------------

    async def in_thread(self, work: Callable[[], T]) -> T:
        return await self._aside.run(self.client.analyst, work)

    async def in_pool(
        self,
        work: Callable[[Pooled], T],
        event: str,
        text: Understood | None = None,
        start: int = 0,
        plan: Sequence[str] = (),
    ) -> T:
        """Run a step on a connection of the analyst, and note it in the owner's log.

        ``plan`` gets the digest of its plan from it, '' if there was none.
        """
        if not self.client.stands():
            raise expelled("28000", "this login has been removed")
        if not self.lost:
            self.stop.clear()
        began, code, cost = time.monotonic(), "ok", 0.0
        self.asking = True
        try:
            result = await self._pool.ask(self.client.analyst, work, self.stop)
            if isinstance(result, tuple) and isinstance(result[0], Answer):
                cost = result[0].cost
            return result
        except Unopened as error:
            code = error.error.code
            self.write("unopened", code=code, why=str(error.error))
            raise failed(
                "28000" if code == "D504" else "57P03",
                f"[{code}] the database cannot be opened for you now",
                "its owner's log says why",
            ) from None
        except Error as error:
            code = error.code
            state = "57014" if code == "D601" and self.stop.is_set() else ""
            raise Failure(refused(error, text or Understood("", ()), start, state), error) from None
        finally:
            self.asking = False
            if event == "question" or code != "ok":
                taken = round((time.monotonic() - began) * 1000, 1)
                digest = {"plan": plan[0]} if plan and plan[0] else {}
                self.write(event, code=code, cost=cost, ms=taken, **digest)

    def write(self, event: str, **more: object) -> None:
        """Write a line of the owner's log."""
        who = {"analyst": self.client.analyst, "address": self.client.address}
        self._log.write(event, **who, database=self._pool.place.name, **more)


def _set(pooled: Pooled, settings: Settings) -> None:
    """Set anew what the client before may have set."""
    pooled.db.epsilon, pooled.db.timeout = settings.epsilon, settings.timeout


def _explained(question: Question) -> Question:
    """Return an EXPLAIN in the place of a SELECT from ``dpsql.explain``."""
    found = explaining(question.sql)
    if found is None:
        return question
    sql, moved = found
    return replace(question, sql=sql, written=sql, start=question.start + moved)


def _own(sql: str) -> str | None:
    """Return which of one's own tables a statement shows: SELECT * FROM dpsql.budget."""
    words = " ".join(word.lower() for _, word in tokens(sql[:200]) if not word.isspace())
    for name in OWN_TABLES:
        spelled_out = name.replace(".", " . ")
        if words in (f"select * from {spelled_out}", f"table {spelled_out}", f"from {spelled_out}"):
            return name
    return None
