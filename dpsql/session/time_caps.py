"""Caps in time: what an analyst may spend in a day, a week or a month of the policy's time zone.

    per_day     from midnight            per_week    from Monday          per_month   from the first

Claim   what an analyst spends within one such window never exceeds its cap.
Proof   The ledger adds up the entries since the window began, in the transaction of the debit, and refuses
        what does not fit. A cap is an amount like an analyst's whole grant, within it and beside it: nothing
        comes back, a refused query only has to wait.
Test    tests/privacy/test_time_caps.py
"""

from __future__ import annotations

import datetime
import zoneinfo
from collections.abc import Callable, Iterator

from dpsql.accounting import Amount, entries
from dpsql.accounting.entries import TimeCap
from dpsql.policy.model import AnalystRule


def time_caps(rule: AnalystRule, timezone: str, total: Callable[[float], Amount]) -> tuple[TimeCap, ...]:
    """Return an analyst's caps in the windows of now; ``total`` converts an epsilon to an amount."""
    zone = zoneinfo.ZoneInfo(timezone)
    today = entries.clock().astimezone(zone).date()
    return tuple(
        TimeCap(rule.name, name, _moment(first, zone), f"{after} 00:00 ({timezone})", epsilon, total(epsilon))
        for name, epsilon, first, after in _windows(rule, today)
        if epsilon is not None
    )


def _windows(
    rule: AnalystRule, today: datetime.date
) -> Iterator[tuple[str, float | None, datetime.date, datetime.date]]:
    """Yield each window's cap, its first day and the day after its last."""
    monday, first = today - datetime.timedelta(today.weekday()), today.replace(day=1)
    yield "per_day", rule.per_day, today, today + datetime.timedelta(1)
    yield "per_week", rule.per_week, monday, monday + datetime.timedelta(7)
    yield "per_month", rule.per_month, first, (first + datetime.timedelta(31)).replace(day=1)


def _moment(day: datetime.date, zone: zoneinfo.ZoneInfo) -> str:
    """Return midnight as the ledger writes times."""
    midnight = datetime.datetime.combine(day, datetime.time(), zone)
    return midnight.astimezone(datetime.UTC).isoformat(timespec="milliseconds")
