"""What the attacks won, as a table, as JSON, and what each may win at other epsilons.

Test: tests/privacy/test_attack_command.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpsql.attacks.chances import interval
from dpsql.attacks.show import Judged, attacks
from dpsql.render.box import box

EPSILONS = (0.1, 1.0, 5.0)
"""At which the text says what an attack may win."""

NONE = "no attack beat what the promise allows"


def table_of(results: Sequence[Judged]) -> str:
    """Return the table: what was won of dpsql and of exact answers, beside what epsilon allows."""
    names = ("attack", "tried", "won", "95 % sure", "exact", "allowed", "")
    rows = [row_of(judged) for judged in results if not judged.lacks]
    return box(names, rows, (False, True, True, True, True, True, False))


def row_of(judged: Judged) -> tuple[str, ...]:
    ours, exact = judged.ours, judged.exact
    if not ours.tried:
        ends = ""
    else:
        low, high = interval(ours.won, ours.tried)
        ends = f"{low:.3f} to {high:.3f}"
    return (
        judged.name,
        f"{ours.tried}",
        f"{ours.success:.3f}" if ours.tried else "refused",
        ends,
        "" if exact is None or not exact.tried else f"{exact.success:.3f}",
        short(ours.bound),
        "BEAT" if judged.beat else "ok",
    )


def short(chance: float) -> str:
    return f"{chance:.3f}" if chance == 0 or chance >= 0.001 else f"{chance:.0e}"


def remarks(results: Sequence[Judged]) -> list[str]:
    """Return a line for each attack: what it does, what else was seen, or why it was not tried."""
    lines = []
    for judged in results:
        said = f"not tried: {judged.lacks}" if judged.lacks else judged.ours.words
        lines.append(f"{judged.name}: {judged.does}{f' ({said})' if said else ''}")
    few = [judged.name for judged in results if judged.ours.tried and not judged.can_beat]
    if few:
        lines.append(
            f"Too few trials to tell, were all guesses right (--trials, --epsilon): {', '.join(few)}."
        )
    return lines


def allowed_table(delta: float, epsilons: Sequence[float] = EPSILONS) -> str:
    """Return what each attack may win at some epsilons: the bounds alone, without any data."""
    rows = [
        (attack.name, *(short(attack.allowed(epsilon, delta)) for epsilon in epsilons))
        for attack in attacks()
    ]
    names = ("may win at most, at epsilon", *(f"{epsilon:g}" for epsilon in epsilons))
    return box(names, rows, (False, *(True for _ in epsilons)))


def verdict(results: Sequence[Judged]) -> str:
    """Return the last line."""
    beaten = [judged.name for judged in results if judged.beat]
    return f"{', '.join(beaten)} did beat what the promise allows" if beaten else NONE


def facts(results: Sequence[Judged]) -> list[dict[str, Any]]:
    """Return the same for programs."""
    return [
        {
            "attack": judged.name,
            "does": judged.does,
            "tried": judged.ours.tried,
            "won": judged.ours.won,
            "interval": list(interval(judged.ours.won, judged.ours.tried)) if judged.ours.tried else None,
            "allowed": judged.ours.bound,
            "exact": judged.exact.success if judged.exact is not None and judged.exact.tried else None,
            "beat": judged.beat,
            "can_beat": judged.can_beat,
            "words": judged.ours.words,
            "lacks": judged.lacks,
        }
        for judged in results
    ]
