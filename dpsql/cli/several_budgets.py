"""``dpsql budget A B``: what several databases about the same people add up to."""

from __future__ import annotations

import json
import textwrap
from argparse import Namespace
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from dpsql.accounting import Budget, budget_of, opened
from dpsql.accounting.ledger import Ledger
from dpsql.accounting.several import Held, Together, together
from dpsql.cli.shared_arguments import check_is_there
from dpsql.dbapi.connection import beside
from dpsql.engines.open_database import open_database
from dpsql.errors import InterfaceError, refuse
from dpsql.policy.names import fold
from dpsql.render.box import box
from dpsql.render.digits import above, on_a_line, printable
from dpsql.render.english import one
from dpsql.session.checks import load_policy, promise, second_places
from dpsql.terminal.output import put, put_data, width


def budgets(options: Namespace) -> int:
    """Print the accounts of several databases, and their sum; nothing is spent and no ledger is created."""
    paths = [options.database, *options.more]
    accounts, names = [], set[str]()
    for path in paths:
        name, account = _account(path, options.analyst)
        if name in names:
            raise InterfaceError(
                f"{path} is the same database as another", help="name each database once: one ledger holds it"
            )
        names.add(name)
        accounts.append(account)
    units = {fold(account.unit): account for account in accounts}
    total = together(accounts) if len(units) == 1 else None
    why = "" if total is not None else _why_not(list(units.values()))
    if options.format == "json":
        put_data(json.dumps(_json(accounts, total, why), indent=2, ensure_ascii=False).encode())
    else:
        put(_text(accounts, total, why))
    return 0


def _account(path: Path, analyst: str | None) -> tuple[str, Held]:
    """Return what a ledger calls its database, and an account in it."""
    check_is_there(path)
    file, ledger_path = beside(path, ".toml"), beside(path, ".ledger")
    policy = load_policy(file)
    rule = policy.budget
    epsilon = next((each.epsilon for each in policy.analysts if each.name == analyst), None)
    if analyst is not None and epsilon is None:
        title = f"the policy {file} knows no analyst {analyst}"
        raise refuse("D504", title, help="leave --analyst out, for all together")
    budget = budget_of(rule) if epsilon is None else Budget(epsilon, rule.delta)
    with closing(open_database(path, policy)) as engine:
        bound = promise(policy, engine)
    ledger = Ledger.look(ledger_path, bound, places=second_places(policy, file, ledger_path))
    rules = opened(rule.accountant, budget_of(rule))
    spent = rules.zero
    if ledger is not None:
        with ledger:
            rules = ledger.accountant
            spent = max(ledger.spent_in_each(analyst), key=lambda each: rules.epsilon(each, budget))
    return bound.database, Held(str(path), policy.unit.name, rules, budget, spent, rules.total(budget))


def _why_not(accounts: Sequence[Held]) -> str:
    each = ", ".join(f"{account.database} protects each {account.unit}" for account in accounts)
    return (
        f"no sum: {each}. What is lost of one says nothing of the other, unless one always holds the other: "
        "if they are the same people, give them the same name in [unit]."
    )


def _said(account: Held, total: Together, many: int) -> str:
    where = "both" if many == 2 else f"all {many}"
    return (
        f"For {one(account.unit)} who is in {where}, what is spent comes to epsilon {above(total.spent)} at "
        f"delta {total.delta:g}, and to {total.granted:.6g} when everything is: {total.how}. That these are "
        "the same people is the owner's word."
    )


def _text(accounts: Sequence[Held], total: Together | None, why: str) -> str:
    rows = [
        (
            printable(on_a_line(Path(account.database))),
            printable(account.unit),
            account.rules.name,
            f"{account.budget.delta:g}",
            f"{account.budget.epsilon:g}",
            above(account.epsilon),
        )
        for account in accounts
    ]
    if total is not None:
        rows.append(("together", "", "", f"{total.delta:g}", f"{total.granted:.6g}", above(total.spent)))
    names = ("database", "unit", "accountant", "delta", "granted", "spent")
    table = box(names, rows, (False, False, False, True, True, True))
    said = why if total is None else _said(accounts[0], total, len(accounts))
    return f"{table}\n{textwrap.fill(printable(said), width())}"


def _json(accounts: Sequence[Held], total: Together | None, why: str) -> dict[str, Any]:
    return {
        "databases": [
            {
                "database": account.database,
                "unit": account.unit,
                "accountant": account.rules.name,
                "delta": account.budget.delta,
                "granted": account.budget.epsilon,
                "spent": account.epsilon,
            }
            for account in accounts
        ],
        "together": None
        if total is None
        else {"granted": total.granted, "spent": total.spent, "delta": total.delta, "how": total.how},
        "why_not": why,
    }
