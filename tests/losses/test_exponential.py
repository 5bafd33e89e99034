"""The law of sampled Laplace and bounded-range losses: its density, its atoms and its bounds."""

import dataclasses
import math

import mpmath as mp
import numpy as np
import pytest
from tests.losses import figures

from deniable.losses.pairs.exponential import ExponentialMixture

A, Q = 1.2, 0.2
LOG_DENSITY = -math.log(4)  # of Laplace noise at its largest loss
REMOVED = ExponentialMixture(A, LOG_DENSITY, 0.5, Q, added=False)
ADDED = ExponentialMixture(A, LOG_DENSITY, 0.5, Q, added=True)
SMOOTH = ExponentialMixture(A, -math.log(2 * -math.expm1(-A)), 0.0, Q, added=False)
EVERY = {"removed": REMOVED, "added": ADDED, "smooth": SMOOTH}
X = np.array([0.0, 0.3, 1.0, 2.0, 2.4])


def ratio(m):
    return 1 - mp.mpf(Q) + mp.mpf(Q) * mp.exp(m)


@pytest.mark.parametrize("name", ["removed", "added"])
def test_losses_count_down_from_the_largest(name):
    """x = a − l, L = ln r(l) when removing and −ln r(−l) when adding."""
    mixture, sign = EVERY[name], (1 if name == "removed" else -1)
    largest = sign * mp.log(ratio(sign * mp.mpf(A)))
    assert mixture.largest_loss() == pytest.approx(float(largest))
    for i, x in enumerate(X):
        m = sign * (mp.mpf(A) - x)
        assert mixture.deficits(X)[i] == pytest.approx(float(largest - sign * mp.log(ratio(m))))
        slope = mp.mpf(Q) * mp.exp(m) / ratio(m)
        assert mixture.slope(X)[i] == pytest.approx(float(slope))
        under = mp.mpf(1) / 4 * mp.exp(-mp.mpf(float(x)) / 2)
        if name == "removed":  # under Q the density is mirrored, and P′ = rQ
            under = mp.exp(-(mp.mpf(A) - mp.mpf(float(x)) / 2)) / 4 * ratio(m)
        for c in (0.5, 3.0):
            wanted = mp.log(under) - c * (largest - sign * mp.log(ratio(m)))
            assert mixture.log_weights(X, c)[i] == pytest.approx(float(wanted))


@pytest.mark.parametrize("name", ["removed", "added"])
def test_atoms_are_at_both_ends_and_the_law_has_a_mass_of_one(name):
    mixture = EVERY[name]
    deficits, masses = mixture.point_masses()
    assert deficits == pytest.approx(mixture.deficits(np.array([0.0, 2 * A])))
    inner = [0.5, 0.5 * math.exp(-A)]
    if name == "removed":
        inner = [float(m * ratio(a)) for m, a in zip(inner[::-1], (A, -A), strict=True)]
    assert masses == pytest.approx(inner)
    x = np.linspace(0, 2 * A, 20_001)
    between = np.trapezoid(np.exp(mixture.log_weights(x, 0.0)), x)
    assert masses.sum() + between == pytest.approx(1, abs=1e-8)
    for kept in ((True, False), (False, True)):
        part = dataclasses.replace(mixture, kept=kept)
        assert part.point_masses()[1] == pytest.approx(masses * kept)
    assert SMOOTH.point_masses() is None


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("c", [0.5, 6.0])
@pytest.mark.parametrize("ends", [(0.0, 2 * A), (0.3, 1.0), (0.0, 1.0), (1.0, 2 * A)])
def test_outside_of_two_ends_lies_no_more_than_stated(name, c, ends):
    mixture = EVERY[name]

    def mass(a, b):
        x = np.linspace(a, b, 4001)
        return np.trapezoid(np.exp(mixture.log_weights(x, c)), x)

    outside = mass(0.0, ends[0]) + mass(ends[1], 2 * A)
    stated = math.exp(mixture.log_beyond(*ends, c))
    assert outside <= stated * (1 + 1e-9)
    assert stated <= 30 * outside
    assert mixture.limits(c) == (0.0, 2 * A, 0.7)
    assert mixture.steepness() == 1.0


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("ends", [(0.1, 0.5), (0.5, 1.5), (1.6, 2.3)])
def test_weights_in_the_complex_plane_are_no_larger_than_stated(name, ends):
    mixture, c, across = EVERY[name], 3.0, 0.6
    low, high, height = (np.array([each]) for each in (*ends, across))
    stated = mixture.log_most(low, high, height, c)[0]
    x = np.linspace(*ends, 40)[:, None] + 1j * np.linspace(-across, across, 21)
    sign = -1 if mixture.added else 1
    r = 1 - Q + Q * np.exp(sign * (A - x))
    largest = sign * math.log(1 - Q + Q * math.exp(sign * A))
    loss = sign * np.log(np.abs(r)) - largest
    logs = mixture.log_density - x.real / 2 + c * loss
    if not mixture.added:
        logs = mixture.log_density - A + x.real / 2 + np.log(np.abs(r)) + c * loss
    assert logs.max() <= stated <= logs.max() + 3


def test_tables_are_dense_near_the_largest_loss():
    table = REMOVED.table(0.0, 2.4, 100)
    assert len(table) == 100
    assert table[:2].tolist() == [0.0, pytest.approx(2.4 * 2.0**-60)]
    assert table[-1] == pytest.approx(2.4)
    assert np.ptp(np.diff(np.log(table[1:]))) < 1e-12


PART = "exponential"
LOW, HIGH, ACROSS = np.array([0.1, 0.5]), np.array([0.4, 1.0]), np.array([0.3, 0.7])
CASES = {
    f"{case} {name}": lambda mixture=mixture, compute=compute: compute(mixture)
    for name, mixture in EVERY.items()
    for case, compute in {
        "law": lambda m: [m.largest_loss(), m.deficits(X), m.slope(X), m.log_weights(X, 3.0)],
        "atoms": lambda m: m.point_masses(),
        "most": lambda m: m.log_most(LOW, HIGH, ACROSS, 3.0),
        "precision": lambda m: m.precision(X),
        "beyond": lambda m: [m.log_beyond(0.5, 1.5, c) for c in (0.5, 8.0)],
        "table": lambda m: m.table(0.0, 2 * A, 7),
    }.items()
    if not (case == "atoms" and name == "smooth")
}


@pytest.mark.parametrize("case", CASES)
def test_figures_and_what_they_allow_for_rounding_are_as_recorded(case):
    figures.check(PART, case, CASES[case])
