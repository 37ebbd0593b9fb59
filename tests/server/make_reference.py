"""Write dpsql/server/catalogue/postgres_15.json from a PostgreSQL server, once for a version of PostgreSQL.

    python tests/server/make_reference.py "host=/tmp/pg user=postgres dbname=postgres"

It holds what every PostgreSQL server says alike: the columns of its catalogue, its built-in types, the
functions that read and write them, and its keywords. Nothing of a database is in it. Needs psycopg.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[2] / "dpsql" / "server" / "catalogue" / "postgres_15.json"

RELATIONS = """
    SELECT n.nspname, c.relname, c.oid::int8,
           array_agg(a.attname::text ORDER BY a.attnum), array_agg(t.typname::text ORDER BY a.attnum)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type t ON t.oid = a.atttypid
    WHERE n.nspname IN ('pg_catalog', 'information_schema') AND c.relkind IN ('r', 'v')
    GROUP BY 1, 2, 3 ORDER BY 1, 2
"""
_TYPES = "typrelid = 0 AND oid < 10000"
ROWS = {
    "pg_type": f"SELECT * FROM pg_type WHERE {_TYPES} AND typelem NOT IN "
    "(SELECT oid FROM pg_type WHERE typrelid <> 0) ORDER BY oid",
    "pg_proc": "SELECT * FROM pg_proc WHERE oid IN (SELECT "
    f"unnest(ARRAY[typinput, typoutput, typreceive, typsend]::oid[]) FROM pg_type WHERE {_TYPES}) ORDER BY 1",
    "pg_range": "SELECT * FROM pg_range ORDER BY rngtypid",
    "pg_am": "SELECT * FROM pg_am ORDER BY oid",
    "pg_collation": "SELECT * FROM pg_collation WHERE collname IN ('default', 'C', 'POSIX') ORDER BY oid",
    "pg_language": "SELECT * FROM pg_language WHERE lanname IN ('internal', 'sql') ORDER BY oid",
    "pg_get_keywords": "SELECT * FROM pg_get_keywords() ORDER BY word",
}
TEXTS = ("regproc", "aclitem", "pg_node_tree")


def reference(server: str) -> dict[str, Any]:
    import psycopg

    with psycopg.connect(server) as connection:
        relations = {
            f"{schema}.{name}": [oid, dict(zip(names, kinds, strict=True))]
            for schema, name, oid, names, kinds in connection.execute(RELATIONS).fetchall()
        }
        relations["pg_catalog.pg_get_keywords"] = [
            0,
            dict.fromkeys(("word", "catcode", "barelabel", "catdesc", "baredesc"), "text")
            | {"barelabel": "bool"},
        ]
        rows = {}
        for name, query in ROWS.items():
            kinds = relations[f"pg_catalog.{name}"][1]
            wanted = ", ".join(f"x.{each}{_as(kind)}" for each, kind in kinds.items())
            rows[name] = [
                list(row) for row in connection.execute(f"SELECT {wanted} FROM ({query}) x").fetchall()
            ]
    return {"relations": relations, "rows": rows}


def _as(kind: str) -> str:
    """Return how a column is read: what holds oids as numbers, vectors as arrays."""
    vector = {
        "oidvector": "::oid[]::int8[]",
        "int2vector": "::int2[]",
        "_oid": "::int8[]",
        "_aclitem": "::text[]",
    }
    return vector.get(
        kind,
        "::oid::int8"
        if kind in ("oid", "regproc", "regtype", "regclass")
        else "::text"
        if kind in TEXTS
        else "",
    )


if __name__ == "__main__":
    found = reference(sys.argv[1])
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found["relations"].items()]
    tables = [
        f"{json.dumps(name)}: [\n" + ",\n".join(map(json.dumps, rows)) + "\n]"
        for name, rows in found["rows"].items()
    ]
    FILE.write_text(
        '{"relations": {\n' + ",\n".join(lines) + '\n},\n"rows": {\n' + ",\n".join(tables) + "\n}}\n"
    )
