"""Vectors are read exactly, whatever types their numbers have and whatever stands beside them."""

import itertools
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import deniable as dp
from deniable import secure
from deniable.secure import Round
from deniable.secure.aggregating import _stacked
from deniable.secure.homomorphic.lattice import Lattice
from deniable.secure.homomorphic.paillier import PublicKey
from deniable.secure.party import noisy_words
from deniable.secure.two_servers import shares
from deniable.secure.vectors import clipped, entries

from .rounds import Play
from .test_aggregating import session

LIMIT = 2**61
EDGES = sorted(
    {
        sign * (2**power + step)
        for power in (53, 60, 61, 63, 64)
        for step in (-1, 0, 1, 127, 129)
        for sign in (1, -1)
    }
    | {0, 1, -1}
)
TYPES = {
    "int": int,
    "int8": np.int8,
    "int32": np.int32,
    "int64": np.int64,
    "uint8": np.uint8,
    "uint64": np.uint64,
}
HOLDERS = {
    "list": lambda numbers, _: list(numbers),
    "tuple": lambda numbers, _: tuple(numbers),
    "array": lambda numbers, kind: np.array(
        numbers, dtype=kind if issubclass(kind, np.generic) else object
    ),
    "series": lambda numbers, _: pd.Series(numbers, dtype=object),
}


def held(kind):
    """The edges that a type holds, as that type."""
    numbers = []
    for edge in EDGES:
        try:
            number = kind(edge)
        except (OverflowError, ValueError):
            continue
        if int(number) == edge:
            numbers.append((edge, number))
    return numbers


def held_at(value):
    return max(-LIMIT, min(value, LIMIT))


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("name", TYPES)
def test_each_type_is_read_exactly_in_each_holder(name, holder):
    kind = TYPES[name]
    edges, numbers = zip(*held(kind), strict=True)
    vector = HOLDERS[holder](numbers, kind)
    read = clipped(vector, length=len(edges), limit=LIMIT)
    assert read.dtype == np.int64
    assert read.tolist() == [held_at(edge) for edge in edges]


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(TYPES, 2)))
def test_numbers_do_not_move_because_of_the_type_of_another(one, other):
    """In one list, and in the lists of two parties."""
    first, second = held(TYPES[one]), held(TYPES[other])
    together = clipped([n for _, n in first + second], length=len(first) + len(second), limit=LIMIT)
    assert together.tolist() == [held_at(edge) for edge, _ in first + second]
    size = max(len(first), len(second))
    rows = [(part * size)[:size] for part in (first, second)]
    round_ = Round(parties=2, length=size, limit=LIMIT)
    for holder in HOLDERS.values():
        vectors = [
            holder([n for _, n in row], TYPES[name])
            for row, name in zip(rows, (one, other), strict=True)
        ]
        exact = [[held_at(edge) for edge, _ in row] for row in rows]
        assert _stacked(vectors, round_).tolist() == exact
        sent = [noisy_words(round_, vector).view("<i8").tolist() for vector in vectors]
        assert sent == exact


def test_neighbours_one_apart_stay_one_apart():
    for edge in EDGES:
        for beside in (0, True, 2**63, 2**64, np.uint64(0), np.int8(0)):
            one, two = (
                clipped([x, beside], length=2, limit=LIMIT).tolist() for x in (edge, edge + 1)
            )
            assert one[1] == two[1]
            assert 0 <= two[0] - one[0] <= 1


@pytest.mark.parametrize(
    "vector",
    [[1, [2]], [[1, 2], [3, 4]], [np.zeros(2), 1], np.zeros((2, 2)), "ab", b"ab", {1, 2}, 3],
)
def test_what_is_not_a_flat_list_is_refused_before_the_charge(vector):
    with pytest.raises(dp.BadParameter, match="vector"):
        entries(vector)
    with pytest.raises(dp.BadParameter):
        secure.aggregate([[1, 2], vector], spend=dp.epsilon(1, delta=1e-6), l1=1)


@pytest.mark.parametrize(
    "vector",
    [range(3), pd.Series([0, 1, 2]), pd.array([0, 1, 2], dtype="Int64"), pa.array([0, 1, 2])],
)
def test_other_flat_holders_are_read(vector):
    assert clipped(vector, length=3, limit=1).tolist() == [0, 1, 1]


