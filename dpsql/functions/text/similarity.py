"""Similarity of two texts; texts longer than 128 bytes give NULL.

levenshtein(name, 'Anna')    [0, 128]        jaro_similarity(name, 'Anna')    [0, 1]
hamming(code, 'A-17')        NULL for texts of different lengths
"""

from __future__ import annotations

from dpsql.functions import Arguments, Function
from dpsql.functions.core.ranges import within
from dpsql.functions.text.common import check_text, spelled
from dpsql.ir.column import BIGINT, DOUBLE, Fact, Interval, Type

MOST = 128
"""Maximum bytes of a text: the cost grows with the product of both lengths."""


def _similarity(name: str, *, names: tuple[str, ...] = (), least: int = 0, same: bool = False) -> Function:
    """Return a similarity or distance.

    DuckDB raises for texts shorter than ``least`` bytes and, if ``same``, for texts of unequal length.
    """
    distance = name in ("levenshtein", "damerau_levenshtein", "hamming")

    def result(arguments: Arguments, type: Type | None) -> Fact:
        for argument in arguments:
            check_text(argument, name)
        target = BIGINT if distance else DOUBLE
        return within(target, Interval(0, MOST if distance else 1 + 1e-9), nullable=True)

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        left, right = (spelled(sql, argument) for sql, argument in zip(texts, arguments, strict=True))
        tests = [f"strlen({argument}) BETWEEN {least} AND {MOST}" for argument in (left, right)]
        if same:
            # DuckDB 2.0.0 compares bytes, 2.0.1 letters: the same wherever both numbers are
            tests += [f"{length}({left}) = {length}({right})" for length in ("strlen", "length")]
        # DuckDB computes constant expressions despite the condition, so the arguments are cut too
        call = f"{name}(left({left}, {MOST}), left({right}, {MOST}))"
        return f"(CASE WHEN {' AND '.join(tests)} THEN {call} END)"

    return Function(name, result, render, f"{name}(s, 'abd')", (2, 2), names=names)


FUNCTIONS = (
    _similarity("levenshtein"),
    _similarity("damerau_levenshtein", names=("damerau_levenshtein",)),
    _similarity("hamming", names=("hamming", "mismatches"), least=1, same=True),
    _similarity("jaccard", names=("jaccard",), least=1),
    _similarity("jaro_similarity", names=("jaro_similarity",)),
    _similarity("jaro_winkler_similarity"),
)
