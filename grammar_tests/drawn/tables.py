"""What drawing knows of the worlds' tables: ``schema.sql`` and ``world.toml`` in short."""

from __future__ import annotations

from dpsql.fuzz.schemas import Lookup, Schema, stored

PRIVATE = {
    each.name: each
    for each in (
        stored(
            "patients",
            "patient_id:unit born:date! age:integer! sex:text ward:text income:float! insured:boolean "
            "smoker:boolean city:text height:decimal! children:integer! score:float blood:enum "
            "registered:timestamp! allergies:opaque",
        ),
        stored(
            "visits",
            "visit_id:identity@visits patient_id:unit place_id:integer visited_on:date! seen_at:timestamp! "
            "cost:float! minutes:integer! kind:text urgent:boolean steps:integer",
        ),
        stored(
            "treatments",
            "treatment_id:identity@treatments visit_id:identity@visits drug:text dose:decimal! "
            "given_on:date!",
        ),
        stored("reactions", "treatment_id:identity@treatments severity:integer! noted_on:date"),
        stored("referrals", "patient_id:unit reason:text cost:float! made_on:date"),
        stored(
            "sales.orders",
            "order_id:identity@orders patient_id:unit placed_at:timestamp amount:decimal! status:text "
            "method:text",
        ),
        stored("sales.refunds", "order_id:identity@orders patient_id:unit amount:decimal! paid_on:date"),
    )
}

PUBLIC = {
    each.name: each
    for each in (
        stored("wards", "ward:text floor:integer! beds:integer!"),
        stored("places", "place_id:integer! city:text kind:text"),
        stored("place_tags", "place_id:integer! tag:text"),
        stored("age_bands", "band:text low:integer! high:integer!"),
        stored("tariffs", "kind:text fee:float! valid_from:date"),
        stored("holidays", "day:date name:text"),
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

SCHEMA = Schema(
    PRIVATE,
    PUBLIC,
    starts=("patients", "patients", "visits", "visits", "visits", "treatments", "reactions", "sales.orders",
            "sales.refunds", "referrals"),
    natural=NATURAL,
    chains=(("patients", "visits", "treatments", "reactions"), ("sales.orders", "sales.refunds")),
    many_rows=("visits", "visits", "visits", "sales.orders", "referrals"),
    beside=("patients", "patients", "referrals"),
    lookup=Lookup(
        *("visits", "place_id", "places", "place_id"),
        others=("{minutes} % 6", "abs({steps}) % 5", "{place_id}"),
        shown=("city", "kind", "place_id"),
    ),
    keys=("sex", "ward", "kind", "status", "blood", "band", "tag", "floor", "city", "fee"),
    listed=("sex", "ward", "kind", "status", "blood"),
    nearly_listed=("kind", "status", "visited_on", "place_id", "urgent", "made_on"),
    public_keys=("floor", "beds", "tag", "band", "low", "fee", "name", "day"),
)  # fmt: skip
