"""The language page is what its generator writes, and leaves no name of the shelves out."""

from __future__ import annotations

import language
from cases import all_cases
from language_chapters import CHAPTERS, REFUSED

from dpsql.functions import shelf


def test_the_page_is_what_is_generated() -> None:
    written = language.PAGE.read_text(encoding="utf-8")
    assert written == language.page(), "run: python grammar_tests/language.py --write"


def test_every_function_has_its_example_there() -> None:
    text = language.PAGE.read_text(encoding="utf-8").replace("\\|", "|")
    assert [each.name for each in shelf().values() if f"`{each.example}`" not in text] == []


def test_what_is_shown_as_answered_is_accepted() -> None:
    shown = {name for chapter in CHAPTERS for _, examples in chapter.examples for name in examples}
    outcomes = {(case.id.split(":")[0], case.name): case.outcome for case in all_cases()}
    assert {outcomes[each] for each in shown} == {"accepted"}
    assert {outcomes[each] for each in REFUSED} == {"refused"}


def test_each_refusal_shown_has_a_query_that_is_answered_instead() -> None:
    shown = [language.case(file, name) for file, name in REFUSED]
    wanted = [case for case in shown if str(case.code) >= "D251"]
    assert [case.id for case in wanted if case.instead is None] == []
