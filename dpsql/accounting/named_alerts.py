"""Names of private alerts, folded from the entries of the ledger.

    alert    {analyst: ana, name: flu, debit: 7, digest: 6f1e, epsilon: 0.5, epsilon0: 0.114, above: 100, ...}
    alert    {analyst: ana, name: flu, to: bo, granted: true}                 another analyst may ask
    alert    {analyst: ana, name: flu}                                        the name is gone

A holdout has ``tolerance`` and ``epsilon1`` too, and ``epsilon`` is the price of all of it.

A name is its creator's. ``generation`` counts the alerts of that name before: each has thresholds of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dpsql.accounting.entries import Content
from dpsql.ir.alert import Alert
from dpsql.lazy_dataclass import dataclass
from dpsql.policy.names import fold


@dataclass(frozen=True, slots=True)
class NamedAlert:
    """A name for the debit of an alert: ``epsilon`` is the price of each true, None once it is dropped."""

    name: str
    creator: str
    generation: int
    debit: int | None = None
    digest: str = ""
    epsilon: float = 0.0
    epsilon0: float = 0.0
    alert: Alert = Alert(0.0)
    readers: frozenset[str] = frozenset()
    epsilon1: float = 0.0

    @property
    def price(self) -> float:
        """What all of it costs."""
        return self.epsilon * self.alert.prices


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an alert has said to a question, and how often it has said true by now; which true this was."""

    above: bool
    trues: int
    which: int = 0


_SAID = ("above", "times", "rows", "lower", "upper")


def alert_content(creator: str, name: str, debit: int, named: NamedAlert) -> Content:
    alert = named.alert
    said = {field: getattr(alert, field) for field in _SAID}
    bought = {"debit": debit, "digest": named.digest, "epsilon": named.epsilon, "epsilon0": named.epsilon0}
    if alert.tolerance is not None:
        said |= {"tolerance": alert.tolerance, "epsilon1": named.epsilon1}
    return {"kind": "alert", "analyst": creator, "name": name} | bought | said


def dropped_alert(creator: str, name: str) -> Content:
    return {"kind": "alert", "analyst": creator, "name": name}


def alert_access(creator: str, name: str, to: str, granted: bool) -> Content:
    return {"kind": "alert", "analyst": creator, "name": name, "to": to, "granted": granted}


def named_alerts(entries: Iterable[Content]) -> tuple[NamedAlert, ...]:
    """Return the alerts that have, or had, a name after these entries, which come newest first."""
    alerts: dict[tuple[str, str], NamedAlert] = {}
    for content in [*entries][::-1]:
        key = content["analyst"], fold(content["name"])
        before = alerts.get(key) or NamedAlert(content["name"], content["analyst"], 0)
        if "to" in content:
            to = {content["to"]}
            after = before.readers | to if content["granted"] else before.readers - to
            alerts[key] = replace(before, readers=after)
        elif "debit" not in content:
            alerts[key] = NamedAlert(before.name, before.creator, before.generation + 1)
        else:
            alerts[key] = replace(
                before,
                name=content["name"],
                debit=content["debit"],
                digest=content["digest"],
                epsilon=content["epsilon"],
                epsilon0=content["epsilon0"],
                alert=Alert(**{field: content[field] for field in _SAID}, tolerance=content.get("tolerance")),
                epsilon1=content.get("epsilon1", 0.0),
            )
    return tuple(alerts.values())
