"""The table of the policy's keys is whole: each has its field, is read, written, shown and used."""

from __future__ import annotations

import dataclasses
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_type_hints

import policy_page
import pytest
from every_key import EVERY_KEY

import dpsql
from dpsql import accounting
from dpsql.policy import model, toml_keys
from dpsql.policy.catalogue import Catalogue, FoundColumn, FoundTable
from dpsql.policy.compose import compose
from dpsql.policy.draft import draft
from dpsql.policy.model import Policy, digest, version
from dpsql.policy.toml_keys import ACCOUNTANTS, NO_DEFAULT, SECTIONS, TOP, Below, Key, Keys
from dpsql.session.checks import parse_policy

RULES = [each for each in vars(model).values() if dataclasses.is_dataclass(each) and isinstance(each, type)]
RULES = [each for each in RULES if each.__module__ == model.__name__]

WRITTEN_ELSEWHERE = {"name", "line", "text"}
"""Fields that hold the name in a header, where something stands, and the file."""

KEYS = [
    pytest.param(keys, key, id=f"{keys.title} {key.name}".replace(" ", "_"))
    for keys in SECTIONS
    for key in keys.keys
]

TYPES = {
    toml_keys.Number: float,
    toml_keys.Epsilon: float,
    toml_keys.Whole: int,
    toml_keys.Flag: bool,
    toml_keys.Text: str,
    toml_keys.Size: int,
}


def rule_of(keys: Keys) -> Any:
    return getattr(model, keys.rule)


def test_every_rule_has_its_keys() -> None:
    assert sorted(keys.rule for keys in SECTIONS) == sorted(each.__name__ for each in RULES)
    below = [key.kind.keys.rule for keys in SECTIONS for key in keys.keys if isinstance(key.kind, Below)]
    assert sorted([TOP.rule, *below]) == sorted(keys.rule for keys in SECTIONS)


@pytest.mark.parametrize("keys", SECTIONS, ids=lambda keys: keys.rule)
def test_every_field_is_a_key_and_every_key_a_field(keys: Keys) -> None:
    fields = {field.name for field in dataclasses.fields(rule_of(keys))}
    assert len(set(keys.names)) == len(keys.names)
    assert fields - set(keys.names) <= WRITTEN_ELSEWHERE, "a field that no key of toml_keys is read into"
    assert set(keys.names) - fields == set(), "a key of toml_keys that has no field in the model"


@pytest.mark.parametrize(("keys", "key"), KEYS)
def test_a_key_and_its_field_agree(keys: Keys, key: Key) -> None:
    field = next(each for each in dataclasses.fields(rule_of(keys)) if each.name == key.name)
    if field.default is not dataclasses.MISSING:
        assert isinstance(key.kind, Below) or field.default == key.default
    hint = get_type_hints(rule_of(keys))[key.name]
    said = key.kind.type if isinstance(key.kind, toml_keys.Own) else TYPES.get(type(key.kind))
    if said is not None:
        assert {hint, *get_args(hint)} - {NoneType} >= {said}
        assert key.default is not None or NoneType in get_args(hint)


@pytest.mark.parametrize(("keys", "key"), KEYS)
def test_a_key_is_read_by_what_it_names(keys: Keys, key: Key) -> None:
    by = getattr(key.kind, "by", None)
    if by is not None:
        module, name = by.split(".")
        assert callable(getattr(importlib.import_module(f"dpsql.policy.{module}"), name))


def said(value: Any, keys: Keys) -> Iterator[tuple[str, str, Any]]:
    """Every key of a policy with what stands there, in every rule of its kind."""
    for key in keys.keys:
        each = getattr(value, key.name)
        if isinstance(key.kind, Below):
            rules = each if isinstance(each, tuple) else () if each is None else (each,)
            for rule in rules:
                yield from said(rule, key.kind.keys)
        else:
            yield keys.title, key.name, each


