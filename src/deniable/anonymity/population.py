"""A table beside the population it was drawn from: k-map, δ-presence, population uniqueness.

k-anonymity asks how many rows of the *table* look alike. An attacker who does not know who is in
the table has to choose among everyone in the population who looks alike, usually many more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter

from .checking import check
from .diversity import Floats
from .tables import Codes, check_columns, relation


@dataclass(frozen=True, kw_only=True)
class InPopulation:
    """How the classes of a table lie in the population.

    k_map     every row of the table looks like at least this many people [Swe02]
    presence  δ-presence: the smallest and the largest share of a class of the population that is
              in the table; 0 or 1 means that someone's absence or presence is certain [NAC07]
    unique    rows that are alone in the table, and in the population
    alone     rows that are alone in the table
    """

    k_map: int
    presence: tuple[float, float]
    unique: int
    alone: int
    rows: int
    population: int

    def __str__(self) -> str:
        low, high = self.presence
        return (
            f"k-map = {self.k_map}, δ-presence from {low:.3g} to {high:.3g}\n"
            f"  {self.rows:,} rows of a population of {self.population:,}: {self.alone:,} alone in "
            f"the table, {self.unique:,} of them also in the population"
        )


def in_population(table: object, population: object, *, quasi: Sequence[str]) -> InPopulation:
    """Compare a table with the population that it is part of.

    Every row of the table has to be in the population, with the same values in the
    quasi-identifiers: if the table was generalised, generalise the population the same way.

    >>> import deniable as dp
    >>> people = dp.load_adult()
    >>> found = in_population(people.slice(0, 3000), people, quasi=["age", "sex", "race"])
    >>> found.k_map, found.presence, found.alone, found.unique
    (1, (0.0, 1.0), 98, 6)
    """
    inside, outside = _sizes(table, quasi), _sizes(population, quasi)
    if not inside:
        raise BadParameter("the table has no rows")
    if any(count > outside.get(key, 0) for key, count in inside.items()):
        raise BadParameter(
            "the table has rows that the population does not have",
            why="k-map and δ-presence are about tables that are part of the population",
            fix="generalise the population as the table was: generalize(population, levels=...)",
        )
    shares = [inside.get(key, 0) / count for key, count in outside.items()]
    alone = [key for key, count in inside.items() if count == 1]
    return InPopulation(
        k_map=min(outside[key] for key in inside),
        presence=(min(shares), max(shares)),
        unique=sum(outside[key] == 1 for key in alone),
        alone=len(alone),
        rows=sum(inside.values()),
        population=sum(outside.values()),
    )


def _sizes(table: object, quasi: Sequence[str]) -> dict[tuple[object, ...], int]:
    names = check_columns(quasi, relation(table).columns, what="quasi")
    classes = check(table, quasi=names).classes
    columns = [classes[name].to_pylist() for name in [*names, "size"]]
    return {tuple(row[:-1]): row[-1] for row in zip(*columns, strict=True)}


@dataclass(frozen=True, kw_only=True)
class PopulationUniqueness:
    """How many rows of a sample are expected to be unique in the population.

    `rows` is an estimate under a model of the population, not a bound.
    """

    rows: float
    alone: int
    """Rows that are alone in the table."""
    size: int
    """Rows of the table."""
    population: float
    """People in the population."""
    model: str

    @property
    def share(self) -> float:
        """The share of the table's rows that are expected to be unique in the population."""
        return self.rows / max(1, self.size)

    def __str__(self) -> str:
        return (
            f"about {self.rows:,.0f} of {self.size:,} rows are unique in a population of "
            f"{self.population:,.0f} ({self.model.capitalize()}'s model)\n"
            f"  {self.alone:,} are alone in the table"
        )


@parameters.called('anonymity.population_uniqueness(table, quasi=["age", "zip"], fraction=0.01)')
def population_uniqueness(
    table: object, *, quasi: Sequence[str], fraction: float, model: str = "pitman"
) -> PopulationUniqueness:
    """Estimate how many rows are unique in a population of which the table is a random sample.

    `fraction` is the share of the population that is in the table. "pitman" fits the Pitman model
    by maximum likelihood [Hos01]; "zayatz" takes the class sizes of the table for those of the
    population, which overstates uniqueness in small samples [Zay91]. Neither is a bound.

    >>> import deniable as dp
    >>> found = population_uniqueness(dp.load_adult(), quasi=["age", "race", "sex"], fraction=0.1)
    >>> found.alone, round(found.rows)
    (65, 1)
    """
    share = parameters.probability("fraction", fraction)
    if share == 0:
        raise BadParameter.of("fraction", fraction, must="above 0 and at most 1")
    parameters.one_of("model", model, ("pitman", "zayatz"))
    found = check(table, quasi=quasi)
    sizes = found.classes["size"].to_numpy()
    size, alone = found.rows, found.unique
    everyone = size / share
    if share == 1 or not alone:
        rows = float(alone)
    else:
        rows = _pitman(sizes, everyone) if model == "pitman" else _zayatz(sizes, everyone)
    return PopulationUniqueness(
        rows=min(rows, float(alone)), alone=alone, size=size, population=everyone, model=model
    )


def _zayatz(sizes: Codes, everyone: float) -> float:
    """f₁ · P[class of one | one of it was drawn], class sizes being those of the table [Zay91]."""
    from scipy.stats import hypergeom

    drawn, whole = int(sizes.sum()), round(everyone)
    kinds, times = np.unique(sizes, return_counts=True)
    once = np.asarray(hypergeom.pmf(1, whole, kinds, drawn))
    alone = float(times[0])
    return float(alone * (alone * once[0]) / np.sum(times * once))


def _pitman(sizes: Codes, everyone: float) -> float:
    """n/N · E[F₁], the expected number of classes of one in a population of N [Hos01].

    E[F₁] = N · P[the last person drawn is of a new class] = N·Γ(θ+1)Γ(θ+α+N−1)/(Γ(θ+α)Γ(θ+N)),
    because everyone is equally likely to have been drawn last.
    """
    from scipy.special import gammaln

    theta, alpha = _pitman_fit(sizes)
    logs = gammaln(theta + 1) - gammaln(theta + alpha)
    logs += gammaln(theta + alpha + everyone - 1) - gammaln(theta + everyone)
    return float(sizes.sum()) * math.exp(logs)


def _pitman_fit(sizes: Codes) -> tuple[float, float]:
    """θ and α of largest likelihood: Π(θ + lα) / Π(θ + l) · Π over classes (1 − α)…(i − 1 − α)."""
    from scipy.optimize import minimize
    from scipy.special import gammaln

    drawn, classes = float(sizes.sum()), sizes.size
    kinds, times = np.unique(sizes, return_counts=True)

    def unlikely(place: Floats) -> float:
        theta, alpha = math.exp(place[0]), 1 / (1 + math.exp(-place[1]))
        new = (classes - 1) * math.log(alpha)
        new += gammaln(theta / alpha + classes) - gammaln(theta / alpha + 1)
        all_drawn = gammaln(theta + drawn) - gammaln(theta + 1)
        again = np.sum(times * (gammaln(kinds - alpha) - gammaln(1 - alpha)))
        return float(all_drawn - new - again)

    best = minimize(
        unlikely,
        x0=np.array([math.log(max(1.0, classes / 2)), 0.0]),
        method="Nelder-Mead",
        bounds=[(-10, 40), (-30, 30)],
        options={"xatol": 1e-6, "fatol": 1e-8, "maxiter": 2000},
    )
    return math.exp(best.x[0]), 1 / (1 + math.exp(-best.x[1]))
