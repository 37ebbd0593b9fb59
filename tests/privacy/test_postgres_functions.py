"""The functions vetted for PostgreSQL: on values that break engines none raises, and DuckDB agrees."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

import duckdb
import psycopg
import pytest
from postgres_servers import needs_postgres, running_server

from dpsql.engines.dialect import DUCKDB
from dpsql.engines.identifiers import quote
from dpsql.engines.postgres import functions, numbers, texts
from dpsql.engines.postgres.dialect import Postgres
from dpsql.engines.postgres.texts import MOST_BYTES
from dpsql.engines.postgres.types import name_of
from dpsql.errors import Error, OperationalError
from dpsql.functions import ArgumentError, shelf
from dpsql.functions.core.meaning import call
from dpsql.ir.column import ANYTHING, Fact, Kind, Type, type_named
from dpsql.ir.scalar import Call, Literal, Ref, Scalar

pytestmark = needs_postgres

DOUBLES = (
    *("nan", "inf", "-inf", "0", "-0.0", "5e-324", "-5e-324", "1e-310", "2.5", "-3.5", "1e150", "-1e160"),
    *("1e308", "-1.7976931348623157e308", "9.3e307", "9007199254740993", "9.2233720368547758e18"),
    "-2147483648.5",
)
VALUES: dict[str, Sequence[str]] = {
    "SMALLINT": ("0", "1", "-32768", "32767"),
    "INTEGER": ("0", "-1", "7", "-2147483648", "2147483647"),
    "BIGINT": ("0", "3", "-9223372036854775808", "9223372036854775807"),
    "DECIMAL(5,2)": ("0", "999.99", "-999.99", "0.01", "2.50", "-0.50"),
    "DECIMAL(18,4)": ("0", "99999999999999.9999", "-0.0001"),
    "DECIMAL(38,10)": ("0", "9999999999999999999999999999.9999999999", "-1"),
    "FLOAT": ("nan", "inf", "0", "1e-45", "3.4028235e38", "0.1"),
    "DOUBLE": DOUBLES,
    "BOOLEAN": ("true", "false"),
    "VARCHAR": ("", "a", "A", "a ", "é", "%_\\", "42"),
    "DATE": ("infinity", "-infinity", "0001-01-01", "1970-01-01", "294246-12-31", "294247-06-01"),
    "TIMESTAMP": ("infinity", "-infinity", "1970-01-01 00:00:00", "2024-02-29 23:59:59.999999"),
}
TYPES = {sql: type_named(sql) for sql in VALUES}
NAMES = {sql: f"c{place}" for place, sql in enumerate(VALUES)}
LITERALS: tuple[tuple[Any, str], ...] = (
    *((number, "INTEGER") for number in (0, 1, -3, 2147483647)),
    (Decimal("0.5"), "DECIMAL(2,1)"),
    *((number, "DOUBLE") for number in (0.0, -2.5, 1e300, 5e-324)),
    (True, "BOOLEAN"),
    ("a", "VARCHAR"),
    ("3 MONTH -2 DAY 7 SECOND", "INTERVAL"),
    ("1970-01-01", "VARCHAR"),
)


NAMED = (*functions.RENDERS, "timezone")
UNITS = ("year", "quarter", "month", "week", "day", "hour", "second", "microsecond")
BEHIND: dict[str, tuple[tuple[Any, ...], ...]] = {
    **dict.fromkeys(("round", "trunc"), ((), (0,), (2,), (-2,))),
    "substring": ((1, 2), (2,), (2, 0)),
    **dict.fromkeys(("left", "right"), ((2,), (0,), (-1,))),
    **dict.fromkeys(("lpad", "rpad"), ((3, "ab"), (0, "x"))),
    **dict.fromkeys(("trim", "ltrim", "rtrim"), ((), ("a%",))),
    "repeat": ((0,), (3,)),
    "split_part": (("a", 1), ("a", -1)),
    "replace": (("a", "b"), ("a", "bcd"), ("", "x")),
    "translate": (("a%", "b"),),
    **dict.fromkeys(("like", "ilike"), (("a%",), ("_",), ("%\\%",), ("a!%", "!"))),
    **dict.fromkeys(("contains", "starts_with", "ends_with", "strpos"), (("a",), ("",), ("é",))),
    **dict.fromkeys(("||", "concat"), (("x",),)),
    **dict.fromkeys(("<<", ">>"), ((0,), (3,), (40,))),
    "strftime": (("%Y-%m-%d is %A, %j",), ("%H:%M:%S %p",)),
    "timezone": (("UTC",), ("Europe/Oslo",)),
    "make_date": ((2, 30), (12, 31)),
    "array_length": ((1,),),
    **dict.fromkeys(("list_contains", "list_position"), ((1, 7), ("a", "é"))),
    "list_extract": ((5, 6), ("a", "b")),
    "map_extract_value": ((1, 5, 7, 6), ("a", 1, "é", 2)),
}
"""Constants behind the first argument of functions that take some."""

BEFORE: dict[str, tuple[tuple[Any, ...], ...]] = {
    **dict.fromkeys(("date_trunc", "date_diff", "date_sub"), tuple((unit,) for unit in UNITS)),
    "concat_ws": (("-",),),
}


def constant(value: Any) -> Literal:
    return Literal(value, type_named("VARCHAR" if isinstance(value, str) else "INTEGER"))


def lookup(name: str) -> Fact:
    [of_column] = [TYPES[sql] for sql, column in NAMES.items() if column == name.rstrip("ab")]
    return Fact(of_column, ANYTHING, nullable=True)


def calls(
    names: Iterable[str], shown: Callable[[Call], Call] = lambda interval: Call("epoch", (interval,))
) -> Iterator[Call]:
    """Calls of each function over columns of all types, and some constants; intervals are ``shown``."""
    columns: list[Scalar] = [Ref(f"{name}a") for name in NAMES.values()]
    others: list[Scalar] = [Ref(f"{name}b") for name in NAMES.values()]
    others += [Literal(value, type_named(sql)) for value, sql in LITERALS]
    for name in names:
        shapes: Iterator[tuple[Scalar, ...]]
        if name == "cast":
            for column, target in itertools.product(columns, TYPES.values()):
                yield from made(name, (column,), shown, target)
            continue
        if name in ("and", "or", "not"):
            conditions = (Call("is_null", (column,)) for column in columns)
            shapes = ((Ref(f"{NAMES['BOOLEAN']}a"), each)[: 1 if name == "not" else 2] for each in conditions)
        elif name in BEHIND or name in BEFORE:
            fixed = [tuple(map(constant, each)) for each in BEHIND.get(name, ((),))]
            before = [tuple(map(constant, each)) for each in BEFORE.get(name, ((),))]
            shapes = (
                (*first, column, *others)
                for first, column, others in itertools.product(before, columns, fixed)
            )
            if name in ("date_diff", "date_sub"):
                moments = [Ref(f"{NAMES[sql]}b") for sql in ("DATE", "TIMESTAMP")]
                shapes = ((*each, moment) for each, moment in itertools.product(list(shapes), moments))
        elif shelf()[name].arity == (0, 0):
            shapes = iter([()])
        elif shelf()[name].arity == (1, 1):
            shapes = ((column,) for column in columns)
        elif name == "between":
            shapes = ((a, b, c) for a, b, c in itertools.product(columns, others[:4], others[-8:]))
        elif name == "case":
            condition = Ref(f"{NAMES['BOOLEAN']}a")
            shapes = ((condition, a, b) for a, b in itertools.product(columns, others))
        else:
            shapes = itertools.product(columns, others)
        for arguments in shapes:
            yield from made(name, arguments, shown)


def made(
    name: str, arguments: tuple[Scalar, ...], shown: Callable[[Call], Call], target: Type | None = None
) -> Iterator[Call]:
    """A checked call; of an interval, what shows it."""
    try:
        checked = call(name, arguments, lookup, target)
        yield shown(checked) if is_of(checked, (Kind.INTERVAL,)) else checked
    except (ArgumentError, Error):
        return


def rows_sql(sql: str, duck: bool) -> str:
    """Print the values of a type, NULL among them, as a table of one column, cast from text."""
    name = sql if duck else name_of(TYPES[sql])
    listed = ", ".join("(NULL)" if each is None else f"('{each}')" for each in (*VALUES[sql], None))
    collated = ' COLLATE "C"' if sql == "VARCHAR" and not duck else ""
    return f"SELECT CAST(v AS {name}){collated} AS {{}} FROM (VALUES {listed}) AS t(v)"


@pytest.fixture(scope="module")
def server() -> Iterator[psycopg.Connection[Any]]:
    with running_server() as running, running.owner() as connection:
        yield connection


def spelled(value: object) -> object:
    """Return a fetched value so that equal ones of both engines are equal: one NaN, one zero."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value + 0.0
    if isinstance(value, Decimal):
        return value + 0 if value.is_finite() else str(value)
    return value


