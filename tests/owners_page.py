"""What is computed of the owner's handbook, dpsql/docs/owners.md: its tables, the outputs of its commands.

    python tests/owners_page.py --write

The words stay as they are. A test compares the rest, and another runs every command line.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from dpsql.accounting import Budget
from dpsql.advice.advice import shared
from dpsql.advice.planner import Answerable, Planner, Setting
from dpsql.cli import main
from dpsql.cli.demo_data import build
from dpsql.engines.open_database import open_database
from dpsql.session.checks import load_policy

PAGE = Path(__file__).parent.parent / "dpsql" / "docs" / "owners.md"

EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
BOARD = 5.0
MANY = 40


def page(text: str) -> str:
    """Return the page with its tables and outputs computed anew."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        database = build(Path(folder))
        for name, written in {"odds": odds(), "accountants": accountants(database), "board": board()}.items():
            start, end = f"<!-- written: {name} -->\n", "\n<!-- end -->"
            before, _, rest = text.partition(start)
            text = f"{before}{start}{written}{end}{rest.partition(end.strip())[2]}"
        return re.sub(
            r"(?<=```console\n).*?(?=```$)", lambda match: _block(match[0]), text, flags=re.S | re.M
        )


def _block(block: str) -> str:
    commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"$ {command}\n{_output(command)}" for command in commands)


def _output(command: str) -> str:
    """Run a command line: dpsql in this process, what reads its output in a shell."""
    said = ""
    if command.startswith("dpsql "):
        first, mark, rest = re.split(r" ([|>]) |$", command, maxsplit=1)
        out = io.StringIO()
        with contextlib.redirect_stdout(out), mock.patch.dict(os.environ, {"COLUMNS": "80"}):
            assert main(shlex.split(first)[1:]) == 0, command
        said, command = out.getvalue(), f"cat > {rest}" if mark == ">" else rest or "cat"
    result = subprocess.run(
        ["/bin/sh", "-c", command], input=said, capture_output=True, text=True, check=True, timeout=60
    )
    return result.stdout


# ---- tables --------------------------------------------------------------------------------------------


def odds() -> str:
    """How far a guess can move, from one in two and from one in a hundred: odds grow by e^epsilon at most."""
    rows = ["| epsilon in all | factor of the odds | from 50 % | from 1 % |", "|---|---|---|---|"]
    for epsilon in EPSILONS:
        even, rare = (_moved(guess, epsilon) for guess in (0.5, 0.01))
        rows.append(f"| {epsilon:g} | {_three(math.exp(epsilon))} | {even} | {rare} |")
    return "\n".join(rows)


def _moved(guess: float, epsilon: float) -> str:
    odds = guess / (1 - guess) * math.exp(epsilon)
    percent = 100 * odds / (1 + odds)
    return f"{percent:.1f} %" if percent < 99.9 else f"{percent:.3f} %"


def _three(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def accountants(database: Path) -> str:
    """One count that takes an epsilon of 1 at delta 1e-6, and one of forty that share it."""
    pure, pure_of_many, zcdp, zcdp_of_many = _deviations(database)
    assert pure < zcdp
    assert zcdp_of_many < pure_of_many
    return (
        f"One count that takes an epsilon of 1 has noise of a deviation of {pure:.1f} under `pure`, and of "
        f"{zcdp:.1f} under\n`zcdp` at delta 1e-6. Of {MANY} counts that share the same epsilon each has "
        f"{pure_of_many:.0f} under `pure`, and {zcdp_of_many:.0f}\nunder `zcdp`: under `pure` noise grows "
        "with their number, under `zcdp` with its root. Who compares\ntools meets this first."
    )


def _deviations(database: Path) -> Iterator[float]:
    """Yield the deviations of a count's noise, as they are planned."""
    policy = load_policy(database.with_suffix(".toml"))
    with (
        contextlib.closing(open_database(database, policy)) as engine,
        contextlib.closing(Planner(policy, engine)) as planner,
    ):
        query = planner.parsed("SELECT COUNT(*) FROM patients")
        for name in ("pure", "zcdp"):
            for share in (1, MANY):
                made = planner.answerable(query, shared(Setting(name, Budget(1.0, 1e-6), 1.0), share))
                assert isinstance(made, Answerable)
                yield made.numbers[0].deviation


def board() -> str:
    """The statement for a budget of 5, and for one of 1."""
    most, factor = _moved(0.01, BOARD), _three(math.exp(BOARD))
    return (
        f"With an epsilon of {BOARD:g}: whatever anybody believed of whether one person is in this data, all "
        f"that is\never published from it changes the odds of that by a factor of at most {factor}; who "
        f"thought it 1 % likely\nbelieves at most {most} afterwards. With an epsilon of 1 the factor is "
        f"{_three(math.e)}, and 1 % becomes\nat most {_moved(0.01, 1.0)}. This may fail with a probability "
        "of delta."
    )


if __name__ == "__main__":
    made = page(PAGE.read_text(encoding="utf-8"))
    if "--write" in sys.argv:
        PAGE.write_text(made, encoding="utf-8")
    else:
        print(made, end="")
