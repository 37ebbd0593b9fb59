"""Policy -> the text of its file, with comments; ``read_policy`` reads it back.

[budget]    # of all analysts together, for good
epsilon = 1.0
delta = 1e-06
"""

from __future__ import annotations

from collections.abc import Iterator

from dpsql.policy.model import Policy, TableRule
from dpsql.policy.toml_keys import (
    ANALYST,
    BUDGET,
    COLUMN,
    GROUP,
    LEDGER,
    LIMITS,
    PRIVATE,
    QUERY,
    STUDY,
    TABLE,
    TOP,
    UNIT,
    VIEW,
)
from dpsql.policy.toml_lines import inline, line, lines
from dpsql.policy.toml_spelling import key as spelled


def compose(policy: Policy, introduction: str) -> str:
    """Write the text of a policy from its rules; its original text is not used."""
    return "\n".join([f"# {introduction}", *_lines(policy), ""])


def _lines(policy: Policy) -> Iterator[str]:
    yield from lines(TOP, policy)
    yield _header("budget")
    yield from lines(BUDGET, policy.budget)
    yield f"\n{_header('query')}"
    yield from lines(QUERY, policy.query)
    for keys, rule in ((LIMITS, policy.limits), (LEDGER, policy.ledger)):
        said = list(lines(keys, rule))
        yield from [f"\n{_header(keys.title[1:-1])}", *said] if said else []
    for analyst in policy.analysts:
        yield f"\n[analysts.{spelled(analyst.name)}]"
        yield from lines(ANALYST, analyst)
    for group in policy.groups:
        yield f"\n[groups.{spelled(group.name)}]"
        yield from lines(GROUP, group)
    for study in policy.studies:
        yield f"\n[studies.{spelled(study.name)}]"
        yield from lines(STUDY, study)
    yield f"\n{_header('unit')}"
    yield from lines(UNIT, policy.unit)
    yield from line(UNIT["blocks"], policy.unit.blocks)
    for table in policy.tables:
        yield from _table(table, is_unit_table=policy.unit.is_own(table.name))
    for view in policy.views:
        yield f"\n[views.{spelled(view.name)}]"
        yield from lines(VIEW, view)
        if view.private is not None:
            yield f"private = {inline(PRIVATE.keys, view.private) or '{ }'}"


def _header(section: str) -> str:
    remark = TOP[section].remark
    return f"[{section}]    # {remark}" if remark else f"[{section}]"


def _table(table: TableRule, is_unit_table: bool) -> Iterator[str]:
    name = spelled(table.name)
    yield f"\n[tables.{name}]"
    for key in TABLE.ordered("public", "files", "csv", "unit", "rows_per_unit"):
        if (
            key.name == "rows_per_unit"
            and table.rows_per_unit is None
            and not (table.public or is_unit_table)
        ):
            yield "# rows_per_unit is found privately by the first query that needs it"
        elif key.name != "columns":
            yield from line(key, getattr(table, key.name))
    if table.columns:
        yield f"\n[tables.{name}.columns]"
        for column in table.columns:
            yield f"{spelled(column.name)} = {inline(COLUMN.ordered('type'), column) or '{}'}"
