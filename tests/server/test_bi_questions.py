"""26 statements in the shape of BI tools: 22 are answered through the dialect, 4 would list persons."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpsql
from dpsql.cli.demo_data import POLICY, build
from dpsql.server.dialect import understood

BLOCKS = (Path(__file__).parent / "bi_questions.sql").read_text("utf-8").split("\n\n")[1:]
ASKED = [tuple(block.partition("\n")[::2]) for block in BLOCKS]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dpsql.Connection]:
    """The demo's clinic, with a budget for all questions."""
    folder = tmp_path_factory.mktemp("demo")
    build(folder)
    policy = folder / "clinic.toml"
    policy.write_text(
        POLICY.replace("epsilon = 5.0", "epsilon = 50.0").replace("epsilon = 4.0", "epsilon = 40.0")
    )
    with dpsql.connect(folder / "clinic.duckdb", analyst="ana") as connection:
        yield connection
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("head", "sql"), ASKED, ids=[head.partition(";")[0].lstrip("- ") for head, _ in ASKED]
)
def test_a_question_is_answered_or_refused_for_the_promise(
    demo: dpsql.Connection, head: str, sql: str
) -> None:
    said = head.partition("; ")[2]
    asked = understood(sql, "clinic").text
    if said.startswith("refused: "):
        with pytest.raises(dpsql.Error) as refused:
            demo.execute(asked)
        assert refused.value.code == said.removeprefix("refused: ")
        return
    answer = demo.execute(asked)
    assert ", ".join(answer.columns) == said.removeprefix("columns: ")
    assert bool(answer.rows) != ("(0 = 1)" in sql)


def test_most_are_answered() -> None:
    refused = [head for head, _ in ASKED if "; refused: " in head]
    assert len(ASKED) >= 25
    assert len(ASKED) - len(refused) >= 20
    assert all(head.endswith("D402") for head in refused)  # rows of persons
