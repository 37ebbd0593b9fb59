"""Votes of teachers about public rows: the private rows that they learn from, the plan, the votes.

    VoteQuery = rows of a relation, the first column predicted     made by bind
    Ballot = a learner, teachers, public rows, a price             given by the owner
    VotePlan = the same with labels, teachers and a price          paid and run
    Examples --teachers--> ExactVotes --release--> labels

An example is (the number of its label, the other columns).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from dpsql.ir.column import Type, Value
from dpsql.ir.event import ChoiceEvent, Event
from dpsql.ir.measure import KeyList
from dpsql.ir.relation import Relation, tables_read
from dpsql.ir.scalar import Ref
from dpsql.ir.source import Source, Span
from dpsql.lazy_dataclass import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly


@dataclass(frozen=True, slots=True, eq=False)
class VoteQuery:
    """Rows of a relation that teachers learn from; ``values`` are those of the first column."""

    source: Source
    relation: Relation
    columns: tuple[Ref, ...]
    names: tuple[str, ...]
    values: KeyList
    type: Type
    span: Span | None


@dataclass(frozen=True, slots=True)
class Learner:
    """A function of a file. ``digest`` is that of the file: what it imports is not in it."""

    module: str
    file: str
    function: str
    digest: str


@dataclass(frozen=True, slots=True)
class Ballot:
    """What teachers are asked: the labels of public ``rows``, each at the price ``epsilon``.

    A teacher may compute for so many ``seconds`` of the processor, and take so many ``megabytes`` of memory
    beside what its learner's file took to be loaded; no file that it writes may be larger.
    """

    learner: Learner
    rows: tuple[tuple[Value, ...], ...]
    teachers: int
    epsilon: float
    seconds: int
    megabytes: int


@dataclass(frozen=True, slots=True, eq=False)
class VotePlan:
    """A planned vote; ``epsilon`` is the price of all labels together."""

    source: Source
    relation: Relation
    columns: tuple[Ref, ...]
    name: str
    type: Type
    labels: tuple[Value, ...]
    ballot: Ballot
    epsilon: float
    accountant: str
    digest: str

    @property
    def events(self) -> tuple[Event, ...]:
        return votes_of(self.ballot)

    @property
    def tables(self) -> frozenset[str]:
        """The tables whose rows teachers learn from."""
        return tables_read(self.relation)


def votes_of(ballot: Ballot) -> tuple[Event, ...]:
    """Return the events of a ballot: one choice for each row."""
    return (ChoiceEvent(ballot.epsilon),) * len(ballot.rows)


Example: TypeAlias = tuple[Any, ...]


class Examples:
    """Rows of units: (the unit's values as text, the example): private. It cannot be shown or pickled."""

    __slots__ = ("rows",)

    def __init__(self, rows: list[tuple[tuple[str, ...], Example]]) -> None:
        self.rows = rows

    def __repr__(self) -> str:
        return "Examples(not shown)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("private rows are never stored")


class ExactVotes:
    """How many teachers gave each label to each public row: private. It cannot be shown or pickled."""

    __slots__ = ("counts",)

    def __init__(self, counts: NDArray[np.int64]) -> None:
        self.counts = counts

    def __repr__(self) -> str:
        return "ExactVotes(not shown)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("exact votes are never stored")
