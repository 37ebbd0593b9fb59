"""Syntax of other databases, and clauses in the wrong place, that cannot be parsed: what to write instead.

SELECT TOP 3 ward, ...           write LIMIT 3 at the end
... LIMIT 20, 10                 write LIMIT 10 OFFSET 20
SELECT `ward`, ...               write "ward": names stand in double quotes
"""

from __future__ import annotations

import re

from dpsql.ir.source import Span

CHECK = "check the spelling and the order of the clauses"
_OPTIONS = "write OPTIONS(...) directly after SELECT: SELECT OPTIONS(epsilon = 0.5) ward, COUNT(*) FROM ..."
_SIGNS = "write AND, OR and NOT: && and || do not join conditions"
_WITHIN = "write QUANTILE_CONT(x CLAMPED BETWEEN 0 AND 500, 0.5)"
_PIVOT = "write the PIVOT in parentheses: FROM (PIVOT ... GROUP BY x) ORDER BY x LIMIT 3"
_RULES = tuple(
    (re.compile(before + r"\Z", re.IGNORECASE), re.compile(after, re.IGNORECASE), advice)
    for before, after, advice in (
        (r"", r"OPTIONS\b", _OPTIONS),
        (r"\bOPTIONS\s*\(\s*(\w*\s*)?", r"", _OPTIONS),
        (r"", r"WITH\s+DIFFERENTIAL_PRIVACY\b", _OPTIONS),
        (r"\bSELECT\s+TOP\s*\(?\s*", r"(?P<n>\d+)\)?\s+PERCENT\b", "write LIMIT {n}% at the end"),
        (r"\bSELECT\s+TOP\s*\(?\s*", r"(?P<n>\d+)", "write LIMIT {n} at the end"),
        (r"\bLIMIT\s+(?P<skipped>\d+)\s*", r",\s*(?P<n>\d+)", "write LIMIT {n} OFFSET {skipped}"),
        (r"\bGROUP\s+BY\s[^()]*", r"WITH\s+(?P<sets>ROLLUP|CUBE)\b", "write GROUP BY {sets} (x)"),
        (r"\bMINUS\s*", r"\(?\s*SELECT\b", "write EXCEPT"),
        (r"", r"(RLIKE|REGEXP|REGEXP_LIKE)\b", "write regexp_matches(x, 'a.*')"),
        (
            r"\bWITHIN\s+GROUP\s*\(\s*ORDER\s+BY\s.*",
            r"CLAMPED\b",
            _WITHIN,
        ),
        (r"\bDECODE\s*\([^()]*", r"", "write CASE x WHEN 'a' THEN 1 ELSE 0 END"),
        (r"", r"`", 'write "x": names stand in double quotes'),
        (r"", r"\#(?![>#-])", "write -- before a comment"),
        (r"\{\s*(d|ts)\s*", r"'", "write DATE '2024-12-31' or TIMESTAMP '2024-12-31 12:00:00'"),
    )
)
"""What stands before the place that cannot be read, what stands there, and the advice on both."""

_NEAR = 300
"""How many characters before the place, and from it on, are looked at."""


def advice_at(text: str, span: Span) -> str:
    """Return what to write instead of what cannot be read at a place."""
    if text.lstrip()[:5].upper() == "PIVOT" and text[span.start :].upper().startswith(("ORDER", "LIMIT")):
        return _PIVOT
    for before, after, advice in _RULES:
        left = before.search(text[max(0, span.start - _NEAR) : span.start])
        right = after.match(text[span.start : span.start + _NEAR])
        if left is not None and right is not None:
            return advice.format(**left.groupdict(), **right.groupdict())
    return CHECK


def advice_on(text: str, complaint: str) -> str:
    """Return what to write instead, where DuckDB names no place."""
    joined = "chained comparisons" in complaint.casefold() and ("&&" in text or "||" in text)
    return _SIGNS if joined else CHECK
