"""The price of events under any accountant, also one that was written before some kind of event was.

An accountant refuses by name what it cannot account for (``assert_never``, TypeError): here that becomes a
refusal for who asks. Plans are charged before anything is paid.
"""

from __future__ import annotations

from dpsql.accounting import Accountant, Amount
from dpsql.errors import refuse
from dpsql.ir.event import Event

_WORDS = {
    "AlertEvent": "a private alert",
    "ChoiceEvent": "a choice among values, as of a median or a bound that is found",
    "GaussianEvent": "Gaussian noise",
    "GeometricEvent": "geometric noise",
    "LaplaceEvent": "Laplace noise",
    "ResponseEvent": "a column of randomized responses",
    "ThresholdEvent": "groups that depend on the data",
}
_UNKNOWN = AssertionError, LookupError, NotImplementedError, TypeError


def charged(rules: Accountant, events: tuple[Event, ...]) -> Amount:
    """Return what events cost; D516 if the accountant knows no price of one of them."""
    try:
        return rules.charge(events)
    except _UNKNOWN as error:
        what = next((_WORDS[type(each).__name__] for each in events if _is_unknown(rules, each)), "this plan")
        raise refuse(
            "D516",
            f"the accountant {rules.name} knows no price of {what}",
            label="nothing was paid",
            help="ask without it, or let the owner choose another accountant for a new ledger",
        ) from error


def _is_unknown(rules: Accountant, event: Event) -> bool:
    try:
        rules.charge((event,))
    except _UNKNOWN:
        return True
    return False
