"""Every protocol: its exact ε, its estimates, its reports.

Each statistical test states its false-alarm rate; together they alarm with below 1e-6.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special
from tests import goodness
from tests.local.enumerating import law, runs, worst_ratio

import deniable as dp
from deniable import local
from deniable.audit import audit
from deniable.local.protocols import fields
from deniable.sampling.exact import exp_bounds
from deniable.sampling.public import PublicRandom

ALARM = 1e-9
KINDS = {
    "direct": local.Direct,
    "symmetric": lambda **k: local.Unary(kind="symmetric", **k),
    "optimised": local.Unary,
    "hashing": local.Hashing,
    "hadamard": local.Hadamard,
    "subset": local.Subset,
    "projective": local.Projective,
    "sketch": lambda **k: local.Sketch(hashes=4, width=3, **k),
}


@pytest.fixture(params=KINDS)
def make(request):
    return KINDS[request.param]


# ---- ε, by enumeration


def laws_of(p, monkeypatch):
    """The exact law of every value's report."""
    width = getattr(p, "width", p.size)
    return [law(monkeypatch, lambda x=x: p.encode(x), width=width) for x in range(p.size)]


@pytest.mark.parametrize("epsilon", [0.3, math.log(3), 2.5])
@pytest.mark.parametrize("categories", [2, 3, 5])
def test_the_exact_epsilon_of_a_report_is_what_was_asked(make, categories, epsilon, monkeypatch):
    p = make(categories=categories, epsilon=epsilon)
    laws = laws_of(p, monkeypatch)
    assert all(sum(each.values()) == 1 for each in laws)
    ratio = worst_ratio(laws)
    assert ratio <= Fraction(exp_bounds(Fraction(epsilon), 200)[1], 1 << 200)
    assert ratio >= math.exp(epsilon) * (1 - 1e-12)


@pytest.mark.parametrize("kind", [local.Direct, local.Hadamard, local.Projective, local.Hashing])
def test_how_much_is_drawn_does_not_depend_on_what_is_drawn(kind, monkeypatch):
    """Otherwise the time that a client takes says whether its report supports its value."""
    p = kind(categories=5, epsilon=0.3)
    shapes = [runs(monkeypatch, lambda x=x: p.encode(x))[1] for x in range(5)]
    assert len(set.union(*shapes)) == 1


def test_the_enumeration_sees_a_chance_that_was_rounded_the_wrong_way(monkeypatch):
    p = local.Hadamard(categories=3, epsilon=1.0)
    p.randomizer.__dict__["chance"] = p.randomizer.chance + Fraction(1, 10**13)
    ratio = worst_ratio(laws_of(p, monkeypatch))
    assert ratio > Fraction(exp_bounds(Fraction(1), 200)[1], 1 << 200)


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"hashing", "sketch"}))
def test_p_and_q_are_the_exact_chances_of_support(kind, monkeypatch):
    p = KINDS[kind](categories=4, epsilon=0.8)
    for x, reports in enumerate(laws_of(p, monkeypatch)):
        support = np.zeros(4, dtype=object)
        for report, chance in reports.items():
            tally = p.tally()
            p.count(tally, np.frombuffer(report, dtype=np.uint8)[None, 5:])
            support = support + p.supports(tally, 1) * chance
        assert support[x] == p.chances[0]
        assert all(support[y] == p.chances[1] for y in range(4) if y != x)


