"""What is released lies on a lattice that is public, whatever the rows are."""

import math
from fractions import Fraction

import numpy as np
import pytest

from deniable.learn.convex import Ball, Box, Simplex, lattice, proximal
from deniable.learn.convex.exponential import ConvexExponential
from deniable.learn.convex.lattice import Lattice
from deniable.learn.convex.objectives import STEP, Rows, link

DOMAINS = [Ball(1.0), Ball(40.0), Box(-2.0, 0.25), Simplex(1.0), Simplex(700.0)]


def pace(domain, *, coordinates=4, **facts):
    made = {"size": 10.0, "mass": 10.0, "weight": 0.3, "ridge": 2.0, "mixing": 1e-9}
    named = link("logistic", blur=0.05)
    made |= {"arithmetic": 1e-10, "domain": domain, "coordinates": coordinates, "link": named}
    return Lattice(**(made | facts))


def chain(size, domain, name="logistic"):
    """The sampler of so many equal rows: the width of its lattice depends on how many there are."""
    made = ConvexExponential.calibrate(
        loss=name, domain=domain, coordinates=4, lipschitz=1.0, sides=1, epsilon=1.0, delta=1e-6,
        regularised=True, blur=0.05,
    )  # fmt: skip
    points = np.zeros((size, 4))
    points[:, 0] = 40_000
    return made.chain(Rows(points=points, targets=np.zeros(size), link=link(name, blur=0.05)))


def neighbours(domain):
    """Two sizes that differ by one row, and whose lattices differ."""
    widths = [pace(domain, size=n, mass=n).width for n in range(1, 400)]
    at = next(i for i in range(1, len(widths)) if widths[i] != widths[i - 1])
    return at, at + 1


def settings():
    """Sets near and far from 0, many and few rows, corners, ridges and shares of δ of all sizes."""
    draw = np.random.default_rng(3)
    sets = [Ball(1.5), Ball(60.0), Box(-2.0, 0.25), Box(30.0, 30.5), Simplex(1.0), Simplex(40.0)]
    for i in range(90):
        size = float(np.trunc(10 ** draw.uniform(0, 5)))
        yield pace(
            sets[i % 6].scaled(2 ** draw.uniform(-1, 1)),
            coordinates=int(draw.choice([2, 5, 40, 2500])),
            size=size,
            mass=size * draw.uniform(0, 1),
            weight=10 ** draw.uniform(-4, 1),
            ridge=10 ** draw.uniform(-2, 3),
            link=link("absolute" if i % 2 else "logistic", blur=0.05),
            arithmetic=10 ** draw.uniform(-25, -6),
        )


SETTINGS = list(settings())


def facts(made):
    """d, D, r, how far points are from 0, the inner radius, bn + mD, and the trace of b·Σφ″aaᵀ."""
    d, domain = made.coordinates, made.domain
    far = domain.diameter(d)
    steep = made.weight * made.size + made.ridge * far
    bend = made.weight * made.mass * (20.0 if made.link.blur else 0.25)
    ends = float(np.linalg.norm(domain.center(d))) + domain.reach(d)
    return d, far, domain.reach(d), ends, domain.inner(d), steep, bend


def test_a_step_is_as_long_as_curvature_the_set_and_the_gradient_allow():
    """1/η is the curvature over 6, or over 8 at corners, less the ridge, within two limits."""
    seen = set()
    for made in SETTINGS:
        *_, norm, _, steep, bend = facts(made)
        wished = bend / (8 if made.link.blur else 6) - made.ridge
        limits = [norm * 1024 / steep, norm**2] + [1 / wished] * (wished > 0)
        assert made.root == pytest.approx(math.sqrt(min(limits)), rel=1e-8)
        seen.add((limits.index(min(limits)), bool(made.link.blur)))
        assert 1 + 2.0**-31 <= made.steepest / steep <= 1 + 2.0**-29
    assert len(seen) >= 5


def test_pairs_are_drawn_until_the_divergence_is_twice_the_square_of_the_distance():
    """r²/2η, or 1 if that is more, divided by (1 + ηm)² each time; and the first pair."""
    seen = set()
    for made in SETTINGS:
        reach, eta = facts(made)[2], made.root**2
        start = max(reach**2 / (2 * eta), 1.0)
        needed = math.log(start / (2 * made.mixing**2)) / (2 * math.log1p(eta * made.ridge))
        assert needed <= made.steps - 1 <= needed * (1 + 2.0**-29) + 1
        seen.add(start > 1)
    assert seen == {True, False}


def test_logarithms_that_come_out_whole_are_not_trusted():
    """Where so many pairs are just enough, one more is drawn: either may be wrong in its digits."""
    for pairs in range(20, 60):
        rate = 2 * math.log1p(2.0)
        made = pace(Ball(1.0), mixing=math.sqrt(0.5 * math.exp(-pairs * rate)))
        made.__dict__["root"] = 1.0
        assert made.steps == 1 + pairs + 1


def test_points_of_words_have_room_for_the_noise_and_the_step():
    """‖x‖, noise of 40 + √d standard deviations, and 4η(bn + mD), within 61 bits and no fewer."""
    words = 0
    for made in SETTINGS:
        d, *_, norm, _, steep, _ = facts(made)
        far = norm + (40 + math.sqrt(d)) * made.root + 4 * made.root**2 * steep
        assert 2.0 ** (made._span - 1) * (1 - 1e-8) < far <= 2.0**made._span * (1 + 1e-8)
        word = made.width == 2.0 ** (made._span - 61)
        assert made.width <= 2.0 ** (made._span - 61)
        assert made.kind == (np.dtype(np.int64) if word else np.dtype(object))
        assert math.frexp(made.width)[0] == 0.5  # a power of two, so that lattices nest
        words += word
    assert 10 < words < 80


