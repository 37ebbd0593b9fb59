"""The policy as written: what each part reads as, and where every error points."""

from __future__ import annotations

import datetime
import string
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsql.errors import Error, ProgrammingError
from dpsql.policy.model import (
    AnalystRule,
    BudgetRule,
    ColumnRule,
    LimitsRule,
    Policy,
    QueryRule,
    TableRule,
    UnitPath,
    UnitRule,
    digest,
    unit_text,
    version,
)
from dpsql.policy.names import fold, nearest
from dpsql.policy.toml_positions import Path, document_of, places_of
from dpsql.session.checks import parse_policy

CLINIC = """\
[budget]                       # of the database, over all analysts, for its whole life
epsilon = 8.0
delta = 1e-6
accountant = "zcdp"            # "zcdp" (default), "pure" (delta 0, Laplace), "approx" (basic composition)
[query]
epsilon = 0.2                  # default price of one query
max_epsilon = 1.0
[analysts.ana]
epsilon = 2.0
[unit]
name = "patient"
table = "patients"
key = "patient_id"
[tables.patients]              # key = "order_id" declares a unique key of a table; checked by `policy check`
[tables.patients.columns]
born   = { range = [1900-01-01, 2030-12-31] }      # TOML's own dates
age    = { range = [0, 120] }
ward   = { values = ["A", "B", "C"] }        # a public domain: every group appears, no threshold
income = { range = [0, 500000] }
[tables.visits]
unit = { column = "patient_id" }             # or: { column = "order_id", references = "orders.order_id" }
rows_per_unit = 20                           # where clipping starts (below); no promise about the data
[tables.places]
public = true
"""

BASE = """\
[budget]
epsilon = 1
delta = 1e-6
[unit]
table = "people"
key = "id"
[tables.people]
"""  # seven lines: what a test adds starts on line 8


def refused(text: str) -> Error:
    with pytest.raises(ProgrammingError) as caught:
        parse_policy(text, "p.toml")
    return caught.value


def test_the_example_of_the_manual_reads_as_written() -> None:
    assert parse_policy(CLINIC, "clinic.toml") == Policy(
        name="clinic.toml",
        text=CLINIC,
        budget=BudgetRule(8.0, 1e-6, "zcdp"),
        query=QueryRule(0.2, 1.0),
        analysts=(AnalystRule("ana", 2.0, 8),),
        unit=UnitRule("patient", "patients", "patient_id", 10),
        tables=(
            TableRule(
                name="patients",
                line=14,
                public=False,
                key=(),
                unit=None,
                rows_per_unit=None,
                columns=(
                    ColumnRule("born", 16, range=(datetime.date(1900, 1, 1), datetime.date(2030, 12, 31))),
                    ColumnRule("age", 17, range=(0, 120)),
                    ColumnRule("ward", 18, values=("A", "B", "C")),
                    ColumnRule("income", 19, range=(0, 500000)),
                ),
            ),
            TableRule("visits", 20, False, (), UnitPath("patient_id", None, 21), 20, ()),
            TableRule("places", 23, True, (), None, None, ()),
        ),
        timezone="UTC",
    )


def test_what_is_left_out() -> None:
    policy = parse_policy(BASE, "p.toml")
    assert policy.budget == BudgetRule(1.0, 1e-6, "zcdp")
    assert policy.query == QueryRule(0.1, 1.0)
    assert policy.unit.name == "unit"
    small = parse_policy(BASE.replace("epsilon = 1\n", "epsilon = 0.05\n"), "p.toml")
    assert small.query == QueryRule(0.05, 0.05)
    pure = parse_policy(BASE.replace("delta = 1e-6", 'accountant = "pure"'), "p.toml")
    assert pure.budget == BudgetRule(1.0, 0.0, "pure")
    capped = parse_policy(BASE + "[query]\nmax_epsilon = 0.03\n", "p.toml")
    assert capped.query == QueryRule(0.03, 0.03)
    assert parse_policy(BASE + "[query]\nmin_units = 10\n", "p.toml").query.min_units == 10


