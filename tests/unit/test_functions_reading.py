"""What is read as a function, under every spelling, and what is left unread."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest
import sqlglot
from sqlglot import exp

from dpsql.functions import ArgumentError, shelf
from dpsql.functions.reading import literal_of, read
from dpsql.ir.column import Value


def parse(text: str) -> exp.Expr:
    node = sqlglot.parse_one(f"SELECT {text}", dialect="duckdb").expressions[0]
    assert isinstance(node, exp.Expr)
    return node


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a IS NOT NULL", "is_not_null"), ("a ISNULL", "is_null"), ("a NOTNULL", "is_not_null"), ("a != b",
        "<>"),
        ("a == b", "="), ("a NOT LIKE 'x'", "not"), ("a NOT IN (1)", "not"), ("a NOT BETWEEN 1 AND 2", "not"),
        ("a IS TRUE", "is_not_distinct_from"), ("a ** 2", "pow"), ("a ^ 2", "pow"), ("power(a, 2)", "pow"),
        ("mod(a, 2)", "%"), ("len(a)", "length"), ("char_length(a)", "length"), ("ucase(a)", "upper"),
        ("@a", "abs"),
        ("substr(a, 1)", "substring"), ("instr(a, 'x')", "strpos"), ("ifnull(a, 1)", "coalesce"),
        ("nvl(a, 1)", "coalesce"),
        ("if(a, 1, 2)", "case"), ("iff(a, 1, 2)", "case"), ("CASE a WHEN 1 THEN 2 END", "case"), ("log(a)",
        "log10"),
        ("log2(a)", "log2"), ("log(3, a)", "log"), ("weekofyear(a)", "week"), ("dayofmonth(a)", "day"),
        ("weekday(a)", "dayofweek"), ("EXTRACT(dow FROM a)", "dayofweek"), ("EXTRACT('year' FROM a)", "year"),
        ("date_part('epoch', a)", "epoch"), ("datediff('day', a, b)", "date_diff"), ("datetrunc('day', a)",
        "date_trunc"),
        ("a::INT", "cast"), ("TRY_CAST(a AS INT)", "cast"), ("a ~ 'x'", "regexp_matches"), ("a !~ 'x'",
        "not"),
        ("a SIMILAR TO 'x'", "regexp_full_match"), ("a LIKE 'x' ESCAPE '$'", "like"),
        ("a NOT LIKE 'x' ESCAPE '$'", "not"),
        ("ltrim(a)", "ltrim"), ("TRIM(TRAILING 'x' FROM a)", "rtrim"), ("suffix(a, 'x')", "ends_with"),
        ("a ^@ 'x'", "starts_with"), ("strptime(a, '%Y')", "try_strptime"), ("add(a, 1)", "+"),
        ("a || b || c", "||"),
        ("date_add(a, INTERVAL 1 DAY)", "+"), ("UPPER(a)", "upper"), ('"upper"(a)', "upper"), ("Even(a)",
        "even"),
    ],
)  # fmt: skip
def test_spellings(text: str, name: str) -> None:
    reading = read(parse(text))
    assert reading is not None
    assert reading.name == name
    assert name in shelf()


@pytest.mark.parametrize(
    ("text", "name", "count"),
    [
        ("list_has([a, b], c)", "list_contains", 3), ("array_has([a], c)", "list_contains", 2),
        ("list_indexof([a], c)", "list_position", 2), ("array_extract([a, b], c)", "list_extract", 3),
        ("[a, b][c]", "list_extract", 3), ("[a, b][c + 1]", "list_extract", 3), ("len([a, b])",
        "array_length", 2),
        ("MAP {1: a, 2: b}[c]", "map_extract_value", 5), ("MAP([1, 2], [a, b])[c]", "map_extract_value", 5),
        ("map_contains(MAP {1: a}, c)", "list_contains", 2), ("list_max([a, b])", "greatest", 2),
        ("list_any_value([a, b])", "coalesce", 2), ("list_dot_product([a], [b])", "list_inner_product", 2),
        ("[a] <-> [b]", "list_distance", 2), ("INTERVAL (a) DAYS", "to_days", 1), ("to_days(a)", "to_days",
        1),
        ("roundbankers(a, 1)", "round_even", 2), ("mismatches(a, b)", "hamming", 2), ("to_hex(a)", "hex", 1),
        ("pg_size_pretty(a)", "format_bytes", 1), ("formatReadableSize(a)", "format_bytes", 1),
        ("to_binary(a)", "bin", 1), ("least_common_multiple(a, b)", "lcm", 2), ("a GLOB 'x*'", "glob", 2),
        ("like_escape(a, 'x', '$')", "like", 3), ("not_like_escape(a, 'x', '$')", "not", 1),
        ("time_bucket(INTERVAL 1 DAY, a)", "time_bucket", 2), ("to_timestamp(a)", "to_timestamp", 1),
        ("make_timestamp(a, b, 1, 2, 3, 4)", "make_timestamp", 6), ("make_time(a, b, 1)", "make_time", 3),
    ],
)  # fmt: skip
def test_what_calls_become(text: str, name: str, count: int) -> None:
    reading = read(parse(text))
    assert reading is not None
    assert (reading.name, len(reading.arguments)) == (name, count)


@pytest.mark.parametrize(
    ("text", "index"),
    [("['a', 'b'][k]", "k"), ("['a', 'b'][k + 1]", "k + 1"), ("['a', 'b'][quarter(d)]", "QUARTER(d)"),
     ("['a', 'b'][month(d) - 4]", "(MONTH(d) - 4)"), ("['a', 'b'][k::INT]", "CAST(k AS INT)"),
     ("['a', 'b'][k % 2 + 1]", "k % 2 + 1"), ("['a', 'b'][length(s) + 2]", "LENGTH(s) + 2")],
)  # fmt: skip
def test_an_index_counts_from_one_as_written(text: str, index: str) -> None:
    """sqlglot counts from zero inside, for what it knows to be a whole number."""
    reading = read(parse(text))
    assert reading is not None
    assert reading.arguments[0].sql("duckdb") == index


def test_long_chains_are_flat() -> None:
    reading = read(parse("a AND b AND c AND d"))
    assert reading is not None
    assert [each.name for each in reading.arguments] == ["a", "b", "c", "d"]


def test_casts_have_types() -> None:
    for text, sql in {
        "a::INT": "INTEGER", "a::TEXT": "VARCHAR", "a::VARCHAR(10)": "VARCHAR", "a::DECIMAL": "DECIMAL(18,3)",
        "a::NUMERIC(5)": "DECIMAL(5,0)", "a::DECIMAL(10, 2)": "DECIMAL(10,2)", "a::REAL": "FLOAT",
        "a::HUGEINT": "HUGEINT",
        "a::UHUGEINT": "UHUGEINT", "a::TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE", "a::INT1": "TINYINT",
    }.items():  # fmt: skip
        reading = read(parse(text))
        assert reading is not None
        assert reading.type is not None
        assert reading.type.sql == sql


@pytest.mark.parametrize(
    "text",
    [
        "random()", "uuid()", "now()", "current_date", "current_timestamp", "today()", "getvariable('a')",
        "error('a')",
        "current_setting('TimeZone')", "nextval('s')", "sum(a)", "mad(a)", "geomean(a)", "any_value(a)",
        "stats(a)",
        "a.upper()", "main.upper(a)", "system.upper(a)", "(p).income", "hash(a)", "bar(a, 0, 1)",
        "a COLLATE nocase", "{'x': a}", "row(a, b)", "(a, b)", "x -> x + 1",
        "a IN (SELECT 1)", "[1, 2][1:2]", "[(SELECT 1)][a]", "list_sum(a)",
        "list_distance([a], [1, 2])", "{'x': 1}[a]", "MAP {'x': a}",
        "age(a)", "url_decode(a)", "from_hex(a)",
        "EXISTS (SELECT 1)", "CAST(a AS DATE FORMAT 'x')", "a::JSON", "a::INTERVAL", "a::INT[]", "a::BLOB",
        "a::mytype", "a::ENUM('x')", "sleep_ms(1)", "query('x')", "sha2(a, 512)", "date_part(a, b)",
        "age(a, b)", "try(a)", "COLUMNS(*)", "sum(a) OVER ()", "a IS JSON",
        "typeof(a)", "alias(a)",
        "read_text(a)", "txid_current()", "a::DECIMAL(50, 2)", "(SELECT 1)", "EXTRACT(timezone FROM a)",
        "rand()",
    ],
)  # fmt: skip
def test_left_unread(text: str) -> None:
    try:
        node = parse(text)
    except sqlglot.errors.ParseError:
        return
    assert read(node) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5), ("-5", -5), ("(-5)", -5), ("1.50", Decimal("1.50")), ("-1.5", Decimal("-1.5")),
        ("1e2", 100.0),
        ("'it''s'", "it's"), ("TRUE", True), ("NULL", None), ("-2147483648", -(2**31)),
        ("INTERVAL '3' MONTH", "3 MONTH"),
        ("INTERVAL '3 months'", "3 MONTH"), ("INTERVAL 1 DAY", "1 DAY"), ("INTERVAL (3) DAYS", "3 DAY"),
        ("-INTERVAL '3' DAY", "-3 DAY"), ("INTERVAL '-3' DAY", "-3 DAY"), ("INTERVAL '1 year 2 days'",
        "1 YEAR 2 DAY"),
        ("DATE '2020-01-02'", datetime.date(2020, 1, 2)), ("'2020-01-02'::DATE", datetime.date(2020, 1, 2)),
        ("TIMESTAMP '2020-01-02 03:04:05'", datetime.datetime(2020, 1, 2, 3, 4, 5)), ("TIME '10:00:00'",
        "10:00:00"),
    ],
)  # fmt: skip
def test_constants(text: str, value: Value) -> None:
    literal = literal_of(parse(text))
    assert literal is not None
    assert literal.value == value
    assert type(literal.value) is type(value)


@pytest.mark.parametrize(
    "text", ["a", "a + 1", "INTERVAL (a) DAY", "INTERVAL '1.5' DAY", "-a", "'x'::INT", "-TRUE", "-'x'"]
)
def test_no_constants(text: str) -> None:
    assert literal_of(parse(text)) is None


def test_a_number_that_no_type_holds_is_refused() -> None:
    with pytest.raises(ArgumentError):
        literal_of(parse("1e999"))
