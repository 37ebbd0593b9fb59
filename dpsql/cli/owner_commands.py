"""The owner's commands: draft a policy from the schema, and check one against its database.

Nothing is spent here. The ledger is only read, unless the owner accepts changed column types.
"""

from __future__ import annotations

import textwrap
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from dpsql.accounting import Budget
from dpsql.accounting.blocks import BlocksWanted
from dpsql.accounting.ledger import Ledger
from dpsql.cli.doubtful_rows import doubtful_rows
from dpsql.dbapi.connection import beside
from dpsql.engines import Engine
from dpsql.engines.open_database import open_database
from dpsql.engines.public_rows import PublicRows
from dpsql.errors import InterfaceError
from dpsql.facts.missing_bounds import all_missing_bounds, ranged_by_type
from dpsql.ir.bound import MissingBound
from dpsql.ir.column import Categories, Kind, Listed, bounded_range, type_range
from dpsql.policy.catalogue import Catalogue, Known, KnownTable
from dpsql.policy.check import changed, compare, declared_blocks, declared_keys, known, snapshot
from dpsql.policy.draft import draft as drafted
from dpsql.policy.listing import View, path_of
from dpsql.policy.model import LimitsRule, Policy
from dpsql.policy.names import fold
from dpsql.policy.seen import seen_by
from dpsql.policy.toml_positions import document_of
from dpsql.policy.toml_spelling import memory_text
from dpsql.policy.unit_guesses import named_like_a_key
from dpsql.policy.weak_spots import weak_spots
from dpsql.post.sealed import Sealed
from dpsql.render.digits import above, below, on_a_line, printable
from dpsql.session.blocks import refused_list
from dpsql.session.checks import (
    check_readable,
    keep_types,
    kept_types,
    load_policy,
    promise,
    second_places,
    with_ranges,
)
from dpsql.session.views import check_all_views
from dpsql.terminal.output import look, put, width

_MANY = 6
"""Of more ranges of a table that nobody declared, all are told in one line."""


def draft(options: Namespace) -> int:
    """Print a first policy."""
    with closing(open_database(options.database)) as engine:
        catalogue = replace(engine.describe(), views=engine.views())
        put(drafted(catalogue, options.database.name).rstrip("\n"))
    return 0


def check(options: Namespace) -> int:
    """Check what opening a connection checks, and print what the policy allows."""
    file: Path = options.policy or beside(options.database, ".toml")
    ledger_path: Path = options.ledger or beside(options.database, ".ledger")
    policy = load_policy(file)
    with closing(open_database(options.database, policy)) as engine:
        text = checked(policy, engine, options.database.name)
        places = second_places(policy, file, ledger_path)
        ledger = Ledger.look(ledger_path, promise(policy, engine), places=places)
        if ledger is None:
            if options.accept:
                raise InterfaceError(
                    f"there is no ledger {ledger_path}: no column types are known yet",
                    help="the first query creates one; or name another: --ledger FILE",
                )
            put(f"{text}\nledger    none yet: the first query creates {on_a_line(ledger_path.name)}")
            return 0
        with ledger:
            accepted = _check_types(policy, engine, ledger, options.accept)
            _check_units(policy, engine, ledger)
            put("\n".join([text, *left(policy, ledger, on_a_line(ledger_path.name)), *accepted]))
    return 0


def _check_types(policy: Policy, engine: Engine, ledger: Ledger, accept: bool) -> list[str]:
    """Compare column types with those in the ledger; with ``accept`` store the new ones."""
    catalogue = engine.describe()
    before = kept_types(ledger)
    if before is None or not accept:
        if before is not None:
            compare(before, policy, catalogue)
        return []
    changes = changed(before, policy, catalogue)
    keep_types(ledger, snapshot(policy, catalogue))
    return [printable(f"accepted  {change.table}.{change.column}: {change.how}") for change in changes] or [
        "accepted  nothing: every column has its type in the ledger"
    ]


