"""The contour is never below the truth, hardly above it, and its bounds are needed."""

import dataclasses
import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.losses import figures, truth

from deniable.losses import contour
from deniable.losses.pairs import ApproxPair, GaussianPair, LaplacePair, SampledPair, atoms


@dataclasses.dataclass
class Laid:
    """A line through the saddle of one ε, that can be asked about any."""

    pairs: list
    epsilon: float

    def __post_init__(self):
        self.saddle = contour.Saddle(self.pairs)
        tilt = self.saddle.at(self.epsilon)
        found = atoms.heaviest(self.pairs, tilt.c)
        self.line = contour.line(self.pairs, tilt, tolerance=contour.SMOOTHING, atoms=found)

    def log_delta(self, epsilon):
        return self.line.log_delta(self.saddle.gap(epsilon))


def check(pairs, epsilon, exact, *, within=1e-6):
    """Never below the truth; above by less than a millionth of it."""
    bound = mp.exp(mp.mpf(Laid(pairs, epsilon).log_delta(epsilon)))
    assert exact <= bound <= exact * (1 + within)


@pytest.mark.parametrize("c", [0.3, 20.0])
@pytest.mark.parametrize(("step", "count"), [(0.05, 8), (0.5, 8), (0.01, 300), (0.02, 0)])
def test_what_is_left_out_is_below_its_bound_and_not_far_below(c, step, count):
    """Of Gaussians, a product decays as e^(−Σμ²t²/2)."""
    rest = contour._rest([(GaussianPair(mu=0.6), 3), (GaussianPair(mu=0.8), 2)], c, step, count + 1)
    t = step * np.arange(count + 2, count + 20_000)
    exact = step / math.pi * np.exp(-2.36 * t**2 / 2) / np.abs((c + 1j * t) * (c + 1 + 1j * t))
    assert exact.sum() <= rest
    first = math.exp(-2.36 * t[0] ** 2 / 2)
    assert rest == pytest.approx(first / (math.pi * step * (count + 1)), rel=1e-8)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-14, 1e-24])
def test_atoms_are_smoothed_as_little_as_the_number_of_nodes_allows(tolerance):
    pairs = [(ApproxPair(epsilon=0.5), 1)]
    tilt = contour.Saddle(pairs).at(0.2)
    tau, count, step = contour.plan(pairs, tilt, tolerance=tolerance)
    least = math.sqrt(2 * tolerance / (tilt.steep * (1 + tilt.steep)))
    assert 0 < count <= contour.MOST_NODES
    # A Gaussian's e^(−τ²t²/2) must reach 10⁻⁹ or so within the nodes there are, and no more.
    assert tau == least or 1 < tau * contour.MOST_NODES * step < 20
    assert tau >= least
    assert (tau == least) == (tolerance > 1e-6)


@settings(max_examples=40, deadline=None)
@given(st.floats(0.01, 8), st.floats(0, 6))
def test_gaussians_agree_with_the_analytic_formula(mu, place):
    epsilon = place * mu + mu**2 / 2
    check([(GaussianPair(mu=mu), 1)], epsilon, truth.gaussian(mu, epsilon))


@settings(max_examples=30, deadline=None)
@given(st.floats(0.05, 4), st.floats(0, 6), st.floats(0, 12))
def test_far_from_where_it_was_laid_the_line_is_still_never_below(mu, laid, asked):
    line = Laid([(GaussianPair(mu=mu), 1)], laid * mu)
    assert mp.mpf(line.log_delta(asked * mu)) >= mp.log(truth.gaussian(mu, asked * mu))


@settings(max_examples=6, deadline=None)
@given(st.floats(0.02, 2), st.integers(1, 80), st.floats(0.05, 0.9))
def test_randomized_responses_agree_with_the_binomial_sum(epsilon0, times, place):
    epsilon = place * times * epsilon0 * min(1, 6 / math.sqrt(times))
    exact = truth.responses(epsilon0, times, epsilon)
    check([(ApproxPair(epsilon=epsilon0), times)], epsilon, exact)


@settings(max_examples=10, deadline=None)
@given(st.floats(0.1, 2), st.floats(0.1, 2), st.floats(0.1, 3))
def test_a_laplace_then_a_gaussian_agree_with_one_integral(ratio, mu, epsilon):
    exact = truth.after_laplace(ratio, lambda e: truth.gaussian(mu, e), epsilon)
    check([(LaplacePair(ratio=ratio), 1), (GaussianPair(mu=mu), 1)], epsilon, exact)


@pytest.mark.slow
@settings(max_examples=4, deadline=None)
@given(st.floats(0.3, 1.5), st.floats(0.001, 0.9), st.floats(0.2, 1.5), st.floats(0.1, 3))
def test_a_sampled_gaussian_then_a_gaussian_agree_with_one_integral(mu, rate, other, epsilon):
    exact = truth.after_sampled_gaussian(mu, rate, lambda e: truth.gaussian(other, e), epsilon)
    pair = SampledPair(inner=GaussianPair(mu=mu), rate=rate)
    check([(pair, 1), (GaussianPair(mu=other), 1)], epsilon, exact)


