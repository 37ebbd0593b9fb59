"""Released tables as bytes for the ledger, and back: a repeat shows the first answer unchanged.

    {"groups": [["Oslo"], ["Bergen"]], "sums": [[412], [97]]}
    {"groups": [1, 0], "sums": [[412], [97]]}                     places in the lists of the plan's key rule

Places are stored where the ledger keeps no texts: keys in an IN list or a CASE are the analyst's own words. A
repeat has the same digest, which is of the lists too, so each place is the same group again.
"""

from __future__ import annotations

import base64
import datetime
import json
from collections.abc import Sequence
from decimal import Decimal
from itertools import chain

from dpsql.ir.column import Value
from dpsql.ir.export import ExportPlan, RandomizedColumn, ReleasedExport
from dpsql.ir.listed_groups import ListedGroups
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.table import ReleasedTable, Rows
from dpsql.late_numpy import np

_AS_THEY_ARE = {type(None), bool, int, float, str}
"""Types whose values are stored as they are."""


def to_bytes(
    tables: list[ReleasedTable], measures: Sequence[MeasurePlan] = (), as_places: bool = True
) -> bytes:
    """Serialize all tables of an answer, in the order of their measures.

    The groups that these ``measures`` list are stored ``as_places``, or printed once.
    """
    stored = []
    for number, table in enumerate(tables):
        listed = measures[number].rule.groups_listed() if measures else None
        if listed is not None and table.groups is listed.ordered:
            if as_places and any(listed.groups):
                written = listed.places
            else:
                listed.printed = listed.printed or _json(_written(table.groups))
                written = listed.printed
        else:
            written = _json(_groups(table.groups, listed if as_places else None))
        stored.append(f'{{"groups":{written},"sums":{_sums(table)}}}')
    return f"[{','.join(stored)}]".encode()


def _json(groups: Sequence[object]) -> str:
    return json.dumps(groups, separators=(",", ":"))


def _sums(table: ReleasedTable) -> str:
    """Print the numbers as JSON, without a list for each group."""
    width = table.sums.shape[1]
    numbers = map(str, table.sums.ravel().tolist())
    rows = map(",".join, zip(*[numbers] * width, strict=True)) if width else [""] * len(table.groups)
    return f"[[{'],['.join(rows)}]]" if table.groups else "[]"


def _groups(groups: Sequence[tuple[Value, ...]], listed: ListedGroups | None) -> Sequence[object]:
    """Return groups as they are stored: those that are listed by their places."""
    every = () if listed is None else listed.groups
    if any(every):
        same = {id(group): place for place, group in enumerate(every)}
        found = [same.get(id(group)) for group in groups]
        if None not in found:
            return [*found]
    places = _places(every)
    written = _written(groups)
    return [places.get(json.dumps(group), group) for group in written] if places else [*written]


def _places(listed: Sequence[tuple[Value, ...]]) -> dict[str, int]:
    """Return the place of each listed group; the only group without keys stays as it is."""
    written = _written(listed)
    return {json.dumps(group): place for place, group in enumerate(written) if group}


def from_bytes(stored: bytes, widths: list[int], measures: Sequence[MeasurePlan] = ()) -> list[ReleasedTable]:
    """Restore the tables; ``widths`` are the numbers of statistics of their ``measures``."""
    tables = []
    for number, (table, width) in enumerate(zip(json.loads(stored), widths, strict=True)):
        listed = measures[number].rule.groups_listed() if _has_places(table) else None
        every = () if listed is None else listed.groups
        groups = [every[group] if isinstance(group, int) else group for group in _read(table["groups"])]
        tables.append(ReleasedTable(groups, Rows(table["sums"], width)))
    return tables


def _written(groups: Sequence[tuple[Value, ...]]) -> Sequence[Sequence[object]]:
    if {*map(type, chain.from_iterable(groups))} <= _AS_THEY_ARE:
        return groups  # JSON writes tuples as lists
    return [[_tagged(value) for value in group] for group in groups]


def _read(stored: list[int | list[object]]) -> list[int | tuple[Value, ...]]:
    """Return the groups; of those that are listed, the places."""
    groups = (group for group in stored if isinstance(group, list))
    if {type(value) for group in groups for value in group} <= _AS_THEY_ARE:
        return [group if isinstance(group, int) else tuple(group) for group in stored]  # type: ignore[arg-type]  # they are values
    return [
        group if isinstance(group, int) else tuple(_untagged(value) for value in group) for group in stored
    ]


def _has_places(table: dict[str, list[object]]) -> bool:
    return any(isinstance(group, int) for group in table["groups"])


def _tagged(value: Value) -> object:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Decimal():
            return {"decimal": str(value)}
        case datetime.datetime():
            return {"timestamp": value.isoformat()}
        case datetime.date():
            return {"date": value.isoformat()}


def _untagged(value: object) -> Value:
    match value:
        case {"decimal": str(text)}:
            return Decimal(text)
        case {"timestamp": str(text)}:
            return datetime.datetime.fromisoformat(text)
        case {"date": str(text)}:
            return datetime.date.fromisoformat(text)
        case None | bool() | int() | float() | str():
            return value
        case _:
            raise ValueError("not a stored key")


def export_to_bytes(export: ReleasedExport) -> bytes:
    """Serialize the rows of an export."""
    contents = [column.astype(column.dtype.newbyteorder("<")).tobytes() for column in export.columns]
    columns = [base64.b64encode(column).decode() for column in contents]
    return json.dumps({"rows": export.rows, "columns": columns}, separators=(",", ":")).encode()


def export_from_bytes(stored: bytes, planned: ExportPlan) -> ReleasedExport:
    """Restore the rows of an export, each column in the format of its question's design."""
    export = json.loads(stored)
    columns: list[RandomizedColumn] = []
    for text, question in zip(export["columns"], planned.questions, strict=True):
        content, design = base64.b64decode(text), question.design
        if design.marks:
            columns.append(
                np.frombuffer(content, dtype=np.uint8).reshape(export["rows"], -(-design.size // 8))
            )
        else:
            columns.append(np.frombuffer(content, dtype="<u2").astype(np.uint16))
    return ReleasedExport(export["rows"], tuple(columns))
