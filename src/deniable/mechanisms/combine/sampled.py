"""Mechanisms that see only a random sample of the units."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.errors import BadParameter, NoBound
from deniable.forms import Form, as_array, read_numbers, read_real
from deniable.losses import amplify, convert, rounding
from deniable.losses.pairs import GaussianPair, Pairs, sampled
from deniable.mechanisms._mechanism import Mechanism, Norm
from deniable.mechanisms.numbers._additive import RealNoise, as_numbers
from deniable.sampling import permutation, poisson_mask
from deniable.sampling.lattice import Lattice
from deniable.sensitive import Sensitive
from deniable.units import Relation

_INT64 = np.iinfo(np.int64)
_FAR = 2.0**62


class OfSample(Mechanism):
    """A mechanism on a sample of the rows: what it shows errs as M does, and covers what M does."""

    draws_units: ClassVar[bool] = True
    norm: ClassVar[Norm] = "linf"

    of: Mechanism

    def error(self, confidence: float = 0.95) -> float:
        return self.shown_error(confidence, whole=False)

    def _check_covers(self, value: Sensitive[Any]) -> None:
        self.of.check(value)

    def shown_error(self, confidence: float, *, whole: bool) -> float:
        return self.of.shown_error(confidence, whole=whole)


@dataclass(frozen=True, kw_only=True)
class Sampled(OfSample):
    """Sampled: a mechanism on a Poisson sample; also m.sampled(rate=q).

    Releases   M(x_S), each unit in S with probability q, independently; nobody sees S
    Privacy    the mixtures of M's dominating pair, in both directions      [ZDW22, Thm 11]
               (ε, δ) → (ln(1 + q(e^ε − 1)), qδ)                            [BBG18]
               Gaussian noise in Rényi divergence                           [MTZ19]
               replaced units: the mixtures of M's noise moved to either side, for Gaussian and
               Laplace noise; ε → ln((1 − q + q e^ε)/(1 − q + q e^(−ε))) for the rest, and
               (ε, δ) → (ln(1 + q(e^(2ε) − 1)), qδ(1 + e^ε))
    Error      that of M, about the sum over the sample; divide by q for the sum over all
    Assumes    what M assumes, of a unit that enters or leaves the sample; units are added or
               removed, or with neighbours="replace" replaced
    Numerics   the sample is drawn exactly; rows are summed in integers, floats on M's lattice and
               rounded towards 0, which lets no row grow

    The value is an array with one row per unit. M is asked about the rows drawn: their sum, or
    their `statistic` (outside a session the value is then a pair of rows and function). What is
    declared of it (whole or real, shape) is declared of the sum: the number of rows is private. A
    session whose units are persons wants `entries=1`: rows that one of them owns together must be
    one row here.

    How far *exchanging* a row moves a sum says nothing about how far leaving it out does. Where
    units are replaced, rows are therefore numbers, one per unit, and each is clipped to M's
    sensitivity; functions of the rows are refused.

    >>> from deniable.mechanisms.numbers import Gaussian
    >>> step = Gaussian(sigma=1.0).sampled(rate=0.01)
    >>> step.epsilon_at(1e-6) < Gaussian(sigma=1.0).epsilon_at(1e-6)
    True
    """

    name: ClassVar[str] = "sampled"

    of: Mechanism
    rate: float
    neighbours: str = Relation.ADD_REMOVE.value

    def __post_init__(self) -> None:
        _check_inner(self.of)
        relations = [relation.value for relation in Relation]
        chosen = parameters.one_of("relation", self.neighbours, relations)
        object.__setattr__(self, "neighbours", Relation(chosen).value)
        if self._replaces() and not hasattr(self.of, "sensitivity"):
            raise BadParameter.of(
                "of", self.of, must="a mechanism with a sensitivity, where units are replaced"
            )
        self._canonical(rate=parameters.probability)
        if self.rate == 0:
            raise BadParameter.of("rate", self.rate, must="above 0 and at most 1")

    def priced_for(self) -> Relation:
        return Relation(self.neighbours)

    def _replaces(self) -> bool:
        return self.priced_for().sides == 2

    def pure(self) -> float:
        """ln(1 + q(e^ε − 1)); for replaced units that, and −ln(1 + q(e^(−ε) − 1)) for the other."""
        epsilon = self.of.pure()
        if math.isinf(epsilon):
            return math.inf
        amplified = amplify.poisson(epsilon, rate=self.rate)[0]
        if not self._replaces():
            return amplified
        # 1 − q + q e^(−ε) = e^(−ε) (1 + (1 − q)(e^ε − 1))
        return rounding.up(amplified, epsilon, -amplify.poisson_floor(epsilon, rate=self.rate))

    def approx(self) -> tuple[float, float]:
        """(ln(1 + q(e^ε − 1)), qδ); for replaced units with (2ε, δ(1 + e^ε)) in place of (ε, δ)."""
        epsilon, delta = self.of.approx()
        if self._replaces():
            delta = min(1.0, convert.approx_group_delta(epsilon, delta, 2))
            epsilon = rounding.up(2 * epsilon)
        if math.isinf(epsilon) or delta >= 1:
            return math.inf, 0.0
        return amplify.poisson(epsilon, delta=delta, rate=self.rate)

    def renyi(self, order: float) -> float:
        """That of the sampled Gaussian where M is Gaussian-private; else what follows from ε."""
        mu = self.of.gdp()
        if math.isinf(mu) or mu == 0 or self._replaces():
            return super().renyi(order)
        sigma = math.nextafter(1 / mu, 0.0)
        curve = amplify.sampled_gaussian_renyi(order, rate=self.rate, sigma=sigma)
        inner = self.of.pairs()
        if inner is not None and isinstance(inner.remove, GaussianPair):
            return curve  # exact, where the moments of the pair would take long at large orders
        return min(curve, super().renyi(order))

    def pairs(self) -> Pairs | None:
        """The mixtures of M's pair with itself, or for replaced units what (ε, δ) says."""
        inner = self.of.pairs()
        with contextlib.suppress(NoBound):
            relation = self.priced_for().value
            return sampled(inner, rate=self.rate, relation=relation) if inner is not None else None
        return super().pairs()

    def reading(self, form: Form) -> Callable[[Any], Any]:
        """Rows, each of the form that is declared; with a `statistic` rows of any form.

        Where units are replaced, rows are numbers, which is checked here: before the charge.
        """
        if self._replaces() and (form.shape or form.statistic is not None):
            raise _not_a_number_each()
        return _reading(self.of, form)

    def draw(self, value: object) -> object:
        """M's answer about a fresh sample of the rows."""
        rows, statistic = _rows_and_statistic(value)
        if self._replaces():
            if statistic is not None or rows.ndim != 1:
                raise _not_a_number_each()
            most = self.of.sensitivity  # type: ignore[attr-defined]  # checked when made
            most = math.floor(most) if rows.dtype == np.int64 else most
            rows = np.clip(rows, -most, most)
        return _answer(self.of, rows[poisson_mask(len(rows), self.rate)], statistic)


