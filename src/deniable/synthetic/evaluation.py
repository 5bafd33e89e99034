"""A synthetic table compared with the real one: for the curator, before it is published.

None of these figures is private, unless it says so: each is computed from the real rows without
noise. The synthetic table itself is private whatever they are.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from deniable import cards
from deniable.errors import BadParameter
from deniable.progress import Progress
from deniable.sampling.public import PublicRandom
from deniable.schema.arrays import column_of

from .inference import Clique

if TYPE_CHECKING:
    from ._synthetic import Synthetic

PRIVATE: Final = (
    "only the synthetic means are private; every other figure uses the real rows without noise, so "
    "do not publish it"
)
_MARGINALS: Final = 200
_RANGES: Final = 200
_NEAR: Final = 1_000
_EPOCH: Final = dt.datetime.fromisoformat("1970-01-01")  # columns have no time zone

Mean = float | dt.date | None
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, repr=False)
class Report:
    """How far a synthetic table is from the real one, by several yardsticks.

    `variation` is the mean total-variation distance of marginals by how many columns they have
    (0: the same, 1: nothing in common), of rows and of the model. `ranges` is the mean absolute
    error of random range queries as a share of all rows, `correlations` that of columns in order,
    and `means` are (real, synthetic), dates for columns of dates, None where nothing but missing
    values was found. `classifier` compares models trained on synthetic and on real rows, both
    tested on real rows. `nearest` are median distances from synthetic and from other real rows to
    the closest real row: synthetic rows that were copies would be much nearer.
    """

    rows: int
    variation: Mapping[int, tuple[float, float]]
    ranges: float | None
    means: Mapping[str, tuple[Mean, Mean]]
    correlations: float | None
    classifier: Mapping[str, float] = field(default_factory=dict)
    nearest: tuple[float, float] | None = None
    private: str = PRIVATE

    def _facts(self) -> dict[str, str]:
        facts = {
            f"{ways}-way marginals": f"total variation {rows:.3f} (rows), {model:.3f} (model)"
            for ways, (rows, model) in self.variation.items()
        }
        if self.ranges is not None:
            facts["ranges"] = f"mean error {100 * self.ranges:.2f} % of rows"
        for name, means in self.means.items():
            real, made = map(_shown, means)
            facts[f"mean of {name}"] = f"{made} (real {real})"
        if self.correlations is not None:
            facts["correlations"] = f"mean error {self.correlations:.3f}"
        if self.classifier:
            facts["classifier"] = ", ".join(f"{k} {v:.3f}" for k, v in self.classifier.items())
        if self.nearest is not None:
            facts["nearest real row"] = (
                f"{self.nearest[0]:.3f} (other real rows {self.nearest[1]:.3f})"
            )
        return facts | {"private": self.private}

    def __repr__(self) -> str:
        facts = self._facts()
        wide = max(map(len, facts))
        return "\n".join(["evaluation", *(f"  {k:<{wide}}  {v}" for k, v in facts.items())])

    def _repr_html_(self) -> str:
        return cards.card("evaluation of a synthetic table", cards.facts(self._facts()))

    def to_dict(self) -> dict[str, object]:
        """Everything as JSON can hold it."""
        return {
            "rows": self.rows,
            "variation": {str(k): list(v) for k, v in self.variation.items()},
            "ranges": self.ranges,
            "means": {k: [_kept(each) for each in v] for k, v in self.means.items()},
            "correlations": self.correlations,
            "classifier": dict(self.classifier),
            "nearest": None if self.nearest is None else list(self.nearest),
            "private": self.private,
        }


def evaluated(made: Synthetic, table: object, *, target: str | None, seed: int) -> Report:
    """Compare a synthetic table with a real one that has the same columns."""
    with Progress("evaluation: reading the real rows") as progress:
        real = encoded(made, table)
        if not len(real):
            raise BadParameter("there are no real rows to compare with")
        random = PublicRandom(seed)
        fake = made.codes(seed=seed)
        if not len(fake):
            fake = made.codes(1, seed=seed)
        columns = range(len(made.domain.sizes))
        variation = {}
        for ways in range(1, min(3, len(columns)) + 1):
            progress.text = f"evaluation: {ways}-way marginals"
            cliques = list(combinations(columns, ways))
            variation[ways] = _variation(made, real, fake, cliques, random)
        progress.text = "evaluation: ranges, means and correlations"
        numeric = [i for i, c in enumerate(made.domain.cells.values()) if c.ordered]
        values = [_numbers(made, codes, numeric) for codes in (real, fake)]
        ranges = _ranges(values, random) if numeric else None
        progress.text = "evaluation: training a classifier"
        classifier = _classified(made, real, fake, target, random)
        progress.text = "evaluation: nearest real rows"
        nearest = _nearest(real, fake, random)
    return Report(
        rows=len(real),
        variation=variation,
        ranges=ranges,
        means=_means(made, numeric, values),
        correlations=_correlations(values) if len(numeric) > 1 else None,
        classifier=classifier,
        nearest=nearest,
    )


def _means(
    made: Synthetic, columns: Sequence[int], values: Sequence[Floats]
) -> dict[str, tuple[Mean, Mean]]:
    real, fake = values
    return {
        made.domain.names[a]: (_mean(made, a, real[:, i]), _mean(made, a, fake[:, i]))
        for i, a in enumerate(columns)
    }


def _numbers(made: Synthetic, codes: Integers, columns: Sequence[int]) -> Floats:
    """The middle of each row's cell, in columns that are in order."""
    held = [_middles(made, a)[codes[:, a]] for a in columns]
    return np.stack(held, axis=1) if held else np.zeros((len(codes), 0))


