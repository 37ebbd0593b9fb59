"""What was drawn, and in which share of the queries."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias, get_args

from cases import OF_QUERIES

from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions import shelf
from dpsql.fuzz.judges import measures_of
from dpsql.fuzz.scalars import forms
from dpsql.ir.column import Categories, Kind, Listed
from dpsql.ir.plan import MeasurePlan, Plan, PublicKeys, Shape
from dpsql.ir.relation import Aggregate, Join, OrderedCall, Relation, Window
from dpsql.ir.scalar import Call, Ref

NODES = tuple(each.__name__ for each in get_args(Relation))
KEYS = (
    "declared list", "boolean", "public table", "text", "integer", "decimal", "float", "date", "timestamp",
    "expression", "enum",
)  # fmt: skip
WRITTEN = (
    "ROLLUP", "CUBE", "GROUPING SETS", "GROUPING(", "other_group", "max_rows_contributed",
    "max_groups_contributed", "weights",
)  # fmt: skip
"""What is found in the text alone."""

_NAMED = {
    Kind.TEXT: "text", Kind.INTEGER: "integer", Kind.DECIMAL: "decimal", Kind.FLOAT: "float",
    Kind.DATE: "date", Kind.TIMESTAMP: "timestamp", Kind.BOOLEAN: "boolean",
}  # fmt: skip


Occurrence: TypeAlias = tuple[str, str]
"""A group of things and one of them: ("key", "float")."""


@dataclass(slots=True)
class Coverage:
    """In how many queries each thing occurred."""

    accepted: int = 0
    compared: int = 0
    statements: int = 0
    together: int = 0
    drawn: Counter[Occurrence] = field(default_factory=Counter)

    def accept(self, plan: Plan, sql: str) -> set[Occurrence]:
        """Count the query; return what occurs in it."""
        self.accepted += 1
        found = {*_occurring(plan), *(("written", word) for word in WRITTEN if word in sql)}
        self.drawn.update(found)
        return found

    def share(self, group: str, name: str) -> float:
        return self.drawn[group, name] / max(1, self.accepted)

    def lines(self, alive: int, refused: Counter[str]) -> Iterator[str]:
        """The report."""
        yield f"{self.accepted} queries accepted, {refused.total()} refused"
        yield f"{alive} of them measure more than zeros; {self.compared} were compared with plain DuckDB"
        yield f"{self.together} of {self.statements} statements in files were measured together"
        functions = sorted({each.function for found in forms().values() for each in found})
        for group, names in (
            ("node", NODES),
            ("join", sorted(name for kind, name in self.drawn if kind == "join")),
            ("window", sorted(name for kind, name in self.drawn if kind == "window")),
            ("stages", sorted(name for kind, name in self.drawn if kind == "stages")),
            ("shape", [each.name for each in Shape]),
            ("noise", sorted(name for kind, name in self.drawn if kind == "noise")),
            ("key", KEYS),
            ("written", WRITTEN),
            ("aggregate", sorted(name for kind, name in self.drawn if kind == "aggregate")),
            ("function", functions),
        ):
            yield f"{group}: {self._listed(group, names)}"
        rare = [each for each in functions if self.share("function", each) <= 0.01]
        never = [each for each in functions if not self.drawn["function", each]]
        above = len(functions) - len(rare)
        yield f"functions: {above} of {len(functions)} above 1 %; rare {rare}; never {never}"
        yield f"functions that no text reaches: {sorted(set(shelf()) - set(functions))}"
        codes = [f"{code} {count / max(1, refused.total()):.1%}" for code, count in sorted(refused.items())]
        yield f"refused: {', '.join(codes)}"
        missing = [code for code in OF_QUERIES if not refused[code]]
        yield f"codes never met: {missing}"

    def _listed(self, group: str, names: Iterable[str]) -> str:
        return ", ".join(f"{name} {self.share(group, name):.1%}" for name in names)


def _occurring(plan: Plan) -> Iterator[Occurrence]:
    yield "stages", str(len(plan.stages))
    for each in measures_of(plan):
        yield "shape", each.shape.name
        yield (
            "noise",
            f"{each.noise.mechanism} {'list' if isinstance(each.rule, PublicKeys) else 'threshold'}",
        )
        yield from _keys(each)
        for call in each.measure.aggregates:
            yield "aggregate", call.function
        for statistic in each.measure.statistics:
            yield "statistic", statistic.part.value
        for detail in each.details:
            yield "detail", detail.detail.kind
        for part in _parts(each.measure):
            match part:
                case Call(function):
                    yield "function", function
                case Aggregate(_, _, calls):
                    for call in calls:
                        yield "aggregate", f"{call.function} per unit"
                        if isinstance(call, OrderedCall):
                            yield "aggregate", "ordered per unit"
                case Window(_, call):
                    yield "window", call.function
                case Join(kind, left, right):
                    sides = (
                        "private" if isinstance(ownership_of(s), Owned) else "public" for s in (left, right)
                    )
                    yield "join", f"{kind.value} {' '.join(sides)}"
                case _:
                    pass
            yield "node", type(part).__name__


def _parts(value: object) -> Iterator[object]:
    """Every node of a relation tree, and every scalar in it."""
    if isinstance(value, tuple):
        for each in value:
            yield from _parts(each)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield value
        for own in dataclasses.fields(value):
            if own.name not in ("span", "fact", "type", "owner", "finishes", "families"):
                yield from _parts(getattr(value, own.name))


def _keys(planned: MeasurePlan) -> Iterator[Occurrence]:
    facts = facts_of(planned.measure.relation)
    for key, column in zip(planned.measure.keys, planned.keys, strict=True):
        if not isinstance(key.scalar, Ref):
            yield "key", "expression"
        domain = fact_of(key.scalar, facts).domain
        if column.fact.type.sql.startswith("ENUM("):
            yield "key", "enum"
        elif isinstance(domain, Listed):
            yield "key", "public table"
        elif isinstance(domain, Categories) and column.fact.type.kind is not Kind.BOOLEAN:
            yield "key", "declared list"
        else:
            yield "key", _NAMED.get(column.fact.type.kind, column.fact.type.sql)
