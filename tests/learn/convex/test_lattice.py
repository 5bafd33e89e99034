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
    assert domain.norm(4) / first.grain < 2**48  # floats hold every multiple of it


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
