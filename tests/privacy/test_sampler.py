"""The sampler draws the law it claims, bit by bit where float64 cannot.

All bytes are seeded here, so no test fails by chance; the stated false-alarm rate of a statistical
test is the chance that a fresh seed would have failed it on a correct sampler.
"""

import io
import math
import random
import subprocess
import sys
from collections import Counter

import mpmath
import numpy as np
import pytest

from dpsql.mechanisms import sampler

DRAWS = {"laplace": sampler.laplace, "gaussian": sampler.gaussian}
FALSE_ALARM = 1e-6


def seeded(seed):
    return random.Random(seed).randbytes


def script(*words, sign=None, seed=1):
    """A byte source that gives these 64-bit words (the sign's byte after the first), then seeded bytes."""
    parts = [word.to_bytes(8, "little") for word in words]
    if sign is not None:
        parts.insert(1, bytes([sign << 7]))
    given = io.BytesIO(b"".join(parts))
    more = seeded(seed)

    def read(size):
        first = given.read(size)
        return first + more(size - len(first))

    return read


def mass(name, scale, low, high):
    """P(low <= rounded noise <= high) from the continuous law."""

    def below(x):
        if name == "gaussian":
            return math.erfc(-x / scale / math.sqrt(2)) / 2
        return math.exp(x / scale) / 2 if x < 0 else 1 - math.exp(-x / scale) / 2

    return below(high + 0.5) - below(low - 0.5)


def p_value(observed, expected):
    chi2 = sum((o - e) ** 2 / e for o, e in zip(observed, expected, strict=True))
    return float(mpmath.gammainc((len(observed) - 1) / 2, chi2 / 2, mpmath.inf, regularized=True))


def cells(name, scale, size):
    """Neighbouring integers pooled until 25 draws are expected in each cell; the tails close it."""
    ends, low = [], -round(30 * scale) - 5
    start, limit = low, round(30 * scale) + 5
    while start <= limit:
        end = start
        while end < limit and size * mass(name, scale, start, end) < 25:
            end += max(1, round(scale / 50))
        ends.append((start, end))
        start = end + 1
    while len(ends) > 1 and size * mass(name, scale, *ends[-1]) < 25:
        (first, _), (_, last) = ends[-2:]
        ends[-2:] = [(first, last)]
    return ends


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("scale", [0.3, 1.0, 5.3, 200.0, 2.0**20 / 3])
def test_law(name, scale):
    """Chi-square against the exact rounded law, 100,000 draws; false alarms one in a million."""
    size = 100_000
    values = DRAWS[name](scale, size, seeded(f"{name} {scale}"))
    pooled = cells(name, scale, size)
    edges = [low for low, _ in pooled] + [pooled[-1][1] + 1]
    observed = np.histogram(values, edges)[0]
    assert observed.sum() == size
    assert p_value(observed, [size * mass(name, scale, *cell) for cell in pooled]) > FALSE_ALARM


def test_laplace_law_would_notice_the_discrete_law():
    """The discrete Laplace of the same scale has another law (P(0) = .462 against .393)."""
    rng = np.random.default_rng(1)
    p = 1 - math.exp(-1)
    values = rng.geometric(p, 20_000) - rng.geometric(p, 20_000)
    pooled = cells("laplace", 1.0, 20_000)
    observed = np.histogram(values, [low for low, _ in pooled] + [pooled[-1][1] + 1])[0]
    assert p_value(observed, [20_000 * mass("laplace", 1.0, *cell) for cell in pooled]) < FALSE_ALARM