@pytest.mark.parametrize("delta", [1e-10, 1e-30, 1e-100, 1e-290])
def test_tiny_deltas_keep_their_digits(delta):
    pairs = [(GaussianPair(mu=0.05), 1000)]
    _, epsilon = contour.Saddle(pairs).within(math.log(delta))
    exact = truth.gaussian(mp.mpf(0.05) * mp.sqrt(1000), epsilon)
    assert 0 <= mp.mpf(Laid(pairs, epsilon).log_delta(epsilon)) - mp.log(exact) < 1e-8


def test_the_two_directions_of_sampling_have_the_same_total_variation():
    """At ε = 0 both divergences are the total variation: an identity neither formula knows of."""
    inner = GaussianPair(mu=0.9)
    both = [
        Laid([(SampledPair(inner=inner, rate=0.01, direction=d), 10_000)], 0.0).log_delta(0.0)
        for d in ("remove", "add")
    ]
    assert both[0] == pytest.approx(both[1], abs=1e-8)


@pytest.mark.parametrize("times", [300, 20_000])
def test_the_error_of_the_nodes_is_within_the_stated_one(times):
    """Recomputed to 40 digits; of many uses each errs a little, and their errors add up."""
    pair = ApproxPair(epsilon=0.7 / math.sqrt(times))
    laid = Laid([(pair, times)], 1.3)
    losses, masses = ([mp.mpf(float(x)) for x in each] for each in pair.atoms())
    line, off = laid.line, mp.mpf(0)
    step = float(line.t[1])
    with mp.workdps(40):
        for t, term in zip(line.t.tolist(), line.terms.tolist(), strict=True):
            z = mp.mpc(line.tilt.c, t)
            one = mp.fsum(
                p * mp.exp(z * (l - mp.mpf(pair.origin())))
                for l, p in zip(losses, masses, strict=True)
            )
            log_d = times * mp.log(one)
            if line.tau:
                added = GaussianPair(mu=line.tau)
                log_d += mp.mpf(line.tau) ** 2 * z * (z + 1) / 2 - z * mp.mpf(added.origin())
            exact = mp.exp(log_d - mp.mpf(line.tilt.log_d)) * step / mp.pi / (z * (z + 1))
            off += abs(exact / (1 if t else 2) - mp.mpc(term))
    assert off <= line.errors
    assert line.errors < 1e-6 * float(np.abs(line.terms).sum())


def test_without_the_bound_on_what_is_cut_the_price_would_be_too_low():
    """A sabotaged twin: an eighth of the nodes and no bound on the rest is below the truth."""
    pairs, below = [(LaplacePair(ratio=0.5), 2)], 0
    for step in range(8):
        epsilon = 0.1 * step
        exact = truth.after_laplace(
            0.5, lambda e: truth.laplace(0.5, e), epsilon, kinks=(-0.5, 0.5)
        )
        laid = Laid(pairs, epsilon)
        assert mp.exp(mp.mpf(laid.log_delta(epsilon))) >= exact
        cut = len(laid.line.t) // 8
        laid.line = dataclasses.replace(
            laid.line, t=laid.line.t[:cut], terms=laid.line.terms[:cut], errors=0.0, rest=0.0
        )
        below += mp.exp(mp.mpf(laid.log_delta(epsilon))) < exact
    assert below > 0


def test_without_taking_kinks_off_the_price_at_an_atom_would_not_be_tight():
    pairs = [(LaplacePair(ratio=0.5), 2)]
    exact = truth.after_laplace(0.5, lambda e: truth.laplace(0.5, e), 0.0, kinks=(-0.5, 0.5))
    laid = Laid(pairs, 0.0)
    laid.line = dataclasses.replace(laid.line, atoms=None)
    assert mp.exp(mp.mpf(laid.log_delta(0.0))) > exact * (1 + 1e-5)
    check(pairs, 0.0, exact)


@pytest.mark.parametrize(("first", "second", "times"), [(0.1, 0.15, 1), (0.0, 0.01, 20)])
def test_the_mass_of_finite_losses_is_of_all_mechanisms_and_rounded_down(first, second, times):
    pairs = [
        (ApproxPair(epsilon=0.5, delta=first), 1),
        (ApproxPair(epsilon=0.7, delta=second), times),
    ]
    exact = (1 - first) * (1 - second) ** times
    assert exact - 0.03 < Laid(pairs, 0.3).line.finite < exact