def run(execute: Any, printed: Sequence[str], columns: set[str], duck: bool) -> list[Any]:
    tables = []
    for column in sorted(columns):
        [sql] = [sql for sql, name in NAMES.items() if name == column.rstrip("ab")]
        tables.append(f"({rows_sql(sql, duck).format(column)}) AS t{column}")
    kept = " CROSS JOIN ".join(tables)
    shown = ", ".join(f"{sql} AS r{place}" for place, sql in enumerate(printed))
    order = ", ".join(f"CAST({quote(column)} AS VARCHAR) AS o{column}" for column in sorted(columns))
    text = f"SELECT {shown}, {order} FROM {kept}"
    return [tuple(map(spelled, row)) for row in execute(text).fetchall()]


def columns_of(scalar: Scalar) -> set[str]:
    match scalar:
        case Ref(name):
            return {name}
        case Call(_, arguments):
            return set().union(*map(columns_of, arguments))
        case _:
            return set()


FAR = frozenset(("294246-12-31", "294247-06-01"))
"""Days beyond those of DuckDB's functions, or of PostgreSQL's moments: nothing may fail there."""

UNLIKE = {
    "/": "DuckDB's sign of a division by -0.0; results at the ends of DOUBLEs",
    "*": "products beyond 1.66e308 are infinite, below 1e-323 they are 0; DuckDB's NULLs of wide numbers",
    "+": "DuckDB's NULLs of wide numbers",
    "-": "DuckDB's NULLs of wide numbers",
    "round": "DuckDB rounds wide numbers to tens as DOUBLEs",
    "pow": "results below 2e-308 are 0",
    "lcm": "DuckDB's multiples of the least BIGINT",
    "chr": "PostgreSQL has no zero byte",
}
"""Functions whose values differ at the ends of types, but never for NULL."""


