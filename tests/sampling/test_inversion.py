"""Every decision near a threshold is the one exact arithmetic makes.

Words are put at distances 2⁰ … 2⁴⁵ from the thresholds of many scales. The bits that the fall-back
draws are 0101…, so U is (bits + 1/3)·2⁻⁶³ exactly, and mpmath knows the answer.
"""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from deniable.sampling import discrete_laplace, geometric, inversion, rounded_laplace
from deniable.sampling.exact import exp_bounds
from deniable.sampling.inversion import Inversion
from deniable.sampling.lazy import Uniform
from deniable.sampling.seeded import SeededSource

SCALES = [Fraction(1, 3), 1, Fraction(7, 3), 10, 1e3, 99991.25, 1e6, 2**20]
LARGE = [2**20 + Fraction(1, 3), 10**9, 2**30, 2.0**40, 2**52]
DISTANCES = [0, *(sign << power for power in range(46) for sign in (-1, 1))]
THIRD = Fraction(1, 3)


@pytest.fixture(autouse=True)
def _precise():
    with mpmath.workprec(400):
        yield


def real(x):
    x = Fraction(x)
    return mpmath.mpf(x.numerator) / x.denominator


def near(position):
    """63-bit numbers around U = position."""
    centre = int(mpmath.floor(position * 2**63))
    return [bits for d in DISTANCES if 0 <= (bits := centre + d) < 2**63]


def exponential(bits):
    return -mpmath.log(real((bits + THIRD) / 2**63))


def lam(scale):
    return mpmath.log(2 / (1 + mpmath.exp(-1 / real(scale))))


def thresholds(scale, *, centred):
    """The largest U that still gives k, for small, middling and extreme k."""
    shift = lam(scale) if centred else mpmath.mpf(0)
    wanted = {1, 2, 3, int(scale) or 4, int(10 * scale) + 1, int(40 * scale) + 1}
    return [p for k in wanted if 2**-62 < (p := mpmath.exp(shift - k / real(scale))) < 1]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("centred", [True, False])
def test_words_next_to_every_threshold_are_decided_rightly(scale, centred, scripted):
    bits = [b for p in thresholds(scale, centred=centred) for b in near(p)]
    bits += [0, 1, 2**40, 2**63 - 1]
    shift = lam(scale) if centred else 0
    wanted = [int(mpmath.floor(real(scale) * (shift + exponential(b)))) for b in bits]
    source = scripted(bits)
    sampler = discrete_laplace if centred else geometric
    assert sampler(scale, len(bits), source=source).tolist() == wanted
    assert source.drawn > len(bits)  # the exact path was taken
    assert [int(sampler(scale, 1, source=scripted([b]))[0]) for b in bits] == wanted
    if centred:
        negative = scripted([b + 2**63 for b in bits])
        assert discrete_laplace(scale, len(bits), source=negative).tolist() == [-w for w in wanted]
        alone = [discrete_laplace(scale, 1, source=scripted([b + 2**63])).item() for b in bits]
        assert alone == [-w for w in wanted]


@pytest.mark.parametrize("scale", [2**20 + THIRD, 10**9, 2**30])
def test_single_draws_of_large_scale_are_decided_rightly(scale, scripted):
    """One word decides what arrays decide with three."""
    bits = [b for p in thresholds(scale, centred=True) for b in near(p)][::3]
    wanted = [int(mpmath.floor(real(scale) * (lam(scale) + exponential(b)))) for b in bits]
    assert [discrete_laplace(scale, 1, source=scripted([b])).item() for b in bits] == wanted
    wanted = [int(mpmath.floor(0.75 - real(scale) * exponential(b))) for b in bits]
    negative = [scripted([b + 2**63]) for b in bits]
    assert [rounded_laplace(scale, [0.25], source=n).item() for n in negative] == wanted


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("sign", [1, -1])
def test_rounded_noise_is_decided_rightly_at_every_offset(scale, sign, scripted):
    words, offsets, wanted = [], [], []
    for offset in (0.0, 0.5, -0.5, 0.25, -1 / 3, 2.0**-60, -(2.0**-60), 5e-324, 0.4999999999999999):
        for target in {sign, 2 * sign, sign * int(7 * scale + 1)}:
            position = mpmath.exp(-sign * (target - real(offset) - 0.5) / real(scale))
            for bits in near(position) if 0 < position < 1 else []:
                words.append(bits + (2**63 if sign < 0 else 0))
                offsets.append(offset)
                value = real(offset) + 0.5 + sign * real(scale) * exponential(bits)
                wanted.append(int(mpmath.floor(value)))
    assert len(words) > 500
    source = scripted(words)
    assert rounded_laplace(scale, offsets, source=source).tolist() == wanted
    assert source.drawn > len(words)
    few = range(0, len(words), 17)
    drawn = [int(rounded_laplace(scale, [offsets[i]], source=scripted([words[i]]))[0]) for i in few]
    assert drawn == [wanted[i] for i in few]