def test_limits_are_as_usual_unless_said() -> None:
    assert parse_policy(BASE, "p.toml").limits == LimitsRule(10.0, 512 * 2**20, 1_000_000)
    some = parse_policy(BASE + "[limits]\nseconds = 2.5\nmemory = '2 GB'\n", "p.toml")
    assert some.limits == LimitsRule(2.5, 2 * 2**30, 1_000_000)
    assert version(some) == version(parse_policy(BASE, "p.toml")), "answers do not rest on them"


def test_keys_references_and_time_zone() -> None:
    text = (
        'timezone = "Europe/Berlin"\n'
        + BASE
        + """
[tables."sales.orders"]
unit = { column = "person", references = "people.e.mail" }
key = ["shop", "number"]
[tables.items]
unit.column = "order"
unit.references = "SALES.orders.number"
key = "item"
"""
    )
    policy = parse_policy(text, "p.toml")
    assert policy.timezone == "Europe/Berlin"
    orders, items = policy.tables[1:]
    assert orders.unit == UnitPath("person", ("people", "e.mail"), 11)
    assert orders.key == ("shop", "number")
    assert items.unit == UnitPath("order", ("sales.orders", "number"), 14)
    assert items.key == ("item",)


ERRORS = [
    # what follows BASE (line 8 on), the code, line and column, words of the message
    ("[tables", "D801", 8, 7, "not TOML"),
    ("x = 1\nx = 2", "D801", 9, 5, "Cannot overwrite"),
    ("\ufeff", "D801", 8, 1, "Invalid statement"),
    ("colums = {}", "D802", 8, 1, "did you mean columns?"),
    ("[tables.people.colums]", "D802", 8, 16, "did you mean columns?"),
    ("[tables.people.columns]\nage = { rnage = [0, 1] }", "D802", 9, 9, "did you mean range?"),
    ("[querys]", "D802", 8, 2, "did you mean query?"),
    ("[tables.sales.orders]\npublic = true", "D802", 8, 15, '[tables."sales.orders"]'),
    ("[tables.x]\npublic = true\nunit.colum = 'a'", "D803", 10, 1, "a public table has no unit"),
    ("[tables.x]\nunit = { colum = 'a' }", "D802", 9, 10, "did you mean column?"),
    ("[analysts.ana]\nepsilom = 1", "D802", 9, 1, "did you mean epsilon?"),
    ("[[analysts]]\nepsilon = 1", "D803", 8, 3, "this is an array"),
    ("[analysts]\nana = 3", "D803", 9, 7, "this is an integer"),
    ("[analysts.ana]", "D803", 8, 11, "needs epsilon"),
    ("[analysts.ana]\nepsilon = true", "D803", 9, 11, "this is a boolean"),
    ("[analysts.ana]\nepsilon = '1'", "D803", 9, 11, "this is a string"),
    ("[analysts.ana]\nepsilon = inf", "D803", 9, 11, "finite"),
    ("[analysts.ana]\nepsilon = nan", "D803", 9, 11, "finite"),
    ("[analysts.ana]\nepsilon = 0.0", "D803", 9, 11, "above zero"),
    ("[analysts.ana]\nepsilon = -1", "D803", 9, 11, "above zero"),
    ("[analysts.ana]\nepsilon = 1e-400", "D803", 9, 11, "above zero"),
    ("[analysts.ana]\nepsilon = 1" + "0" * 400, "D803", 9, 11, "finite"),
    ("[analysts.' ']\nepsilon = 1", "D803", 8, 11, "needs a name"),
    ("[query]\nepsilon = 2", "D803", 9, 11, "above the highest"),
    ("[query]\nepsilon = 0.5\nmax_epsilon = 0.2", "D803", 9, 11, "above the highest"),
    ("[query]\nmin_units = 0", "D803", 9, 13, "between 1 and 1,000,000"),
    ("[query]\nmin_units = 2.5", "D803", 9, 13, "this is a float"),
    ("[query]\nmin_units = true", "D803", 9, 13, "this is a boolean"),
    ("[limits]\nsecond = 3", "D802", 9, 1, "did you mean seconds?"),
    ("[limits]\nseconds = 0", "D803", 9, 11, "above zero"),
    ("[limits]\nseconds = 1e9", "D803", 9, 11, "at most 86,400"),
    ("[limits]\nmemory = 512", "D803", 9, 10, "this is an integer"),
    ("[limits]\nmemory = '512'", "D803", 9, 10, 'memory = "512MB"'),
    ("[limits]\nmemory = '1MB'", "D803", 9, 10, "between 64MB and"),
    ("[limits]\nrows = 0", "D803", 9, 8, "between 1 and"),
    ("[limits]\nrows = 2.5", "D803", 9, 8, "a whole number"),
    ("[query]\nmax_epsilon = 2", "D803", 9, 15, "more than the whole budget"),
    ("rows_per_unit = 0", "D803", 8, 17, "between 1 and 1,000,000"),
    ("rows_per_unit = 1000001", "D803", 8, 17, "between 1 and 1,000,000"),
    ("rows_per_unit = 2.0", "D803", 8, 17, "this is a float"),
    ("rows_per_unit = true", "D803", 8, 17, "this is a boolean"),
    ("public = true", "D803", 8, 1, "cannot be public"),
    ("public = 1", "D803", 8, 10, "true or false"),
    ("unit = { column = 'other' }", "D803", 8, 8, "the unit of this table is id"),
    ("key = []", "D803", 8, 7, "an empty array"),
    ("key = 7", "D803", 8, 7, "an integer"),
    ("key = ['a', 7]", "D803", 8, 13, "an integer"),
    ("key = ['a', 'A']", "D803", 8, 13, "listed twice"),
    ("[tables.PEOPLE]", "D803", 8, 9, "the same name to the database"),
    ("[tables.visits]", "D803", 8, 9, "neither public nor has a unit"),
    ("[tables.visits.columns]", "D803", 8, 9, "neither public nor has a unit"),
    ("[tables.x]\npublic = true\nrows_per_unit = 3", "D803", 10, 1, "no rows_per_unit"),
    ("[tables.x]\nunit = 'id'", "D803", 9, 8, 'unit = { column = "id" }'),
    ("[tables.x]\nunit = { }", "D803", 9, 1, "needs column"),
    ("[tables.x]\nunit = { column = 3 }", "D803", 9, 19, "column must be a column name or a list"),
    ("[tables.x]\nunit = { column = [] }", "D803", 9, 19, "this is an empty array"),
    ("[tables.x]\nunit = { column = ['a', 3] }", "D803", 9, 25, "a list of column names"),
    ("[tables.x]\nunit = { column = ['a', 'A'] }", "D803", 9, 25, "A is listed twice"),
    (
        "[tables.x]\nunit = { column = ['a', 'b'], references = 'people.id' }",
        "D803",
        9,
        44,
        'a list, in their order: ["people.a", "people.b"]',
    ),
    (
        "[tables.x]\nunit = { column = ['a', 'b'], references = ['people.id'] }",
        "D803",
        9,
        44,
        "1 columns are referenced, by 2",
    ),
    (
        "[tables.x]\nunit = { column = ['a', 'b'], references = ['people.id', 'x.id'] }",
        "D803",
        9,
        58,
        "the first is of people",
    ),
    (
        "[tables.x]\nunit = { column = ['a', 'b'], references = ['people.id', 'poeple.no'] }",
        "D803",
        9,
        58,
        "did you mean people?",
    ),
    ("[tables.x]\nunit = { column = 'a', references = 'poeple.id' }", "D803", 9, 37, "did you mean people?"),
    ("[tables.x]\nunit = { column = 'a', references = 'people' }", "D803", 9, 37, "a table and its key"),
    (
        "[tables.x]\nunit = { column = 'a', references = 'x.b' }",
        "D803",
        9,
        37,
        "x -> x",
    ),
    (
        "[tables.x]\nunit = {column='a',references='y.b'}\n[tables.y]\nunit = {column='b',references='x.a'}",
        "D803",
        11,
        31,
        "x -> y -> x",
    ),
    (
        "[tables.p]\npublic=true\n[tables.x]\nunit = { column = 'a', references = 'p.id' }",
        "D803",
        11,
        37,
        "it has no unit",
    ),
    ("[tables.people.columns]\nage = [0, 120]", "D803", 9, 7, "age = { range = [0, 120] }"),
    ("[tables.people.columns]\nage = {}\nAge = {}", "D803", 10, 1, "the same name"),
    ("[tables.people.columns]\nage = { range = [0, 1], values = [1] }", "D803", 9, 7, "not both"),
    ("[tables.people.columns]\ntown = { length = 5, values = ['a'] }", "D803", 9, 8, "one of both"),
    ("[tables.people.columns]\nage = { range = [0] }", "D803", 9, 17, "two ends"),
    ("[tables.people.columns]\nage = { range = 3 }", "D803", 9, 17, "two ends"),
    ("[tables.people.columns]\nage = { range = [1, 0] }", "D803", 9, 17, "wrong way round"),
    ("[tables.people.columns]\nage = { range = [0, nan] }", "D803", 9, 21, "finite"),
    ("[tables.people.columns]\nage = { range = [-inf, 0] }", "D803", 9, 18, "finite"),
    ("[tables.people.columns]\nage = { range = [0, true] }", "D803", 9, 21, "this is a boolean"),
    ("[tables.people.columns]\nage = { range = ['a', 'b'] }", "D803", 9, 18, "this is a string"),
    ("[tables.people.columns]\nage = { range = [0, 2020-01-01] }", "D803", 9, 17, "of one kind"),
    ("[tables.people.columns]\nage = { range = [10:00:00, 11:00:00] }", "D803", 9, 18, "this is a time"),
    (
        "[tables.people.columns]\nt = { range = [2020-01-01T00:00:00, 2020-01-01T00:00:00Z] }",
        "D803",
        9,
        15,
        "of one kind",
    ),
    (
        "[tables.people.columns]\nt = { range = [2020-01-01, 2020-01-01T00:00:00] }",
        "D803",
        9,
        15,
        "of one kind",
    ),
    ("[tables.people.columns]\nw = { values = [] }", "D803", 9, 16, "not empty"),
    ("[tables.people.columns]\nw = { values = 'a' }", "D803", 9, 16, "not empty"),
    ("[tables.people.columns]\nw = { values = ['a', 1] }", "D803", 9, 22, "of one kind"),
    ("[tables.people.columns]\nw = { values = [1, true] }", "D803", 9, 20, "of one kind"),
    ("[tables.people.columns]\nw = { values = ['a', 'b',\n 'a'] }", "D803", 10, 2, "listed twice"),
    ("[tables.people.columns]\nw = { values = [0.0, -0.0] }", "D803", 9, 22, "listed twice"),
    ("[tables.people.columns]\nw = { values = [1, 1.0] }", "D803", 9, 20, "listed twice"),
    ("[tables.people.columns]\nw = { values = [nan] }", "D803", 9, 17, "finite"),
    ("[tables.people.columns]\nw = { values = [['a']] }", "D803", 9, 17, "this is an array"),
    ("[tables.people.columns]\nw = { values = [2020-01-01T00:00:00] }", "D803", 9, 17, "a date-time"),
    (f"[tables.people.columns]\nw = {{ values = {list(range(10_001))} }}", "D803", 9, 16, "at most 10,000"),
]


