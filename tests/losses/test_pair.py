"""What every pair can do by default, both directions of one, and sums in logarithms."""

import dataclasses
import math

import mpmath as mp
import numpy as np
import pytest
from tests.losses import figures

from deniable.errors import BadParameter, NoBound
from deniable.losses.pairs import (
    ApproxPair,
    AtomsPair,
    BranchedPair,
    GaussianPair,
    LaplacePair,
    Pair,
    Pairs,
)
from deniable.losses.pairs._pair import ULP, log_of_parts, log_of_sum


@dataclasses.dataclass(frozen=True)
class Plain(Pair):
    """A pair that states nothing but ln M(z) = moment·z, from an origin, and an infinite mass."""

    moment: float = 0.25
    start: float = 0.0
    infinite: float = 0.0

    def origin(self):
        return self.start

    def log_mgf(self, z):
        return self.moment * z.real + 0j, np.full(z.shape, 0.125)

    def masses(self, edges):
        raise NotImplementedError

    def support(self, mass):
        raise NotImplementedError

    def infinite_mass(self):
        return self.infinite

    def largest_loss(self):
        return math.inf


Plain.name = "plain"  # set here, it is not entered among those of ledgers


def test_what_a_pair_does_not_know_is_the_safe_answer():
    pair = Plain()
    assert Pair.origin(pair) == 0
    assert Pair.infinite_mass(pair) == 0
    assert pair.point_masses() is None
    assert pair.decay(2.0, 1e9) == 1.0
    assert pair.trimmed(0.5) is pair
    assert pair.above(0.1) is None
    assert pair.delta_alone(0.1) is None
    assert not pair.two_sided
    assert pair.dominates(Plain())
    assert not pair.dominates(Plain(0.1))
    with pytest.raises(NoBound):
        pair.group(2)


def test_a_moment_holds_its_error_and_counts_from_zero():
    """(0.25 + 3)·c + 0.125; rough ones leave both to the caller."""
    assert Plain(start=3.0).log_moment(2.0) == 2 * 3.25 + 0.125
    assert Plain(start=3.0).rough_log_mgf(2.0) == 0.5


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        (Plain(), (0.25 * 2 + 0.125) / 2 * (1 + 8 * ULP)),
        (Plain(start=1.0), (1.25 * 2 + 0.125) / 2 * (1 + 8 * ULP)),
        (Plain(-1.0), 0.0),
        (Plain(math.inf), math.inf),
        (Plain(infinite=1e-300), math.inf),
    ],
)
def test_a_divergence_is_the_moment_over_its_order_less_one(pair, expected):
    assert pair.divergence(3.0) == expected
    assert Pairs.symmetric(pair).divergence(3.0) == expected


ONE, TWO = Plain(0.25), Plain(0.5)


@pytest.mark.parametrize(("remove", "add"), [(ONE, TWO), (TWO, ONE), (TWO, TWO)])
def test_the_worse_direction_is_the_divergence_of_both(remove, add):
    assert Pairs(remove=remove, add=add).divergence(3.0) == TWO.divergence(3.0)


def test_both_directions_must_dominate():
    small, large = GaussianPair(mu=1.0), GaussianPair(mu=2.0)
    both = Pairs(remove=small, add=large)
    assert both.dominates(both)
    assert Pairs.symmetric(large).dominates(both)
    assert not Pairs.symmetric(small).dominates(both)
    assert not both.dominates(Pairs.symmetric(large))
    assert not both.dominates(Pairs(remove=large, add=small))


def test_groups_of_one_are_the_pairs_themselves_also_where_nothing_is_proved():
    pairs = Pairs(remove=ONE, add=GaussianPair(mu=1.0))
    assert pairs.group(1) is pairs
    grown = Pairs(remove=GaussianPair(mu=0.5), add=LaplacePair(ratio=0.25)).group(3)
    assert grown.remove.mu == pytest.approx(1.5)
    assert grown.add.ratio == pytest.approx(0.75)
    with pytest.raises(NoBound):
        pairs.group(2)


