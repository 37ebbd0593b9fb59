"""Keywords by their position: the clauses they start, and what may follow."""

from __future__ import annotations

SET_OPERATORS = frozenset("UNION EXCEPT INTERSECT".split())

CLAUSES = {
    "SELECT": "SELECT",
    "FROM": "FROM",
    "JOIN": "FROM",
    "PIVOT": "FROM",
    "UNPIVOT": "FROM",
    "ON": "ON",
    "USING": "USING",
    "WHERE": "WHERE",
    "GROUP": "GROUP BY",
    "HAVING": "HAVING",
    "QUALIFY": "QUALIFY",
    "WINDOW": "WINDOW",
    "PARTITION": "PARTITION BY",
    "ORDER": "ORDER BY",
    "LIMIT": "LIMIT",
    "OFFSET": "LIMIT",
    "WITH": "WITH",
}
"""The clause that a keyword starts."""

OPENERS = frozenset(
    "SELECT DISTINCT ALL WHERE AND OR NOT ON BY HAVING QUALIFY CASE WHEN THEN ELSE BETWEEN "
    "LIKE ILIKE IN".split()
)
"""Keywords that are followed by an operand."""

RESERVED = (
    frozenset(CLAUSES)
    | OPENERS
    | SET_OPERATORS
    | frozenset(
        "LEFT RIGHT FULL INNER OUTER CROSS NATURAL SEMI ANTI ASOF POSITIONAL AS IS END BY ASC DESC NULLS "
        "FIRST LAST EXISTS FILTER OVER VALUES NULL TRUE FALSE LATERAL EXPLAIN SET CAST TRY_CAST INTERVAL "
        "RECURSIVE EXCLUDE REPLACE RENAME COLUMNS CUBE ROLLUP GROUPING SETS ROWS RANGE GROUPS UNBOUNDED "
        "PRECEDING FOLLOWING CURRENT ROW WITHIN ESCAPE SIMILAR ANY SOME".split()
    )
)
"""Words that cannot be an alias and are coloured as keywords."""

BEGIN = ("SELECT", "WITH", "FROM", "PIVOT", "EXPLAIN", "SET", "SHOW", "DESCRIBE")
QUERY = ("SELECT", "FROM", "WITH", "PIVOT", "VALUES")

_JOINS = (
    "JOIN",
    "LEFT JOIN",
    "RIGHT JOIN",
    "FULL JOIN",
    "INNER JOIN",
    "CROSS JOIN",
    "SEMI JOIN",
    "ANTI JOIN",
)
_TESTS = ("AND", "OR", "IN", "NOT", "BETWEEN", "LIKE", "ILIKE", "IS NULL", "IS NOT NULL")
_LATER = ("WHERE", "GROUP BY", "HAVING", "QUALIFY", "ORDER BY", "LIMIT", "UNION", "EXCEPT", "INTERSECT")

FOLLOWING = {
    "SELECT": ("FROM", "AS", "FILTER", "OVER", *_TESTS),
    "FROM": ("AS", *_JOINS, "ON", "USING", *_LATER),
    "ON": (*_TESTS, *_JOINS, *_LATER),
    "USING": (*_JOINS, *_LATER),
    "WHERE": (*_TESTS, *_LATER[1:]),
    "GROUP BY": _LATER[2:],
    "HAVING": (*_TESTS, *_LATER[3:]),
    "QUALIFY": (*_TESTS, *_LATER[4:]),
    "PARTITION BY": ("ORDER BY",),
    "ORDER BY": ("ASC", "DESC", "NULLS FIRST", "NULLS LAST", *_LATER[5:]),
    "LIMIT": ("OFFSET", *_LATER[6:]),
    "": (*_TESTS, "AS"),
}
"""Keywords that may follow an operand, by clause."""

OPERANDS = {
    "SELECT": ("DISTINCT", "CASE", "NOT", "EXISTS", "OPTIONS"),
    "GROUP BY": ("ALL", "CASE", "CUBE", "ROLLUP", "GROUPING SETS"),
    "ORDER BY": ("ALL", "CASE"),
    "": ("CASE", "NOT", "EXISTS", "NULL", "TRUE", "FALSE"),
}
"""Keywords that may start an operand, by clause."""

AFTER = {
    "GROUP": ("BY",),
    "ORDER": ("BY",),
    "PARTITION": ("BY",),
    "IS": ("NULL", "NOT NULL", "DISTINCT FROM", "NOT DISTINCT FROM"),
    "NULLS": ("FIRST", "LAST"),
    "LEFT": ("JOIN",),
    "RIGHT": ("JOIN",),
    "FULL": ("JOIN",),
    "INNER": ("JOIN",),
    "OUTER": ("JOIN",),
    "CROSS": ("JOIN",),
    "SEMI": ("JOIN",),
    "ANTI": ("JOIN",),
    "NATURAL": ("JOIN",),
    "UNION": ("ALL", "SELECT"),
    "EXCEPT": ("SELECT",),
    "INTERSECT": ("SELECT",),
    "SHOW": ("TABLES", "ALL"),
}
"""Keywords that must follow a word, in any clause."""
