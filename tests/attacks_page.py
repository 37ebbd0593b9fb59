"""What is computed of the page of attacks, dpsql/docs/attacks.md: its bounds and its planted errors.

    python tests/attacks_page.py --write

The words stay as they are. A test compares the tables, and runs each planted error.
"""

from __future__ import annotations

import sys
from pathlib import Path

from privacy.planted import AUDITED, DRAWN, FUZZED, GUESSED, PLANTED

from dpsql.attacks.show import attacks
from dpsql.attacks.table import EPSILONS, short

PAGE = Path(__file__).parent.parent / "dpsql" / "docs" / "attacks.md"
DELTA = 1e-6


def page(text: str) -> str:
    """Return the page with its tables computed anew."""
    for name, written in {"bounds": bounds(), "errors": errors()}.items():
        start, end = f"<!-- written: {name} -->\n", "\n<!-- end -->"
        before, _, rest = text.partition(start)
        text = f"{before}{start}{written}{end}{rest.partition(end.strip())[2]}"
    return text


def bounds() -> str:
    """What each attack does, and may win at some epsilons."""
    rows = [
        f"| attack | what it does | {' | '.join(f'{epsilon:g}' for epsilon in EPSILONS)} |",
        f"|---|---|{'---|' * len(EPSILONS)}",
    ]
    for attack in attacks():
        allowed = (short(attack.allowed(epsilon, DELTA)) for epsilon in EPSILONS)
        rows.append(f"| {attack.name} | {attack.does} | {' | '.join(allowed)} |")
    return "\n".join(rows)


def errors() -> str:
    """Which attack or audit finds which error."""
    rows = ["| planted error | found by |", "|---|---|"]
    rows += [f"| {planted.words} | `dpsql attack`: {planted.attack} |" for planted in PLANTED]
    rows += [f"| {error.words} | `dpsql audit`: {error.verdict} |" for error in AUDITED]
    rows += [f"| {error.words} | `dpsql audit --attack`: tells too much |" for error in GUESSED]
    rows += [f"| {error.words} | `dpsql audit --fuzz` |" for error in FUZZED]
    rows += [f"| {words} | `python grammar_tests/drawn` |" for words, _ in DRAWN]
    return "\n".join(rows)


if __name__ == "__main__":
    made = page(PAGE.read_text(encoding="utf-8"))
    if "--write" in sys.argv:
        PAGE.write_text(made, encoding="utf-8")
    else:
        print(made, end="")
