"""Shares of a secret, against the polynomial and its interpolation in fractions."""

from fractions import Fraction
from itertools import combinations

import pytest

from deniable.errors import MessageRejected
from deniable.sampling import below
from deniable.secure import shamir
from deniable.secure.shamir import PRIME, SHARE_BYTES, joined, rebuilt, split

SECRET = bytes(range(100, 132))
PLACES = [1, 2, 4, 5, 9]


def written(number):
    return number.to_bytes(SHARE_BYTES, "big")


def made_up(threshold, places=PLACES):
    return dict(zip(places, split(SECRET, places=places, threshold=threshold), strict=True))


def at_zero(points):
    """Lagrange's formula, in fractions."""
    total = Fraction(0)
    for place, value in points.items():
        term = Fraction(value)
        for other in points.keys() - {place}:
            term *= Fraction(other, other - place)
        total += term
    assert total.denominator == 1
    return int(total)


@pytest.mark.parametrize("threshold", [1, 2, 3, 5])
def test_a_share_is_the_value_of_a_polynomial_with_uniform_coefficients(threshold, monkeypatch):
    drawn = []

    def recorded(bound, count):
        assert bound == PRIME
        drawn.extend(below(bound, count))
        return drawn

    monkeypatch.setattr(shamir, "below", recorded)
    shares = split(SECRET, places=PLACES, threshold=threshold)
    powers = [int.from_bytes(SECRET, "big"), *(int(c) for c in reversed(drawn))]
    assert len(powers) == threshold
    for place, share in zip(PLACES, shares, strict=True):
        assert share == written(sum(c * place**i for i, c in enumerate(powers)) % PRIME)


@pytest.mark.parametrize("threshold", [1, 2, 3, 4, 5])
def test_any_so_many_shares_tell_the_secret(threshold):
    shares = made_up(threshold)
    for size in range(threshold, 6):
        for places in combinations(reversed(PLACES), size):
            assert joined({i: shares[i] for i in places}, threshold=threshold) == SECRET


@pytest.mark.parametrize("threshold", [1, 2, 5])
def test_one_share_fewer_is_refused(threshold):
    shares = dict(list(made_up(5).items())[: threshold - 1])
    with pytest.raises(MessageRejected, match=f"{threshold - 1} shares? .* {threshold} are needed"):
        joined(shares, threshold=threshold)


def test_small_numbers_are_interpolated_as_fractions_are():
    """Any three numbers at 1, 2 and 3 are shares of the whole number 3a − 3b + c."""
    for points in ({1: 7, 2: 7, 3: 7}, {1: 5, 2: 1, 3: 0}, {1: 90, 2: 40, 3: 6}):
        found = joined({i: written(y) for i, y in points.items()}, threshold=3)
        assert int.from_bytes(found, "big") == at_zero(points)


@pytest.mark.parametrize(
    "number", [0, 1, 2**255, 2**256 - 1, 2**256, 2**256 + 1, PRIME - 1], ids=hex
)
def test_what_is_not_a_secret_of_32_bytes_is_none(number):
    shares = {1: written(number), 2: written(number)}
    for threshold in (1, 2):
        found = joined(shares, threshold=threshold)
        assert found == (number.to_bytes(32, "big") if number < 2**256 else None)
        assert rebuilt(shares, threshold=threshold, fits=lambda _: True) == found


@pytest.mark.parametrize("threshold", [1, 2, 3, 4])
@pytest.mark.parametrize("wrong", PLACES)
def test_one_wrong_share_does_no_harm_if_there_is_one_to_spare(threshold, wrong):
    shares = made_up(threshold)
    shares[wrong] = written(1)
    assert rebuilt(shares, threshold=threshold, fits=SECRET.__eq__) == SECRET


def test_as_many_shares_as_it_takes_are_tried_once():
    """Any order of the same shares tells the same secret."""
    shares, tried = made_up(5), []
    assert rebuilt(shares, threshold=5, fits=SECRET.__eq__) == SECRET
    shares[4] = written(1)
    assert rebuilt(shares, threshold=5, fits=tried.append) is None
    assert len(tried) == 1


def test_every_row_of_shares_is_tried_in_order_around_the_end():
    shares = {place: written(1000 - place**2) for place in range(1, 5)}
    tried = []
    assert rebuilt(shares, threshold=2, fits=tried.append) is None
    rows = [(1, 2), (2, 3), (3, 4), (4, 1)]
    expected = [joined({i: shares[i] for i in row}, threshold=2) for row in rows]
    assert tried == expected
    assert len(set(expected)) == 4


def test_too_few_shares_are_refused_before_anything_is_tried():
    for count in range(3):
        shares = dict(list(made_up(3).items())[:count])
        with pytest.raises(MessageRejected, match=f"{count} shares"):
            rebuilt(shares, threshold=3, fits=lambda _: True)