@dataclass(frozen=True, kw_only=True)
class SampledWithoutReplacement(OfSample):
    """Sampled without replacement: a mechanism on m of n units, all choices equally likely.

    Releases   M(x_S), S uniform among the sets of m units; nobody sees S
    Privacy    (ε, δ) → (ln(1 + q(e^ε − 1)), qδ), q = m/n                    [BBG18, Thm 9]
    Error      that of M, about the sum over the sample; multiply by n/m for the sum over all
    Assumes    units are replaced, and their number n is public; what M assumes of such neighbours
    Numerics   the sample is drawn exactly; rows are summed exactly, and rounded after the noise

    Rows come as for `Sampled`. Under replace, M's sensitivity is how far *exchanging* one row moves
    the answer.
    """

    name: ClassVar[str] = "sampled_without_replacement"
    relation: ClassVar[Relation | None] = Relation.REPLACE

    of: Mechanism
    size: int
    population: int

    def __post_init__(self) -> None:
        _check_inner(self.of)
        population = parameters.whole("population", self.population)
        if parameters.whole("size", self.size) > population:
            raise BadParameter.of("size", self.size, must=f"at most the population, {population}")

    def pure(self) -> float:
        """ln(1 + q(e^ε − 1))."""
        epsilon = self.of.pure()
        return self._amplified(epsilon)[0] if math.isfinite(epsilon) else math.inf

    def approx(self) -> tuple[float, float]:
        """(ln(1 + q(e^ε − 1)), qδ)."""
        epsilon, delta = self.of.approx()
        if math.isinf(epsilon) or delta >= 1:
            return math.inf, 0.0
        return self._amplified(epsilon, delta)

    def epsilon_at(self, delta: float = 0.0) -> float:
        """From M's ε at δ/q."""
        delta = parameters.fraction_below_one("delta", delta)
        wider = delta * self.population / self.size * (1 - 2.0**-50)
        if wider >= 1:
            return 0.0
        epsilon = self.of.epsilon_at(wider)
        return self._amplified(epsilon)[0] if math.isfinite(epsilon) else math.inf

    def delta_at(self, epsilon: float) -> float:
        """q times M's δ at ln(1 + (e^ε − 1)/q)."""
        epsilon = parameters.non_negative("epsilon", epsilon)
        rate = self.size / self.population
        # ln(1 + (e^ε − 1)/q) = ε + ln((1 − e^(−ε))/q + e^(−ε))
        near = math.exp(-epsilon)
        wider = epsilon + math.log((1 - near) / rate + near)
        delta = self.of.delta_at(max(0.0, rounding.down(wider)))
        return rounding.up(rate * delta)

    def _amplified(self, epsilon: float, delta: float = 0.0) -> tuple[float, float]:
        return amplify.without_replacement(
            epsilon, delta=delta, size=self.size, population=self.population
        )

    def reading(self, form: Form) -> Callable[[Any], Any]:
        """Rows, each of the form that is declared; with a `statistic` rows of any form."""
        return _reading(self.of, form)

    def draw(self, value: object) -> object:
        """M's answer about a fresh sample of the rows."""
        rows, statistic = _rows_and_statistic(value)
        if len(rows) != self.population:
            raise BadParameter(f"there must be {self.population} rows, as `population` says")
        sample = rows[permutation(self.population)[: self.size]]
        if statistic is None and rows.dtype != np.int64 and isinstance(self.of, RealNoise):
            return self.of.draw(_real_sum(sample))
        return _answer(self.of, sample, statistic)


