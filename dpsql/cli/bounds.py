"""dpsql policy bounds: the bounds that queries have found, for the owner.

people.income  -1024 to 1024         found 2026-11-22 for epsilon 0.02: serves prices up to 0.2
visits         at most 8 rows        found 2026-11-22 for epsilon 0.02: serves prices up to 0.2
"""

from __future__ import annotations

import os
from argparse import Namespace
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

from dpsql.accounting.ledger import Ledger
from dpsql.cli.owner_commands import held_against
from dpsql.dbapi.connection import beside
from dpsql.engines.open_database import open_database
from dpsql.errors import Error, InterfaceError
from dpsql.facts.missing_bounds import all_missing_bounds
from dpsql.ir.bound import Bound, MissingBound
from dpsql.plan.bound_search import again_above
from dpsql.policy.catalogue import Known
from dpsql.policy.model import Policy, digest
from dpsql.policy.names import fold, perhaps
from dpsql.policy.toml_edit import with_setting
from dpsql.policy.toml_spelling import value
from dpsql.render.digits import on_a_line, printable
from dpsql.session.checks import load_policy, parse_policy, promise, second_places
from dpsql.session.found_bounds import bound_called, bounds_in, marked
from dpsql.terminal.output import put


def bounds(options: Namespace) -> int:
    """Show found bounds, write them into the policy, or let one be found anew."""
    file: Path = options.policy or beside(options.database, ".toml")
    policy = load_policy(file)
    with closing(open_database(options.database, policy)) as engine:
        declared = held_against(policy, engine)
        path: Path = options.ledger or beside(options.database, ".ledger")
        ledger = Ledger.look(path, promise(policy, engine), places=second_places(policy, file, path))
    if ledger is None:
        put("no bounds are found yet: there is no ledger")
        return 0
    with ledger:
        if options.forget is not None:
            return _forget(options.forget, declared, ledger)
        known = marked(declared, policy, ledger.forgotten())
        found = {missing: bounds_in(ledger, known, missing) for missing in all_missing_bounds(known)}
    put("\n".join(printable(line) for line in _lines(found)) or "the policy declares every bound")
    if options.write:
        strongest = {missing: _strongest(each) for missing, each in found.items() if each}
        _write(file, {missing: bound for missing, bound in strongest.items() if bound.is_known})
    return 0


def _strongest(found: tuple[Bound, ...]) -> Bound:
    return max(found, key=lambda bound: bound.strength)


def _lines(found: dict[MissingBound, tuple[Bound, ...]]) -> list[str]:
    named = [(bound_called(*missing), each) for missing, each in found.items()]
    wide = max((len(name) for name, _ in named), default=0)
    lines = []
    for name, each in named:
        for bound in dict.fromkeys((each[0], _strongest(each))) if each else ():
            serves = f"for epsilon {bound.paid:g}: serves prices up to {again_above(bound):g}"
            lines.append(f"{name:{wide}}  {_shown(bound):20}  found {bound.found[:10]} {serves}")
    return [*lines, *(f"{name:{wide}}  not found yet" for name, each in named if not each)]


def _shown(bound: Bound) -> str:
    assert isinstance(bound.missing, MissingBound)
    if not bound.is_known:
        return "nothing: too few units"
    return f"{bound.low:g} to {bound.high:g}" if bound.missing.column else f"at most {bound.high:g} rows"


def _forget(name: str, known: Known, ledger: Ledger) -> int:
    names = {fold(called): called for called in (bound_called(*each) for each in all_missing_bounds(known))}
    called = names.get(fold(name))
    if called is None:
        raise InterfaceError(
            f"the policy needs no bound {on_a_line(name)}",
            help=perhaps(name, names.values()) or "dpsql policy bounds lists those that it leaves out",
        )
    ledger.forget(called)
    put(printable(f"{called} is found anew by the next query that needs it, which pays for it"))
    return 0


def _write(file: Path, found: dict[MissingBound, Bound]) -> None:
    """Declare bounds in the policy's own file, which keeps all else that it says."""
    policy = load_policy(file)
    for missing, bound in found.items():
        policy = _declared(policy, missing, bound)
    if not found:
        put(f"nothing to write into {on_a_line(file.name)}")
        return
    real = file.resolve()  # a link stays one
    fresh = real.with_name(f".{real.name}.{os.getpid()}")
    fresh.write_text(policy.text, encoding="utf-8", newline=_newline(real))
    fresh.chmod(real.stat().st_mode)
    fresh.replace(real)
    put(f"written into {on_a_line(file.name)}: what used them is planned, and paid, anew")


def _newline(file: Path) -> str:
    """Return how a file ends its lines."""
    held = file.read_bytes()
    return "\r\n" if held.count(b"\r\n") * 2 > held.count(b"\n") else "\n"


def _declared(policy: Policy, missing: MissingBound, bound: Bound) -> Policy:
    """Return a policy that says all that this one says, and the bound."""
    table = policy.table(missing.table)
    assert table is not None
    column = next((rule for rule in table.columns if fold(rule.name) == fold(missing.column)), None)
    if column is None:
        path: tuple[str, ...] = ("tables", table.name)
        setting, wanted = f"rows_per_unit = {int(bound.high)}", replace(table, rows_per_unit=int(bound.high))
    else:
        path = ("tables", table.name, "columns", column.name)
        setting = f"range = [{value(bound.low)}, {value(bound.high)}]"
        ranged = replace(column, range=(bound.low, bound.high))
        columns = tuple(ranged if rule is column else rule for rule in table.columns)
        wanted = replace(table, columns=columns)
    tables = tuple(wanted if rule is table else rule for rule in policy.tables)
    for text in with_setting(policy.text, path, setting):
        with suppress(Error):  # another way to write it is tried
            written = parse_policy(text, policy.name)
            if digest(written) == digest(replace(policy, tables=tables)):
                return written
    raise InterfaceError(
        f"{on_a_line(policy.name)} is not written in a way that can be edited",
        help=f"write {setting} yourself, for {bound_called(*missing)}",
    )
