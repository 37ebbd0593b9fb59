"""PostgreSQL's functions about its catalogue, as macros of the sealed engine, in the schema ``fn``.

    format_type(1700, 655366)            numeric(10,2)
    pg_table_is_visible(oid)             true
    pg_total_relation_size(oid)          NULL: the size of a table is not said
    has_table_privilege(oid, 'SELECT')   true; any other privilege is false

Names and oids are looked up in maps, which are variables of the engine's one connection.
Test: tests/server/test_catalogue_functions.py
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from dpsql.server.catalogue.contents import ANALYST_OID, OWNER, OWNER_OID, World
from dpsql.server.catalogue.keys import quoted
from dpsql.server.catalogue.reference import function_oids, relations, type_names, types_by_any_name
from dpsql.server.catalogue.relations import PUBLIC
from dpsql.server.catalogue.settings import VERSION, settings_of

REGISTERED = ("regclass", "regtype", "regproc", "regprocedure", "regnamespace", "regrole")
"""PostgreSQL's types of names that stand for oids."""

_CONSTANT = {
    "NULL::VARCHAR": """
        pg_get_expr/3 pg_get_viewdef/2 pg_get_ruledef/2
        pg_get_triggerdef/2 pg_get_serial_sequence/2 pg_get_partkeydef/1 pg_get_functiondef/1
        pg_get_function_arguments/1 pg_get_function_identity_arguments/1 pg_get_function_result/1
        pg_get_function_sqlbody/1 pg_get_statisticsobjdef/1 pg_get_statisticsobjdef_columns/1
        pg_get_partition_constraintdef/1 pg_tablespace_location/1 pg_relation_filepath/1 pg_describe_object/3
        inet_server_addr/0 inet_client_addr/0 shobj_description/2
    """,
    "NULL::BIGINT": """
        pg_relation_size/2 pg_total_relation_size/1 pg_table_size/1 pg_indexes_size/1 pg_database_size/1
        pg_tablespace_size/1 pg_stat_get_numscans/1 pg_stat_get_live_tuples/1 inet_server_port/0
        inet_client_port/0 pg_partition_root/1 pg_relation_filenode/1 txid_current/0 age/1
    """,
    "true": """
        pg_table_is_visible/1 pg_type_is_visible/1 pg_function_is_visible/1 pg_operator_is_visible/1
        pg_collation_is_visible/1 pg_opclass_is_visible/1 pg_opfamily_is_visible/1
        pg_conversion_is_visible/1 pg_statistics_obj_is_visible/1 pg_ts_config_is_visible/1
        pg_ts_dict_is_visible/1 pg_ts_parser_is_visible/1 pg_ts_template_is_visible/1 pg_has_role/3
    """,
    "false": """
        pg_is_in_recovery/0 pg_is_other_temp_schema/1 pg_relation_is_publishable/1
        pg_relation_is_updatable/2 row_security_active/1 pg_index_column_has_property/3
        pg_index_has_property/2 pg_indexam_has_property/2 has_sequence_privilege/3
        has_foreign_data_wrapper_privilege/3 has_server_privilege/3 has_tablespace_privilege/3
    """,
    "0::UINTEGER": "pg_my_temp_schema/0",
    "'UTF8'": "pg_client_encoding/0 getdatabaseencoding/0 pg_encoding_to_char/1",
    "6": "pg_char_to_encoding/1",
    "''": "pg_advisory_unlock_all/0",
}
"""What functions return whatever they are asked, each with the most arguments that it takes."""

_PRIVILEGES = (
    "table column any_column schema database function language type"  # the last argument is the privilege
).split()

