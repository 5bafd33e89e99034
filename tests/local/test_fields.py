"""Projective spaces: as many points as counting vectors up to a factor finds."""

import itertools

import numpy as np
import pytest

from deniable.local.protocols import fields
from deniable.local.protocols.fields import points


@pytest.mark.parametrize("g", [2, 3, 5])
def test_points_are_vectors_up_to_a_factor(g):
    for t in range(4):
        vectors = [v for v in itertools.product(range(g), repeat=t) if any(v)]
        lines = {frozenset(tuple(f * x % g for x in v) for f in range(1, g)) for v in vectors}
        assert points(g, t) == len(lines)
    assert points(g, -1) == points(g, -2) == 0


def test_fields_have_a_prime_or_a_small_power_of_one_for_their_order():
    primes = [n for n in range(2, 512) if all(n % d for d in range(2, n))]
    small = {p**m for p in primes for m in range(2, 7) if p**m <= 64}
    assert fields._prime_powers() == tuple(sorted({*primes, *small}))


@pytest.mark.parametrize("g", [2, 3, 4, 5, 8, 9, 25])
def test_tables_are_those_of_a_field(g):
    """Both operations commute, associate and distribute, and have neutral elements and inverses."""
    field, a = fields.Field.of(g), np.arange(g)
    add, multiply = field.add, field.multiply
    for table in (add, multiply):
        assert (table == table.T).all()
        assert (
            table[table[a[:, None, None], a[:, None]], a] == table[a[:, None, None], table]
        ).all()
        assert (table >= 0).all()
        assert (table < g).all()
    left = multiply[a[:, None, None], add]
    right = add[multiply[:, :, None], multiply[:, None, :]]
    assert (left == right).all()
    assert (add[0] == a).all()
    assert (multiply[1] == a).all()
    assert (add[a, field.negative] == 0).all()
    assert (multiply[a[1:], field.inverse[1:]] == 1).all()
    assert field.order == g
    assert field.characteristic == {4: 2, 8: 2, 9: 3, 25: 5}.get(g, g)
    assert (field.minus(a[:, None], a) == add[a[:, None], field.negative[a]]).all()


@pytest.mark.parametrize("g", [2, 3, 4, 9])
def test_characters_turn_sums_into_products(g):
    """χ(a·(b + c)) = χ(a·b)·χ(a·c); over all of b they add up to 0, unless a is 0."""
    field = fields.Field.of(g)
    turns = field.characters()
    for a in range(g):
        assert np.allclose(turns[a][field.add], np.outer(turns[a], turns[a]))
        assert turns[a].sum() == pytest.approx(g if a == 0 else 0, abs=1e-9)


@pytest.mark.parametrize(("g", "t"), [(2, 1), (2, 4), (3, 3), (4, 2), (5, 2), (9, 2)])
def test_points_are_numbered_by_their_free_coordinates(g, t):
    count = points(g, t)
    found = fields.vectors(np.arange(count), g, t)
    every = [v for v in itertools.product(range(g), repeat=t) if any(v)]
    first = [v for v in every if next(x for x in v if x) == 1]
    first.sort(key=lambda v: (t - [bool(x) for x in v].index(True), v))
    assert [tuple(column) for column in found.T.tolist()] == first
    assert fields.numbers(found, g).tolist() == list(range(count))
    assert fields.leading(found).tolist() == [[bool(x) for x in v].index(True) for v in first]


@pytest.mark.parametrize(("g", "t"), [(2, 3), (3, 2), (4, 2), (9, 2)])
def test_every_vector_has_a_multiple_that_is_a_point(g, t):
    field = fields.Field.of(g)
    every = np.array([v for v in itertools.product(range(g), repeat=t) if any(v)]).T
    found = field.normalised(every)
    lead = fields.leading(found)
    assert (found[lead, np.arange(every.shape[1])] == 1).all()
    for v, w in zip(every.T.tolist(), found.T.tolist(), strict=True):
        assert any([int(field.multiply[a, x]) for x in v] == w for a in range(1, g))
    x = fields.vectors(np.arange(points(g, t)), g, t)[:, -1:]
    inner = field.inner(np.repeat(x, every.shape[1], axis=1), every)
    for v, product in zip(every.T.tolist(), inner.tolist(), strict=True):
        total = 0
        for a, b in zip(x[:, 0].tolist(), v, strict=True):
            total = int(field.add[total, field.multiply[a, b]])
        assert total == product