def _check_units(policy: Policy, engine: Engine, ledger: Ledger) -> None:
    """Check that no unit has moved to another block, if the policy says so."""
    blocks = declared_blocks(policy, engine.describe())
    if blocks is None or policy.unit.blocks is None or not policy.unit.blocks.check:
        return
    from dpsql.session.units_seen import compare_units

    wanted = BlocksWanted(blocks.column, blocks.written, check=True)
    with refused_list(policy):
        document = document_of(policy.text, policy.name)
        compare_units(engine, ledger, held_against(policy, engine), wanted, document)


def left(policy: Policy, ledger: Ledger, name: str) -> list[str]:
    """Return a line for the whole budget, and one per analyst: spent and remaining."""
    rule, rules = policy.budget, ledger.accountant
    lines = []
    for who, granted in [(None, rule.epsilon), *((rule.name, rule.epsilon) for rule in policy.analysts)]:
        spent = max(rules.epsilon(each, Budget(granted, rule.delta)) for each in ledger.spent_in_each(who))
        remains = below(max(0.0, granted - spent))
        of = f"ledger    {name}" if who is None else f"          {who}"
        lines.append(printable(f"{of}: {above(spent)} of {granted:g} spent, {remains} remains"))
    return lines


def checked(policy: Policy, engine: Engine, database: str) -> str:
    """Return the summary of a policy that holds for its database; raise if it does not."""
    tables = held_against(policy, engine)
    with closing(Sealed(PublicRows(engine, tables), policy.timezone, policy.limits)) as sealed:
        ranged = with_ranges(tables, engine)
        views = check_all_views(policy, ranged, engine, sealed)
        for rule in policy.analysts:
            seen = seen_by(ranged, policy, rule.name)
            if seen is not ranged:
                check_all_views(policy, seen, engine, sealed, rule.name)
    catalogue = engine.describe()
    read = (*engine.misread(), *doubtful_rows(policy, tables, engine))
    spots = (*read, *weak_spots(policy, tables, catalogue))
    warnings = [f"decide    {warning}" for warning in spots]
    lines = [
        *summary(policy, tables, views, database).split("\n"),
        *hidden(tables, catalogue),
        *warnings,
    ]
    return printable("\n".join(map(_fitted, lines)))


def _fitted(line: str) -> str:
    """Fold a line to the width of a terminal, below what its first word is about; scripts get whole lines."""
    if look().width is None:
        return line
    return textwrap.fill(
        line, width(), subsequent_indent=" " * 10, break_long_words=False, break_on_hyphens=False
    )


def hidden(visible: Known, catalogue: Catalogue) -> list[str]:
    """Return lines with the tables and columns that the policy leaves out: analysts cannot use them."""
    lines = []
    tables = [table.name for table in catalogue.tables if visible.table(table.name) is None]
    if tables:
        lines.append(f"hidden    {', '.join(tables)}")
    for table in catalogue.tables:
        listed = visible.table(table.name)
        if listed is not None:
            seen = {column.name for column in listed.columns}
            names = [
                name
                for name in (*(column.name for column in table.columns), *table.untyped)
                if name not in seen
            ]
            if names:
                lines.append(f"hidden    {table.name}: {', '.join(names)}")
            if table.unstable:
                reason = "generated, and may change between reads: store its values"
                lines.append(f"hidden    {table.name}: {', '.join(table.unstable)} ({reason})")
    return lines


def held_against(policy: Policy, engine: Engine) -> Known:
    """Return the tables under the policy, with its keys verified on the present rows."""
    catalogue = engine.describe()
    public = {fold(rule.name) for rule in policy.tables if rule.public}
    sizes = {table.name: engine.size(table.name) for table in catalogue.tables if fold(table.name) in public}
    keys = declared_keys(policy, catalogue)
    tables = known(policy, catalogue, sizes, {key for key in keys if engine.is_key(key)})
    check_readable(engine, tables)
    return tables


