"""What the pipeline asks of a session: the owner's rules, the engines, and the till."""

from __future__ import annotations

import datetime
from typing import Protocol

from dpsql.accounting.entries import Search, Stored
from dpsql.engines import Engine
from dpsql.ir.bound import Bound, Lack
from dpsql.ir.options import Option
from dpsql.ir.plan import Findings, Plan
from dpsql.ir.survey import PlannedSurvey
from dpsql.plan.terms import Terms
from dpsql.policy.catalogue import Known
from dpsql.post.sealed import Sealed


class Office(Protocol):
    """A session, as far as the pipeline knows it."""

    @property
    def known(self) -> Known: ...
    @property
    def engine(self) -> Engine: ...
    @property
    def sealed(self) -> Sealed: ...

    def terms(self, epsilon: float | None) -> Terms:
        """The price of one query under the owner's rules, or D502, D503."""
        ...

    def said(self, terms: Terms, price: Option) -> Terms:
        """The same with the price that the query itself says, or D502, D503."""
        ...

    def pay(self, planned: Plan | PlannedSurvey, finds: Findings | None = None) -> Stored:
        """A durable debit, or the one that was made for the very same measures before."""
        ...

    def afford(self, planned: Plan) -> None:
        """D501 unless the till holds now what the plan and the one before it cost."""
        ...

    @property
    def find_bounds(self) -> bool:
        """Whether the owner lets queries find what the policy leaves out."""
        ...

    def bounds(self, lack: Lack) -> tuple[Bound, ...]:
        """What was found of it for this version of the data, the first first."""
        ...

    def searches(self, lack: Lack) -> tuple[Search, ...]:
        """What was paid for finding it, and for others with it, and has no answer yet."""
        ...

    def asked(self, asker: str) -> bool:
        """Whether a query has paid for bounds."""
        ...

    def quoted(self, planned: Plan) -> tuple[float, float, bool]:
        """What a plan would cost now, what would remain then, and whether it was paid for before."""
        ...

    def stored(self, planned: Plan) -> Stored | None:
        """What was paid for before, by whoever asks; with the answer, if there is one."""
        ...

    def store(self, receipt: Stored, released: bytes) -> bytes:
        """Keep the released tables; returns those that were kept first."""
        ...

    def part(self, receipt: Stored, place: int) -> bytes | None:
        """A released table that was kept before its answer was complete."""
        ...

    def keep(self, receipt: Stored, place: int, released: bytes) -> bytes:
        """Keep one; returns what was kept there first."""
        ...

    def remaining(self) -> float: ...

    def now(self) -> datetime.datetime:
        """What a query's now() is."""
        ...

    @property
    def ceiling(self) -> float:
        """The most that the owner lets one query cost."""
        ...

    @property
    def least(self) -> float:
        """The least that a query costs."""
        ...
