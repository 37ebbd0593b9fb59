"""The range of a released value that is handed down to private rows: what its expression clamps it to.

(SELECT AVG(age) FROM patients)                         [0, 120]: an average stays in its argument's range
(SELECT LEAST(GREATEST(SUM(cost), 0), 1e6) FROM visits) [0, 1000000]
(SELECT COUNT(*) FROM visits)                           anything
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.aggregates import Unbounded
from dpsql.aggregates import shelf as aggregates
from dpsql.bind.expressions.scalars import Scalars
from dpsql.bind.scope.scope import Scope, Visible
from dpsql.bind.syntax.plain_columns import columns_of
from dpsql.errors import Error, refuse
from dpsql.facts.released_columns import released_columns
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import ANYTHING, Domain, Fact, Interval
from dpsql.ir.measure import Measure
from dpsql.ir.scalar import Literal, Ref


def clamped(tree: exp.Expr, measures: list[Measure], width: int) -> list[Domain]:
    """A domain for each output of ordinary SQL over released tables; anything where it is not plain."""
    facts = _facts(tree, measures)
    if len(facts) != width:
        return [ANYTHING] * width
    found = [each.domain if each is not None else ANYTHING for each in facts]
    return [each if isinstance(each, Interval) else ANYTHING for each in found]


def _facts(tree: exp.Expr, measures: list[Measure]) -> list[Fact | None]:
    """What is known of each output; nothing where there are outputs that are not written one by one."""
    if isinstance(tree, exp.Subquery):
        return _facts(tree.this, measures)
    if isinstance(tree, exp.Table):
        return next((_released(each) for each in measures if each.name == tree.name), [])
    source = tree.args.get("from_") if isinstance(tree, exp.Select) else None
    if source is None or tree.args.get("joins") or tree.args.get("group"):
        return []
    names = columns_of(source.this, measures)
    folded = [each.casefold() for each in names]
    known = {
        f"c{i}": fact
        for i, fact in enumerate(_facts(source.this, measures))
        if fact is not None and i < len(names) and folded.count(folded[i]) == 1
    }
    alias = source.this.alias_or_name
    scope = Scope(tuple(Visible(alias, names[int(each[1:])], Ref(each)) for each in known))
    scalars = Scalars("", scope, known, _no_constants)
    found: list[Fact | None] = []
    for each in tree.expressions:
        try:
            found.append(fact_of(scalars.bind(each.unalias()), known))
        except Error:
            found.append(None)
    return found


def _released(measure: Measure) -> list[Fact | None]:
    facts = facts_of(measure.relation)
    found = {key.name: fact_of(key.scalar, facts) for key in measure.keys}
    for call in measure.aggregates:
        argument = None if call.argument is None else fact_of(call.argument, facts)
        try:
            others = (fact_of(each, facts) for each in call.others)
            found[call.name] = aggregates()[call.function].result(argument, None, *others)
        except Unbounded:
            continue
    return [found.get(name) for name, _ in released_columns(measure)]


def _no_constants(node: exp.Expr) -> tuple[Literal, ...]:
    raise refuse("D255", "a subquery within a released value", help="leave it out")