@pytest.mark.parametrize(("more", "code", "line", "column", "words"), ERRORS)
def test_errors_point_at_their_cause(more: str, code: str, line: int, column: int, words: str) -> None:
    error = refused(BASE + more)
    assert (error.code, error.position) == (code, (line, column)), str(error)
    assert words in str(error)
    assert f"p.toml:{line}:{column}" in str(error)


OTHERS = [
    # one line of BASE replaced
    ('key = "id"\n', 'key = "id"\nblocks = 3\n', "D803", 7, 10, "blocks must be a table"),
    ('table = "people"\nkey = "id"\n', 'column = "id"\nblocks = {}\n', "D803", 6, 1, "the unit's own table"),
    ('key = "id"\n', 'key = "id"\nblocks = { values = [1] }\n', "D803", 7, 1, "needs column"),
    ('key = "id"\n', 'key = "id"\nblocks = { column = "c" }\n', "D803", 7, 1, "needs values"),
    ('key = "id"\n', 'key = "id"\nblocks.column = "c"\nblocks.values = []\n', "D803", 8, 17, "not empty"),
    ('key = "id"\n', 'key = "id"\nblocks.column = "c"\nblocks.values = [1, 1]\n', "D803", 8, 21, "twice"),
    ('key = "id"\n', 'key = "id"\nblocks.column = "c"\nblocks.values = [1.5]\n', "D803", 8, 18, "a float"),
    (
        'key = "id"\n',
        'key = "id"\nblocks.column = "c"\nblocks.values = [1, "a"]\n',
        "D803",
        8,
        21,
        "one kind",
    ),
    (
        'key = "id"\n',
        f'key = "id"\nblocks.column = "c"\nblocks.values = {[*range(1001)]}\n',
        "D803",
        8,
        17,
        "at most 1,000 blocks",
    ),
    ("epsilon = 1\n", "", "D803", 1, 2, "[budget] needs epsilon"),
    ("epsilon = 1\n", "epsilon = 1\nperiod = 'month'\n", "D803", 3, 1, "for the life of the database"),
    ("epsilon = 1\n", "epsilom = 1\n", "D802", 2, 1, "did you mean epsilon?"),
    ("epsilon = 1\n", "epsilon = 1\naccountant = 'zdcp'\n", "D803", 3, 14, "did you mean zcdp?"),
    ("epsilon = 1\n", "epsilon = 1\naccountant = 1\n", "D803", 3, 14, "must be a string"),
    ("epsilon = 1\n", "epsilon = 1\naccountant = 'pure'\n", "D803", 4, 9, "has no delta"),
    ("delta = 1e-6\n", "", "D803", 1, 2, "needs delta"),
    ("delta = 1e-6\n", "delta = 0\n", "D803", 3, 9, "a delta above zero"),
    ("delta = 1e-6\n", "delta = 0\naccountant = 'approx'\n", "D803", 3, 9, "a delta above zero"),
    ("delta = 1e-6\n", "delta = 0.01\n", "D803", 3, 9, "gives no protection"),
    ("delta = 1e-6\n", "delta = 1\n", "D803", 3, 9, "between 0 and 1"),
    ("delta = 1e-6\n", "delta = -1e-9\n", "D803", 3, 9, "between 0 and 1"),
    ("delta = 1e-6\n", "delta = nan\n", "D803", 3, 9, "between 0 and 1"),
    ("delta = 1e-6\n", "delta = true\n", "D803", 3, 9, "this is a boolean"),
    ('table = "people"\n', "", "D803", 5, 1, "needs table beside key"),
    ('table = "people"\n', 'table = "peeple"\n', "D803", 5, 9, "did you mean people?"),
    ('table = "people"\n', 'table = "people"\nname = ""\n', "D803", 6, 8, "must be a word"),
    ('key = "id"\n', "", "D803", 5, 1, "needs key beside table"),
    ('key = "id"\n', 'key = ["a", 1]\n', "D803", 6, 13, "a list of column names"),
    ("[budget]\n", "timezone = 'Europe/Berlni'\n[budget]\n", "D803", 1, 12, "did you mean Europe/Berlin?"),
    ("[budget]\n", "timezone = '../etc'\n[budget]\n", "D803", 1, 12, "no time zone"),
    ("[budget]\n", "timezone = 2\n[budget]\n", "D803", 1, 12, "must be a string"),
    ("[tables.people]\n", "", "D803", 1, 1, "the policy needs [tables]"),
    ("[budget]\n", "[bugdet]\n", "D802", 1, 2, "did you mean budget?"),
]


