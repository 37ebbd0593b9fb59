"""A statement of a file with its plan and its price, before anything is paid.

old        SELECT COUNT(*) FROM patients      price 0.5, costs 0.5
again      select count(*) from patients      price 0.5, costs nothing: like old
"""

from __future__ import annotations

from dpsql.batch.script import Task
from dpsql.ir.plan import Plan
from dpsql.ir.price import Price
from dpsql.lazy_dataclass import dataclass
from dpsql.parse.parse import Query
from dpsql.parse.view_statements import Create


@dataclass(frozen=True, slots=True)
class Item:
    """A statement that would be answered. ``epsilon`` is the price of its call, if it has one.

    ``query`` is its parsed text. ``cost`` is what it takes now, after the statements before it. ``like``
    names the first statement before it that measures the same, and pays for both. If it is measured with
    others, ``alone`` is its price without them.
    """

    task: Task
    query: Query
    epsilon: float | None
    plan: Plan
    price: Price
    cost: float = 0.0
    like: str = ""
    alone: Price | None = None

    @property
    def paid(self) -> bool:
        """Whether it has a price; a private view or alert that is bought already has none."""
        once = self.plan.bought is not None or self.plan.alert is not None
        bought = once and not self.price.cost
        return not self.query.explained and not bought and bool(self.plan.events or self.plan.first)

    @property
    def reads_view(self) -> bool:
        """Whether it asks a private view, which has a price of its own."""
        view = any(measure.measure.view is not None for measure in self.plan.measures)
        return view and not isinstance(self.query.view, Create)

    @property
    def said(self) -> bool:
        """Whether the query sets its price or its accuracy."""
        return self.query.epsilon is not None or self.query.goal is not None

    @property
    def own(self) -> bool:
        """Whether the query or a SET before it sets its price or accuracy."""
        own = self.reads_view or self.plan.alert is not None
        return self.said or self.task.epsilon is not None or own

    @property
    def measured(self) -> tuple[str, str]:
        """Return a key, equal for statements that share a measurement. Found bounds depend on the text."""
        return self.plan.digest, self.task.sql if self.plan.bounds else ""

    @property
    def epsilons(self) -> float:
        return self.price.epsilon if self.paid else 0.0
