"""Views of the policy: named queries, each of which may use the views above it.

    [views.adults]
    sql = "SELECT * FROM patients WHERE age >= 18"

    [views.census]
    sql = "SELECT age, sex FROM patients"
    private = { epsilon = 0.5, ranges = ["age"] }

The SQL is checked when queries are bound: see ``bind.views``.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from dpsql.ir.private_view import COUNT, METHODS
from dpsql.policy.model import PrivateRule, TableRule, ViewRule
from dpsql.policy.names import fold
from dpsql.policy.toml_keys import PRIVATE, VIEW
from dpsql.policy.toml_section import Section
from dpsql.policy.toml_values import optional, regular_values


def read_views(section: Section, tables: Iterable[TableRule]) -> tuple[ViewRule, ...]:
    """Read every [views.<name>]; none may have the name of a table."""
    section.distinct()
    names = {fold(table.name): table.name for table in tables}
    rules = []
    for name, view in section.tables():
        view.allow(VIEW)
        view.need(VIEW["sql"])
        if not name.strip() or not name.isprintable() or "." in name:
            raise section.wrong(
                name, "a view needs a plain name", on_key=True, help="use one word, without a schema"
            )
        if fold(name) in names:
            raise section.wrong(
                name,
                f"there is a table called {names[fold(name)]}",
                on_key=True,
                label="a view needs a name of its own",
                help="analysts could not tell the view from the table: choose another name",
            )
        private = optional(view, VIEW["private"], _private)
        rules.append(
            ViewRule(name=name, line=section.line(name), private=private, **regular_values(view, VIEW))
        )
    return tuple(rules)


def _private(view: Section) -> PrivateRule:
    inner = view.table("private")
    inner.allow(PRIVATE)
    ranges = optional(inner, PRIVATE["ranges"], partial(_names, key="ranges"))
    dimensions = optional(inner, PRIVATE["dimensions"], partial(_names, key="dimensions"))
    method = optional(inner, PRIVATE["method"], _method)
    sums = optional(inner, PRIVATE["sums"], partial(_names, key="sums"))
    if method is not None and (ranges or sums):
        raise inner.wrong(
            "method",
            f"a method and {'ranges' if ranges else 'sums'} do not go together",
            help="synthetic rows are made for pairs of columns: leave one of the two out",
        )
    if {fold(name) for name in sums} & {fold(name) for name in (*ranges, *dimensions)}:
        raise inner.wrong("sums", "a column is summed, or it is a dimension", help="leave it out of one")
    named = {"ranges": ranges, "dimensions": dimensions, "sums": sums}
    return PrivateRule(**named, method=method, **regular_values(inner, PRIVATE))


def _method(section: Section) -> str:
    method: Any = section.values["method"]
    if method not in METHODS:
        listed = " or ".join(f'"{name}"' for name in METHODS)
        raise section.wrong("method", f"method must be {listed}", help="leave it out to count combinations")
    return str(method)


def _names(section: Section, key: str) -> tuple[str, ...]:
    """Read names of columns, each once."""
    names: Any = section.values[key]
    listed = [name for name in names if isinstance(name, str) and name] if isinstance(names, list) else []
    if not listed or len(listed) < len(names):
        raise section.wrong(key, f"{key} must be a list of columns", help=f'for example: {key} = ["age"]')
    if len({fold(name) for name in listed}) < len(listed) or COUNT in map(fold, listed):
        raise section.wrong(key, f"{key} must name each column once, and not {COUNT}, which is the count")
    return tuple(listed)