@pytest.mark.parametrize(("old", "new", "code", "line", "column", "words"), OTHERS)
def test_errors_in_the_first_sections(
    old: str, new: str, code: str, line: int, column: int, words: str
) -> None:
    assert BASE.count(old) == 1
    error = refused(BASE.replace(old, new))
    assert (error.code, error.position) == (code, (line, column)), str(error)
    assert words in str(error)


def test_an_error_is_drawn_with_its_line() -> None:
    assert str(refused(BASE.replace("epsilon = 1", "epsilom = 1"))) == (
        "error[D802]: the policy has no key called epsilom\n"
        " --> p.toml:2:1\n"
        "  |\n"
        "2 | epsilom = 1\n"
        "  | ^^^^^^^ not a key of [budget]\n"
        "  = help: did you mean epsilon?"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n\n",
        "x",
        "[",
        "a = [" * 5000,
        "a = " + "9" * 5000,
        "a = '\x00'",
        "\r",
        'a = """',
        "=",
        "[[a]]\n[a]",
    ],
)
def test_whatever_is_written_is_refused_with_a_code(text: str) -> None:
    assert refused(text).code in ("D801", "D802", "D803")


def test_windows_line_ends() -> None:
    error = refused((BASE + "rows_per_unit = 0\n").replace("\n", "\r\n"))
    assert error.position == (8, 17)
    error = refused((BASE + "rows_per_unit = \n").replace("\n", "\r\n"))
    assert error.code == "D801"
    assert error.position == (8, 17)