def parts(scale):
    """k and t, with scale = 2ᵏ·t."""
    shift = max(0, (int(np.ceil(float(Fraction(scale)))) - 1).bit_length() - 20)
    return shift, Fraction(scale) / 2**shift


def around(base, sign, shift):
    """64-bit V at and around the points where base ± 2ᵏ·V is whole."""
    steps = [0, 1, 2, 5, *(1 << power for power in range(3, 46, 3))]
    centres = [
        int(mpmath.floor((whole - base) * sign * mpmath.mpf(2) ** (64 - shift)))
        for whole in (*range(-2, 4), sign * 2 ** (shift - 1), sign * 2**shift)
    ]
    values = {centre + d * way for centre in centres for d in steps for way in (-1, 1)}
    return sorted(v for v in values if 0 <= v < 2**64)


@pytest.mark.parametrize("scale", LARGE)
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("offset", [None, 0.0, 0.25, -0.5, 2.0**-60])
def test_large_scales_are_split_without_error(scale, sign, offset, scripted, monkeypatch):
    shift, slope = parts(scale)
    base = real(scale) * lam(scale) if offset is None else real(offset) + 0.5
    way = 1 if offset is None else sign
    vs = around(base, way, shift)
    bits, count = 2**62 + 12345, len(vs)
    assert count > 60
    quotient = int(mpmath.floor(real(slope) * exponential(bits)))
    wanted = []
    for v in vs:
        size = mpmath.mpf(2**shift) * (quotient + real((v + THIRD) / 2**64))
        floor = int(mpmath.floor(base + way * size))
        wanted.append(sign * floor if offset is None else floor)
    exact = []
    combine = Inversion._combine
    monkeypatch.setattr(
        Inversion, "_combine", lambda self, *a, **k: exact.append(1) or combine(self, *a, **k)
    )
    source = scripted([bits + (2**63 if sign < 0 else 0)] * count + vs + [0] * count)
    if offset is None:
        drawn = discrete_laplace(scale, count, source=source)
    else:
        drawn = rounded_laplace(scale, [offset] * count, source=source)
    assert drawn.tolist() == wanted
    assert drawn.dtype == np.int64
    assert 0 < len(exact) < count


@pytest.mark.parametrize("scale", LARGE)
def test_the_rare_rejection_is_decided_rightly(scale, scripted):
    """W next to e^(−V/t): accepted below, a new V (here 1/3) above."""
    shift, slope = parts(scale)
    v = 0xC000000000000000
    part = real((v + THIRD) / 2**64)
    limit = int(mpmath.floor(mpmath.exp(-part / real(slope)) * 2**64))
    ws = [w for d in DISTANCES if 0 <= (w := limit + d) < 2**64]
    word, count = 2**62, len(ws)
    quotient = int(mpmath.floor(real(slope) * exponential(word)))
    wanted = []
    for w in ws:
        kept = real((w + THIRD) / 2**64) < mpmath.exp(-part / real(slope))
        fraction = part if kept else real(THIRD)
        wanted.append(int(mpmath.floor(0.5 + mpmath.mpf(2**shift) * (quotient + fraction))))
    assert len(set(wanted)) == 2
    source = scripted([word] * count + [v] * count + ws)
    assert rounded_laplace(scale, np.zeros(count), source=source).tolist() == wanted


