"""Primary keys, unique keys and foreign keys of relations, as constraints with their indexes.

    patients_pkey              p   patients (patient_id)
    visits_patient_id_fkey     f   visits (patient_id) -> patients (patient_id)

There is no index anywhere: a key has one in PostgreSQL, and clients find the key by it.
Test: tests/server/test_catalogue_keys.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count

from dpsql.lazy_dataclass import dataclass
from dpsql.server.catalogue.relations import Relation, place_of


@dataclass(frozen=True, slots=True)
class Key:
    """A constraint. ``columns`` are numbers from one; ``index`` is the oid of a key's index.

    ``target`` is the key that a foreign key refers to.
    """

    oid: int
    name: str
    kind: str
    relation: Relation
    names: tuple[str, ...]
    index: int
    target: Key | None = None

    @property
    def columns(self) -> list[int]:
        order = [column.name for column in self.relation.columns]
        return [1 + order.index(name) for name in self.names]

    @property
    def places(self) -> tuple[tuple[str, str], ...]:
        """Schema and name of the relation, and of the one that it refers to."""
        relations = (self.relation,) if self.target is None else (self.relation, self.target.relation)
        return tuple((relation.schema, relation.name) for relation in relations)

    @property
    def text(self) -> str:
        """The constraint as PostgreSQL writes it."""
        if self.target is None:
            return f"{_WORDS[self.kind]} ({_list(self.names)})"
        other = self.target.relation
        place = (
            quoted(other.name) if other.schema == "public" else f"{quoted(other.schema)}.{quoted(other.name)}"
        )
        return f"FOREIGN KEY ({_list(self.names)}) REFERENCES {place}({_list(self.target.names)})"

    @property
    def index_text(self) -> str:
        """The statement that would make the index."""
        place = f"{quoted(self.relation.schema)}.{quoted(self.relation.name)}"
        return f"CREATE UNIQUE INDEX {quoted(self.name)} ON {place} USING btree ({_list(self.names)})"


_WORDS = {"p": "PRIMARY KEY", "u": "UNIQUE"}


def keys_of(relations: Sequence[Relation], first_oid: int) -> tuple[Key, ...]:
    """Return all constraints; their oids, and those of indexes, count from ``first_oid``."""
    oids = count(first_oid)
    keys: list[Key] = []
    for relation in relations:
        for number, names in enumerate(relation.keys):
            name = f"{relation.name}_{'_'.join(names)}_key" if number else f"{relation.name}_pkey"
            keys.append(Key(next(oids), name, "u" if number else "p", relation, names, next(oids)))
    by_place: Mapping[tuple[str, str, tuple[str, ...]], Key] = {
        (key.relation.schema, key.relation.name, key.names): key for key in keys
    }
    for relation in relations:
        reference = relation.reference
        target = None if reference is None else by_place.get((*place_of(reference.table), reference.key))
        if reference is not None and target is not None:
            name = f"{relation.name}_{'_'.join(reference.columns)}_fkey"
            keys.append(Key(next(oids), name, "f", relation, reference.columns, target.index, target))
    return tuple(keys)


def quoted(name: str) -> str:
    plain = name.isascii() and name.isidentifier() and name == name.lower()
    return name if plain else '"' + name.replace('"', '""') + '"'


def _list(names: Sequence[str]) -> str:
    return ", ".join(map(quoted, names))