@pytest.mark.parametrize("cells", [2, 3, 4, 7, 256])
def test_another_category_is_hashed_to_every_cell_alike(cells):
    # Of 2³² values of the hash each cell has ⌊2³²/g⌋ or one more: q is right to 2⁻³² squared.
    starts = -(-(np.arange(cells + 1, dtype=object) << 32) // cells)
    shares = np.diff(starts)
    assert set(shares) <= {2**32 // cells, 2**32 // cells + 1}
    together = sum(int(each) ** 2 for each in shares) / 2**64
    assert abs(together - 1 / cells) < 2.0**-60


@pytest.mark.statistical
def test_the_auditor_finds_nothing(make):
    p = make(categories=4, epsilon=1.0)

    def asked(value, n):
        return p.encode_all(np.full(n, value))[:, 5:]

    verdict = audit(None, 0, 2, epsilon=1.0, samples=4000, confidence=1 - 1e-8, batch=asked)
    assert not verdict.violated


# ---- estimates


def z_scores(p, counts, runs, simulated):
    """Errors of all counts over so many runs, in standard deviations of the formula."""
    values = np.repeat(np.arange(counts.size), counts)
    found = []
    for run in range(runs):
        if p.name == "sketch":  # unbiased over families of hash functions
            p = local.Sketch(categories=5, epsilon=p.epsilon, hashes=256, width=64, family=run)
        if simulated:
            found.append(p.simulate(counts))
        else:
            found.append(p.server().add(p.encode_all(values)).estimate())
    deviation = np.sqrt(found[0].variance(counts))
    return np.array([(each.counts - counts) / deviation for each in found])


@pytest.mark.statistical
@pytest.mark.parametrize("simulated", [False, True])
def test_estimates_are_unbiased_with_the_variance_of_the_formula(make, simulated):
    # Heavy, middling and absent categories. The sum of z over R runs is a mean of 3000·R nearly
    # normal errors; 7 standard errors leave 2e-12 for each of 5 means and 5 variances.
    counts, runs = np.array([2000, 700, 299, 1, 0]), 300
    p = make(categories=5, epsilon=1.5)
    z = z_scores(p, counts, runs, simulated)
    assert np.abs(z.mean(axis=0)).max() < 7 / math.sqrt(runs)
    low, high = special.chdtri(runs, 1 - 1e-10), special.chdtri(runs, 1e-10)
    squares = (z**2).sum(axis=0)
    assert low * 0.97 < squares.min()
    assert squares.max() < high * 1.03


@pytest.mark.statistical
def test_collisions_that_people_share_are_part_of_the_variance():
    """5,000 people in one category, 4 hash functions into 8 cells: nearly all of the error.

    The mean of 300 squared errors, each of kurtosis below 4, varies by 10 %: it leaves 0.4 to 2
    times the variance once in 1e8 runs or less.
    """
    counts, squares, stated = np.array([5000, 0, 0]), [], 0.0
    for family in range(300):
        p = local.Sketch(categories=3, epsilon=1.5, hashes=4, width=8, family=family)
        found = p.simulate(counts)
        stated = found.variance(counts)[2]
        squares.append(found.counts[2] ** 2)
    assert 0.4 < np.mean(squares) / stated < 2
    assert stated > 50 * 5000 * p.variance


@pytest.mark.statistical
@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("categories", [5, 300])
def test_intervals_cover(make, categories, confidence):
    counts = np.zeros(categories, dtype=int)
    counts[:3] = 3000, 400, 3
    p = make(categories=categories, epsilon=1.0)
    hits = np.zeros(4, dtype=int)
    runs = 150
    for run in range(runs):
        if p.name == "sketch":
            p = local.Sketch(categories=categories, epsilon=1.0, hashes=256, width=64, family=run)
        found = p.simulate(counts, confidence=confidence)
        hit = np.abs(found.counts - counts) <= found.error
        hits += np.append(hit[:3], hit[-1])
    for each in hits:
        assert goodness.covered(int(each), runs, confidence) > ALARM


def test_projected_counts_are_the_nearest_possible_ones(make):
    counts = np.array([500, 300, 0, 0, 0, 0, 0, 0])
    found = make(categories=8, epsilon=1.0).simulate(counts)
    assert found.projected.min() >= 0
    assert math.isclose(found.projected.sum(), 800)
    total = np.square(found.counts - counts).sum()
    assert np.square(found.projected - counts).sum() <= total * (1 + 1e-9)


def test_skewed_counts_are_estimated_better_after_the_projection():
    # 5 to 100 times, says the measurement; a factor 3 cannot be missed by chance.
    counts = np.rint(2e6 / (1 + np.arange(1024)) ** 1.2 / 5).astype(int)
    found = local.Projective(categories=1024, epsilon=1.0).simulate(counts)
    plain = np.square(found.counts - counts).sum()
    assert np.square(found.projected - counts).sum() < plain / 3


def test_the_error_is_known_before_anyone_reports(make):
    p = make(categories=50, epsilon=1.0)
    counts = np.zeros(50, dtype=int)
    counts[0] = 10_000
    found = p.simulate(counts)
    # Everyone in one category is the worst case of a sketch, and of no other.
    first, second = map(float, p.chances)
    skewed = (1.959964**2 - 1) / 6 * max(abs(1 - 2 * first), abs(1 - 2 * second))
    deviations = 1.959964 * math.sqrt(found.variance(counts)[1])
    stated = deviations + (0.5 + skewed) / (first - second)
    assert math.isclose(p.error(reports=10_000), stated, rel_tol=1e-6)


# ---- reports


def test_reports_are_small_and_of_one_length(make):
    p = make(categories=12, epsilon=1.0)
    assert {len(p.encode(x)) for x in range(12)} == {p.length}
    assert p.encode_all(np.arange(12)).shape == (12, p.length)
    assert p.encode_all([]).shape == (0, p.length)


def test_a_report_is_bound_to_protocol_epsilon_and_domain(make):
    p = make(categories=12, epsilon=1.0)
    others = [
        make(categories=12, epsilon=math.nextafter(1.0, 2)),
        make(categories=13, epsilon=1.0),
        make(categories=[str(i) for i in range(12)], epsilon=1.0),
        *(kind(categories=12, epsilon=1.0) for kind in KINDS.values()),
    ]
    foreign = [other for other in others if other != p]
    assert len(foreign) == len(others) - 1
    for other in foreign:
        server = p.server().add(p.encode(3))
        with pytest.raises(dp.BadParameter, match=r"another protocol|bytes long"):
            server.add([p.encode(1), other.encode(3)])
        assert server.people == 1  # all or none


def test_malformed_reports_are_refused_and_nothing_is_counted(make):
    p = make(categories=12, epsilon=1.0)
    report = p.encode(3)
    server = p.server()
    broken = [b"", report[:-1], report + b"\0", "text", 7, np.zeros((2, 3)), [report, None]]
    broken += [report[:5] + b"\xff" * (len(report) - 5)]
    for each in broken:
        with pytest.raises((dp.BadParameter, TypeError)):
            server.add(each)
    assert server.people == 0
    assert all(not part.any() for part in server._tally)


def test_a_report_outside_the_protocol_is_refused():
    p = local.Subset(categories=12, epsilon=1.0)
    report = bytearray(p.encode(0))
    report[5] ^= 1  # one member more or less
    with pytest.raises(dp.BadParameter, match="malformed"):
        p.server().add(bytes(report))


def test_servers_can_be_merged_in_any_order(make):
    p = make(categories=6, epsilon=1.0)
    reports = p.encode_all([0, 1, 2, 3, 4, 5] * 50)
    whole = p.server().add(reports).estimate()
    parts = p.server().add(reports[:100]).merge(p.server().add(list(map(bytes, reports[100:]))))
    assert (parts.estimate().counts == whole.counts).all()
    with pytest.raises(dp.BadParameter, match="another protocol"):
        parts.merge(make(categories=7, epsilon=1.0).server())


def test_labels_are_encoded_by_place_and_come_back():
    p = local.Direct(categories=["tea", "coffee"], epsilon=20.0)
    found = p.server().add(p.encode_all(["tea"] * 30 + ["coffee"] * 10)).estimate()
    assert [label for label, _, _ in found.top()] == ["tea", "coffee"]
    assert "tea" in repr(found)
    assert "tea" in found._repr_html_()
    with pytest.raises(dp.BadParameter, match="one of 'tea', 'coffee', or"):
        p.encode("milk")


@pytest.mark.parametrize("value", [-1, 12, 2**70, 1.5, "zebra", None, True, float("nan")])
def test_a_value_outside_the_domain_is_refused_and_not_repeated(make, value):
    p = make(categories=12, epsilon=1.0)
    with pytest.raises(dp.BadParameter) as caught:
        p.encode(value)
    assert str(value) not in str(caught.value).replace("from 0 to 11", "")


def test_a_list_in_place_of_one_value_is_refused(make):
    p = make(categories=12, epsilon=1.0)
    for bad in ([1, 2], [[1]], np.zeros((2, 2), dtype=int)):
        with pytest.raises(dp.BadParameter):
            p.encode(bad)


@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 20.0, 700.0])
def test_extreme_losses_have_finite_figures(make, epsilon):
    p = make(categories=30, epsilon=epsilon)
    assert 0 <= p.variance < math.inf
    assert p.chances[0] > p.chances[1]
    found = p.server().add(p.encode_all([3] * 20)).estimate()
    assert np.isfinite(found.counts).all()
    assert np.isfinite(found.error).all()