@pytest.mark.parametrize("scale", [Fraction(1, 3), 1, Fraction(7, 3), 10, 1000, 30000])
def test_enumerating_the_first_bits_gives_the_law(scale, scripted):
    """All 2¹⁵ values of the first bits, both signs: every tail is right to 2⁻¹⁵."""
    cells = 2**15
    words = [(i << 48) + (1 << 47) for i in range(2 * cells)]
    drawn = discrete_laplace(scale, 2 * cells, source=scripted(words))
    assert (drawn[:cells] == -drawn[cells:]).all()
    sizes = np.sort(np.abs(drawn[:cells]))
    q = mpmath.exp(-1 / real(scale))
    for k in range(1, 2 + int(sizes[-1]), max(1, int(scale) // 7)):
        tail = 2 * q**k / (1 + q)
        seen = cells - int(np.searchsorted(sizes, k))
        assert abs(seen - tail * cells) <= 1


def test_enumeration_catches_a_scale_that_is_wrong_by_half_a_percent(scripted):
    cells = 2**15
    words = [(i << 48) + (1 << 47) for i in range(cells)]
    drawn = np.abs(discrete_laplace(1000 * 1.005, cells, source=scripted(words)))
    seen = int((drawn >= 1000).sum())
    assert abs(seen - cells * float(mpmath.exp(-1))) > 30


class Bits(SeededSource):
    """Gives these words first."""

    def __init__(self, *words):
        super().__init__(0)
        self.first = list(words)

    def integer(self, bits):
        return self.first.pop(0) if self.first else super().integer(bits)


@pytest.mark.parametrize("slope", [Fraction(1), Fraction(7, 3)])
@pytest.mark.parametrize("v", [1 << 40, 3 << 60, 9 << 60, (1 << 64) - 1])
@pytest.mark.parametrize("later", [0, 1 << 63, (1 << 64) - 1])
def test_what_64_bits_leave_open_is_decided_by_further_bits_of_both_numbers(slope, v, later):
    """W lies next to e^(−V/t) where the first 64 bits of V and W decide nothing."""
    law = Inversion(slope)
    near = exp_bounds(-Fraction((v << 64) | later, 1 << 128) / slope, 128)[0]
    for step in (-(1 << 20), 1 << 20):
        w = near + step
        source = Bits(later, w & ((1 << 64) - 1))
        assert law._kept(Uniform(source, value=v), Uniform(source, value=w >> 64)) == (step < 0)


@pytest.mark.parametrize("count", [1, 2])
def test_unsigned_draws_have_no_sign_also_where_they_are_exact(count, scripted):
    """The first bit of a word is the sign elsewhere; here it is not looked at."""
    for scale in (Fraction(10), Fraction(2**60)):
        law = Inversion(scale, signed=False)
        for bits in (1, 2**39, 2**62):
            words = [bits] * count, [bits + 2**63] * count
            plain, marked = (law.draw(count, scripted(w)).tolist() for w in words)
            assert plain == marked
            assert min(plain) >= 0


def test_a_fraction_that_is_surely_kept_needs_no_exponential(monkeypatch, scripted):
    law = Inversion(Fraction(2**20), signed=False)
    monkeypatch.delattr(inversion, "exp_bounds")
    v, w = Uniform(scripted(), value=2**63), Uniform(scripted(), value=2**63)
    assert law._kept(v, w)
    sure = 1 - 2.0**-22  # of W: with V/t below 2⁻²⁰ − 2⁻²² the sum stays below 1
    assert law._kept(Uniform(scripted(), value=1), Uniform(scripted(), value=int(sure * 2**64)))
    with pytest.raises(NameError):
        law._kept(v, Uniform(scripted(), value=2**64 - 1))


def test_a_fraction_at_the_edge_is_judged_without_further_bits(scripted):
    """W = most·2⁻⁶⁴ or more is rejected, and W + 1 = least or less is kept."""
    law, v = Inversion(Fraction(7, 3)), 9 << 60
    most = exp_bounds(-Fraction(v, 1 << 64) / Fraction(7, 3), 64)[1]
    least = exp_bounds(-Fraction(v + 1, 1 << 64) / Fraction(7, 3), 64)[0]
    for w, kept in ((most, False), (most + 1, False), (least - 1, True)):
        source = scripted()
        assert law._kept(Uniform(source, value=v), Uniform(source, value=w)) is kept
        assert source.drawn == 0