def test_what_rounding_adds_per_pair_is_what_the_module_derives():
    """r·(1/√η + 8(bn + mD) + 16(aD + S)), S = 3(bn + mD) + 2√(d/η) + d/i, and a little more."""
    for made in SETTINGS:
        d, far, _, _, inner, steep, _ = facts(made)
        moved = (d if isinstance(made.domain, Simplex) else math.sqrt(d)) / 2
        aimed = 3 * steep + 2 * math.sqrt(d) / made.root + d / inner
        slopes = 8 * steep + 16 * ((1 / made.root**2 + made.ridge) * far + aimed)
        exact = moved * (1 / made.root + slopes)
        assert 1 + 2.0**-21 <= made._harm / exact <= 1 + 2.0**-19
        all_pairs = (made.steps + 4) * made._harm * made.width
        assert made.missed == pytest.approx(all_pairs, rel=1e-12, abs=0)


@pytest.mark.parametrize("share", range(16))
def test_the_lattice_is_as_fine_as_is_needed_and_not_finer(share):
    """T pairs and the release, which counts as four, leave half of what is allowed: spare room."""
    made = pace(Ball(1.0), ridge=40.0, arithmetic=1e-25 * 2 ** (share / 16))
    assert made.steps < 40
    assert made.kind == np.dtype(object)
    assert 0.25 < (made.steps + 4) * made._harm * made.width / made.arithmetic <= 0.5


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_the_grid_of_what_is_released_is_the_same_for_all_rows(domain):
    first, second = (pace(domain, size=n, mass=n) for n in neighbours(domain))
    assert first.width != second.width
    grains = {
        pace(domain, size=size, mass=mass, arithmetic=arithmetic).grain
        for size in (0.0, 1.0, 1e4, 1e12)
        for mass in (0.0, 1.0, 1e4)
        for arithmetic in (1e-10, 1e-30)
    }
    assert grains == {first.grain}
    assert 2**47 <= domain.norm(4) / first.grain < 2**48  # floats hold every multiple of it


@pytest.mark.parametrize("size", [54, 55, 56, 57])
def test_no_draw_shows_the_lattice_on_which_it_was_walked_to(size):
    """Of 55 and 56 such rows the widths are 2⁻⁵³ and 2⁻⁵², which single draws used to show."""
    walk = chain(size, Ball(1.0))
    for _ in range(10):
        drawn = walk.draw()
        assert np.linalg.norm(drawn) < 1  # nothing was projected
        assert (np.mod(drawn, walk.lattice.grain) == 0).all()


def test_the_widths_of_these_neighbours_do_differ():
    widths = {chain(size, Ball(1.0)).width for size in (54, 55, 56, 57)}
    assert len(widths) > 1


@pytest.mark.parametrize("coarser", [-3, -1, 0, 1, 2, 5])
@pytest.mark.parametrize("state", [[0, 7, -7, 1, -1], [2**70 + 3, -(2**70) - 3, 5, 4, 6]])
def test_a_state_is_released_as_the_nearest_multiple_of_a_point_in_its_cell(
    coarser, state, monkeypatch
):
    """Every digit that can be drawn, with further ones as small and as large as they may be."""
    made = pace(Ball(1.0), coordinates=5)
    width = Fraction(made.grain) / Fraction(2) ** coarser
    monkeypatch.setattr(Lattice, "width", property(lambda self: float(width)))
    bits = max(1, 1 - coarser)
    for digit in range(1 << bits):
        monkeypatch.setattr(
            lattice, "below", lambda bound, count, u=digit: np.full(count, u) if bound == 1 << bits
            else pytest.fail(f"{bound} digits")
        )  # fmt: skip
        found = made.released(np.array(state, dtype=object))
        for x, shown in zip(state, found, strict=True):
            for rest in (Fraction(0), 1 - Fraction(1, 10**9)):
                real = (x - Fraction(1, 2) + (digit + rest) / (1 << bits)) * width
                nearest = math.floor(real / Fraction(made.grain) + Fraction(1, 2))
                assert Fraction(float(nearest)) * Fraction(made.grain) == Fraction(shown)


def test_a_point_of_a_simplex_has_its_first_coordinate_from_the_others():
    found = Simplex(2.0).completed(np.array([9.0, 0.5, 0.25]))
    assert found.tolist() == [1.25, 0.5, 0.25]
    assert Box(0.0, 1.0).completed(found) is found


def test_sums_of_many_rows_are_added_in_whole_numbers_of_python(monkeypatch):
    points, slopes = np.full((9, 2), 2.0**16), np.full(9, -(2.0**22))
    few = proximal._exact_sums(points, slopes)
    monkeypatch.setattr(proximal, "_FEW", 8)
    many = proximal._exact_sums(points, slopes)
    assert few.dtype == np.int64
    assert many.dtype == object
    assert few.tolist() == many.tolist() == [-9 * 2**38] * 2
    assert 2 ** (24 + 16 + 22) < 2**63
    assert 1 / STEP <= 2**16
