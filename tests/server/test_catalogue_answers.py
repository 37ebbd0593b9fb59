"""What clients ask of PostgreSQL's catalogue is answered with the columns, types and rows of PostgreSQL."""

from __future__ import annotations

import random
import re

import pytest
from client_statements import Statement, catalogue, statements

from dpsql.server.catalogue import CatalogueError
from dpsql.server.catalogue.array_values import encoded

CATALOGUE = catalogue()
ASKED = [*statements("client_statements.sql"), *statements("bi_statements.sql")]


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: re.sub(r"\W+", "-", asked.client))
def test_a_client_gets_what_it_asks_for(asked: Statement) -> None:
    assert CATALOGUE.asks(asked.sql)
    answer = CATALOGUE.answer(asked.sql, asked.given)
    names = [name for name, _ in answer.columns]
    assert list(zip(names, answer.oids, strict=True)) == list(asked.columns)
    assert asked.count is None or len(answer.rows) == asked.count
    shown = [
        "|".join(
            "\\N" if text is None else text.decode().replace("\n", " ")
            for text in (encoded(value, oid, False) for value, oid in zip(row, answer.oids, strict=True))
        )
        for row in answer.rows
    ]
    if asked.count is not None and len(asked.rows) == asked.count:
        assert sorted(shown) == sorted(asked.rows)
    else:
        assert set(asked.rows) <= set(shown)


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: re.sub(r"\W+", "-", asked.client))
def test_every_value_has_a_binary_form(asked: Statement) -> None:
    answer = CATALOGUE.answer(asked.sql, asked.given)
    for row in answer.rows[:3]:
        for value, oid in zip(row, answer.oids, strict=True):
            assert (encoded(value, oid, True) is None) == (value is None)


def test_mutated_statements_are_answered_or_refused_in_words() -> None:
    """Any other exception would be an error of ours; the statements are the clients' with words changed."""
    choice = random.Random(7)
    refused = 0
    for _ in range(150):
        words = re.findall(r"\w+|\s+|[^\w\s]", (asked := choice.choice(ASKED)).sql)
        words[choice.randrange(len(words))] = choice.choice(words)
        sql = "".join(words)
        try:
            if CATALOGUE.asks(sql):
                CATALOGUE.answer(sql, asked.given)
        except CatalogueError:
            refused += 1
    assert refused