_MACROS = """
    version() := '{version}'
    current_schema() := '{public}'
    current_schemas(implicit) := CASE WHEN implicit THEN ['pg_catalog', '{public}'] ELSE ['{public}'] END
    current_database() := '{database}'
    current_catalog() := '{database}'
    current_user() := '{analyst}'
    session_user() := '{analyst}'
    current_role() := '{analyst}'
    pg_backend_pid() := getvariable('pid')
    pg_get_userbyid(oid) := CASE WHEN oid = {analyst_oid} THEN '{analyst}' ELSE '{owner}' END
    pg_postmaster_start_time() := TIMESTAMP '2000-01-01'
    pg_conf_load_time() := TIMESTAMP '2000-01-01'
    format_type(oid, typmod) := CASE
        WHEN oid = 1700 AND typmod > 0
        THEN 'numeric(' || ((typmod - 4) >> 16) || ',' || ((typmod - 4) & 65535) || ')'
        WHEN oid IS NULL THEN NULL WHEN oid = 0 THEN '-'
        ELSE coalesce(getvariable('type_names')[oid::UINTEGER], '???') END
    current_setting(name) := getvariable('settings')[lower(name)]
    current_setting(name, missing) := getvariable('settings')[lower(name)]
    set_config(name, value, local) := value::VARCHAR
    obj_description(object) := getvariable('comments')[object::VARCHAR]
    obj_description(object, catalogue) := CASE WHEN catalogue = 'pg_class'
        THEN getvariable('comments')[object::VARCHAR] END
    col_description(object, number) := getvariable('comments')[object::VARCHAR || '.' || number::VARCHAR]
    pg_get_constraintdef(object) := getvariable('constraints')[object::VARCHAR]
    pg_get_constraintdef(object, pretty) := getvariable('constraints')[object::VARCHAR]
    pg_get_indexdef(object) := getvariable('indexes')[object::VARCHAR]
    pg_get_indexdef(object, part, pretty) := getvariable('indexes')[CASE WHEN part = 0
        THEN object::VARCHAR ELSE object::VARCHAR || '.' || part::VARCHAR END]
    to_regclass(x) := fn.regclass(x)
    to_regtype(x) := fn.regtype(x)
    to_regnamespace(x) := fn.regnamespace(x)
    to_regrole(x) := fn.regrole(x)
    to_regproc(x) := fn.regproc(x)
    quote_ident(name) := CASE WHEN regexp_full_match(name, '[a-z_][a-z0-9_]*') THEN name
        ELSE '"' || replace(name, '"', '""') || '"' END
    quote_literal(text) := '''' || replace(text::VARCHAR, '''', '''''') || ''''
    array_remove(list, value) := [x for x in list if x IS DISTINCT FROM value]
    array_upper(list, level) := nullif(len(list), 0)
    array_lower(list, level) := CASE WHEN len(list) > 0 THEN 1 END
    pg_partition_ancestors(object) := unnest([]::UINTEGER[])
    _pg_expandarray(list) := unnest([{{'x': list[i], 'n': i}} for i in range(1, len(list) + 1)])
""".strip()


def macros_of(world: World) -> Iterable[str]:
    """Return the statements that make the macros; they read the maps of ``maps_of`` as variables."""
    yield "CREATE SCHEMA fn"
    yield "SET VARIABLE pid = 0"
    for name in REGISTERED:
        kind = {"regprocedure": "regproc"}.get(name, name)[3:]
        yield (
            f"CREATE MACRO fn.{name}(x) AS coalesce(try_cast(x::VARCHAR AS UINTEGER), "
            f"getvariable('{kind}_oids')[x::VARCHAR]::UINTEGER)"
        )
        yield (
            f"CREATE MACRO fn.{name}_name(x) AS coalesce(getvariable('{kind}_names')"
            f"[try_cast(x::VARCHAR AS UINTEGER)], x::VARCHAR)"
        )
    for value, entries in _CONSTANT.items():
        for entry in entries.split():
            name, _, most = entry.partition("/")
            taken = (", ".join(f"a{at}" for at in range(count)) for count in range(int(most) + 1))
            yield f"CREATE MACRO fn.{name} {', '.join(f'({names}) AS {value}' for names in taken)}"
    for name in _PRIVILEGES:
        yield (
            f"CREATE MACRO fn.has_{name}_privilege(object, p) AS fn_granted(p), "
            "(who, object, p) AS fn_granted(p), (who, object, part, p) AS fn_granted(p)"
        ).replace("fn_granted(p)", "regexp_full_match(upper(p), 'SELECT|USAGE|CONNECT|EXECUTE')")
    shapes: dict[str, list[str]] = {}
    said = {
        "version": VERSION,
        "public": PUBLIC,
        "database": world.database,
        "analyst": world.analyst,
        "owner": OWNER,
    }
    known = {name: value.replace("'", "''") for name, value in said.items()}
    for line in re.split(r"\n(?=    \w+\()", _MACROS):
        head, _, body = line.strip().partition(" := ")
        name, _, parameters = head.partition("(")
        filled = body.format(**known, analyst_oid=ANALYST_OID)
        shapes.setdefault(name, []).append(f"({parameters} AS {filled}")
    for name, forms in shapes.items():
        yield f"CREATE MACRO fn.{name}{', '.join(forms)}"


