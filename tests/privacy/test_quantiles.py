"""Order statistics of histograms: where they lie without noise, their law, and what one unit changes."""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from dpsql.ir.grid import End
from dpsql.mechanisms.exponential import choose
from dpsql.mechanisms.quantiles import CELLS, MISSED, Histograms, answers, beyond, levels, tree

HALF = Fraction(1, 2)
DECILES = tuple(Fraction(i, 10) for i in range(1, 10))


def best(choices, rate):
    """The middle one of the candidates with the least loss, without noise."""
    runs, inside = [], []
    for first, last in itertools.pairwise(choices.starts):
        loss = choices.whole[first:last] * choices.denominator + choices.part[first:last]
        least = loss[choices.sizes[first:last] > 0].min()
        sizes = np.where(loss == least, choices.sizes[first:last], 0)
        middle = (sizes.sum() - 1) // 2
        run = int(np.searchsorted(np.cumsum(sizes), middle, "right"))
        runs.append(first + run)
        inside.append(middle - sizes[:run].sum())
    return np.array(runs), np.array(inside)


def drawn(seed):
    words = random.Random(seed).randbytes
    return lambda choices, rate: choose(choices, rate, words)


def histograms(*lists, weight=1):
    """Values, one list for each group."""
    starts, bins, weights = [0], [], []
    for values in lists:
        places, counts = np.unique(np.array(values, np.int64), return_counts=True)
        bins += places.tolist()
        weights += (counts * weight).tolist()
        starts.append(len(bins))
    return Histograms(np.array(starts), np.array(bins, np.int64), np.array(weights, np.int64))


def silent(lists, size, targets, extreme=1, weight=1):
    return answers(histograms(*lists, weight=weight), size, targets, Fraction(1), 1, extreme * weight, best)


@pytest.mark.parametrize("number", range(1, 40))
def test_the_tree_is_as_flat_as_can_be(number):
    targets = tuple(Fraction(i, number + 1) for i in range(1, number + 1))
    assert levels(targets) == math.ceil(math.log2(number + 1))
    nodes = tree(targets)
    assert sorted(node.target for node in nodes) == list(range(number))
    for i, node in enumerate(nodes):
        known = {each.target for each in nodes[:i] if each.level < node.level}
        assert {node.left, node.right} - {None} <= known
        assert node.leaf == (
            node.target not in {each.left for each in nodes} | {each.right for each in nodes}
        )


def test_extremes_are_chosen_last():
    nodes = tree((End.LEAST, HALF, Fraction(9, 10), End.GREATEST))
    assert nodes[0].target == 2
    assert {node.target for node in nodes if node.leaf} == {0, 3}
    assert levels((End.LEAST, End.GREATEST)) == 2
    assert levels((End.LEAST,)) == 1


def test_quantiles_without_noise():
    rng = np.random.default_rng(3)
    for size in (5, 8, 31, 1000):
        values = rng.integers(0, 5000, size)
        found = silent([values], 5000, DECILES, weight=2**20)[0]
        for q, place in zip(DECILES, found, strict=True):
            below, upto = (values < place).mean(), (values <= place).mean()
            assert below - 0.5 / size <= q <= upto + 0.5 / size


def test_the_middle_of_two():
    assert silent([[10, 20]], 100, (HALF,)).tolist() == [[15]]
    assert silent([[10, 20, 90]], 100, (HALF,)).tolist() == [[20]]


def test_values_that_many_share_are_several_quantiles():
    """Sixty of a hundred are 50: both quarters and the half, whichever side the bin would go to."""
    values = [5] * 24 + [50] * 60 + [80] * 16
    targets = (Fraction(1, 4), HALF, Fraction(3, 4))
    assert silent([values], 100, targets, weight=2**20).tolist() == [[50, 50, 50]]
    assert silent([[7] * 10], 100, DECILES, weight=2**20).tolist() == [[7] * 9]


def test_extremes_without_noise():
    values = list(range(100, 200))
    found = silent([values], 1000, (End.LEAST, HALF, End.GREATEST), extreme=16)
    assert found[0, 0] == pytest.approx(115, abs=1)
    assert found[0, 2] == pytest.approx(184, abs=1)
    few = silent([[3, 500, 900]], 1000, (End.LEAST,), extreme=16)
    assert few.tolist() == [[251]]  # half of three is one: anything from the first to the second


def test_nothing_at_all_is_any_bin():
    found = answers(histograms([], [], []), 7, DECILES, Fraction(1), 1, 1, drawn("nothing"))
    assert found.min() >= 0
    assert found.max() < 7
    assert (np.diff(found, axis=1) >= 0).all()