ODD = {
    "floats": [1.5, 2],
    "whole floats": [1.0, 2.0],
    "nan": [float("nan"), 1],
    "infinity": [1, float("inf")],
    "text": ["1", "2"],
    "none inside": [None, 1],
    "fractions": [Fraction(3), Fraction(1, 2)],
    "decimals": [Decimal(1), Decimal("0.5")],
    "complex": [1j, 2],
    "bytes": [b"1", b"2"],
    "dates": [date(2026, 1, 1)] * 2,
    "objects": np.array([1, 2.5], dtype=object),
    "a series of objects": pd.Series([1, "2"], dtype=object),
    "NumPy floats": [np.float32(1), np.float64(2)],
    "nested": [[1], [2]],
    "nested deeper": [1, [2, [3]]],
    "empty": [],
    "a dict": {0: 1, 1: 2},
    "a generator": (x for x in (1, 2)),
    "a number": 7,
    "a masked list": [pd.NA, 1],
    "a missing value": pd.array([None, 1], dtype="Int64"),
    "a series with one": pd.Series([None, 1], dtype="Int64"),
    "missing in Arrow": pa.array([None, 1]),
    "a masked array": np.ma.array([1, 2], mask=[False, True]),
    "a masked array without a mask": np.ma.array([1, 2]),
    "a ragged one": [1, 2, 3],
}
FINE = {
    "whole numbers": [1, 2],
    "huge": [10**400, -(10**400)],
    "booleans": [True, False],
    "NumPy booleans": [np.True_, np.False_],
    "NumPy integers": [np.uint64(2**64 - 1), np.int8(-3)],
    "a tuple": (1, 2),
    "a range": range(2),
    "objects": np.array([1, 10**30], dtype=object),
    "a series": pd.Series([1, 2]),
}


@pytest.mark.parametrize("at", [0, 1, 2])
@pytest.mark.parametrize("name", ODD)
def test_odd_vectors_are_refused_before_anything_is_charged(name, at):
    vectors = [[1, 2], [3, 4]]
    vectors.insert(at, ODD[name])
    s = session(dp.epsilon(2, delta=1e-6))
    with pytest.raises(dp.DeniableError) as refused:
        secure.aggregate(vectors, spend=dp.epsilon(1, delta=1e-6), l1=1, session=s)
    assert not isinstance(refused.value, dp.DataFailure)
    assert refused.value.cost == "nothing was spent"
    assert "s." not in refused.value.fix
    assert not s.ledger.entries


@pytest.mark.parametrize("name", FINE)
def test_vectors_of_any_whole_numbers_are_added(name):
    vectors = [[0, 0], FINE[name], [0, 0]]
    r = secure.aggregate(vectors, spend=dp.epsilon(100, delta=1e-6), l1=1, limit=10**6)
    exact = [max(-(10**6), min(int(x), 10**6)) for x in FINE[name]]
    assert np.abs(r.value - exact).max() < 30  # ± at variance 0.1: P < 1e-9


def paillier(vector):
    n = (1 << 3072) + 1  # whether it is a key's does not matter here
    PublicKey(n=n, parties=2, length=1, limit=9).encrypt(vector)


def masking(vector):
    play = Play(np.zeros((3, 1), int))
    play.coordinator.receive(*play.to(2))
    play.parties[0].mask(play.coordinator.deliveries()[0], vector)


LATTICE = Lattice(parties=2, limit=9)
DOORS = {
    "aggregate": lambda v: secure.aggregate([[1], v], spend=dp.epsilon(1, delta=1e-6), l1=1),
    "a party": masking,
    "two servers": lambda v: shares(Round(parties=2, length=1), 0, v),
    "Paillier": paillier,
    "lattice": LATTICE.encrypt,
}


@pytest.mark.parametrize("door", DOORS)
def test_a_refusal_depends_on_types_and_not_on_values(door):
    """A party that refuses its own vector drops out, and everyone sees that."""
    told = set()
    for entry in (0.0, 1.0, 2.5, float("nan"), float("inf"), 1e300):
        for vector in ([entry], np.array([entry])):
            with pytest.raises(dp.BadParameter) as refused:
                DOORS[door](vector)
            told.add(str(refused.value))
    assert len(told) == 1