NESTED = BranchedPair(
    parts=(AtomsPair(losses=(0.0, 0.5), probabilities=(0.5, 0.5)), GaussianPair(mu=1.0)),
    weights=(0.25, 0.75),
)


def test_records_hold_lists_and_pairs_within_pairs():
    record = NESTED.to_dict()
    assert record["weights"] == [0.25, 0.75]
    assert record["parts"][0] == {
        "pair": "atoms",
        "losses": [0.0, 0.5],
        "probabilities": [0.5, 0.5],
    }
    assert Pair.from_dict(record) == NESTED
    assert Pairs.symmetric(NESTED).to_dict() == {"both": record}
    both = Pairs(remove=NESTED, add=ApproxPair(epsilon=1.0))
    assert set(both.to_dict()) == {"remove", "add"}
    assert Pairs.from_dict(both.to_dict()) == both


WHOLE = {"remove": GaussianPair(mu=1.0).to_dict(), "add": GaussianPair(mu=2.0).to_dict()}


@pytest.mark.parametrize(
    "record", [{}, {"remove": WHOLE["remove"]}, {"add": WHOLE["add"]}, WHOLE | {"add": 3}]
)
def test_a_record_needs_both_directions(record):
    with pytest.raises(BadParameter):
        Pairs.from_dict(record)


@pytest.mark.parametrize("angle", [0.0, 1.0, math.pi])
@pytest.mark.parametrize("share", [1.0, 2.0**-39, 2.0**-41, 2.0**-60])
def test_a_sum_that_nearly_cancels_is_put_where_its_bound_covers_the_truth(share, angle):
    size, relative = 3.0, 2.0**-45
    total = np.array([share * size * np.exp(1j * angle)])
    value, bound = log_of_sum(total, np.array([size]), np.array([relative]))
    lost = share < 2.0**-40 + 2 * relative
    slack = 8 * ULP * abs(value[0])
    if lost:
        modulus = 2.0**-40 * size + 2 * relative * size
        assert bound[0] == pytest.approx(math.log(3.5) + slack)
    else:
        modulus = share * size
        wrong = -math.log1p(-relative * size / modulus)
        assert bound[0] == pytest.approx(wrong + 8 * ULP + slack)
    assert value[0].real == pytest.approx(math.log(modulus))
    assert value[0].imag == pytest.approx(angle)


def test_parts_add_up_with_their_weights_within_the_bound():
    z = [mp.mpc(-3, 1), mp.mpc(2, -2), mp.mpc(1, 3)]
    weights, slips = [0.5, 2.0, 0.25], [1e-7, 3e-7, 2e-7]
    parts = [(np.array([complex(x)]), np.array([slip])) for x, slip in zip(z, slips, strict=True)]
    value, bound = log_of_parts(parts, weights)
    for sign in (1, -1):
        wrong = zip(weights, z, slips, strict=True)
        exact = mp.fsum(w * mp.exp(x) * (1 + sign * s) for w, x, s in wrong)
        assert abs(mp.exp(mp.mpc(complex(value[0]))) / exact - 1) <= mp.expm1(bound[0])
    assert 3e-7 <= bound[0] < 1.2e-6


PART = "pair"
Z = np.array([2 + 0j, 2 + 1.5j, 2 + 40j])
TERMS = [(np.log(Z), np.array([1e-6, 2e-6, 3e-6])), (Z / 7 - 3, np.array([4e-6, 1e-6, 2e-6]))]
CASES = {
    "sum": lambda: log_of_sum(Z, np.array([3.0, 5.0, 7e13]), np.array([1e-6, 2e-6, 1e-15])),
    "parts": lambda: log_of_parts(TERMS, [0.4, 0.7]),
    "one part": lambda: log_of_parts(TERMS[:1], [1.0]),
    "divergence": lambda: [Plain().divergence(order) for order in (1.5, 4.0)],
}


@pytest.mark.parametrize("case", CASES)
def test_figures_and_what_they_allow_for_rounding_are_as_recorded(case):
    figures.check(PART, case, CASES[case])