def test_answers_are_ordered_and_groups_apart():
    rng = np.random.default_rng(8)
    lists = [rng.integers(0, 300, rng.integers(0, 60)) + 1000 * i for i in range(40)]
    lists[3] = lists[17] = []
    together = silent(lists, 41_000, DECILES)
    alone = np.concatenate([silent([each], 41_000, DECILES) for each in lists])
    assert (together == alone).all()
    noisy = answers(histograms(*lists), 41_000, DECILES, Fraction(1, 4), 1, 1, drawn("ordered"))
    assert (np.diff(noisy, axis=1) >= 0).all()
    assert noisy.min() >= 0
    assert noisy.max() < 41_000


# ---- the law, exactly --------------------------------------------------------------------------------


class Recorded:
    """A chooser that follows a given path and multiplies up its probability."""

    def __init__(self, path):
        self.path, self.chance, self.options = list(path), 1.0, []

    def __call__(self, choices, rate):
        loss = choices.whole + choices.part / choices.denominator
        weights = choices.sizes * np.exp(-loss * float(rate))
        candidates = [(run, i) for run, size in enumerate(choices.sizes) for i in range(size)]
        self.options.append(len(candidates))
        run, inside = candidates[self.path.pop(0) if self.path else 0]
        self.chance *= float(weights[run] / choices.sizes[run] / weights.sum())
        return np.array([run]), np.array([inside])


def laws(values, weight, size, targets, epsilon, most, extreme):
    """The probability of every outcome with its cuts: all paths through the tree of choices."""
    counted = {}
    for value, own in zip(values, weight, strict=True):
        counted[value] = counted.get(value, 0) + own
    bins = np.array(sorted(counted), np.int64)
    weights = np.array([counted[b] for b in sorted(counted)], np.int64)
    given = Histograms(np.array([0, len(bins)]), bins, weights)
    found = {}
    paths = [()]
    while paths:
        path = paths.pop()
        chooser = Recorded(path)
        outcome = answers(given, size, targets, epsilon, most, extreme, chooser)
        if len(path) < len(chooser.options):
            paths += [(*path, i) for i in range(chooser.options[len(path)])]
            continue
        key = (*outcome[0].tolist(), *path)
        found[outcome[0].tobytes()] = found.get(outcome[0].tobytes(), 0) + chooser.chance
        assert key is not None
    return found


