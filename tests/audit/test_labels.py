"""Labels, types and order are part of an answer, whatever container it comes in.

Each case is a mechanism whose values are noise that has nothing to do with the data, and whose
labels, type or order show whether somebody is there: it must be found. Its honest twin shows the
same labels always, and must pass. Honest audits run at confidence 1 − 1e-9: all of them together
raise a false alarm with probability below 1e-6.
"""

import numpy as np
import pytest
from tests.audit.labels import CASES

from deniable.audit import audit
from deniable.audit.leaves import leaves
from deniable.audit.outputs import tabulate

SURE = 1 - 1e-9


@pytest.fixture
def noise():
    rng = np.random.default_rng(5)
    return lambda: float(np.floor(rng.laplace() * 1024) / 1024)


@pytest.mark.statistical
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_what_only_labels_types_or_order_show_is_found(case, noise):
    found = audit(lambda there: case(noise(), there), True, False, epsilon=1.0, samples=240)
    assert found.violated, found


@pytest.mark.statistical
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_the_same_labels_always_show_nothing(case, noise):
    def honest(_there):
        return case(noise(), True)

    if "exception" in next(name for name, each in CASES.items() if each is case):
        inner = honest

        def honest(there):
            return inner(there) if noise() > 0 else None

    found = audit(honest, True, False, epsilon=1.0, samples=240, confidence=SURE)
    assert not found.violated, found


def test_a_witness_names_the_label():
    case = CASES["an index label"]
    found = audit(lambda there: case(0.0, there), True, False, epsilon=1.0, samples=240)
    assert "index" in found.witness
    found = audit(
        lambda there: CASES["the order of keys"](0, there), True, False, epsilon=1.0, samples=240
    )
    assert "order of the keys of the answer" in found.witness


ALIKE = [
    [1.5, 2.5, 3.5],
    [1, 2, 3],
    [True, False, True],
    [np.float32(1), np.float32(2)],
    [2**63 - 1, 2**62, -(2**62)],
    [(1.0, 2.0), (3.0, 4.0)],
    [[1, 2], [3, 4]],
    [np.array([1.0, 2.0]), np.array([3.0, 4.0])],
    [np.array([[1, 2]]), np.array([[3, 4]])],
    [np.arange(1200.0), np.arange(1200.0)],
]


@pytest.mark.parametrize("outputs", ALIKE, ids=str)
def test_arrays_and_single_answers_are_taken_apart_alike(outputs):
    """Otherwise one odd answer on one side would make all the others look different."""
    fast = tabulate(outputs)
    slow = tabulate([*outputs, None])
    for path in {*fast.columns, *slow.columns}:
        mine, theirs = fast.column(path), slow.column(path)
        size = len(outputs)
        assert mine.identity.tolist() == theirs.identity[:size].tolist(), path
        np.testing.assert_array_equal(mine.numbers, theirs.numbers[:size])


def test_what_refers_to_itself_ends():
    knot: list[object] = []
    knot.append(knot)
    assert len(list(leaves(knot))) < 1000
