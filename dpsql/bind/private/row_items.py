"""UNNEST of a list that a private row holds: a row for each of its first items.

    FROM patients p, unnest(p.allergies) AS u(allergy)          ... OPTIONS(max_unnest = 3)

    FROM (SELECT *, list_extract(p.allergies, place) AS allergy
          FROM patients p JOIN (VALUES (1), (2), (3)) AS places(place) ON place <= len(p.allergies))

Claim   one private row becomes at most ``most`` rows, each of the same unit, and they are a function of the
        row alone. Without a cut these are the rows of DuckDB's UNNEST: none for NULL or an empty list, one
        for each item, equal items and NULL among them; a LEFT join keeps the others with a NULL.
Proof   The row meets each of the places 1 to ``most`` at most once: the places are constants of the SQL that
        runs, and a number is in the list once. So it is a join with ``most`` public rows, and all facts are
        those of such a join (``facts/ownership.py``): rows and fan-out grow by the factor, keys of the rows
        and masses end, the item is not settled by the unit. A place is at most the length, so that the item
        exists; ``list_extract`` never raises.
Test    grammar_tests/from/row_items.sql, tests/unit/test_row_items.py

How many items count is the query's option, or the list's declared or literal length, or ten. It is enforced
whatever is declared: items beyond it are left out.
"""

from __future__ import annotations

from dpsql.bind.private.joins import join
from dpsql.bind.scope.context import Context
from dpsql.bind.scope.scope import Fresh
from dpsql.errors import refuse
from dpsql.facts.ownership import FAN_OUT, Owned, ownership_of
from dpsql.facts.schema import facts_of
from dpsql.ir.column import BIGINT, Fact, Interval, Sized
from dpsql.ir.options import Option
from dpsql.ir.relation import JoinKind, Materialized, Named, Project, Relation, ScanColumn
from dpsql.ir.scalar import Call, Literal, Ref, Scalar
from dpsql.ir.source import Span
from dpsql.policy.catalogue import Known

USUAL = 10
"""How many items of a list count where nothing says it."""
OPTION = "max_unnest"


def most_of(ctx: Context, items: Fact) -> int:
    """Return how many items of a list count, and note that a list is taken apart."""
    ctx.unnests = True
    said = None if ctx.max_unnest is None else _checked_number(ctx.max_unnest)
    match items.domain:
        case Sized(most, exact=True):
            return min(most, said or most)
        case Sized(most):
            return said or most
        case _:
            return said or USUAL


def refuse_unused(ctx: Context) -> None:
    """Refuse the option in a query that takes no list apart."""
    if ctx.max_unnest is not None and not ctx.unnests:
        raise refuse(
            "D252",
            f"{OPTION} means nothing here",
            ctx.max_unnest.span,
            label="this query makes no rows of a list that private rows hold",
            help="leave it out; or unnest a list: FROM t, unnest(list) AS u(item)",
        )


def _checked_number(option: Option) -> int:
    """Return the value of the option, a whole number from 1 to the limit of fan-out; refuse any other."""
    if type(option.value) is not int or not 1 <= option.value <= FAN_OUT:
        raise refuse(
            "D205",
            f"{OPTION} must be a whole number from 1 to {FAN_OUT:,}",
            option.span,
            label="each list gives at most so many rows, and noise grows with it",
            help=f"write {OPTION} = {USUAL}",
        )
    return option.value


def with_items(
    relation: Relation, items: Scalar, most: int, left: bool, known: Known, fresh: Fresh, span: Span | None
) -> tuple[Relation, Ref]:
    """Return a row for each of the first ``most`` items of a list, and the column that holds the item."""
    owned = ownership_of(relation)
    times = most * (owned.fan if isinstance(owned, Owned) else 1)
    if times > FAN_OUT:
        raise refuse(
            "D303",
            f"lists may multiply one private row up to {times:,} times",
            span,
            label=f"{most:,} items of this list count",
            help=f"let fewer items count: SELECT OPTIONS({OPTION} = {USUAL}) ...; or unnest one list a query",
        )
    place = fresh("place")
    column = ScanColumn(place, BIGINT.sql, Fact(BIGINT, Interval(1, most), nullable=False))
    places = Materialized((column,), tuple((number,) for number in range(1, most + 1)), ((place,),), span)
    kept = tuple(Named(name, Ref(name)) for name in facts_of(relation))
    match items:
        case Call("list_value", listed):  # the item keeps the range of those that are listed
            length: Scalar = Literal(len(listed), BIGINT)
            item = Call("list_extract", (Ref(place), *listed))
        case _:
            held = fresh("items")  # in a column of its own, so that it is made once a row
            relation = Project(relation, (*kept, Named(held, items)))
            length, item = Call("length", (Ref(held),)), Call("list_item", (Ref(held), Ref(place)))
    kind = JoinKind.LEFT if left else JoinKind.INNER
    joined = join(kind, relation, places, Call("<=", (Ref(place), length)), span, known.unit)
    taken = Named(fresh("item"), item)
    return Project(joined, (*kept, taken)), Ref(taken.name)
