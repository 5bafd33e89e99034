"""Rényi differential privacy: a bound on the Rényi divergence at each of many orders."""

from __future__ import annotations

import bisect
import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Self

from deniable import parameters
from deniable.errors import BadParameter, MixedLosses

from . import convert, rounding
from ._loss import Facts, Loss, figure_or_infinite, no_bound

# The best order α, with α − 1 ≈ √(ln(1/δ)/ρ), runs over many magnitudes: geometric steps, fine
# enough that the best order of the grid costs below 0.2 % of ε. Whole orders beyond 17, where the
# divergences of sampled mechanisms are finite sums.
ORDERS: tuple[float, ...] = (
    *sorted({*(1 + 2.0 ** (j / 6) for j in range(-42, 24)), *map(float, range(2, 65))}),
    *(float(round(64 * 2.0 ** (j / 8))) for j in range(1, 89)),
)


@parameters.made("dp.Renyi(orders=[2, 8], values=[0.1, 0.5])")
@dataclasses.dataclass(frozen=True, kw_only=True)
class Renyi(Loss):
    """(α, r)-Rényi differential privacy at several orders α at once                   [Mir17].

    Composition adds at each order. Two curves on different orders add on the orders they share.
    As a ceiling, every order of the curve must be kept: that is what stays valid when mechanisms
    are chosen after earlier answers.

    >>> loss = 3 * Renyi(orders=(2.0, 8.0), values=(0.5, 2.0))
    >>> loss.values
    (1.5, 6.0)
    """

    orders: tuple[float, ...]
    values: tuple[float, ...]

    kind = "renyi"
    definition = "Rényi differential privacy (α, ε)"
    adaptive = True

    ticks: tuple[int, ...] = dataclasses.field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        orders = tuple(convert.check_order(order) for order in _listed("orders", self.orders))
        values = tuple(
            figure_or_infinite("values", value) for value in _listed("values", self.values)
        )
        if len(orders) != len(values):
            raise BadParameter.of(
                "values", values, must=f"{len(orders)} numbers, one for each order"
            )
        if any(a >= b for a, b in itertools.pairwise(orders)):
            raise BadParameter.of("orders", orders, must="increasing")
        self._set(orders, tuple(map(rounding.ticks, values)))

    def _set(self, orders: tuple[float, ...], counts: tuple[int, ...]) -> None:
        object.__setattr__(self, "orders", orders)
        object.__setattr__(self, "values", tuple(map(rounding.from_ticks, counts)))
        object.__setattr__(self, "ticks", counts)

    def _of(self, orders: tuple[float, ...], counts: tuple[int, ...]) -> Self:
        loss: Self = type(self).__new__(type(self))
        loss._set(orders, counts)
        return loss

    def _split(self, fraction: Fraction) -> tuple[Loss, Loss]:
        part = tuple(math.floor(count * fraction) for count in self.ticks)
        rest = tuple(whole - less for whole, less in zip(self.ticks, part, strict=True))
        return self._of(self.orders, part), self._of(self.orders, rest)

    def __str__(self) -> str:
        return f"Rényi divergence at {len(self.orders)} orders"

    @classmethod
    def from_facts(cls, facts: Facts) -> Self:
        """The curve on the grid of orders, each the least of what is stated and what follows."""
        divergence = divergences(facts)
        values = tuple(map(divergence, ORDERS))
        if all(map(math.isinf, values)):
            raise no_bound(cls)
        return cls(orders=ORDERS, values=values)

    def at(self, order: float) -> float:
        """The divergence at any order up to the largest known: exact on the grid, else above it.

        It increases with the order, and (α − 1)·D_α is convex in α: chords lie above [VH14].
        """
        order = convert.check_order(order)
        above = bisect.bisect_left(self.orders, order)
        if above == len(self.orders):
            return math.inf
        if self.orders[above] == order or above == 0 or math.isinf(self.values[above]):
            return self.values[above]
        (a, b), (u, v) = self.orders[above - 1 : above + 1], self.values[above - 1 : above + 1]
        share = (order - a) / (b - a)
        chord = rounding.up((1 - share) * (a - 1) * u, share * (b - 1) * v)
        return min(rounding.up(chord / (order - 1)), v)

    def _plus(self, other: Self) -> Self:
        if self.orders == other.orders:
            return self._of(self.orders, tuple(map(int.__add__, self.ticks, other.ticks)))
        mine = dict(zip(self.orders, self.ticks, strict=True))
        its = dict(zip(other.orders, other.ticks, strict=True))
        shared = tuple(order for order in self.orders if order in its)
        if not shared:
            raise MixedLosses(
                "cannot add two Rényi curves that share no order",
                fix="dp.Renyi(orders=…) on common orders",
            )
        return self._of(shared, tuple(mine[order] + its[order] for order in shared))

    def _times(self, times: int) -> Self:
        return self._of(self.orders, tuple(times * count for count in self.ticks))

    def _within(self, other: Self) -> bool:
        """At most the other wherever the other says anything."""
        return all(
            rounding.within(self.at(order), value)
            for order, value in zip(other.orders, other.values, strict=True)
            if math.isfinite(value)
        )

    @classmethod
    def sum_of_largest(cls, parts: Sequence[Self], count: int) -> Self:
        """At each order, the sum of the `count` largest."""
        shared: Self = functools.reduce(lambda a, b: a + b, (0 * part for part in parts))
        curves = [part + shared for part in parts]  # each on the orders all have
        columns = zip(*(curve.ticks for curve in curves), strict=True)
        sums = tuple(sum(sorted(column)[-count:]) for column in columns)
        return shared._of(shared.orders, sums)

    def _epsilon(self, delta: float) -> float:
        return min(
            map(convert.renyi_to_epsilon, self.values, self.orders, [delta] * len(self.orders))
        )

    def _delta(self, epsilon: float) -> float:
        return min(
            map(convert.renyi_to_delta, self.values, self.orders, [epsilon] * len(self.orders))
        )

    def _group(self, size: int) -> Self:
        """For up to 2^c units, 3^c times the value at 2^c times the order, for orders from 2 on."""
        if size == 1:
            return self
        doublings = (size - 1).bit_length()
        orders = tuple(a for a in self.orders if a >= 2 and a * 2**doublings <= self.orders[-1])
        if not orders:
            raise no_bound(type(self))
        far = [self.at(order * 2**doublings) for order in orders]
        values = tuple(convert.renyi_group(value, doublings) for value in far)
        return type(self)(orders=orders, values=values)

    def to_dict(self) -> dict[str, object]:
        """Orders and values, rounded up."""
        values = [rounding.to_json(value) for value in self.values]
        return {"kind": self.kind, "orders": list(self.orders), "values": values}

    @classmethod
    def from_record(cls, record: Mapping[str, object]) -> Self:
        values = [rounding.from_json("values", v) for v in _listed("values", record.get("values"))]
        orders = tuple(map(convert.check_order, _listed("orders", record.get("orders"))))
        return cls(orders=orders, values=tuple(values))

    def _converters(self) -> Mapping[type[Loss], Callable[[], Loss]]:
        return {}


def divergences(facts: Facts) -> Callable[[float], float]:
    """The divergence at an order: the least of what is stated and what follows from ε, ρ and μ."""
    epsilon = facts.pure()
    rho = min(facts.zcdp(), convert.gdp_to_zcdp(facts.gdp()))

    def at(order: float) -> float:
        pure = convert.pure_to_renyi(epsilon, order)
        return min(facts.renyi(order), pure, rounding.product(rho, order))

    return at


def _listed(name: str, values: object) -> Sequence[float]:
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise BadParameter.of(name, values, must="a list of numbers")
    listed = list(values)
    if not listed:
        raise BadParameter.of(name, values, must="a list of at least one number")
    return listed
