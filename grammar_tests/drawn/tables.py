"""What the drawing knows of the world's tables: ``schema.sql`` and ``world.toml`` in short.

PRIVATE["visits"].columns[5]    Drawn("cost", FLOAT, bounded=True)
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Sort(Enum):
    """What a column may be used for. A unit and an identity are numbers that no group shows."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOAT = "float"
    TEXT = "text"
    ENUM = "enum"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"
    UNIT = "unit"
    IDENTITY = "identity"
    OPAQUE = "opaque"


@dataclass(frozen=True, slots=True)
class Source:
    """A column of a table: its sort, whether the policy or its type bounds it, which key it points at."""

    name: str
    sort: Sort
    bounded: bool = False
    key: str = ""


@dataclass(frozen=True, slots=True)
class Stored:
    """A table of the world."""

    name: str
    columns: tuple[Source, ...]

    def of(self, *sorts: Sort) -> list[Source]:
        return [each for each in self.columns if each.sort in sorts]


def _table(name: str, text: str) -> Stored:
    """``age:integer! visit_id:identity@visits``: a bang is a bound, what follows @ is a key of a table."""
    columns = []
    for word in text.split():
        column, _, rest = word.partition(":")
        sort, _, key = rest.partition("@")
        columns.append(Source(column, Sort(sort.rstrip("!")), sort.endswith("!"), key))
    return Stored(name, tuple(columns))


PRIVATE = {
    each.name: each
    for each in (
        _table(
            "patients",
            "patient_id:unit born:date! age:integer! sex:text ward:text income:float! insured:boolean "
            "smoker:boolean city:text height:decimal! children:integer! score:float blood:enum "
            "registered:timestamp! allergies:opaque",
        ),
        _table(
            "visits",
            "visit_id:identity@visits patient_id:unit place_id:integer visited_on:date! seen_at:timestamp! "
            "cost:float! minutes:integer! kind:text urgent:boolean steps:integer",
        ),
        _table(
            "treatments",
            "treatment_id:identity@treatments visit_id:identity@visits drug:text dose:decimal! "
            "given_on:date!",
        ),
        _table("reactions", "treatment_id:identity@treatments severity:integer! noted_on:date"),
        _table("referrals", "patient_id:unit reason:text cost:float! made_on:date"),
        _table(
            "sales.orders",
            "order_id:identity@orders patient_id:unit placed_at:timestamp amount:decimal! status:text "
            "method:text",
        ),
        _table("sales.refunds", "order_id:identity@orders patient_id:unit amount:decimal! paid_on:date"),
    )
}

PUBLIC = {
    each.name: each
    for each in (
        _table("wards", "ward:text floor:integer! beds:integer!"),
        _table("places", "place_id:integer! city:text kind:text"),
        _table("place_tags", "place_id:integer! tag:text"),
        _table("age_bands", "band:text low:integer! high:integer!"),
        _table("tariffs", "kind:text fee:float! valid_from:date"),
        _table("holidays", "day:date name:text"),
    )
}

NATURAL = (
    ("visits", "place_id", "places", "place_id"),
    ("visits", "place_id", "place_tags", "place_id"),
    ("visits", "kind", "tariffs", "kind"),
    ("patients", "ward", "wards", "ward"),
    ("patients", "city", "places", "city"),
    ("patients", "age", "age_bands", "low"),
)
"""What an analyst joins with public tables: private table and column, public table and column."""