def _mean(made: Synthetic, column: int, values: Floats) -> Mean:
    """Of what is not missing: as a date or a time where the column has those."""
    held = values[~np.isnan(values)]
    if not len(held):
        return None
    mean = float(held.mean())
    match made.domain.cells[made.domain.names[column]].type:
        case "date":
            return _EPOCH.date() + dt.timedelta(days=round(mean))
        case "timestamp":
            return _EPOCH + dt.timedelta(seconds=round(mean / 1e6))
    return mean


def _shown(mean: Mean) -> str:
    if mean is None:
        return "missing"
    return f"{mean:z.6g}" if isinstance(mean, float) else str(mean)


def _kept(mean: Mean) -> float | str | None:
    return mean.isoformat() if isinstance(mean, dt.date) else mean


def encoded(made: Synthetic, table: object) -> Integers:
    """Real rows as numbers of cells."""
    columns = [cells.encode(column_of(table, name)) for name, cells in made.domain.cells.items()]
    if len({len(column) for column in columns}) > 1:
        raise BadParameter("the columns of a table must have one length")
    kept = np.stack(columns, axis=1)
    return kept[(kept >= 0).all(axis=1)]


def _variation(
    made: Synthetic, real: Integers, fake: Integers, cliques: list[Clique], random: PublicRandom
) -> tuple[float, float]:
    """The mean over marginals (over 200 of them, if there are more): rows, and model."""
    if len(cliques) > _MARGINALS:
        picked = random.generator.choice(len(cliques), _MARGINALS, replace=False)
        cliques = [cliques[i] for i in sorted(picked)]
    found = [_distances(made, real, fake, clique) for clique in cliques]
    rows, model = np.mean(found, axis=0)
    return float(rows), float(model)


def _distances(
    made: Synthetic, real: Integers, fake: Integers, clique: Clique
) -> tuple[float, float]:
    shape = tuple(made.domain.sizes[a] for a in clique)
    shares = []
    for codes in (real, fake):
        place = np.ravel_multi_index(tuple(codes[:, a] for a in clique), shape)
        shares.append(np.bincount(place, minlength=made.domain.size_of(clique)) / len(codes))
    model = made.model.marginal(clique).ravel()
    return float(np.abs(shares[0] - shares[1]).sum() / 2), float(
        np.abs(shares[0] - model).sum() / 2
    )


