"""A posterior of released numbers: DP_BETA, DP_GAMMA and DP_NORMAL.

DP_BETA(yes, n - yes, 0.5, 0.5)      Posterior("posterior", "dp_beta", ("yes", n - yes), (0.5, 0.5))
"""

from __future__ import annotations

from dpsql.ir.formula import Formula
from dpsql.lazy_dataclass import dataclass

FIELDS = ("mean", "sd", "low", "high")


@dataclass(frozen=True, slots=True)
class Posterior:
    """``numbers`` are linear in released columns; ``constants`` are the prior's, or a deviation of values."""

    name: str
    function: str
    numbers: tuple[Formula, Formula]
    constants: tuple[float, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the released table that hold it."""
        return tuple(f"{self.name} {field}" for field in FIELDS)