def test_memory_does_not_grow_with_the_number_of_reports(make):
    p = make(categories=9, epsilon=1.0)
    server = p.server()
    sizes = set()
    for _ in range(3):
        server.add(bytes(row) for row in p.encode_all([1] * 500))
        sizes.add(sum(part.nbytes for part in server._tally))
    assert sizes == {sum(part.nbytes for part in p.tally())}


@pytest.mark.parametrize("bad", [0, -1, 1e-7, math.nan, math.inf, "1", None, True])
def test_bad_parameters_are_refused(make, bad):
    with pytest.raises(dp.BadParameter):
        make(categories=4, epsilon=bad)
    with pytest.raises(dp.BadParameter):
        make(categories=bad if bad != 1 else 1, epsilon=1.0)


def test_the_loss_of_a_report_is_that_of_the_mechanism_that_draws_it(make):
    p = make(categories=4, epsilon=1.25)
    assert p.loss() == dp.epsilon(1.25)
    assert p.loss(dp.Zcdp).rho <= 1.25**2 / 2


def variance(p, q):
    return q * (1 - q) / (p - q) ** 2


@pytest.mark.parametrize("epsilon", [0.3, 0.7, 1.0, math.log(3), 1.7, 2.6, 4.0])
def test_the_size_of_sets_and_the_number_of_cells_are_the_best(epsilon):
    grown = math.exp(epsilon)
    for k in range(2, 40):
        found = local.Subset(categories=k, epsilon=epsilon)
        each = []
        for d in range(1, k):
            p = d * grown / (d * grown + k - d)
            each.append(variance(p, (p * (d - 1) + (1 - p) * d) / (k - 1)))
        assert found.variance == pytest.approx(min(each), rel=1e-9)
    cells = [variance(grown / (grown + g - 1), 1 / g) for g in range(2, 200)]
    assert local.Hashing(categories=9, epsilon=epsilon).variance == pytest.approx(min(cells))


