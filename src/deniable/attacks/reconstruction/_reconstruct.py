"""Reconstruction: many answers, each off by less than √n, give back nearly every bit [DN03]."""

from __future__ import annotations

import time
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from deniable import parameters
from deniable.attacks.tables import Floats
from deniable.attacks.telling import Facts, Told, percent
from deniable.errors import BadParameter
from deniable.plots import Axes, curves

from . import decode, exact, fourier

NOISES = ("bounded", "gaussian", "laplace", "outliers")
_BY_NOISE = {
    "bounded": "least_squares",
    "gaussian": "least_squares",
    "laplace": "least_absolute",
    "outliers": "robust",
}
METHODS = (*sorted(set(_BY_NOISE.values())), "linear_program", "exhaustive", "fourier")


class Reconstruction(np.ndarray[tuple[int], np.dtype[np.int8]], Told):
    """The bits that were found: an array of 0 and 1 that knows how it was found.

    `relaxed` are the bits before rounding, from 0 to 1. `misfit` estimates the standard deviation
    of the noise, from what the bits leave unexplained. `sure` is the share of bits that are then
    expected to be right: a bit that is estimated with standard deviation s is right with
    probability Φ(1/2s). Near ½ the attack is worth nothing.
    """

    relaxed: Floats
    misfit: float
    sure: float
    method: str
    questions: int
    seconds: float

    def __new__(cls, relaxed: Floats, **facts: Any) -> Self:
        """Rounded bits of a relaxed solution."""
        bits = (relaxed > 0.5).astype(np.int8).view(cls)
        bits.relaxed = relaxed
        for name, value in facts.items():
            setattr(bits, name, value)
        bits.flags.writeable = False
        return bits

    def __array_wrap__(self, array: Any, _context: Any = None, *return_scalar: bool) -> Any:
        """What is computed from the bits is a plain array."""
        plain = np.asarray(array)
        return plain[()] if any(return_scalar) else plain

    @property
    def bits(self) -> NDArray[np.int8]:
        """The bits as a plain array."""
        return np.array(self, dtype=np.int8)

    def accuracy(self, truth: ArrayLike) -> float:
        """The share of bits that are right; guessing the commoner value is the baseline."""
        return float(np.mean(self.bits == np.asarray(truth).reshape(-1)))

    def to_dict(self) -> dict[str, object]:
        """The numbers, as JSON can hold them."""
        told = ("method", "questions", "misfit", "seconds", "sure")
        return {"bits": self.bits.tolist()} | {name: getattr(self, name) for name in told}

    def _headline(self) -> str:
        return (
            f"{self.size:,} bits from {self.questions:,} answers by "
            f"{self.method.replace('_', ' ')}: {percent(self.sure)} of them should be right."
        )

    def _facts(self) -> Facts:
        root = np.sqrt(max(1, self.size))
        return [
            ("noise", f"about {self.misfit:.3g} per answer: {self.misfit / root:.2g} × √n"),
            ("guessing", "is right for 50 %; noise well above √n leaves no more than that"),
            ("took", f"{self.seconds:.2g} s"),
        ]

    def plot(self, ax: Axes | None = None) -> Axes:
        """The bits before rounding, in order: a step is certainty, a slope is guessing."""
        return curves(
            np.arange(1, self.size + 1).tolist(),
            {"estimate before rounding": np.sort(self.relaxed).tolist()},
            x="people, from the least to the most likely 1",
            y="estimate",
            title="How clear the bits are",
            ax=ax,
        )

    def __str__(self) -> str:
        """The whole result tells itself; a part of it is an array like any other."""
        return self.explain() if hasattr(self, "method") else str(np.asarray(self))

    __repr__ = __str__


