"""PostgreSQL's functions and casts about its catalogue, with the values that a PostgreSQL server gives."""

from __future__ import annotations

import pytest
from client_statements import catalogue

from dpsql.server.catalogue import CatalogueError
from dpsql.server.catalogue.functions import NAMES

CATALOGUE = catalogue()

VALUES: list[tuple[str, object]] = [
    ("format_type(23, -1)", "integer"),
    ("format_type(1700, 655366)", "numeric(10,2)"),
    ("format_type(1184, NULL)", "timestamp with time zone"),
    ("format_type(1009, NULL)", "text[]"),
    ("format_type(NULL, NULL)", None),
    ("format_type(0, NULL)", "-"),
    ("format_type(99999, NULL)", "???"),
    ("'patients'::regclass::oid", 16384),
    ("'public.patients'::regclass::oid", 16384),
    ('\'"public"."patients"\'::regclass::oid', 16384),
    ("'pg_class'::regclass::oid", 1259),
    ("'pg_catalog.pg_class'::regclass::text", "pg_catalog.pg_class"),
    ("16384::regclass::text", "patients"),
    ("16384::regclass", "patients"),
    ("to_regclass('nothing')", None),
    ("to_regtype('hstore')", None),
    ("'int4'::regtype::oid", 23),
    ("'character varying'::regtype::oid", 1043),
    ("23::regtype::text", "integer"),
    ("'array_in'::regproc::oid", 750),
    ("'public'::regnamespace::oid", 2200),
    ("(current_schemas(true))[1]", "pg_catalog"),
    ("(current_schemas(false))[1]", "public"),
    ("current_database()", "clinic"),
    ("pg_get_userbyid(10)", "dpsql"),
    ("current_setting('Server_Version_Num')::int / 10000", 15),
    ("current_setting('nothing.here', true)", None),
    ("set_config('jit', 'off', false)", "off"),
    ("has_table_privilege('patients', 'SELECT')", True),
    ("has_table_privilege('ana', 'patients', 'INSERT')", False),
    ("has_schema_privilege('public', 'USAGE')", True),
    ("has_schema_privilege('public', 'CREATE')", False),
    ("has_database_privilege('clinic', 'CONNECT')", True),
    ("pg_total_relation_size('patients')", None),
    ("pg_size_pretty(pg_table_size(16384))", None),
    ("pg_table_is_visible(16384)", True),
    ("quote_ident('a')", "a"),
    ("quote_ident('A\"b')", '"A""b"'),
    ("format('%I.%s, %L, 100%%', 'A', 'b', 'it''s')", "\"A\".b, 'it''s', 100%"),
    ("array_upper(string_to_array('a,b', ','), 1)", 2),
    ("array_to_string(array_remove(ARRAY['a', NULL, 'b'], 'a'), ',')", "b"),
    ("2 = ANY('{1,2}'::int[])", True),
    ("'b c' = ANY('{a,\"b c\"}'::text[])", True),
    ("7 / 2", 3),  # within the catalogue, PostgreSQL's division
    ("'Pat' OPERATOR(pg_catalog.~) '^(P.*)$' COLLATE pg_catalog.default", True),
    ("'Pat' OPERATOR(pg_catalog.!~) 'x'", True),
    ("'Pat' ~* 'PA'", True),
    ("obj_description('patients'::regclass)", None),
]


@pytest.mark.parametrize(("sql", "value"), VALUES, ids=[sql for sql, _ in VALUES])
def test_a_function_gives_what_postgresql_gives(sql: str, value: object) -> None:
    assert CATALOGUE.answer(f"SELECT {sql} FROM pg_database").rows == ((value,),)


def test_columns_are_named_as_in_postgresql() -> None:
    sql = (
        "SELECT count(*), 1 + 1, 'a', 'a'::text, max(oid)::int8, CASE WHEN true THEN 1 END, "
        "CASE WHEN true THEN 'a' ELSE max(datname) END, (SELECT 1 AS one), coalesce(min(datname)), "
        "current_schema(), exists(SELECT 1), array_agg(datname) FROM pg_database"
    )
    names = [name for name, _ in CATALOGUE.answer(sql).columns]
    assert names[:6] == ["count", "?column?", "?column?", "text", "max", "case"]
    assert names[6:] == ["max", "one", "coalesce", "current_schema", "exists", "array_agg"]


def test_parameters_have_the_types_of_their_casts() -> None:
    sql = "SELECT $2, $1::oid[], $3::name FROM pg_class WHERE relname = $2 AND oid = ANY($1::oid[])"
    assert CATALOGUE.parameter_oids(sql) == (1028, 25, 19)
    assert CATALOGUE.answer(sql, ("{16384,16385}", "visits", "x")).rows == (("visits", [16384, 16385], "x"),)
    with pytest.raises(CatalogueError, match=r"no value for \$3"):
        CATALOGUE.answer(sql, ("{}", "visits"))


@pytest.mark.parametrize(
    "call", ["pg_sleep(1)", "pg_read_file('x')", "getenv('HOME')", "random()", "nextval('s')"]
)
def test_other_functions_are_not_answered(call: str) -> None:
    with pytest.raises(CatalogueError, match="is not answered"):
        CATALOGUE.answer(f"SELECT {call} FROM pg_class")


def test_a_quoted_name_is_no_way_past_the_list_of_functions() -> None:
    for name in ("fn.x", "fn.version() --", "version(); DROP TABLE pg_catalog_.pg_class; --"):
        with pytest.raises(CatalogueError, match="is not answered"):
            CATALOGUE.answer(f'SELECT "{name}"() FROM pg_class')


def test_an_unknown_catalogue_table_is_named() -> None:
    with pytest.raises(CatalogueError, match=r"there is no catalogue table pg_catalog\.pg_nothing"):
        CATALOGUE.answer("SELECT * FROM pg_catalog.pg_nothing")


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_macro_can_be_called(name: str) -> None:
    """With some number of arguments: what a macro is made of is only read when it is called."""
    failures = []
    for arguments in (
        "",
        "'x'",
        "1",
        "1, 1",
        "'x', 1",
        "1, 'x'",
        "'x', 'x'",
        "'x', 'x', 'x'",
        "[1]",
        "[1], 1",
        "true",
    ):
        try:
            CATALOGUE.answer(f"SELECT {name}({arguments.replace('[', 'ARRAY[')}) FROM pg_database")
        except CatalogueError as error:
            failures.append(str(error))
        else:
            return
    pytest.fail("\n".join(failures))
