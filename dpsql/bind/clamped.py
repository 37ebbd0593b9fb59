"""The range of a released value that is handed down to private rows: what its expression clamps it to.

(SELECT AVG(age) FROM patients)                         [0, 120]: an average stays in its argument's range
(SELECT LEAST(GREATEST(SUM(cost), 0), 1e6) FROM visits) [0, 1000000]
(SELECT COUNT(*) FROM visits)                           anything
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.aggregates import Unbounded
from dpsql.aggregates import shelf as aggregates
from dpsql.bind.names import Scope, Visible
from dpsql.bind.scalars import Scalars
from dpsql.errors import Error, refuse
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import ANYTHING, Domain, Fact, Interval
from dpsql.ir.measure import Measure
from dpsql.ir.scalar import Literal, Ref


def clamped(tree: exp.Expr, measures: list[Measure], names: tuple[str, ...]) -> list[Domain]:
    """A domain for each output of ordinary SQL over released tables; anything where it is not plain."""
    facts = _facts(tree, measures)
    found = [facts[name].domain if name in facts else ANYTHING for name in names]
    return [each if isinstance(each, Interval) else ANYTHING for each in found]


def _facts(tree: exp.Expr, measures: list[Measure]) -> dict[str, Fact]:
    """What is known of the outputs, by name; those of which nothing is known are left out."""
    if isinstance(tree, exp.Subquery):
        return _facts(tree.this, measures)
    if isinstance(tree, exp.Table):
        return next((_released(each) for each in measures if each.name == tree.name), {})
    source = tree.args.get("from_") if isinstance(tree, exp.Select) else None
    if source is None or tree.args.get("joins") or tree.args.get("group"):
        return {}
    inside = _facts(source.this, measures)
    alias = source.this.alias_or_name
    scope = Scope(tuple(Visible(alias, name, Ref(name)) for name in inside))
    scalars = Scalars("", scope, inside, _no_constants)
    found = {}
    for each in tree.expressions:
        try:
            found[each.alias_or_name] = fact_of(scalars.bind(each), inside)
        except Error:
            continue
    return found


def _released(measure: Measure) -> dict[str, Fact]:
    facts = facts_of(measure.relation)
    found = {key.name: fact_of(key.scalar, facts) for key in measure.keys}
    for call in measure.aggregates:
        argument = None if call.argument is None else fact_of(call.argument, facts)
        try:
            others = (fact_of(each, facts) for each in call.others)
            found[call.name] = aggregates()[call.function].result(argument, None, *others)
        except Unbounded:
            continue
    return found


def _no_constants(node: exp.Expr) -> tuple[Literal, ...]:
    raise refuse("D255", "a subquery within a released value", help="leave it out")
