"""The defended twin of each attack: the same attacker, in front of a session instead of the data.

Every function opens a session of its own on the data (whose ceiling is the whole ε), releases what
the attacker would ask for, runs the same attack on the answers and returns the same kind of result.
What is left is what ε allows anyone: e^ε times the rate of false alarms, and a right guess between
two even cases e^ε/(1 + e^ε) of the time. The answers are private; what these functions return is
not, because it compares them with the truth: like all attacks here it is for the curator.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import parameters
from deniable.curator import open as open_session
from deniable.errors import BadParameter, BudgetExceeded
from deniable.ledger import open_ledger
from deniable.losses import epsilon as epsilon_budget
from deniable.mechanisms import Laplace
from deniable.release import Release
from deniable.sampling.public import PublicRandom
from deniable.schema import Column, Schema, bounds, keys
from deniable.sensitive import Sensitive
from deniable.session import Session
from deniable.units import rows

from .averaging import Average
from .averaging import averaging as average
from .differencing import Difference
from .differencing import differencing as difference
from .evidence import Membership
from .floating_point import Reachable
from .floating_point import floating_point as reachable
from .members import AttributeInference, from_frequencies, from_model, from_synthetic
from .reconstruction import Reconstruction
from .reconstruction import reconstruct as decode
from .tables import Floats, Integers, codes, columns_of, one_code, row_count

COMMONEST = 900
_AT_ONCE = 1_000_000


def linkage(
    table: object, *, known: Sequence[str], secret: str, controls: object, epsilon: float = 1.0
) -> AttributeInference:
    """Guess a secret from noisy counts by what is known of each person, instead of from their row.

    The attacker asks for the number of people with the target's known values and each value of the
    secret (the lists of values are public; of a secret, the 900 commonest). Everyone is in one of
    these cells at most: all of them together cost ε. `controls` are like people who are not in the
    table.
    """
    inside, outside = columns_of(table, [*known, secret]), columns_of(controls, [*known, secret])
    size = row_count(inside)
    people = one_code([np.concatenate([inside[name], outside[name]]) for name in known])
    (mine, others), levels = codes(inside[secret], outside[secret])
    listed = np.argsort(-np.bincount(mine, minlength=len(levels)), kind="stable")[:COMMONEST]
    place = np.full(len(levels), -1)  # of values that are not on the list
    place[listed] = np.arange(listed.size)
    mine, others = place[mine], place[others]
    shape = (int(people.max()) + 1, listed.size)
    noisy = _noisy_cells(people[:size][mine >= 0], mine[mine >= 0], shape, epsilon)
    guess, commonest = _best_guesses(noisy, epsilon)
    return AttributeInference(
        secret=secret,
        known=tuple(known),
        members=(int(np.sum(guess[people[:size]] == mine)), size),
        controls=(int(np.sum(guess[people[size:]] == others)), others.size),
        baseline=float(np.mean(others == commonest)),
        epsilon=epsilon,
    )


def _noisy_cells(
    groups: Integers, values: Integers, shape: tuple[int, int], epsilon: float
) -> Floats:
    """Noisy counts of all cells, some at a time; ε is for each, as everyone is in one cell."""
    number, cells = int(np.prod(shape)), np.sort(groups * shape[1] + values)
    noisy = np.empty(number)
    for start in range(0, number, _AT_ONCE):
        size = min(_AT_ONCE, number - start)
        low, high = np.searchsorted(cells, (start, start + size))
        count = partial(_counts, cells[low:high] - start, size)
        noisy[start : start + size] = _noisy(count, sensitivity=1.0, epsilon=epsilon, size=size)
    return noisy.reshape(shape)


def _best_guesses(noisy: Floats, epsilon: float) -> tuple[Integers, int]:
    """The likeliest secret of each group, and of everyone.

    A group that stands out of the noise shows its commonest secret. In a smaller one the target may
    be alone: each count then speaks for its value by the density of noise with and without them,
    against how common the value is in the whole table (Bayes' rule).
    """
    totals = np.maximum(noisy.sum(axis=0), 1e-9)
    prior, guesses = np.log(totals / totals.sum()), []
    for part in np.array_split(noisy, 1 + noisy.size // _AT_ONCE):
        alone = prior - epsilon * (np.abs(part - 1) - np.abs(part))
        stands_out = part.sum(axis=1) > 10 / epsilon
        guesses.append(np.where(stands_out, np.argmax(part, axis=1), np.argmax(alone, axis=1)))
    return np.concatenate(guesses), int(np.argmax(totals))


def small_groups(table: object, *, by: Sequence[str] | str, epsilon: float = 1.0) -> Membership:
    """Tell groups of one person from empty ones by their noisy counts.

    Every combination of values is a public key, whether somebody is there or not.
    """
    names = [by] if isinstance(by, str) else list(by)
    coded = [codes(column) for column in columns_of(table, names).values()]
    sizes = [len(levels) for _, levels in coded]
    place = np.ravel_multi_index([numbers for (numbers,), _ in coded], sizes)
    truth = np.bincount(place, minlength=int(np.prod(sizes)))
    if not (np.any(truth == 0) and np.any(truth == 1)):
        raise BadParameter("the comparison needs groups of one and empty groups")
    noisy = _noisy(
        lambda: truth.astype(np.float64), sensitivity=1.0, epsilon=epsilon, size=truth.size
    )
    return Membership(
        inside=noisy[truth == 1],
        outside=noisy[truth == 0],
        source="noisy counts of small groups",
        test="is the count large",
        epsilon=epsilon,
    )


def differencing(
    values: ArrayLike, *, person: int, low: float, high: float, epsilon: float = 1.0
) -> Difference:
    """Ask for the sum with and without one person; half of ε for each."""
    parameters.positive("epsilon", epsilon)
    parameters.whole("person", person, least=0)
    if person >= np.size(values) or not low < high:
        raise BadParameter("`person` is a place in `values`, and low is below high")
    largest = max(abs(low), abs(high))
    # Whole multiples of a power of two add up without rounding, in any order.
    step = 2.0 ** (math.frexp(largest)[1] - 20)
    data = np.clip(np.asarray(values, dtype=np.float64).reshape(-1), low, high)
    data = np.clip(np.floor(data / step + 0.5), -(largest // step), largest // step) * step
    noise = Laplace(scale=2 * largest / epsilon, sensitivity=largest)
    session = _session(epsilon)
    everyone = _asked(session, noise, lambda: float(data.sum()), question="everyone")
    others = _asked(
        session, noise, lambda: float(np.delete(data, person).sum()), question="everyone but one"
    )
    return difference(everyone, others, low=low, high=high)


def averaging(
    value: float, *, times: int = 1000, reworded: bool = False, epsilon: float = 1.0
) -> Average:
    """Ask for the same count again and again, for the whole ε.

    Asked in the same words, the session repeats its stored answer. `reworded` questions count as
    new ones, and the ceiling lets only the first through.
    """
    session = _session(epsilon)
    noise = Laplace(scale=1 / parameters.positive("epsilon", epsilon))
    count, answers = partial(float, value), list[float]()
    for n in range(parameters.whole("times", times)):
        ask = f"how many? ({n})" if reworded else "how many?"
        try:
            answers.append(parameters.real("it", _asked(session, noise, count, question=ask).value))
        except BudgetExceeded:
            break
    return average(answers)


def reconstruct(bits: ArrayLike, *, queries: ArrayLike, epsilon: float = 1.0) -> Reconstruction:
    """Decode noisy counts whose noise covers all the questions: ε is for the whole list."""
    secret = np.asarray(bits, dtype=np.float64).reshape(-1)
    asked = np.asarray(queries, dtype=np.float32)
    if asked.ndim != 2 or asked.shape[1] != secret.size or not _zeros_and_ones(asked, secret):
        raise BadParameter("queries must be 0 or 1: one row per question, one column per person")
    most = max(1.0, float(asked.sum(axis=0).max()))
    noisy = _noisy(
        lambda: (asked @ secret.astype(np.float32)).astype(np.float64),
        sensitivity=most,
        epsilon=epsilon,
        size=len(asked),
    )
    return decode(asked, noisy, noise="laplace")


def membership(
    members: ArrayLike,
    *,
    controls: ArrayLike,
    reference: ArrayLike | None = None,
    epsilon: float = 1.0,
) -> Membership:
    """Look for people of 0/1 columns in noisy means.

    One person moves every column, and ε covers them all together.
        The number of people is public here: neighbours replace one person by another.
    """
    people = np.asarray(members, dtype=np.float64)
    if people.ndim != 2 or not _zeros_and_ones(people):
        raise BadParameter("members are rows of 0 and 1")
    size, columns = people.shape
    sums = _noisy(
        lambda: people.sum(axis=0),
        sensitivity=float(columns),
        epsilon=epsilon,
        size=columns,
        relation="replace",
    )
    return from_frequencies(
        sums / size, members=members, controls=controls, reference=reference, epsilon=epsilon
    )


def model(
    members: tuple[ArrayLike, ArrayLike],
    *,
    controls: tuple[ArrayLike, ArrayLike],
    epsilon: float = 1.0,
) -> Membership:
    """Look for people in a naive Bayes model that is made of noisy counts of 0/1 columns.

    A person adds to one count a column in their class, and to the size of the class.
    """
    data, labels = np.asarray(members[0], dtype=np.float64), np.asarray(members[1]).astype(int)
    if data.ndim != 2 or not _zeros_and_ones(data, labels):
        raise BadParameter("members are rows of 0 and 1, with labels 0 and 1")

    def counts() -> Floats:
        wide = np.column_stack([np.ones(labels.size), data])
        return np.concatenate([wide[labels == label].sum(axis=0) for label in (0, 1)])

    width = data.shape[1] + 1
    noisy = _noisy(counts, sensitivity=float(width), epsilon=epsilon, size=2 * width).reshape(
        2, width
    )
    return from_model(NaiveBayes(noisy), members=members, controls=controls, epsilon=epsilon)


class NaiveBayes:
    """A model of counts: for each class its size, and how many have each column."""

    def __init__(self, counts: Floats) -> None:
        sizes = np.maximum(counts[:, :1], 1.0)
        rates = np.clip(counts[:, 1:] / sizes, 0.01, 0.99)
        self._start = np.log(sizes[:, 0] / sizes.sum())
        self._yes, self._no = np.log(rates), np.log1p(-rates)

    def predict_proba(self, X: ArrayLike, /) -> Floats:
        """The chance of each class."""
        data = np.asarray(X, dtype=np.float64)
        scores = self._start + data @ self._yes.T + (1 - data) @ self._no.T
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(scores / scores.sum(axis=1, keepdims=True))


def synthetic(
    table: object, *, columns: Sequence[str], controls: object, epsilon: float = 1.0, seed: int = 0
) -> Membership:
    """Look for people in records drawn from noisy counts of each column by itself.

    Correlations are lost. ε is split evenly over the columns. Values are taken as public lists.
    """
    values = columns_of(table, columns)
    draw = PublicRandom(seed).generator
    made: dict[str, list[object]] = {}
    session = _session(epsilon)
    share = Laplace(scale=len(values) / parameters.positive("epsilon", epsilon))
    for name, column in values.items():
        (numbers,), levels = codes(column)
        count = partial(_counts, numbers, len(levels))
        noisy = _asked(session, share, count, shape=len(levels), question=name).value
        weights = np.maximum(np.asarray(noisy).reshape(-1), 0) + 1e-9
        picks = draw.choice(len(levels), size=row_count(values), p=weights / weights.sum())
        made[name] = [levels[pick] for pick in picks]
    return from_synthetic(
        made, members=values, controls=controls, columns=list(values), epsilon=epsilon
    )


def synthetic_rows(
    table: object, *, columns: Sequence[str], epsilon: float = 1.0
) -> dict[str, NDArray[Any]]:
    """As many rows as the table has, drawn from a private tree of pairs of its columns.

    Bounds are those of the columns and lists the values in them, the 900 commonest of each.
    """
    import pyarrow as pa

    values = {name: _plain(column) for name, column in columns_of(table, columns).items()}
    session = open_session(
        pa.table({name: pa.array(column) for name, column in values.items()}),
        unit=rows(),
        budget=epsilon_budget(parameters.positive("epsilon", epsilon)),
        schema=Schema(columns={name: _facts(column) for name, column in values.items()}),
    )
    method = "tree" if len(values) > 1 else "independent"
    made = session.synthesize(spend=session.budget, method=method)
    drawn: dict[str, NDArray[Any]] = made.columns(row_count(values), seed=0)
    return drawn


def _plain(column: NDArray[Any]) -> NDArray[Any]:
    """Decimals as floats; whatever else a schema has no type for, as text."""
    if column.dtype.kind != "O":
        return column
    known = [value for value in column.tolist() if value is not None]
    if known and all(isinstance(value, Decimal) for value in known):
        return np.array([math.nan if v is None else float(v) for v in column.tolist()])
    simple = bool | int | str | dt.date
    return np.array(
        [v if v is None or isinstance(v, simple) else str(v) for v in column.tolist()], dtype=object
    )


def _facts(column: NDArray[Any]) -> Column:
    """Bounds of numbers and dates, a list of anything else."""
    if column.dtype.kind in "iufM":
        known = column[np.isfinite(column)] if column.dtype.kind == "f" else column
        if not len(known):
            return bounds(0, 1, type="float")
        low, high = known.min(), known.max()
        if column.dtype.kind == "M":
            return bounds(*np.array([low, high + 1], "datetime64[us]").tolist(), type="timestamp")
        kind = "float" if column.dtype.kind == "f" else "int"
        return bounds(low.item(), high.item() + 1, type=kind)
    common = Counter(value for value in column.tolist() if value is not None) or Counter([""])
    return keys([value for value, _ in common.most_common(COMMONEST)])


def floating_point(
    truth: ArrayLike, *, candidates: Sequence[float], epsilon: float = 1.0
) -> Reachable:
    """Try the floating-point attack on Laplace noise that is drawn exactly, on a lattice.

    The candidates are neighbours of each other: at most 1 apart, for noise of scale 1/ε.
    """
    scale = 1 / parameters.positive("epsilon", epsilon)
    answers = np.asarray(Laplace(scale=scale).release(np.asarray(truth, dtype=np.float64)))
    return reachable(answers, candidates=candidates, scale=scale, truth=truth)


def poll(before: int, after: int, *, epsilon: float = 1.0) -> Difference:
    """The poll before and after one more person answered, each noisy with half of ε."""
    session = _session(epsilon)
    noise = Laplace(scale=2 / parameters.positive("epsilon", epsilon))
    first = _asked(session, noise, lambda: float(before), question="before")
    second = _asked(session, noise, lambda: float(after), question="after")
    return difference(second, first, low=0.0, high=1.0)


def _zeros_and_ones(*arrays: NDArray[Any]) -> bool:
    return all(bool(np.all((array == 0) | (array == 1))) for array in arrays)


def _counts(numbers: Integers, size: int) -> Floats:
    return np.bincount(numbers, minlength=size).astype(np.float64)


def _session(epsilon: float, *, relation: str = "add_remove") -> Session:
    """A session on data that the computations hold themselves."""
    budget = epsilon_budget(parameters.positive("epsilon", epsilon))
    ledger = open_ledger(budget=budget, unit=rows(relation=relation))
    return Session(tables={}, schema=None, ledger=ledger)


def _noisy(
    compute: Callable[[], Floats],
    *,
    sensitivity: float,
    epsilon: float,
    size: int,
    relation: str = "add_remove",
) -> Floats:
    """A list of `size` numbers for the whole ε."""
    session = _session(epsilon, relation=relation)
    noise = Laplace(scale=sensitivity / epsilon, sensitivity=sensitivity)
    answer = _asked(session, noise, compute, shape=size)
    return np.asarray(answer.value, dtype=np.float64).reshape(-1)


def _asked(
    session: Session,
    noise: Laplace,
    compute: Callable[[], object],
    *,
    shape: int | None = None,
    question: str | None = None,
) -> Release:
    """One answer, to which one person contributes as much as the noise is made for."""
    value = Sensitive(compute, l1=noise.sensitivity, shape=shape, unit=session.unit)
    return session.release(noise.on(value), question=question)