@parameters.called("attacks.reconstruct(queries, answers)")
def reconstruct(
    queries: ArrayLike | None,
    answers: ArrayLike,
    *,
    noise: str = "bounded",
    method: str | None = None,
) -> Reconstruction:
    """The secret bits of n people, from noisy counts over subsets of them.

    `queries` has a row a question: 1 for the people counted, 0 for the others. `answers` are what
    was published. `noise` says what is known of it, and chooses the decoder: "bounded" and
    "gaussian" (box least squares), "laplace" (least absolute values), "outliers" (some answers are
    anything). `method` chooses another: "linear_program", "exhaustive" (n ≤ 20), or "fourier",
    which takes no queries: they are the n rows of the Hadamard matrix (see `hadamard_counts`).

    >>> questions = [[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]]
    >>> reconstruct(questions, [1.1, 0.8, 2.2, 1.9]).tolist()
    [1, 0, 1]
    """
    chosen = _BY_NOISE[parameters.one_of("noise", noise, NOISES)]
    chosen = chosen if method is None else parameters.one_of("method", method, METHODS)
    given = np.asarray(answers, dtype=np.float64).reshape(-1)
    if not given.size or not np.all(np.isfinite(given)):
        raise BadParameter("answers are finite numbers, at least one")
    started = time.perf_counter()
    if chosen == "fourier":
        if queries is not None:
            raise BadParameter("the Fourier attack asks its own questions: queries=None")
        relaxed = fourier.decode_hadamard(given)
        share = float(np.clip(np.mean(relaxed), 0, 1))
        spread = np.full(1, np.sqrt(max(0.0, float(np.var(relaxed)) - share * (1 - share))))
        misfit = float(spread[0]) * np.sqrt(given.size) / 2
    else:
        matrix = _matrix(queries, given)
        relaxed = _solve(chosen, matrix, given)
        misfit, spread = _noise(matrix, given, relaxed, robust=chosen == "robust")
    return Reconstruction(
        np.clip(relaxed, 0, 1),
        method=chosen,
        misfit=misfit,
        sure=float(np.mean(ndtr(0.5 / np.maximum(spread, 1e-9)))),
        questions=given.size,
        seconds=time.perf_counter() - started,
    )


def _noise(
    matrix: NDArray[np.float32], answers: Floats, relaxed: Floats, *, robust: bool
) -> tuple[float, Floats]:
    """The noise that explains the misfit, and how uncertain it leaves each bit.

    As in regression: σ² is the misfit over the answers that are not used up by free bits, and a bit
    has variance σ²/‖q‖² for its centred column q, more where few answers are left over.
    """
    misfit = answers - matrix @ relaxed.astype(np.float32)
    misfit = misfit - np.median(misfit)
    free = int(np.sum((relaxed > 1e-3) & (relaxed < 1 - 1e-3)))
    left = max(1, answers.size - free)
    size = np.median(np.abs(misfit)) * 1.4826 if robust else np.sqrt(np.mean(misfit**2))
    sigma = float(size * np.sqrt(answers.size / left))
    sums = matrix.T @ np.ones(answers.size, dtype=np.float32)
    squares = np.einsum("ij,ij->j", matrix, matrix)
    columns = np.maximum(squares - sums.astype(np.float64) ** 2 / answers.size, 1e-12)
    return sigma, sigma / np.sqrt(columns * left / answers.size)


def _matrix(queries: ArrayLike | None, answers: Floats) -> NDArray[np.float32]:
    if queries is None:
        raise BadParameter(
            "queries is missing: it states who was counted in each answer",
            fix="queries=..., one row per question",
        )
    matrix = np.asarray(queries, dtype=np.float32)
    if matrix.ndim != 2 or matrix.shape[0] != answers.size or matrix.shape[1] == 0:
        raise BadParameter.of(
            "queries",
            np.shape(matrix),
            must=f"a table with {answers.size} rows and one column per person",
        )
    if not np.all(np.isfinite(matrix @ np.ones(matrix.shape[1], dtype=np.float32))):
        raise BadParameter("queries are finite numbers")
    return matrix


def _solve(method: str, matrix: NDArray[np.float32], answers: Floats) -> Floats:
    if method == "exhaustive":
        return exact.exhaustive(matrix.astype(np.float64), answers)[0]
    if method == "linear_program":
        return exact.linear_program(matrix.astype(np.float64), answers)
    centred = decode.Centred.of(matrix)
    shifted = (answers - answers.mean()).astype(np.float32)
    solver = {
        "least_squares": decode.least_squares,
        "least_absolute": decode.least_absolute,
        "robust": decode.robust,
    }[method]
    return solver(centred, shifted).astype(np.float64)
