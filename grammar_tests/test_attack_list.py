"""Attacks on engines of this kind, and a case for each: refused, or harmless when answered.

    -- case: everybody's sum of the largest
    -- attack: windows over users
    -- outcome: refused D254 at 1:31

The oracles judge what is answered (sensitivity when any one unit is removed, real noise on empty data);
a refusal has to be the same on every data. So a case only has to be here to be safe.
"""

from __future__ import annotations

from collections import Counter

from cases import all_cases

ATTACKS = {
    # what comes out
    "existence by shape": "an aggregate over nobody is one row, as over somebody",
    "group keys": "a key appears by a noisy threshold over units, or because it is declared",
    "NULL keys": "NULL is one ordinary key; rows without a unit belong to nobody, and are not counted",
    "raw order and having": "groups are chosen and ordered by released numbers only",
    # whose rows
    "windows over users": "a window sees one unit's rows, or released ones",
    "subqueries across users": "a subquery is tied to the unit, or public, or released first",
    "distinct values": "distinct rows are the unit's own, or released keys",
    "row picking": "no LIMIT, sample or first row over several units",
    "branches on others": "no branch depends on another unit's rows",
    # how many of them
    "joins that fan out": "private tables meet on the unit; what one unit adds is bounded after all joins",
    "public tables multiply rows": "the bound comes after the multiplication, and that has a limit",
    "union copies": "a union is bounded per unit, over all its sides",
    "set operations": "elements are the unit's own; else one unit could decide one",
    "options that move the clip": "an option moves the bias, never the promise",
    # who is protected
    "unit laundering": "the unit is known by where a column comes from, never by its name",
    "unit as a key": "what tells one unit from another is no output and no key",
    "shadowing": "names mean what the innermost scope says; ownership follows the rows",
    # single values
    "aggregates that return raw values": "an aggregate has a mechanism of its own, or is refused",
    "equality": "bounding, thresholds and groups use one equality",
    "views and pivots": "a view is read as if it were written out; a pivot lists its values",
    # bounds
    "not a number": "NaN and the infinities are mapped into the bounds before anything is added",
    "NULL in clips": "NULL is no value; a clip never makes it one of its ends",
    "interval arithmetic": "a range that is not known is no range; the last clip is in the SQL",
    "bounds that are not finite": "sums have finite bounds, and are clipped though the bounds are alike",
    "branches with other bounds": "a bound covers all branches, and is learnt only from what always holds",
    "names with other bounds": "bounds follow the values, not the names",
    "casts": "the clip comes after the last cast",
    "integer overflow": "what is computed is widened first; what does not fit is NULL",
    "averages and spreads": "no exact count or moment is part of an answer",
    "many rows of one unit": "all rows of a unit are clipped together, over all groups",
    "the order of a sum": "sums are of whole numbers: the order of the rows does nothing",
    "dates": "infinite and far dates are clipped like numbers",
    # failures
    "expressions that fail": "no row makes a query fail: every expression is total, or refused",
    "names that hide what they are": "what a release says of its rows follows places, not names",
    # ways out
    "functions that look behind the tables": "functions that nobody has vetted are refused by name",
    "files and network": "tables are those of the policy",
    "other statements": "only queries are read",
    "representation": "every piece of syntax is on a list, and what runs is printed from our own tree",
    "temporary objects": "nothing can be made that a name would then mean",
    "questions for columns": "names and types are the policy's; for them nothing is computed",
    "parameters": "values stand for question marks, and are read as literals",
    "state": "no function of the session, the moment is read once",
}


def test_every_attack_has_three_cases_at_least() -> None:
    tried = Counter(case.options["attack"] for case in all_cases() if "attack" in case.options)
    assert {attack for attack, count in tried.items() if count >= 3} == set(ATTACKS)


def test_every_case_of_the_folder_names_its_attack() -> None:
    folder = [case for case in all_cases() if case.file.parent.name == "attacks"]
    assert [case.id for case in folder if case.options.get("attack") not in ATTACKS] == []