def test_both_halves_of_box_muller_are_independent():
    """Chi-square of a 6 x 6 table of a pair's two numbers; false alarms one in a million."""
    scale, size = 10.0, 60_000
    values = sampler.gaussian(scale, size, seeded("pairs"))
    chunks = [values[i : i + sampler._CHUNK] for i in range(0, size, sampler._CHUNK)]
    cos = np.concatenate([chunk[: len(chunk) // 2] for chunk in chunks])
    sin = np.concatenate([chunk[len(chunk) // 2 :] for chunk in chunks])
    edges = [-10_000, -10, -5, 0, 5, 10, 10_000]
    table = np.histogram2d(cos, sin, [edges, edges])[0]
    one = [mass("gaussian", scale, low, high - 1) for low, high in zip(edges, edges[1:], strict=False)]
    expected = np.outer(one, one) * len(cos)
    assert p_value(table.ravel(), expected.ravel()) > FALSE_ALARM


def test_float_errors_are_within_their_bounds():
    """Within half of them, in fact: the logarithm within 2^-52 + e 2^-50, cosine and sine within 2^-48."""
    rng = random.Random(3)
    words = [rng.getrandbits(64) >> rng.randrange(64) or 1 for _ in range(1500)]
    words += [2**64 - 1 - rng.getrandbits(rng.randrange(1, 60)) for _ in range(1500)] + [1, 2**64 - 1, 2**63]
    k = np.array(words, np.uint64)
    e, eta = sampler._exponential(k)
    angle = k.astype(np.float64) * sampler._TURN
    cos, sin = np.cos(angle), np.sin(angle)
    with mpmath.workprec(200):
        for i, word in enumerate(words):
            u = mpmath.mpf(word) / 2**64
            error = sampler._LOG_ERROR / 2 + float(e[i]) * sampler._LOG_RELATIVE / 2
            assert abs(mpmath.mpf(float(e[i])) + mpmath.log(u)) < error
            assert eta[i] >= mpmath.log1p(mpmath.mpf(1) / word) + error
            assert abs(mpmath.cospi(2 * u) - mpmath.mpf(float(cos[i]))) < sampler._COS_ERROR / 2
            assert abs(mpmath.sinpi(2 * u) - mpmath.mpf(float(sin[i]))) < sampler._COS_ERROR / 2


def uniform(words):
    """The real number whose bits these words begin."""
    return mpmath.fsum(mpmath.mpf(word) / mpmath.mpf(2) ** (64 * (i + 1)) for i, word in enumerate(words))


def exact(y):
    return int(mpmath.floor(y + mpmath.mpf(1) / 2))


@pytest.mark.parametrize("scale", [2.0**45, 2.0**52, 2.0**55 * 1.7, 0.01, 37.0])
def test_exact_laplace_reads_the_same_bits(scale):
    for seed in range(60):
        rng = random.Random(seed)
        words = [rng.getrandbits(64) for _ in range(12)]
        (value,) = sampler.laplace(scale, 1, script(*words, sign=seed % 2))
        with mpmath.workprec(1500):
            expected = exact(-mpmath.mpf(scale) * mpmath.log(uniform(words)))
        assert value == (-expected if seed % 2 else expected)


@pytest.mark.parametrize("scale", [2.0**45, 2.0**52, 2.0**55 * 1.7, 0.01, 37.0])
def test_exact_gaussian_shares_bits_between_cosine_and_sine(scale):
    """Words after the first two go to U and V in turn; both numbers must come of the same U and V."""
    for seed in range(60):
        rng = random.Random(seed)
        words = [rng.getrandbits(64) for _ in range(24)]
        cos, sin = sampler.gaussian(scale, 2, script(*words))
        with mpmath.workprec(1500):
            radius = mpmath.mpf(scale) * mpmath.sqrt(-2 * mpmath.log(uniform(words[::2])))
            turn = 2 * uniform(words[1::2])
            assert cos == exact(radius * mpmath.cospi(turn))
            assert sin == exact(radius * mpmath.sinpi(turn))


def counting(monkeypatch):
    """How often the exact path is taken."""
    calls = Counter()
    real = sampler._exact()

    class Counted:
        @staticmethod
        def laplace(*arguments):
            calls["laplace"] += 1
            return real.laplace(*arguments)

        @staticmethod
        def gaussian(*arguments):
            calls["gaussian"] += 1
            return real.gaussian(*arguments)

    monkeypatch.setattr(sampler, "_exact", lambda: Counted)
    return calls


def test_at_scale_2_52_nothing_is_decided_in_floats(monkeypatch):
    """Half-widths: 2^52 (2^-51 + e 2^-49) >= 2, and 2^52 * 2^-47.3 = 26 at the least for Gaussian."""
    calls = counting(monkeypatch)
    laplace = sampler.laplace(2.0**52, 1000, seeded(1))
    gaussian = sampler.gaussian(2.0**52, 1000, seeded(2))
    assert calls == {"laplace": 1000, "gaussian": 500}
    assert np.std(laplace) == pytest.approx(math.sqrt(2) * 2.0**52, rel=0.25)
    assert np.std(gaussian) == pytest.approx(2.0**52, rel=0.15)


@pytest.mark.parametrize("scale", [0.7, 1000.0, 2.0**40, 2.0**46])
def test_what_floats_decide_no_further_bits_would_change(scale):
    """Also for words near both ends, where the bounds are tightest."""
    rng = random.Random(5)
    words = [rng.getrandbits(64) >> rng.choice((0, 0, 0, 20, 40, 60)) or 1 for _ in range(1200)]
    words[::3] = [2**64 - 1 - (word >> 20) for word in words[::3]]
    source = b"".join(word.to_bytes(8, "little") for word in words)
    exact_path, size, half = sampler._exact(), len(words), len(words) // 2
    for byte in (b"\x00", b"\xff"):  # all further bits are 0, or all are 1

        def more(size, byte=byte):
            return byte * size

        given = io.BytesIO(source + bytes(size // 8) + byte * 200_000)
        values = sampler.laplace(scale, size, given.read)
        assert list(values) == [exact_path.laplace(scale, k, more) for k in words]
        given = io.BytesIO(source + byte * 200_000)
        values = sampler.gaussian(scale, size, given.read)
        pairs = [
            exact_path.gaussian(scale, k, turn, more)
            for k, turn in zip(words[:half], words[half:], strict=True)
        ]
        assert list(values) == [cos for cos, _ in pairs] + [sin for _, sin in pairs]


def test_at_usual_scales_nearly_all_is(monkeypatch):
    """Expected at 2^20: 2 * 2^20 * 2^-48.6 = 5e-9 per Laplace number."""
    calls = counting(monkeypatch)
    sampler.laplace(2.0**20, 300_000, seeded(1))
    sampler.gaussian(2.0**20, 300_000, seeded(2))
    assert calls.total() <= 3


@pytest.mark.parametrize("name", DRAWS)
def test_word_zero_takes_the_exact_path(name, monkeypatch):
    """Even where float64 would decide: at scale .001 nothing below e = 500 leaves the integer 0."""
    calls = counting(monkeypatch)
    assert list(DRAWS[name](1e-3, 1, script(0, 0, 2**63))) == [0]
    assert calls[name] == 1


def test_the_tail_goes_on_beyond_44_scales():
    """After two words of zeros e is at least 128 ln 2 = 88.7; -ln 2^-64 = 44.4 is where a table would end."""
    words = [0, 0, *(seeded(4)(8)[0] << 56 | n for n in range(1, 23))]
    (value,) = sampler.laplace(1000.0, 1, script(*words, sign=0))
    cos, sin = sampler.gaussian(1000.0, 2, script(0, words[2], *words[1:]))
    with mpmath.workprec(1500):
        assert value == exact(-1000 * mpmath.log(uniform(words)))
        assert value > 88_700
        radius = 1000 * mpmath.sqrt(-2 * mpmath.log(uniform([0, *words[1::2]])))
        turn = 2 * uniform([words[2], *words[2::2]])
        assert (cos, sin) == (exact(radius * mpmath.cospi(turn)), exact(radius * mpmath.sinpi(turn)))
        assert math.hypot(cos, sin) > 1000 * math.sqrt(2 * 88.7)


def test_what_does_not_fit_fails_and_does_not_wrap():
    """U = 2^-192: e = 133, and 133 * 2^56 is above 2^63 = 128 * 2^56."""
    with pytest.raises(OverflowError):
        sampler.laplace(math.nextafter(2.0**56, 0), 1, script(0, 0, 1, sign=0))


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan, 2.0**56, 2.0**60])
def test_scales_that_are_refused(name, scale):
    with pytest.raises(ValueError, match="no noise of scale"):
        DRAWS[name](scale, 1, seeded(1))


@pytest.mark.parametrize("name", DRAWS)
def test_extreme_scales_that_work(name):
    largest = math.nextafter(2.0**56, 0)
    assert np.abs(DRAWS[name](largest, 50, seeded(1)).astype(float)).max() > 2.0**53
    for tiny in (1e-3, 1e-300, 5e-324):
        assert not DRAWS[name](tiny, 5_000, seeded(2)).any()


@pytest.mark.parametrize("name", DRAWS)
def test_sizes_and_the_memory_of_large_ones(name):
    asked = []

    def words(size):
        asked.append(size)
        return seeded(len(asked))(size)

    for size in (0, 1, 2, 7, sampler._CHUNK, 2 * sampler._CHUNK + 3):
        values = DRAWS[name](3.0, size, words)
        assert values.shape == (size,)
        assert values.dtype == np.int64
    assert max(asked) <= 8 * sampler._CHUNK
    with pytest.raises(ValueError, match="negative"):
        DRAWS[name](3.0, -1, words)


@pytest.mark.parametrize("name", DRAWS)
def test_a_short_byte_source_is_an_error(name):
    with pytest.raises(ValueError, match="buffer"):
        DRAWS[name](3.0, 100, lambda size: bytes(size - 1))


def test_mpmath_is_not_imported_before_it_is_needed():
    code = (
        "import sys, os; from dpsql.mechanisms import mechanism\n"
        "mechanism('laplace').draw(3.0, 9, os.urandom)\n"
        "assert 'mpmath' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
