"""The owner's commands: draft a policy from the schema, and hold one against its database.

Nothing is spent here. The ledger is only looked at, unless the owner accepts that columns have other types.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from pathlib import Path

from dpsql.accounting import Budget, accountant
from dpsql.accounting.ledger import Ledger
from dpsql.dbapi.connection import beside
from dpsql.engines import Engine
from dpsql.engines.open_database import open_database
from dpsql.errors import InterfaceError
from dpsql.facts.missing_bounds import all_missing_bounds
from dpsql.ir.column import Categories, Kind, Listed
from dpsql.policy.catalogue import Catalogue, Known, KnownTable
from dpsql.policy.check import changed, compare, declared_keys, known, snapshot
from dpsql.policy.draft import draft as drafted
from dpsql.policy.listing import View
from dpsql.policy.model import LimitsRule, Policy
from dpsql.policy.names import fold
from dpsql.policy.toml_spelling import memory_text
from dpsql.post.sealed import Sealed
from dpsql.render.digits import above, below, on_a_line, printable
from dpsql.rewrite.statistics import bounded_range
from dpsql.session.checks import check_readable, keep_types, kept_types, load_policy, promise
from dpsql.session.views import check_all_views
from dpsql.terminal.output import put


def draft(options: Namespace) -> int:
    """A first policy, on standard output."""
    with closing(open_database(options.database)) as engine:
        put(drafted(engine.describe(), options.database.name).rstrip("\n"))
    return 0


def check(options: Namespace) -> int:
    """Everything that opening a connection would check, and what the policy amounts to."""
    file: Path = options.policy or beside(options.database, ".toml")
    kept: Path = options.ledger or beside(options.database, ".ledger")
    policy = load_policy(file)
    with closing(open_database(options.database, policy)) as engine:
        said = checked(policy, engine, options.database.name)
        ledger = Ledger.look(kept, promise(policy, engine))
        if ledger is None:
            if options.accept:
                raise InterfaceError(
                    f"there is no ledger {kept}: nothing has been seen of any type",
                    help="the first query makes one; or name another, --ledger FILE",
                )
            put(f"{said}\nledger    none yet: the first query makes {on_a_line(kept.name)}")
            return 0
        with ledger:
            accepted = _types(policy, engine, ledger, options.accept)
            put("\n".join([said, *left(policy, ledger, on_a_line(kept.name)), *accepted]))
    return 0


def _types(policy: Policy, engine: Engine, ledger: Ledger, accept: bool) -> list[str]:
    """Columns are of the types that they were of when the ledger last saw them, or the owner accepts it."""
    catalogue = engine.describe()
    before = kept_types(ledger)
    if before is None or not accept:
        if before is not None:
            compare(before, policy, catalogue)
        return []
    found = changed(before, policy, catalogue)
    keep_types(ledger, snapshot(policy, catalogue))
    return [printable(f"accepted  {each.table}.{each.column}: {each.how}") for each in found] or [
        "accepted  nothing: every column has the type that the ledger knows"
    ]


def left(policy: Policy, ledger: Ledger, name: str) -> list[str]:
    """What remains of each budget."""
    rule, rules = policy.budget, accountant(policy.budget.accountant)
    lines = []
    for who, granted in [(None, rule.epsilon), *((each.name, each.epsilon) for each in policy.analysts)]:
        spent = rules.epsilon(ledger.spent(who), Budget(granted, rule.delta))
        remains = below(max(0.0, granted - spent))
        of = f"ledger    {name}" if who is None else f"          {who}"
        lines.append(printable(f"{of}: {above(spent)} of {granted:g} spent, {remains} remains"))
    return lines


def checked(policy: Policy, engine: Engine, database: str) -> str:
    """What the policy amounts to, if it holds."""
    found = held_against(policy, engine)
    with closing(Sealed(partial(_public_rows, engine, found), policy.timezone, policy.limits)) as sealed:
        views = check_all_views(policy, found, engine, sealed)
    odd = [f"decide    {each}" for each in engine.misread()]
    return printable(
        "\n".join([summary(policy, found, views, database), *hidden(found, engine.describe()), *odd])
    )


def hidden(found: Known, catalogue: Catalogue) -> list[str]:
    """What does not exist for analysts: tables, and columns of private tables, that the policy leaves out."""
    said = []
    tables = [each.name for each in catalogue.tables if found.table(each.name) is None]
    if tables:
        said.append(f"hidden    {', '.join(tables)}")
    for table in catalogue.tables:
        known = found.table(table.name)
        if known is not None:
            seen = {each.name for each in known.columns}
            names = [
                each for each in (*(one.name for one in table.columns), *table.untyped) if each not in seen
            ]
            if names:
                said.append(f"hidden    {table.name}: {', '.join(names)}")
            if table.unstable:
                each = "generated, and may read differently each time: store its values"
                said.append(f"hidden    {table.name}: {', '.join(table.unstable)} ({each})")
    return said


def held_against(policy: Policy, engine: Engine) -> Known:
    """The policy over this database, with its keys verified on the rows that are there now."""
    catalogue = engine.describe()
    public = {fold(rule.name) for rule in policy.tables if rule.public}
    sizes = {each.name: engine.size(each.name) for each in catalogue.tables if fold(each.name) in public}
    keys = declared_keys(policy, catalogue)
    found = known(policy, catalogue, sizes, {key for key in keys if engine.is_key(key)})
    check_readable(engine, found)
    return found


def _public_rows(
    engine: Engine, found: Known, name: str
) -> tuple[list[str], list[str], list[tuple[object, ...]]]:
    table = found.table(name)
    assert table is not None
    assert table.public
    types, rows = engine.rows(table.name)
    return [column.name for column in table.columns], types, rows


def summary(policy: Policy, found: Known, views: Mapping[str, View], database: str) -> str:
    """What analysts will meet, in a few lines."""
    budget, price = policy.budget, policy.query
    lines = [
        f"ok: {policy.name} holds for {database}",
        f"unit      {policy.unit.name}: {policy.unit.table}.{policy.unit.key}",
        f"budget    epsilon {budget.epsilon:g} at delta {budget.delta:g}, under {budget.accountant}",
        f"price     {price.epsilon:g} for one query, at most {price.max_epsilon:g}",
    ]
    if price.min_units > 1:
        lines.append(f"groups    of fewer than {price.min_units} are not shown, unless their keys are listed")
    if (limits := policy.limits) != LimitsRule():
        lines.append(
            f"limits    {limits.seconds:g} seconds, {memory_text(limits.memory)}, {limits.rows:,} rows: "
            "of planning, post-processing and answers"
        )
    lines += [f"analyst   {each.name}: epsilon {each.epsilon:g}" for each in policy.analysts]
    for table in found.tables:
        lines += _table(table, policy.unit.name)
    lines += [f"view      {name}: {view.kind}" for name, view in views.items()]
    if policy.query.find_bounds:
        lines += [f"found     {each}, by the first query that needs it" for each in all_missing_bounds(found)]
    else:
        missing = [each.table for each in all_missing_bounds(found) if not each.column]
        lines += [f"decide    {name} needs rows_per_unit before it can be aggregated" for name in missing]
    return printable("\n".join(lines))


def _table(table: KnownTable, unit: str) -> list[str]:
    if table.public:
        return [f"public    {table.name}: {table.size:,} rows"]
    way = f"one row per {unit}"
    if table.at_most != 1:
        path = [*(f"{link.column} -> {link.table}.{link.key}" for link in table.links)] or [
            table.unit_column or ""
        ]
        start = f", clipped from about {table.rows} rows per {unit}" if table.rows else ""
        way = f"by {', '.join(path)}{start}"
    lines = [f"private   {table.name}: {way}"]
    for title, names in (
        ("groups", _public_columns(table)),
        ("sums", _summed(table)),
        ("counts", _others(table)),
    ):
        if names:
            lines.append(f"  {title:<7} {', '.join(names)}")
    return lines


def _public_columns(table: KnownTable) -> list[str]:
    """Columns whose every value is public: grouped by without a threshold."""
    return [each.name for each in table.columns if isinstance(each.fact.domain, Categories | Listed)]


def _summed(table: KnownTable) -> list[str]:
    """Numbers with a finite range: they can be summed as they are."""
    found = []
    for each in table.columns:
        bounds = bounded_range(each.fact) if each.fact.type.numeric else None
        if bounds is not None and each.name != table.unit_column:
            found.append(f"{each.name} [{bounds.low:g}, {bounds.high:g}]")
    return found


def _others(table: KnownTable) -> list[str]:
    """Columns to be counted, grouped by over a threshold, or summed once the query clamps them."""
    taken = {*_public_columns(table), table.unit_column}
    taken |= {each.name for each in table.columns if each.fact.type.numeric and bounded_range(each.fact)}
    return [
        each.name for each in table.columns if each.name not in taken and each.fact.type.kind is not Kind.NULL
    ]