def without_lines(value: Any) -> Any:
    """The same wherever it is written."""
    if isinstance(value, tuple):
        return tuple(map(without_lines, value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [each.name for each in dataclasses.fields(value)]
        kept = {name: without_lines(getattr(value, name)) for name in names if name not in ("line", "text")}
        return (type(value), kept)
    return value


@pytest.fixture(scope="module")
def every() -> Policy:
    return parse_policy(EVERY_KEY, "policy.toml")


def test_a_policy_can_say_another_thing_than_every_default(every: Policy) -> None:
    found = list(said(every, TOP))
    for keys in SECTIONS:
        for key in keys.keys:
            values = [value for title, name, value in found if (title, name) == (keys.title, key.name)]
            if not isinstance(key.kind, Below):
                different = any(value != key.default for value in values)
                assert different, f"say {key.name} of {keys.title} in tests/every_key.py"


def test_a_composed_policy_says_every_key_again(every: Policy) -> None:
    text = compose(every, "Again.")
    again = parse_policy(text, "policy.toml")
    assert without_lines(again) == without_lines(every)
    assert (digest(again), version(again)) == (digest(every), version(every))
    for keys in SECTIONS:
        for key in keys.keys:
            assert re.search(rf"[\[.{{, \n]{key.name}\b", text), (keys.title, key.name)


def test_what_is_left_out_is_the_default() -> None:
    least = '[budget]\nepsilon = 1\naccountant = "pure"\n[unit]\n[tables.a]\nunit = { column = "b" }\n'
    for title, name, value in said(parse_policy(least, "policy.toml"), TOP):
        key = next(keys[name] for keys in SECTIONS if keys.title == title)
        assert name == "accountant" or key.default in (value, NO_DEFAULT), (title, name)


@pytest.mark.parametrize(("keys", "key"), KEYS)
def test_a_key_has_its_sentence_on_the_page(keys: Keys, key: Key) -> None:
    assert re.fullmatch(r"[A-Z].*\.", key.sentence)
    assert f"| `{key.name}` | {key.sentence} |" in policy_page.PAGE.read_text(encoding="utf-8")


def test_the_page_is_written_from_the_table() -> None:
    written = policy_page.PAGE.read_text(encoding="utf-8")
    assert written == policy_page.page(), "run: python tests/policy_page.py --write"


@pytest.mark.parametrize(("keys", "key"), KEYS)
def test_a_key_is_looked_at(keys: Keys, key: Key) -> None:
    """Somewhere else than where policies are read and written."""
    room = Path(dpsql.__file__).parent
    files = [each for each in room.rglob("*.py") if not each.name.startswith(("toml", "compose"))]
    used = any(re.search(rf"\.{key.name}\b", each.read_text(encoding="utf-8")) for each in files)
    assert used, "a key that changes nothing"


def test_a_draft_has_the_lines_of_its_keys() -> None:
    ids = tuple(FoundColumn(name, "INTEGER", False) for name in ("id", "people_id"))
    tables = (FoundTable("people", ids[:1], (("id",),)), FoundTable("visits", ids[1:]))
    text = draft(Catalogue(tables), "clinic.duckdb")
    lines = [key.draft for keys in SECTIONS for key in keys.keys if key.draft]
    assert [each for each in lines if each.split("{unit}")[0] not in text] == []


FIRST = """\
timezone = "Europe/Oslo"
[budget]
epsilon = 3
delta = 1e-6
[query]
min_units = 5
[analysts.ana]
epsilon = 2
[unit]
name = "person"
table = "people"
key = "ID"
[tables.people]
csv = { delim = ";" }
[tables.people.columns]
id = { type = "INTEGER" }
age = { type = "INTEGER", range = [0, 1.2e2] }
[tables.visits]
key = ["Visit", "day"]
unit = { column = "id", references = "people.ID" }
rows_per_unit = 3
[tables.visits.columns]
town = { values = ["Oslo", "Bergen"] }
[views.adults]
sql = "SELECT * FROM people WHERE age >= 18"
"""


def test_a_policy_without_new_keys_keeps_its_digests() -> None:
    """Ledgers know policies by them. Keys that come later change those only of policies that say them."""
    policy = parse_policy(FIRST, "policy.toml")
    assert digest(policy)[:16] == "b684386ed6183f9d"
    assert version(policy)[:16] == "9fb806e65ac120b5"


def test_every_accountant_is_documented() -> None:
    assert set(ACCOUNTANTS) == set(accounting.names())