def summary(policy: Policy, known_tables: Known, views: Mapping[str, View], database: str) -> str:
    """Return the policy in a few lines: the unit, the prices, the limits and the tables."""
    budget, price = policy.budget, policy.query
    private = [table.name for table in known_tables.tables if not table.public]
    lines = [
        f"ok: {policy.name} holds for {database}",
        f"unit      {policy.unit.name}: {policy.unit.told}, protected with all rows in {', '.join(private)}",
        f"budget    epsilon {budget.epsilon:g} at delta {budget.delta:g}, under {budget.accountant}",
        f"price     {price.epsilon:g} for one query, at most {price.max_epsilon:g}",
    ]
    if price.min_units > 1:
        lines.append(f"groups    of fewer than {price.min_units} are not shown, unless their keys are listed")
    if (limits := policy.limits) != LimitsRule():
        lines.append(
            f"limits    {limits.seconds:g} seconds, {memory_text(limits.memory)}, {limits.rows:,} rows: "
            "for planning, post-processing and answers"
        )
    for rule in policy.analysts:
        group = policy.group_of(rule)
        tables = rule.tables if group is None else group.tables
        seen = "" if tables is None else f"; only {', '.join(tables)} exist for them"
        lines.append(f"analyst   {rule.name}: epsilon {rule.epsilon:g}{seen}")
    for table in known_tables.tables:
        lines += _table_lines(table, policy.unit.name)
    lines += [f"view      {name}: {view.kind}" for name, view in views.items()]
    if policy.query.find_bounds:
        lines += _to_be_found(all_missing_bounds(known_tables))
    else:
        missing = [bound.table for bound in all_missing_bounds(known_tables) if not bound.column]
        lines += [f"decide    {name} needs rows_per_unit before it can be aggregated" for name in missing]
    ranged = ranged_by_type(known_tables)
    for table, column in (each for each in ranged if not named_like_a_key(each[1].name)):
        bounds = type_range(column.fact.type)
        lines.append(
            f"decide    {table.name}.{column.name} has the range of its type, [{bounds.low}, {bounds.high}]: "
            "none is found for it, and a narrower one means less noise"
        )
    return printable("\n".join(lines))


def _to_be_found(bounds: Sequence[MissingBound]) -> Iterator[str]:
    """Yield a line for each bound; one for all ranges of a table where they are many."""
    for table, mine in groupby(bounds, lambda bound: bound.table if bound.column else ""):
        listed = list(mine)
        if table and len(listed) > _MANY:
            yield f"found     {len(listed)} ranges of {table}, each by the first query that needs it"
        else:
            yield from (f"found     {bound}, by the first query that needs it" for bound in listed)


def _table_lines(table: KnownTable, unit: str) -> list[str]:
    if table.public:
        return [f"public    {table.name}: {table.size:,} rows"]
    way = f"one row per {unit}"
    if table.at_most != 1:
        path = path_of(table)
        start = f", clipped from about {table.rows} rows per {unit}" if table.rows else ""
        way = f"by {', '.join(path)}{start}"
    lines = [f"private   {table.name}: {way}"]
    for title, names in (
        ("groups", _public_columns(table)),
        ("sums", _summable(table)),
        ("counts", _other_columns(table)),
    ):
        if names:
            lines.append(f"  {title:<7} {', '.join(names)}")
    return lines


def _public_columns(table: KnownTable) -> list[str]:
    """Return the columns with public values: GROUP BY needs no threshold."""
    return [column.name for column in table.columns if isinstance(column.fact.domain, Categories | Listed)]


def _summable(table: KnownTable) -> list[str]:
    """Return the numeric columns with a finite range: they can be summed directly."""
    ranges = []
    for column in table.columns:
        bounds = bounded_range(column.fact) if column.fact.type.numeric else None
        if bounds is not None and column.name not in _of_unit(table):
            ranges.append(f"{column.name} [{bounds.low:g}, {bounds.high:g}]")
    return ranges


def _of_unit(table: KnownTable) -> tuple[str, ...]:
    """Return the column that holds the unit; one of several is a value like any other."""
    return (table.unit_column,) if isinstance(table.unit_column, str) else ()


def _other_columns(table: KnownTable) -> list[str]:
    """Return the other columns: counted, grouped with a threshold, or summed once the query clips them."""
    elsewhere = {*_public_columns(table), *_of_unit(table)}
    elsewhere |= {
        column.name for column in table.columns if column.fact.type.numeric and bounded_range(column.fact)
    }
    return [
        column.name
        for column in table.columns
        if column.name not in elsewhere and column.fact.type.kind is not Kind.NULL
    ]
