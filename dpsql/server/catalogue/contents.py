"""The rows of catalogue tables, made from the relations that exist for an analyst.

    pg_class       a row for each table and view           information_schema.tables
    pg_attribute   a row for each of their columns         information_schema.columns
    pg_type        PostgreSQL's built-in types             pg_settings, pg_roles, pg_database: constants

    pg_constraint  a row for each key that is named        information_schema.key_column_usage

Every other relation of PostgreSQL's catalogue is there and empty: no sequence, no statistics.

Claim   the rows hold names, types and comments of relations, the names of the database and the analyst, and
        constants. The number of rows of a table is nowhere: reltuples is -1, sizes are NULL.
Test    tests/server/test_catalogue_privacy.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field

from dpsql.lazy_dataclass import dataclass
from dpsql.server.catalogue.keys import Key, keys_of
from dpsql.server.catalogue.reference import Row, relations, rows_of, type_names, type_oids
from dpsql.server.catalogue.relations import PUBLIC, Relation
from dpsql.server.catalogue.settings import settings_of
from dpsql.server.catalogue.types import oid_and_typmod
from dpsql.server.setting_values import COLLATION

OWNER, OWNER_OID, ANALYST_OID, DATABASE_OID = "dpsql", 10, 16383, 5
FIRST_OID = 16384
SYSTEM_SCHEMAS = {"pg_catalog": 11, "information_schema": 13000}
_PUBLIC_OID = 2200
_HEAP, _BTREE = 2, 403
_DEFAULT_COLLATION = 100

Values = dict[str, object]


@dataclass(frozen=True, slots=True)
class World:
    """What the catalogue of one analyst is made from."""

    database: str
    analyst: str
    relations: Sequence[Relation]
    schemas: dict[str, int] = field(init=False)
    oids: dict[tuple[str, str], int] = field(init=False)
    keys: tuple[Key, ...] = field(init=False)

    def __post_init__(self) -> None:
        names = [(relation.schema, relation.name) for relation in self.relations]
        oids = {name: FIRST_OID + number for number, name in enumerate(names)}
        others = [schema for schema in dict(names) if schema != PUBLIC]
        schemas = {schema: FIRST_OID + len(names) + number for number, schema in enumerate(others)}
        object.__setattr__(self, "oids", oids)
        object.__setattr__(self, "keys", keys_of(self.relations, FIRST_OID + len(names) + len(others)))
        object.__setattr__(self, "schemas", {**SYSTEM_SCHEMAS, PUBLIC: _PUBLIC_OID, **schemas})


def rows_in(world: World, full_name: str) -> list[Row]:
    """Return the rows of a catalogue relation, such as "pg_catalog.pg_class"."""
    schema, _, name = full_name.partition(".")
    if schema == "pg_catalog" and (fixed := rows_of(name)):
        return fixed
    maker = _MAKERS.get(full_name)
    return [] if maker is None else [_row(full_name, values) for values in maker(world)]


_ABSENT: dict[str, object] = {"bool": False, "char": "", "yes_or_no": "NO"}
_ZERO = ("int2", "int4", "int8", "oid", "float4", "regproc", "xid")


def _row(full_name: str, values: Values) -> Row:
    """Return a row with all columns; those that are not given are false, 0 or NULL."""
    columns = relations()[full_name].columns
    assert values.keys() <= columns.keys(), values.keys() - columns.keys()
    return tuple(
        values[name] if name in values else 0 if kind in _ZERO else _ABSENT.get(kind)
        for name, kind in columns.items()
    )


def _classes(world: World) -> Iterable[Values]:
    referring = {world.oids[place] for key in world.keys if key.target for place in key.places}
    for relation in world.relations:
        view = relation.kind == "view"
        oid = world.oids[relation.schema, relation.name]
        yield {
            "oid": oid,
            "relname": relation.name,
            "relnamespace": world.schemas[relation.schema],
            "relowner": OWNER_OID,
            "relam": 0 if view else _HEAP,
            "reltuples": -1,
            "relpersistence": "p",
            "relkind": "v" if view else "r",
            "relnatts": len(relation.columns),
            "relhasindex": bool(relation.keys),
            "relhasrules": view,
            "relhastriggers": oid in referring,  # where it is not set, psql asks for no foreign keys
            "relispopulated": True,
            "relreplident": "n" if view else "d",
        }
    for key in _indexed(world):
        yield {
            "oid": key.index,
            "relname": key.name,
            "relnamespace": world.schemas[key.relation.schema],
            "relowner": OWNER_OID,
            "relam": _BTREE,
            "reltuples": -1,
            "relpersistence": "p",
            "relkind": "i",
            "relnatts": len(key.names),
            "relispopulated": True,
            "relreplident": "n",
        }


def _indexed(world: World) -> Iterable[Key]:
    return (key for key in world.keys if key.target is None)


def _indexes(world: World) -> Iterable[Values]:
    for key in _indexed(world):
        yield {
            "indexrelid": key.index,
            "indrelid": world.oids[key.relation.schema, key.relation.name],
            "indnatts": len(key.names),
            "indnkeyatts": len(key.names),
            "indisunique": True,
            "indisprimary": key.kind == "p",
            "indimmediate": True,
            "indisvalid": True,
            "indisready": True,
            "indislive": True,
            "indkey": key.columns,
            "indcollation": [0] * len(key.names),
            "indclass": [0] * len(key.names),
            "indoption": [0] * len(key.names),
        }


def _constraints(world: World) -> Iterable[Values]:
    for key in world.keys:
        target = key.target
        foreign: Values = {}
        if target is not None:
            other = world.oids[target.relation.schema, target.relation.name]
            actions = dict.fromkeys(("confupdtype", "confdeltype"), "a")
            foreign = {"confrelid": other, "confkey": target.columns, "confmatchtype": "s", **actions}
        yield {
            "oid": key.oid,
            "conname": key.name,
            "connamespace": world.schemas[key.relation.schema],
            "contype": key.kind,
            "convalidated": True,
            "conrelid": world.oids[key.relation.schema, key.relation.name],
            "conindid": key.index,
            "conislocal": True,
            "connoinherit": True,
            "conkey": key.columns,
            "confupdtype": " ",
            "confdeltype": " ",
            "confmatchtype": " ",
            **foreign,
        }


def _attributes(world: World) -> Iterable[Values]:
    sizes = {int(str(row[0])): row for row in rows_of("pg_type")}
    for relation in world.relations:
        for number, column in enumerate(relation.columns, 1):
            oid, typmod = oid_and_typmod(column.type)
            kind = dict(zip(relations()["pg_catalog.pg_type"].columns, sizes[oid], strict=False))
            yield {
                "attrelid": world.oids[relation.schema, relation.name],
                "attname": column.name,
                "atttypid": oid,
                "attstattarget": -1,
                "attlen": kind["typlen"],
                "attnum": number,
                "attcacheoff": -1,
                "atttypmod": typmod,
                "attbyval": kind["typbyval"],
                "attalign": kind["typalign"],
                "attstorage": kind["typstorage"],
                "attnotnull": not column.nullable,
                "attislocal": True,
                "attcollation": kind["typcollation"],
            }


def _descriptions(world: World) -> Iterable[Values]:
    for relation in world.relations:
        described = [relation.comment, *(column.comment for column in relation.columns)]
        for number, comment in enumerate(described):
            if comment:
                yield {
                    "objoid": world.oids[relation.schema, relation.name],
                    "classoid": relations()["pg_catalog.pg_class"].oid,
                    "objsubid": number,
                    "description": comment,
                }


def _namespaces(world: World) -> Iterable[Values]:
    for name, oid in world.schemas.items():
        yield {"oid": oid, "nspname": name, "nspowner": OWNER_OID}


def _databases(world: World) -> Iterable[Values]:
    yield {
        "oid": DATABASE_OID,
        "datname": world.database,
        "datdba": OWNER_OID,
        "encoding": 6,
        "datlocprovider": "c",
        "datallowconn": True,
        "datconnlimit": -1,
        "dattablespace": 1663,
        "datcollate": COLLATION,
        "datctype": COLLATION,
    }


def _roles(world: World) -> Iterable[Values]:
    for oid, name in ((OWNER_OID, OWNER), (ANALYST_OID, world.analyst)):
        yield {
            "oid": oid,
            "rolname": name,
            "rolcanlogin": name != OWNER,
            "rolinherit": True,
            "rolconnlimit": -1,
        }


def _users(world: World) -> Iterable[Values]:
    yield {"usename": world.analyst, "usesysid": ANALYST_OID}


def _tablespaces(world: World) -> Iterable[Values]:
    yield {"oid": 1663, "spcname": "pg_default", "spcowner": OWNER_OID}


def _settings(world: World) -> Iterable[Values]:
    for name, value in settings_of(world.analyst).items():
        yield {
            "name": name,
            "setting": value,
            "vartype": "string",
            "context": "internal",
            "source": "default",
        }


def _encodings(world: World) -> Iterable[Values]:
    yield {
        "character_set_name": "UTF8",
        "character_repertoire": "UCS",
        "form_of_use": "UTF8",
        "default_collate_catalog": world.database,
        "default_collate_schema": "pg_catalog",
        "default_collate_name": COLLATION,
    }


def _pg_tables(world: World) -> Iterable[Values]:
    for relation in world.relations:
        if relation.kind == "table":
            yield {"schemaname": relation.schema, "tablename": relation.name, "tableowner": OWNER}


def _pg_views(world: World) -> Iterable[Values]:
    for relation in world.relations:
        if relation.kind == "view":
            yield {"schemaname": relation.schema, "viewname": relation.name, "viewowner": OWNER}


def _schemata(world: World) -> Iterable[Values]:
    for name in world.schemas:
        yield {"catalog_name": world.database, "schema_name": name, "schema_owner": OWNER}


def _tables(world: World) -> Iterable[Values]:
    for relation in world.relations:
        yield {
            **_named(world, relation),
            "table_type": "VIEW" if relation.kind == "view" else "BASE TABLE",
        }


def _views(world: World) -> Iterable[Values]:
    for relation in world.relations:
        if relation.kind == "view":
            yield {**_named(world, relation), "check_option": "NONE"}


def _named(world: World, relation: Relation) -> Values:
    return {"table_catalog": world.database, "table_schema": relation.schema, "table_name": relation.name}


_BITS = {21: 16, 23: 32, 20: 64, 700: 24, 701: 53}
_MOMENTS = {1082: 0, 1083: 6, 1266: 6, 1114: 6, 1184: 6, 1186: 6}


def _columns(world: World) -> Iterable[Values]:
    short = {oid: name for name, oid in type_oids().items()}
    for relation in world.relations:
        for number, column in enumerate(relation.columns, 1):
            oid, typmod = oid_and_typmod(column.type)
            digits = (typmod - 4) >> 16 if typmod > 0 else None
            places = (typmod - 4) & 0xFFFF if typmod > 0 else 0 if oid in (20, 21, 23) else None
            yield {
                **_named(world, relation),
                "column_name": column.name,
                "ordinal_position": number,
                "is_nullable": "YES" if column.nullable else "NO",
                "data_type": type_names()[oid],
                "character_octet_length": 1 << 30 if short[oid] == "text" else None,
                "numeric_precision": digits or _BITS.get(oid),
                "numeric_precision_radix": 10 if oid == 1700 else 2 if oid in _BITS else None,
                "numeric_scale": places,
                "datetime_precision": _MOMENTS.get(oid),
                "udt_catalog": world.database,
                "udt_schema": "pg_catalog",
                "udt_name": short[oid],
                "dtd_identifier": str(number),
                "is_generated": "NEVER",
            }


def _constrained(world: World, key: Key) -> Values:
    schema = {"constraint_catalog": world.database, "constraint_schema": key.relation.schema}
    return {**schema, "constraint_name": key.name}


_CONSTRAINT_TYPES = {"p": "PRIMARY KEY", "u": "UNIQUE", "f": "FOREIGN KEY"}


def _table_constraints(world: World) -> Iterable[Values]:
    for key in world.keys:
        yield {
            **_constrained(world, key),
            **_named(world, key.relation),
            "constraint_type": _CONSTRAINT_TYPES[key.kind],
            "enforced": "YES",
        }


def _key_columns(world: World) -> Iterable[Values]:
    for key in world.keys:
        for number, name in enumerate(key.names, 1):
            yield {
                **_constrained(world, key),
                **_named(world, key.relation),
                "column_name": name,
                "ordinal_position": number,
                "position_in_unique_constraint": None if key.target is None else number,
            }


def _referential(world: World) -> Iterable[Values]:
    for key in world.keys:
        if key.target is not None:
            yield {
                **_constrained(world, key),
                "unique_constraint_catalog": world.database,
                "unique_constraint_schema": key.target.relation.schema,
                "unique_constraint_name": key.target.name,
                "match_option": "NONE",
                "update_rule": "NO ACTION",
                "delete_rule": "NO ACTION",
            }


def _constrained_columns(world: World) -> Iterable[Values]:
    for key in world.keys:
        used = key.target or key
        for name in used.names:
            yield {**_named(world, used.relation), "column_name": name, **_constrained(world, key)}


def _grants(world: World) -> Iterable[Values]:
    for relation in world.relations:
        yield {
            **_named(world, relation),
            "grantor": OWNER,
            "grantee": world.analyst,
            "privilege_type": "SELECT",
        }


def _column_grants(world: World) -> Iterable[Values]:
    for relation, grant in zip(world.relations, _grants(world), strict=True):
        for column in relation.columns:
            yield {**grant, "column_name": column.name}


def _catalogue_name(world: World) -> Iterable[Values]:
    yield {"catalog_name": world.database}


_MAKERS: dict[str, Callable[[World], Iterable[Values]]] = {
    "pg_catalog.pg_class": _classes,
    "pg_catalog.pg_attribute": _attributes,
    "pg_catalog.pg_constraint": _constraints,
    "pg_catalog.pg_index": _indexes,
    "pg_catalog.pg_description": _descriptions,
    "pg_catalog.pg_namespace": _namespaces,
    "pg_catalog.pg_database": _databases,
    "pg_catalog.pg_roles": _roles,
    "pg_catalog.pg_authid": _roles,
    "pg_catalog.pg_user": _users,
    "pg_catalog.pg_tablespace": _tablespaces,
    "pg_catalog.pg_settings": _settings,
    "pg_catalog.pg_tables": _pg_tables,
    "pg_catalog.pg_views": _pg_views,
    "information_schema.information_schema_catalog_name": _catalogue_name,
    "information_schema.schemata": _schemata,
    "information_schema.tables": _tables,
    "information_schema.views": _views,
    "information_schema.columns": _columns,
    "information_schema.table_constraints": _table_constraints,
    "information_schema.key_column_usage": _key_columns,
    "information_schema.referential_constraints": _referential,
    "information_schema.constraint_column_usage": _constrained_columns,
    "information_schema.table_privileges": _grants,
    "information_schema.role_table_grants": _grants,
    "information_schema.column_privileges": _column_grants,
    "information_schema.role_column_grants": _column_grants,
    "information_schema.character_sets": _encodings,
}