# --- canonical forms ---------------------------------------------------------------------------------


def test_the_unit_in_one_text() -> None:
    assert unit_text(parse_policy(CLINIC, "p.toml")) == "unit patients.patient_id\nvisits: patient_id"
    chain = BASE + (
        "[tables.items]\nunit = { column = 'Order', references = 'orders.no' }\n"
        "[tables.orders]\nunit = { column = 'a b' }\n"
    )
    assert unit_text(parse_policy(chain, "p.toml")) == (
        'unit people.id\nitems: order -> orders.no\norders: "a b"'
    )


def test_a_digest_is_of_what_is_said_not_of_how() -> None:
    said = digest(parse_policy(CLINIC, "clinic.toml"))
    again = CLINIC.replace("epsilon = 8.0", "epsilon =   8 # eight").replace("[0, 120]", "[0.0, 120]")
    again = again.replace("[tables.places]\npublic = true\n", "")
    again = again.replace("[tables.patients]  ", "[tables.Places]\npublic = true\n[tables.patients]")
    assert digest(parse_policy(again, "other.toml")) == said
    for old, new in [
        ("epsilon = 8.0", "epsilon = 8.5"),
        ("epsilon = 2.0", "epsilon = 2.5"),
        ('"patient"', '"person"'),
        ("[0, 120]", "[0, 121]"),
        ('["A", "B", "C"]', '["A", "B"]'),
        ('["A", "B", "C"]', "[1]"),
        ("rows_per_unit = 20", "rows_per_unit = 21"),
        ('{ column = "patient_id" }', '{ column = "person_id" }'),
        ("1900-01-01", "1900-01-02"),
    ]:
        assert old in CLINIC
        assert digest(parse_policy(CLINIC.replace(old, new), "clinic.toml")) != said, new
    kinds = [BASE + f"[tables.people.columns]\nx = {{ values = [{one}] }}" for one in ("1", '"1"', "true")]
    assert len({digest(parse_policy(text, "p")) for text in kinds}) == 3