@pytest.mark.parametrize("step", [53, pytest.param(1, marks=pytest.mark.sweep)])
def test_functions_are_total_and_mean_what_duckdb_means(server: psycopg.Connection[Any], step: int) -> None:
    """All calls, or one in so many."""
    dialect, here = Postgres({}, lambda: ("UTC", "Europe/Oslo")), duckdb.connect()
    here.execute("SET TimeZone = 'UTC'")
    server.execute("SET TimeZone = 'UTC'")
    checked: set[str] = set()
    wrong: list[str] = []
    same = different = 0
    for scalar in itertools.islice(calls(NAMED), 0, None, step):
        try:
            sql = dialect.scalar(scalar, lookup, quote)
        except OperationalError:
            continue  # not vetted for these types
        columns = columns_of(scalar) or {f"{NAMES['BOOLEAN']}a"}
        known = DUCKDB.scalar(scalar, lookup, quote)
        if is_of(scalar, (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ)):
            sql, known = f"CAST({sql} AS text)", f"CAST({known} AS VARCHAR)"
        if is_of(scalar, (Kind.FLOAT,)):
            sql = f"CAST({sql} AS float8)"  # a float4 is sent with fewer digits
        theirs = run(here.execute, [known], columns, True)
        try:
            ours = run(lambda text: server.execute(text.encode()), [sql], columns, False)
        except psycopg.Error as error:
            wrong.append(f"{scalar}: {error}")
            continue
        inner = scalar.arguments[0] if scalar.arguments else scalar
        checked |= {scalar.function, inner.function if isinstance(inner, Call) else scalar.function}
        pairs = list(zip(sorted(ours, key=order_of), sorted(theirs, key=order_of), strict=True))
        pairs = [(a, b) for a, b in pairs if not FAR.intersection(map(str, b[1:]))]
        unlike = sum(not alike(a[0], b[0]) for a, b in pairs)
        same, different = same + len(pairs) - unlike, different + unlike
        of_null = any(None in a[1:] and not alike(a[0], b[0]) for a, b in pairs)
        if of_null or (unlike and scalar.function not in UNLIKE):
            wrong.append(f"{scalar}: {[(a, b) for a, b in pairs if not alike(a[0], b[0])][:3]}")
    assert wrong == []
    assert checked == {*NAMED} or step > 1
    assert different < same / 50, (same, different)