# ---- fields


def test_fields_exist_for_prime_powers_alone():
    few = [g for g in fields._prime_powers() if g <= 32]
    assert few == [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32]


@pytest.mark.parametrize("g", [2, 3, 4, 5, 7, 8, 9, 16, 25, 27, 32, 49, 64])
def test_fields_have_the_laws_of_fields(g):
    field = fields.Field.of(g)
    draw = PublicRandom(g).generator
    a, b, c = draw.integers(0, g, (3, 400))
    add, multiply = field.add, field.multiply
    assert (add == add.T).all()
    assert (multiply == multiply.T).all()
    assert (multiply[a, multiply[b, c]] == multiply[multiply[a, b], c]).all()
    assert (multiply[a, add[b, c]] == add[multiply[a, b], multiply[a, c]]).all()
    assert (add[a, field.negative[a]] == 0).all()
    assert (multiply[a[a > 0], field.inverse[a[a > 0]]] == 1).all()


@pytest.mark.parametrize(("g", "t"), [(2, 5), (3, 4), (4, 3), (5, 3), (9, 2)])
def test_the_transform_counts_the_points_of_every_hyperplane(g, t):
    field, b = fields.Field.of(g), fields.points(g, t)
    everything = fields.vectors(np.arange(b), g, t)
    assert (fields.numbers(everything, g) == np.arange(b)).all()
    counts = PublicRandom(t).generator.integers(0, 10**9, b)
    sums = fields.character_sums(counts, g, t)
    for x in range(b):
        on = field.inner(np.broadcast_to(everything[:, [x]], everything.shape), everything) == 0
        assert (sums[x] + counts.sum()) // g == counts[on].sum()


@pytest.mark.parametrize("epsilon", [0.2, 0.5, 1.0, math.log(3), 2.0, 3.0, 4.0, 5.0])
@pytest.mark.parametrize("categories", [1024, 65536])
def test_projective_is_within_three_percent_of_the_best_possible(categories, epsilon):
    p = local.Projective(categories=categories, epsilon=epsilon)
    best = 4 * math.exp(epsilon) / math.expm1(epsilon) ** 2
    assert p.variance <= (1.03 if epsilon < 5 else 1.08) * best  # larger spaces take too long
    assert p.length <= 9
