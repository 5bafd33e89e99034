"""Several attributes: the ± given how many were asked, and reports bound to attributes."""

import itertools
import json

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

from deniable import local
from deniable.errors import BadParameter
from deniable.local.estimate import Estimate


def coverage(chances, people, asked, true):
    """The exact probability that the interval holds a count, over who is asked and every coin."""
    p, q = chances
    law = np.zeros(asked + 1)
    for here in range(max(0, asked - people + true), min(asked, true) + 1):
        both = np.convolve(
            binom.pmf(np.arange(here + 1), here, p),
            binom.pmf(np.arange(asked - here + 1), asked - here, q),
        )
        law += hypergeom.pmf(here, people, true, asked) * both
    found = Estimate(
        supports=np.arange(asked + 1), people=people, asked=asked, chances=chances, labels=(),
        epsilon=1.0,
    )  # fmt: skip
    mean = float(law @ found.counts)
    variance = float(law @ (found.counts - true) ** 2)
    assert mean == pytest.approx(true, abs=1e-6 * people)
    assert variance == pytest.approx(float(found.variance([true])[0]), rel=1e-6, abs=1e-6)
    return float(law[np.abs(found.counts - true) <= found.error].sum())


@pytest.mark.parametrize("attributes", [1, 2, 10, 50])
@pytest.mark.parametrize("epsilon", [1.0, 4.0, 8.0])
def test_the_interval_of_a_count_holds_it_whatever_it_is(attributes, epsilon):
    p = local.Attributes(categories={str(i): 2 for i in range(attributes)}, epsilon=epsilon)
    chances = tuple(map(float, p.protocols[0].chances))
    for people in (10, 100, 500):
        for asked in {-(-people // attributes), max(1, people // (2 * attributes))}:
            for true in {0, 1, 3, 10, people // 10, people // 3, people - 3, people}:
                if 0 <= true <= people:
                    assert coverage(chances, people, asked, true) > 0.93


def test_an_attribute_that_nobody_was_asked_about_says_nothing():
    p = local.Attributes(categories={"a": 2, "b": 2}, epsilon=9.0)
    reports = p.encode_all({"a": [1] * 50, "b": [1] * 50})
    found = p.server().add(reports[reports[:, 5] == 0]).estimate()
    low, high = found["b"].interval()
    assert (low == 0).all()
    assert (high == found["b"].people).all()
    assert all(each.counts.tolist() == [0, 0] for each in p.server().estimate().values())


MIXED = {"sex": 2, "drink": ["tea", "coffee", "water"], "town": 300}


@pytest.mark.parametrize("order", list(itertools.permutations(MIXED)))
def test_the_order_in_which_attributes_are_listed_does_not_matter(order):
    one = local.Attributes(categories=MIXED, epsilon=9.0)
    two = local.Attributes(categories={name: MIXED[name] for name in order}, epsilon=9.0)
    three = local.from_dict(json.loads(json.dumps(two.to_dict(), sort_keys=True)))
    table = {"sex": [1] * 600, "drink": ["water"] * 600, "town": [299] * 600}
    reports = one.encode_all(table)
    for other in (two, three):
        assert other == one
        assert other.identity == one.identity
        found = other.server().add(reports).estimate()
        assert {name: int(each.counts.argmax()) for name, each in found.items()} == {
            "sex": 1, "drink": 2, "town": 299,
        }  # fmt: skip


@pytest.mark.parametrize(
    "make",
    [
        lambda: local.Attributes(categories=MIXED, epsilon=1.0),
        lambda: local.Ranges(epsilon=1.0, low=0, high=1),
    ],
)
def test_the_protocols_of_the_attributes_are_part_of_the_identity(make, monkeypatch):
    """A version that chooses another protocol makes other reports, which must not be mixed up."""
    before = make().identity
    monkeypatch.setattr("deniable.local.several.choose", _another)
    assert make().identity != before


def _another(*, categories, epsilon, reports):
    assert reports
    return local.Unary(categories=categories, epsilon=epsilon)


def test_attributes_do_not_change_with_the_lists_they_were_made_from():
    given = {"a": ["x", "y"], "b": 3}
    p = local.Attributes(categories=given, epsilon=1.0)
    before = p.to_dict()
    given["a"].append("z")
    given["c"] = 2
    assert p.to_dict() == before


@pytest.mark.parametrize("count", [0, 257])
def test_there_are_1_to_256_attributes(count):
    with pytest.raises(BadParameter):
        local.Attributes(categories={str(i): 2 for i in range(count)}, epsilon=1.0)
    assert local.Attributes(categories={str(i): 2 for i in range(256)}, epsilon=1.0)
