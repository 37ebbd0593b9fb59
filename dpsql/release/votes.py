"""ExactVotes -> labels: one choice for each public row, among all labels by their votes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpsql.ir.votes import ExactVotes, VotePlan
from dpsql.late_numpy import np
from dpsql.mechanisms.exponential import Choices, choose


def drawn_labels(votes: ExactVotes, planned: VotePlan, words: Callable[[int], bytes]) -> list[int]:
    """Return the number of a label for each public row: a vote more makes it e^(epsilon / 2) as likely."""
    rows, labels = votes.counts.shape
    choices = Choices(
        np.arange(0, (rows + 1) * labels, labels, dtype=np.int64),
        np.ones(rows * labels, dtype=np.int64),
        planned.ballot.teachers - votes.counts.reshape(-1),
        np.zeros(rows * labels, dtype=np.int64),
    )
    runs, _ = choose(choices, Fraction(planned.ballot.epsilon) / 2, words)
    return [int(run) % labels for run in runs]
