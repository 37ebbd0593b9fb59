"""The range of a released value that private rows are joined with, as its expression clamps it.

(SELECT AVG(age) FROM patients)                         [0, 120]: an average is in the range of its argument
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


def released_domains(tree: exp.Expr, measures: list[Measure], width: int) -> list[Domain]:
    """Return the domain of each output of ordinary SQL over released tables; anything if unknown."""
    facts = _facts(tree, measures)
    if len(facts) != width:
        return [ANYTHING] * width
    domains = [fact.domain if fact is not None else ANYTHING for fact in facts]
    return [domain if isinstance(domain, Interval) else ANYTHING for domain in domains]


def _facts(tree: exp.Expr, measures: list[Measure]) -> list[Fact | None]:
    """Return the fact of each output; [] where the outputs are not expressions over one FROM item."""
    if isinstance(tree, exp.Subquery):
        return _facts(tree.this, measures)
    if isinstance(tree, exp.Table):
        return next((_released(measure) for measure in measures if measure.name == tree.name), [])
    source = tree.args.get("from_") if isinstance(tree, exp.Select) else None
    if source is None or tree.args.get("joins") or tree.args.get("group"):
        return []
    names = columns_of(source.this, measures)
    folded = [name.casefold() for name in names]
    known = {
        f"c{i}": fact
        for i, fact in enumerate(_facts(source.this, measures))
        if fact is not None and i < len(names) and folded.count(folded[i]) == 1
    }
    alias = source.this.alias_or_name
    scope = Scope(tuple(Visible(alias, names[int(column[1:])], Ref(column)) for column in known))
    scalars = Scalars("", scope, known, _no_constants, None)
    outputs: list[Fact | None] = []
    for node in tree.expressions:
        try:
            outputs.append(fact_of(scalars.bind(node.unalias()), known))
        except Error:
            outputs.append(None)
    return outputs


def _released(measure: Measure) -> list[Fact | None]:
    facts = facts_of(measure.relation)
    released = {key.name: fact_of(key.scalar, facts) for key in measure.keys}
    for call in measure.aggregates:
        argument = None if call.argument is None else fact_of(call.argument, facts)
        try:
            other_facts = (fact_of(argument, facts) for argument in call.others)
            released[call.name] = aggregates()[call.function].result(argument, None, *other_facts)
        except Unbounded:
            continue
    return [released.get(name) for name, _ in released_columns(measure)]


def _no_constants(node: exp.Expr) -> tuple[Literal, ...]:
    raise refuse("D255", "a subquery inside a released value", help="leave it out")