@settings(max_examples=8, deadline=None)
@given(st.floats(0.1, 1), st.floats(0.1, 1), st.floats(0.01, 0.99))
def test_two_laplaces_agree_with_one_integral(first, second, place):
    epsilon = place * (first + second)
    exact = truth.after_laplace(
        first, lambda e: truth.laplace(second, e), epsilon, kinks=(-second, second)
    )
    check([(LaplacePair(ratio=first), 1), (LaplacePair(ratio=second), 1)], epsilon, exact)


@pytest.mark.parametrize("times", [2, 23, 80])
@pytest.mark.parametrize("place", [0.05, 0.25, 0.5, 0.9])
def test_no_alias_falls_on_the_highest_atom(times, place):
    """There it would be smoothed like the atom itself, and the price be too high by that."""
    epsilon = place * 2.0 * times
    exact = truth.responses(2.0, times, epsilon)
    check([(ApproxPair(epsilon=2.0), times)], epsilon, exact)


def test_a_minimum_is_found_or_what_is_low_enough():
    def valley(c):
        tried.append(c)
        return abs(math.log(c / 1e6))

    tried = []
    assert valley(contour.minimise(valley)) < 0.1
    close, tried = len(tried), []
    assert 0.1 < valley(contour.minimise(valley, floor=8.0)) <= 8.0
    assert len(tried) < close / 2


@pytest.mark.parametrize("tau", [1e-3, 1.0, 30.0, 60.0, 1e3, 14188.960189175245, 1e150])
def test_smoothing_is_never_above_the_truth_however_far_the_means_are(tau):
    """δ(x) = Φ(τ/2 − x/τ) − eˣ Φ(−τ/2 − x/τ), in 60 digits."""
    x = np.array([0.0, 1e-9, 1.0, 100.0])
    found = contour.smoothed(tau, x)
    with mp.workdps(60):
        for got, at in zip(found, x, strict=True):
            far = mp.mpf(tau) / 2
            low = mp.mpf(at) / mp.mpf(tau)
            true = mp.ncdf(far - low) - mp.exp(at) * mp.ncdf(-far - low)
            assert got <= true
            assert got >= true * (1 - mp.mpf("1e-9")) - mp.mpf("1e-12")


PART = "contour"
LISTS = {
    "gaussian": [(GaussianPair(mu=0.3), 7)],
    "laplace": [(LaplacePair(ratio=0.5), 20)],
    "sampled": [(SampledPair(inner=GaussianPair(mu=1.2), rate=0.05), 30)],
    "both": [(LaplacePair(ratio=0.5), 3), (GaussianPair(mu=0.3), 7)],
    "boxes": [(ApproxPair(epsilon=0.4, delta=1e-7), 12), (ApproxPair(epsilon=0.1), 5)],
}


def laid(pairs, epsilon):
    found = Laid(pairs, epsilon)
    line = found.line
    return [
        (line.tilt.c, line.tilt.log_d, line.tilt.window, line.tilt.steep, len(line.t)),
        (line.errors, line.rest, line.tau, line.origin, line.finite, line.size, line.moment),
        [found.log_delta(e) for e in (epsilon, 0.9 * epsilon, 1.1 * epsilon)],
    ]


def upper(epsilon):
    saddle = contour.Saddle(LISTS["sampled"])
    tilt = saddle.at(epsilon)
    line = contour.line(saddle.pairs, tilt, tolerance=1e-7, atoms=None, least=0.9 * epsilon)
    gaps = [saddle.gap(e) for e in (epsilon, 0.91 * epsilon, 0.89 * epsilon)]
    return [line.errors, line.rest, line.furthest, line.finite, [line.log_delta(g) for g in gaps]]


CASES = (
    {f"line of {n}": lambda p=p: laid(p, 1.5) for n, p in LISTS.items()}
    | {
        f"tilts of {n}": lambda p=p: [
            contour.Saddle(p).at(0.3),
            contour.Saddle(p).at(2.0),
            contour.Saddle(p).within(-12.0),
            contour.Saddle(p).wider(contour.Saddle(p).at(2.0), 0.0, -30.0),
        ]
        for n, p in LISTS.items()
    }
    | {
        "smoothed": lambda: contour.smoothed(1e-3, np.array([0.0, 1e-4, 1e-3, 5e-3, 0.05])),
        "smoothed far": lambda: contour.smoothed(50.0, np.array([0.0, 100.0, 1300.0, 1500.0])),
        "upper": lambda: upper(2.5),
        "rest": lambda: [contour._rest(LISTS["both"], 2.0, 0.1, n) for n in (8, 40, 4000)],
        "count": lambda: [
            contour._count(p, contour.Saddle(p).at(1.5), 0.05, most=2**14) for p in LISTS.values()
        ],
    }
)


@pytest.mark.parametrize("case", CASES)
def test_figures_and_what_they_allow_for_rounding_are_as_recorded(case):
    figures.check(PART, case, CASES[case], within=1e-7)