def test_names_compare_as_the_database_compares_them() -> None:
    assert fold("Étude_X") == "Étude_x"
    assert nearest("ORDRES", ["parts", "Orders"]) == "Orders"
    assert nearest("zzz", ["parts", "orders"]) is None


# --- places ------------------------------------------------------------------------------------------


def at(text: str, path: Path) -> tuple[str, str]:
    spot = places_of(text)[path]
    return text[spot.key.start : spot.key.end], text[spot.value.start : spot.value.end]


def test_places_of_every_shape() -> None:
    text = """
    # [not.a.header]
    'single key' . "dou\\u0062le" = [ "]", # a comment with ]
      '#', [1, 2], { a = 1, b.c = '}' }, ] # end
    long = \"\"\"
[x]
y = 1 \\"\"\" more\"\"\"\"\"
    when = 1979-05-27 07:32:00   # a date
    [tables."sales.orders" . columns]
    "a.b" = { range = [1900-01-01, 2030-12-31] }
    [[rows]]
    x = 1
    [[rows]]
    x = 2
    y.z = true
    [rows.inner]
    w = ''''quoted''''
    """
    tomllib.loads(text)
    assert at(text, ("single key",)) == ("'single key'", "'single key'")
    assert at(text, ("single key", "double"))[0] == '"dou\\u0062le"'
    assert at(text, ("single key", "double", 0))[1] == '"]"'
    assert at(text, ("single key", "double", 1))[1] == "'#'"
    assert at(text, ("single key", "double", 2, 1))[1] == "2"
    assert at(text, ("single key", "double", 3, "b", "c")) == ("c", "'}'")
    assert at(text, ("long",))[1].endswith('more"""""')
    assert at(text, ("when",))[1] == "1979-05-27 07:32:00"
    assert at(text, ("tables",))[0] == "tables"
    assert at(text, ("tables", "sales.orders"))[0] == '"sales.orders"'
    assert at(text, ("tables", "sales.orders", "columns", "a.b", "range", 1))[1] == "2030-12-31"
    assert at(text, ("rows", 0, "x"))[1] == "1"
    assert at(text, ("rows", 1, "x"))[1] == "2"
    assert at(text, ("rows", 1, "y", "z"))[1] == "true"
    assert at(text, ("rows", 1, "inner", "w"))[1] == "''''quoted''''"