def _not_a_number_each() -> BadParameter:
    return BadParameter(
        "where units are replaced, the value must be one number per unit",
        why="how far exchanging a row moves an answer does not say how far leaving it out does",
        fix='one release for each column, or relation="add_remove"',
    )


def _check_inner(of: object) -> None:
    if not isinstance(of, Mechanism):
        raise BadParameter.of("of", of, must="a dp.Mechanism")
    for part in of.within():
        if isinstance(part, Sampled | SampledWithoutReplacement):
            raise BadParameter(
                f"{type(part).__name__} cannot be asked about a sample",
                why="the inner sample would take the sum of the outer one for its rows",
                fix="one sample at the product of the rates: .sampled(rate=q1 * q2)",
            )


def _check_summed(of: Mechanism) -> None:
    """Refuse what has a price on a sample, and takes something else than the sum of its rows."""
    for part in of.within():
        if not part.of_samples:
            raise BadParameter(
                f"{type(part).__name__} cannot be asked about a sample",
                why="a sample's rows are added up, and it does not take a sum",
                fix="a mechanism that does, such as dp.Laplace, dp.Gaussian or dp.Exponential",
            )


def _reading(of: Mechanism, form: Form) -> Callable[[Any], Any]:
    _check_summed(of)
    read = of.reading(form)
    each = form if isinstance(of, RealNoise) else replace(form, whole=True)

    statistic = form.statistic

    def rows(value: Any) -> object:
        if statistic is not None:
            return np.asarray(value), lambda sample: read(statistic(sample))
        array = as_array(value, Form())
        shape = (*array.shape[:1], *form.shape)
        if array.shape[:1] == (0,):  # of no rows nobody can say how long they would have been
            array = array.reshape(shape)
        return read_numbers(array, replace(each, shape=shape, keys=None))

    return rows


def _rows_and_statistic(value: object) -> tuple[NDArray[Any], Callable[..., object] | None]:
    if isinstance(value, tuple) and len(value) == 2 and callable(value[1]):
        return np.asarray(value[0]), value[1]
    rows = as_numbers(value)
    if rows.ndim == 0:
        raise BadParameter("the value must be an array with one row per unit")
    return rows, None


def _answer(
    mechanism: Mechanism, rows: NDArray[Any], statistic: Callable[..., object] | None
) -> object:
    _check_summed(mechanism)
    if statistic is not None:
        return mechanism.draw(statistic(rows))
    if rows.dtype == np.int64:
        held = np.clip(_exact_sum(rows), _INT64.min, _INT64.max)
        return mechanism.draw(np.asarray(held, dtype=np.int64))
    if not isinstance(mechanism, RealNoise):
        raise BadParameter(
            f"{type(mechanism).__name__} cannot add up floats",
            fix="whole numbers, or a function of the rows: release((rows, function))",
        )
    drawn = mechanism.draw_points(_exact_sum(_steps(rows, mechanism.lattice)))
    return drawn if drawn.ndim else drawn.item()


def _real_sum(rows: NDArray[Any]) -> NDArray[Any]:
    """The exact sum over rows, to be rounded after the noise.

    Rounded before it, a row that is exchanged for another could move each number by a step more.
    """
    columns = rows.reshape(len(rows), -1).T.tolist()
    exact = np.empty(len(columns), dtype=object)
    exact[:] = [sum(map(Fraction, column), Fraction(0)) for column in columns]
    return read_real(exact.reshape(rows.shape[1:]))


def _steps(rows: NDArray[Any], lattice: Lattice) -> NDArray[Any]:
    """Rows in steps of the lattice, rounded towards 0, which lets no row grow."""
    if rows.dtype != object:
        with np.errstate(over="ignore"):  # a warning would reveal that a row is large
            steps = np.trunc(np.ldexp(rows.astype(np.float64), -lattice.exponent))
        if np.abs(steps).max(initial=0.0) < _FAR:
            return steps.astype(np.int64)
    exact = np.empty(rows.size, dtype=object)
    exact[:] = [math.trunc(lattice.steps(Fraction(x))) for x in rows.reshape(-1).tolist()]
    return exact.reshape(rows.shape)


def _exact_sum(rows: NDArray[Any]) -> NDArray[Any]:
    """The sum over rows, in Python's integers where it may leave 64 bits."""
    if rows.dtype != object:
        largest = float(np.abs(rows, dtype=np.float64).max(initial=0.0))
        if largest * len(rows) < _FAR:
            return np.array(rows.sum(axis=0, dtype=np.int64))
    return np.array(np.sum(rows.astype(object), axis=0), dtype=object)