@pytest.mark.parametrize(
    "targets",
    [
        (HALF,),
        (Fraction(1, 4), HALF, Fraction(3, 4)),
        (Fraction(1, 3), Fraction(4, 5)),
        (End.LEAST, HALF),
        (End.LEAST,),
        (End.GREATEST,),
        (End.LEAST, End.GREATEST),
    ],
)
@pytest.mark.parametrize("far", [89, 0.5])
def test_one_unit_with_its_weight_split(targets, far, monkeypatch):
    """The joint law of all answers moves by at most epsilon a level, however a unit splits its weight."""
    monkeypatch.setattr("dpsql.mechanisms.quantiles.CELLS", 2)
    monkeypatch.setattr("dpsql.mechanisms.quantiles.FAR", far)  # at .5, part of the bins are out of reach
    rng = np.random.default_rng(len(targets))
    epsilon, most, size, worst = Fraction(1), 12, 3, 0.0
    for _ in range(12):
        values = rng.integers(0, size, 4).tolist()
        weight = rng.integers(1, 9, 4).tolist()
        parts = int(rng.integers(1, 4))
        unit = rng.integers(0, size, parts).tolist()
        less = laws(values, weight, size, targets, epsilon, most, 10)
        more = laws(values + unit, weight + [most // parts] * parts, size, targets, epsilon, most, 10)
        assert less.keys() == more.keys()
        assert sum(less.values()) == pytest.approx(1)
        worst = max(worst, *(abs(math.log(less[key] / more[key])) for key in less))
    assert 0.1 < worst <= float(epsilon) * levels(targets)


@pytest.mark.parametrize("end", End)
def test_one_unit_moves_the_losses_of_an_extreme_by_what_is_paid(end):
    """The logarithms of all ratios span at most epsilon, bounded range, and for some unit just that."""
    rng = np.random.default_rng(21)
    most, size, worst = 12, 6, 0.0
    for _ in range(2000):
        values, unit = rng.integers(0, size, 7), rng.integers(0, size, int(rng.integers(1, 4)))
        weight, extreme = rng.integers(1, 15, 7).tolist(), int(rng.integers(1, 30))
        less, more = (
            chances(given, weight + [most // len(unit)] * (len(given) - 7), size, end, 1, most, extreme)
            for given in (values, np.concatenate((values, unit)))
        )
        worst = max(worst, float(np.ptp(np.log(less / more))))
    assert 1 - 1e-12 <= worst <= 1 + 1e-12


def chances(values, weight, size, end, epsilon, most, extreme):
    """The chance of every bin to be an extreme: its runs are whole bins, from left to right."""
    law = []

    def spy(choices, rate):
        loss = choices.whole + choices.part / choices.denominator
        law.append(np.repeat(np.exp(-loss * float(rate)), choices.sizes))
        return best(choices, rate)

    places, which = np.unique(np.asarray(values, np.int64), return_inverse=True)
    weights = np.bincount(which, weight).astype(np.int64)
    given = Histograms(np.array([0, len(places)]), places, weights)
    answers(given, size, (end,), Fraction(epsilon), most, extreme, spy)
    assert len(law[0]) == size
    return law[0] / law[0].sum()


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), 1, 10])
@pytest.mark.parametrize("size", [121, 16_384, 131_072])
@pytest.mark.parametrize("end", End)
def test_an_extreme_is_rarely_beyond_all_rows(epsilon, size, end):
    """Whichever value all rows share, the fewest that are enough: the worst that a range can do."""
    k = beyond(float(epsilon), 1, size)
    for value in (0, size // 3, size - 1):
        law = chances([value], [3 * k], size, end, epsilon, 1, k)
        assert 1 - law[value] <= MISSED


def test_a_value_that_many_share_is_the_extreme():
    """Limits of 1,000 to 50,000 by thousands, each of 320 rows: MIN was below all of them, at any price.

    Either end is far inside of the range, and within gaps that are wide themselves.
    """
    values, size = np.repeat(np.arange(1, 51) * 1000, 320), 61_001
    for epsilon in (Fraction(1, 2), 1, 10, 1000):
        k = beyond(float(epsilon), 1, size)
        for end, value in ((End.LEAST, 1000), (End.GREATEST, 50_000)):
            law = chances(values, np.ones(len(values)), size, end, epsilon, 1, k)
            assert law[value] > 0.98, (epsilon, end)
        both = answers(
            histograms(*[values] * 50),
            size,
            (End.LEAST, End.GREATEST),
            Fraction(epsilon),
            1,
            k,
            drawn("tied"),
        )
        assert (both == [1000, 50_000]).mean() > 0.8  # of 100, each with a chance above .98: 10^-14


def test_bins_beyond_the_reach_are_one_run():
    """Merged or not, a path leads to the same bins and cuts: no run is lost, and none comes twice."""
    rng = np.random.default_rng(11)
    lists = [rng.integers(0, 500, 90) for _ in range(5)]
    given = histograms(*lists, weight=2**20)
    seen = []

    def spy(choices, rate):
        totals = np.add.reduceat(choices.sizes, choices.starts[:-1])
        seen.append((totals.tolist(), len(choices.sizes)))
        return best(choices, rate)

    far, near = (
        answers(given, 500, DECILES, epsilon, 2**20, 2**20, spy)
        for epsilon in (Fraction(50), Fraction(1, 50))
    )
    half = len(seen) // 2
    assert (far == near).all()
    assert [totals for totals, _ in seen[:half]] == [totals for totals, _ in seen[half:]]
    assert all(a < b for (_, a), (_, b) in zip(seen[:1], seen[half : half + 1], strict=True))


def test_cells_are_a_power_of_two_of_a_bin():
    assert CELLS == 16


# ---- accuracy ----------------------------------------------------------------------------------------


def rank_error(values, size, targets, epsilon, seed, times=200):
    """Mean distance in rank of the answers, all levels together at epsilon."""
    lists = [values] * times
    each = Fraction(epsilon) / levels(targets)
    found = answers(histograms(*lists), size, targets, each, 1, 16, drawn(seed))
    ordered = np.sort(values)
    low = np.searchsorted(ordered, found, "left") / len(values)
    high = np.searchsorted(ordered, found, "right") / len(values)
    q = np.array([float(each) for each in targets])
    return float(np.maximum(0, np.maximum(low - q, q - high)).mean())


def test_accuracy_on_a_normal_column():
    """Simulated before: .0010 for the median and .0054 for nine deciles of 1,000 rows, epsilon 1."""
    rng = np.random.default_rng(1)
    values = np.clip(rng.normal(500, 100, 1000) * 16.384, 0, 16383).astype(int)
    assert rank_error(values, 16384, (HALF,), 1, "normal") < 0.0015
    assert rank_error(values, 16384, DECILES, 1, "normal") < 0.0070
