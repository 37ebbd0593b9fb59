"""The price of events under any accountant, also one that was written before some kind of event was.

An accountant has no price for a kind of event that it does not name: its ``match`` ends in ``assert_never``,
its table lacks the kind. Here that becomes a refusal for who asks. Plans are charged before anything is paid.
"""

from __future__ import annotations

from dpsql.accounting import Accountant, Amount
from dpsql.errors import refuse
from dpsql.ir.event import (
    AlertEvent,
    ChoiceEvent,
    Event,
    GaussianEvent,
    GeometricEvent,
    LaplaceEvent,
    ResponseEvent,
    ThresholdEvent,
)

_WORDS: dict[type[Event], str] = {
    AlertEvent: "a private alert",
    ChoiceEvent: "a choice among values, as of a median or a bound that is found",
    GaussianEvent: "Gaussian noise",
    GeometricEvent: "geometric noise",
    LaplaceEvent: "Laplace noise",
    ResponseEvent: "a column of randomized responses",
    ThresholdEvent: "groups that depend on the data",
}
_UNNAMED = AssertionError, LookupError, TypeError
"""What ``assert_never``, a table of kinds and a function of other kinds raise."""


def charged(rules: Accountant, events: tuple[Event, ...]) -> Amount:
    """Return what events cost; D516 if the accountant knows no price of one of them."""
    try:
        return rules.charge(events)
    except _UNNAMED as error:
        unknown = next((event for event in events if _has_no_price(rules, event)), None)
        if unknown is None:  # each has a price, so this is another failure
            raise
        raise refuse(
            "D516",
            f"the accountant {rules.name} knows no price of {_WORDS[type(unknown)]}",
            label="nothing was paid",
            help="ask without it, or let the owner choose another accountant for a new ledger",
        ) from error


def _has_no_price(rules: Accountant, event: Event) -> bool:
    try:
        rules.charge((event,))
    except _UNNAMED:
        return True
    return False