def is_of(scalar: Call, kinds: Sequence[Kind]) -> bool:
    from dpsql.functions.core.meaning import fact_of

    return fact_of(scalar, lookup).type.kind in kinds


def order_of(row: tuple[Any, ...]) -> tuple[str, ...]:
    """Order rows by their arguments, which both engines spell alike once numbers are read."""
    return tuple(argument(each) for each in row[1:])


def argument(text: object) -> str:
    if isinstance(text, str):
        try:
            return repr(float(text))
        except ValueError:
            return text.replace(" (BC)", " BC")
    return repr(text)


def alike(ours: object, theirs: object) -> bool:
    if isinstance(ours, float) and isinstance(theirs, float):
        return ours == theirs or math.isclose(ours, theirs, rel_tol=1e-15)
    if isinstance(ours, Decimal | int) and isinstance(theirs, Decimal | int):
        return int(ours) == int(theirs) if isinstance(theirs, int) else ours == theirs
    return ours == theirs


IOTA = "\u0390"
THREE = IOTA.upper()
LONG = {"one": "1", "two": IOTA, "four": "\U0001f600"}
"""Letters of one, two and four bytes; that of two becomes three in upper case."""


def long_calls(text: Scalar) -> Iterator[Call]:
    """Calls of every function of one text, nested in themselves and in what makes texts longer."""
    of_text = (name for name in texts.RENDERS if name in BEHIND or shelf()[name].arity == (1, 1))
    for name in of_text:
        for fixed in BEHIND.get(name, ((),)):
            yield from made(name, (text, *map(constant, fixed)), lambda call: call)
    for target in TYPES.values():
        yield from made("cast", (text,), lambda call: call, target)
    nested = text
    for _ in range(8):
        nested = Call("upper", (Call("translate", (nested, constant(f"1{THREE}"), constant(IOTA * 4))),))
    yield nested
    yield from made("like", (nested, constant("%x")), lambda call: call)
    yield from made("||", (text,) * 1_000, lambda call: call)
    yield from made("concat", (text,) * 100, lambda call: call)


@pytest.mark.parametrize("kind", LONG)
def test_the_longest_texts_fit_in_every_function(server: psycopg.Connection[Any], kind: str) -> None:
    """No value of what is read has another outcome than its own value; none makes another too long."""
    letter, name = LONG[kind], f"{NAMES['VARCHAR']}a"
    rows = f"(SELECT repeat('{letter}', {MOST_BYTES // len(letter.encode())}) COLLATE \"C\" AS {name}) AS t"
    dialect = Postgres({}, lambda: ("UTC",))
    longest: dict[str, object] = {}
    for scalar in long_calls(Ref(name)):
        try:
            sql = dialect.scalar(scalar, lookup, quote)
        except OperationalError:
            continue  # not vetted for texts
        size = f"octet_length({sql})" if is_of(scalar, (Kind.TEXT,)) else f"CAST({sql} AS text)"
        [(longest[str(scalar)[:200]],)] = server.execute(f"SELECT {size} FROM {rows}".encode()).fetchall()
    assert len(longest) > 30
    assert max(each for each in longest.values() if isinstance(each, int)) <= MOST_BYTES


def test_an_unguarded_product_is_found(
    server: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(numbers._IN_DOUBLES, "*", "({0} * {1})")  # type: ignore[arg-type]  # not frozen
    with pytest.raises(AssertionError, match="out of range"):
        test_functions_are_total_and_mean_what_duckdb_means(server, 29)