@pytest.mark.parametrize(("g", "t"), [(2, 3), (3, 3), (4, 2), (5, 2), (9, 2)])
def test_character_sums_count_the_points_of_a_hyperplane(g, t):
    """Each v counts g − 1 for an x with ⟨x, v⟩ = 0, and −1 for any other."""
    field, count = fields.Field.of(g), points(g, t)
    counts = np.random.default_rng(1).integers(0, 50, count)
    v = fields.vectors(np.arange(count), g, t)
    expected = []
    for place in range(count):
        inner = field.inner(np.repeat(v[:, place : place + 1], count, axis=1), v)
        expected.append(int(np.where(inner == 0, (g - 1) * counts, -counts).sum()))
    assert fields.character_sums(counts, g, t).tolist() == expected


@pytest.mark.parametrize("base", [2, 7, 10])
def test_digits_are_those_of_numbers(base):
    numbers = np.array([0, 1, base - 1, base, base**4 - 1, 2 * base**2 + 1])
    found = fields.digits(numbers, base, 4)
    for column, number in zip(found.T.tolist(), numbers.tolist(), strict=True):
        assert sum(d * base ** (3 - i) for i, d in enumerate(column)) == number
        assert all(0 <= d < base for d in column)
    assert fields.from_digits(found, base).tolist() == numbers.tolist()
    assert fields.from_digits(found[:1], base).tolist() == found[0].tolist()


def test_orders_of_fields_are_primes_and_small_powers_of_them():
    def prime(n):
        return n > 1 and all(n % d for d in range(2, n))

    powers = {p**m for p in range(2, 64) if prime(p) for m in range(1, 7) if p**m <= 64}
    assert set(fields._prime_powers()) == powers | {n for n in range(2, 512) if prime(n)}
    assert fields._prime_power(12) is None
    assert fields._prime_power(49) == (7, 2)


@pytest.mark.parametrize("categories", [2, 3, 7, 40, 5000])
@pytest.mark.parametrize("grown", [1.1, 2.7, 7.4, 20.0, 1e6])
def test_the_geometry_is_the_smallest_that_is_nearly_the_best(categories, grown):
    """By variance q(1 − q)/(p − q)², over all orders and the least dimension that holds all."""
    found = {}
    for g in fields._prime_powers():
        t = next(t for t in range(2, 40) if points(g, t) >= categories)
        b, s, both = (points(g, t - less) for less in range(3))
        p = s * grown / (s * grown + b - s)
        q = p * both / s + (1 - p) * (s - both) / (b - s)
        if g**t <= 1 << 26:
            found[g, t] = q * (1 - q) / (p - q) ** 2
    best = min(found.values())
    near = [(g**t, g, t) for (g, t), v in found.items() if v <= 1.01 * best]
    assert fields.geometry(categories, grown) == min(near)[1:]


def test_orders_of_fields_are_all_primes_and_powers_up_to_64():
    primes = [p for p in range(2, 512) if all(p % d for d in range(2, p))]
    powers = {p**m for p in primes for m in range(2, 7) if p**m <= 64}
    assert fields._prime_powers() == tuple(sorted({*primes, *powers}))
    assert fields._prime_power(12) is None
    assert fields._prime_power(81) == (3, 4)


@pytest.mark.parametrize("power", [26, 27, 30])
def test_however_many_categories_there_are_the_field_of_two_has_a_space_for_them(power):
    g, t = fields.geometry(2**power, 3.0)
    assert points(g, t) >= 2**power > points(g, t - 1)
    assert g == 2
