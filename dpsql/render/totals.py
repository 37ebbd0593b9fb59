"""The keys of totals with a word in the place of NULL.

ward   n              ward   n
NULL   2027           NULL   2027      those whose ward is NULL
NULL  20002           (all) 20002      the total
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dpsql.ir.column import Kind, type_named
from dpsql.render.answer_fields import AnswerFields
from dpsql.render.digits import plain


def with_totals(answer: AnswerFields, word: str, only_texts: bool = False) -> AnswerFields:
    """Write a word for the keys of totals; other columns become text, or stay with ``only_texts``."""
    named = {at for _, at in answer.totals if not only_texts or _is_text(answer.types[at])}
    return replace(
        answer,
        types=tuple("VARCHAR" if at in named else sql for at, sql in enumerate(answer.types)),
        rows=[
            tuple(
                _worded(value, word if (number, at) in answer.totals else None) if at in named else value
                for at, value in enumerate(row)
            )
            for number, row in enumerate(answer.rows)
        ],
        totals=frozenset((row, at) for row, at in answer.totals if at not in named),
    )


def _is_text(sql: str) -> bool:
    return type_named(sql).kind is Kind.TEXT


def _worded(value: Any, word: str | None) -> str | None:
    return word if value is None else plain(value)