def maps_of(world: World) -> dict[str, tuple[list[Any], list[Any]]]:
    """Return the keys and values of maps between names and oids, and of settings and comments."""
    class_names = {
        oid: name if schema == PUBLIC else f"{schema}.{name}" for (schema, name), oid in world.oids.items()
    }
    catalogue = {layout.oid: name for name, layout in relations().items() if layout.oid}
    class_names |= {key.index: key.name for key in world.keys if key.target is None}
    class_names |= {oid: name.removeprefix("pg_catalog.") for oid, name in catalogue.items()}
    comments: dict[str, str | None] = {}
    for relation in world.relations:
        oid = world.oids[relation.schema, relation.name]
        comments |= {str(oid): relation.comment or None}
        comments |= {f"{oid}.{at}": column.comment or None for at, column in enumerate(relation.columns, 1)}
    indexes: dict[str, str | None] = {"": None}
    for key in world.keys:
        if key.target is None:
            indexes |= {str(key.index): key.index_text}
            indexes |= {f"{key.index}.{at}": quoted(name) for at, name in enumerate(key.names, 1)}
    maps: dict[str, Mapping[Any, object]] = {
        "constraints": {"": None, **{str(key.oid): key.text for key in world.keys}},
        "indexes": indexes,
        "settings": settings_of(world.analyst),
        "comments": comments or {"": None},
        "class_names": class_names,
        "class_oids": class_oids(world),
        "type_names": type_names(),
        "type_oids": types_by_any_name(),
        "proc_names": {0: "-", **{oid: name for name, oid in function_oids().items()}},
        "proc_oids": function_oids(),
        "namespace_names": {oid: name for name, oid in world.schemas.items()},
        "namespace_oids": world.schemas,
        "role_names": {OWNER_OID: OWNER, ANALYST_OID: world.analyst},
        "role_oids": {OWNER: OWNER_OID, world.analyst: ANALYST_OID},
    }
    return {name: (list(values), list(values.values())) for name, values in maps.items()}


def class_oids(world: World) -> dict[str, int]:
    """Return the oids of relations by all spellings of their names: patients, public.patients, "patients"."""
    named = {name.partition(".")[::2]: layout.oid for name, layout in relations().items()} | world.oids
    spelled: dict[str, int] = {}
    for (schema, name), oid in named.items():
        for head in (f"{schema}.", f'"{schema}".', *([""] if schema in ("pg_catalog", PUBLIC) else [])):
            spelled |= {f"{head}{name}": oid, f'{head}"{name}"': oid}
    return spelled


def names() -> frozenset[str]:
    """Return the names of the functions that the engine has macros for."""
    made = {entry.partition("/")[0] for entries in _CONSTANT.values() for entry in entries.split()}
    made |= {f"has_{name}_privilege" for name in _PRIVILEGES}
    return frozenset(made | set(re.findall(r"(?m)^\s*(\w+)\(", _MACROS)))


NAMES = names()