def test_what_has_no_place_is_at_the_nearest_enclosing_thing() -> None:
    document = document_of("[a]\nb = 1\n", "t")
    assert document.line(("a", "b")) == 2
    assert document.line(("a", "missing", 3)) == 1
    assert document.line(("nothing",)) == 1
    assert document_of("", "t").line(("nothing",)) == 0


KEYS = st.text(string.ascii_letters + "0123456789_- .\"'#[]{}=,\\é\t\n", max_size=6)
PLAIN = st.one_of(
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False),
    st.text("ab\"\\#[]{}=,\n\t 'é", max_size=8),
    st.dates(datetime.date(1, 1, 1)),
    st.datetimes(datetime.datetime(1, 1, 1)),
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


class Printer:
    """Writes a document in one of the many ways that TOML allows, chosen by ``draw``."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def choose(self, *ways: str) -> str:
        return self.draw(st.sampled_from(ways))

    def quoted(self, text: str) -> str:
        return '"' + "".join(ESCAPED.get(each, each) for each in text) + '"'

    def key(self, name: str) -> str:
        ways = [self.quoted(name)]
        if name and set(name) <= set(string.ascii_letters + string.digits + "_-"):
            ways.append(name)
        if not set(name) & set("'\n\t"):
            ways.append(f"'{name}'")
        return self.choose(*ways)

    def value(self, value: object) -> str:
        match value:
            case bool():
                return str(value).lower()
            case str():
                ways = [self.quoted(value), '"""\n' + self.quoted(value)[1:-1].replace("\\n", "\n") + '"""']
                if not set(value) & set("'\n\t"):
                    ways += [f"'{value}'", f"'''{value}'''"]
                return self.choose(*ways)
            case datetime.datetime():
                return value.isoformat(self.choose(" ", "T"))
            case datetime.date():
                return value.isoformat()
            case list():
                gap = self.choose("", " ", "\n  ", " # ]\n")
                end = self.choose("", "," + gap) if value else ""
                return "[" + gap + f"{gap},{gap}".join(map(self.value, value)) + gap + end + "]"
            case dict():
                pairs = (f"{self.key(name)} = {self.value(each)}" for name, each in value.items())
                return "{ " + ", ".join(pairs) + " }"
            case _:
                return repr(value)

    def table(self, header: str, table: dict[str, object]) -> str:
        """Its plain pairs, then its tables: inline, dotted or under headers."""
        inner, lines = [], [f"{self.choose('', '  ')}[{header}]{self.choose('', ' # [x]')}"] if header else []
        for name, value in table.items():
            key = self.key(name)
            if isinstance(value, dict) and value and self.draw(st.booleans()):
                inner.append(self.table(header + self.choose(".", " . ") + key if header else key, value))
            elif isinstance(value, dict) and value and self.draw(st.booleans()):
                lines += [f"{key}.{self.key(each)} = {self.value(one)}" for each, one in value.items()]
            else:
                lines.append(f"{key}{self.choose('', ' ')}={self.choose('', ' ')}{self.value(value)}")
        return "\n".join([*lines, *inner])


ESCAPED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "é": "\\u00e9"}


@st.composite
def documents(draw: st.DrawFn) -> str:
    tables = draw(st.dictionaries(KEYS, st.dictionaries(KEYS, VALUES, max_size=3), max_size=3))
    return Printer(draw).table("", dict(tables))


def paths(value: object, here: Path = ()) -> list[tuple[Path, object]]:
    """Every path of a parsed document, with what is there."""
    found: list[tuple[Path, object]] = [(here, value)] if here else []
    if isinstance(value, dict):
        for name, inner in value.items():
            found += paths(inner, (*here, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            found += paths(inner, (*here, index))
    return found


@given(documents())
@settings(max_examples=250, deadline=None)
def test_every_path_of_a_random_document_is_where_it_says(text: str) -> None:
    """The text at a key parses to that key, and the text at a value to that value."""
    parsed = tomllib.loads(text)
    places = places_of(text)
    everything = paths(parsed)
    assert set(places) == {path for path, _ in everything}
    for path, value in everything:
        spot = places[path]
        key, raw = text[spot.key.start : spot.key.end], text[spot.value.start : spot.value.end]
        if isinstance(path[-1], str):
            assert list(tomllib.loads(f"{key} = 1")) == [path[-1]]
        if spot.key != spot.value or isinstance(path[-1], int):
            assert tomllib.loads(f"it = {raw}")["it"] == value
        document = document_of(text, "t")
        assert key.split("\n")[0] in text.split("\n")[document.line(path) - 1]


@given(st.text(string.printable, max_size=60))
@settings(max_examples=300, deadline=None)
def test_the_scanner_survives_any_text(text: str) -> None:
    places_of(text)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_a_policy_with_a_piece_cut_out_is_read_or_refused_with_its_place(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(CLINIC) - 1))
    end = data.draw(st.integers(start, min(len(CLINIC), start + 30)))
    text = CLINIC[:start] + data.draw(st.sampled_from(["", "x", "[", '"', "=", "0", "{}"])) + CLINIC[end:]
    error = None
    try:
        parse_policy(text, "p.toml")
    except ProgrammingError as caught:
        error = caught
    if error is not None:
        assert error.code in ("D801", "D802", "D803")
        assert "--> p.toml:" in str(error)