def _middles(made: Synthetic, column: int) -> Floats:
    """The middle of each cell as a number; NaN for what is missing."""
    cells = made.domain.cells[made.domain.names[column]]
    codes = np.arange(cells.size)
    halves = [cells.decode(codes, np.full(cells.size, at)) for at in (0.0, 0.999)]
    low, high = (_plain(half) for half in halves)
    return np.append((low + high) / 2, [np.nan] * (cells.count - cells.size))


def _plain(values: NDArray[Any]) -> Floats:
    """Numbers as they are, dates in days and times in microseconds since 1970."""
    if values.dtype.kind != "M":
        return values.astype(np.float64)
    unit = "D" if np.datetime_data(values.dtype)[0] == "D" else "us"
    return values.astype(f"datetime64[{unit}]").astype(np.int64).astype(np.float64)


def _ranges(values: Sequence[Floats], random: PublicRandom) -> float:
    """Random ranges of one or two numeric columns: how many rows lie in them."""
    real, fake = values
    errors = []
    for _ in range(_RANGES):
        kept = [np.ones(len(v), dtype=bool) for v in values]
        picked = random.generator.choice(real.shape[1], min(2, real.shape[1]), replace=False)
        for column in picked:
            held = [np.unique(v[~np.isnan(v[:, column]), column]) for v in (fake, real)]
            points = held[0] if len(held[0]) else held[1]
            if not len(points):
                continue
            low, high = np.sort(random.generator.choice(points, 2))
            inside = [(v[:, column] >= low) & (v[:, column] <= high) for v in values]
            kept = [a & b for a, b in zip(kept, inside, strict=True)]
        errors.append(abs(kept[0].mean() - kept[1].mean()))
    return float(np.mean(errors))


def _correlations(values: Sequence[Floats]) -> float:
    """The mean difference of correlations between numeric columns."""
    found = []
    for v in values:
        complete = v[~np.isnan(v).any(axis=1)]
        centred = complete - complete.mean(axis=0) if len(complete) else complete
        norms = np.sqrt((centred**2).sum(axis=0))
        found.append(centred.T @ centred / np.maximum(np.outer(norms, norms), 1e-300))
    upper = np.triu_indices(found[0].shape[0], 1)
    return float(np.abs(found[0] - found[1])[upper].mean())


def _classified(
    made: Synthetic, real: Integers, fake: Integers, target: str | None, random: PublicRandom
) -> dict[str, float]:
    """AUC on real rows of a logistic regression trained on synthetic, and on other real rows."""
    if target is None or find_spec("sklearn") is None:
        return {}
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    (goal,) = made.domain.place(target, what="target")
    others = [i for i in range(len(made.domain.sizes)) if i != goal]
    cells = list(made.domain.cells.values())

    def features(codes: Integers) -> Floats:
        return np.concatenate([cells[i].one_hot(codes[:, i]) for i in others], axis=1)

    order = random.generator.permutation(len(real))
    test, train = real[order[: len(real) // 3]], real[order[len(real) // 3 :]]
    common = int(np.argmax(np.bincount(fake[:, goal], minlength=cells[goal].count)))
    truth = test[:, goal] != common
    found = {}
    for name, rows in (("synthetic", fake), ("real", train)):
        labels = rows[:, goal] != common
        if labels.all() or not labels.any() or truth.all() or not truth.any():
            return {}
        model = LogisticRegression(max_iter=200).fit(features(rows), labels)
        scores = model.decision_function(features(test))
        found[name] = float(roc_auc_score(truth, scores))
    return found


def _nearest(real: Integers, fake: Integers, random: PublicRandom) -> tuple[float, float] | None:
    """Median share of columns that differ from the closest of half of the real rows."""
    if len(real) < 4:
        return None
    order = random.generator.permutation(len(real))
    half = real[order[: len(real) // 2]][: 4 * _NEAR]
    rest = real[order[len(real) // 2 :]][:_NEAR]
    pairs = [_closest(rows[:_NEAR], half) for rows in (fake, rest)]
    return float(np.median(pairs[0])), float(np.median(pairs[1]))


def _closest(rows: Integers, others: Integers) -> Floats:
    differ = [(others != row).mean(axis=1).min() for row in rows]
    return np.array(differ)
