"""How alike two texts are. Texts longer than 128 bytes give NULL: the work grows with both lengths.

levenshtein(name, 'Anna')    [0, 128]        jaro_similarity(name, 'Anna')    [0, 1]
hamming(code, 'A-17')        NULL for texts of different lengths
"""

from __future__ import annotations

from dpsql.functions import Arguments, Function
from dpsql.functions.core.ranges import within
from dpsql.functions.text.common import spelled, text
from dpsql.ir.column import BIGINT, DOUBLE, Fact, Interval, Type

MOST = 128
"""Bytes of a text that is compared with another one step by step."""


def _alike(name: str, *, names: tuple[str, ...] = (), least: int = 0, same: bool = False) -> Function:
    """``least`` and ``same``: DuckDB raises for shorter texts, and for two that differ in length."""
    distance = name in ("levenshtein", "damerau_levenshtein", "hamming")

    def result(arguments: Arguments, type: Type | None) -> Fact:
        for each in arguments:
            text(each, name)
        target = BIGINT if distance else DOUBLE
        return within(target, Interval(0, MOST if distance else 1 + 1e-9), nullable=True)

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        left, right = (spelled(sql, each) for sql, each in zip(texts, arguments, strict=True))
        tests = [f"strlen({each}) BETWEEN {least} AND {MOST}" for each in (left, right)]
        if same:
            tests.append(f"strlen({left}) = strlen({right})")
        # a condition does not keep DuckDB from computing what is made of constants, so they are cut too
        call = f"{name}(left({left}, {MOST}), left({right}, {MOST}))"
        return f"(CASE WHEN {' AND '.join(tests)} THEN {call} END)"

    return Function(name, result, render, f"{name}(s, 'abd')", (2, 2), names=names)


FUNCTIONS = (
    _alike("levenshtein"),
    _alike("damerau_levenshtein", names=("damerau_levenshtein",)),
    _alike("hamming", names=("hamming", "mismatches"), least=1, same=True),
    _alike("jaccard", names=("jaccard",), least=1),
    _alike("jaro_similarity", names=("jaro_similarity",)),
    _alike("jaro_winkler_similarity"),
)
