"""Reconstruction: many answers, each off by less than √n, give back nearly every bit [DN03]."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import parameters
from deniable.attacks.telling import Facts, Told, percent
from deniable.errors import BadParameter

from . import decode, exact, fourier

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

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

    `relaxed` are the bits before rounding, from 0 to 1: far from ½ is sure. `misfit` is the root
    mean square of what the bits leave unexplained in the answers: about the noise, if they are right,
    and about ½√n or more if they are not worth anything.
    """

    relaxed: Floats
    misfit: float
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

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:  # noqa: FBT001, FBT002
        """What is computed from the bits is a plain array."""
        plain = np.asarray(array)
        return plain[()] if return_scalar else plain

    @property
    def bits(self) -> NDArray[np.int8]:
        """The bits as a plain array."""
        return np.array(self, dtype=np.int8)

    @property
    def sure(self) -> float:
        """The share of bits that were near 0 or 1 before rounding (within a quarter)."""
        return float(np.mean(np.abs(self.relaxed - 0.5) > 0.25)) if self.size else 0.0

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
            f"{self.method.replace('_', ' ')}: {percent(self.sure)} of them are clear."
        )

    def _facts(self) -> Facts:
        root = np.sqrt(max(1, self.size))
        return [
            ("misfit", f"{self.misfit:.3g} per answer: {self.misfit / root:.2g} × √n"),
            ("worth", "noise well below √n loses nearly every bit; noise well above hides them"),
            ("took", f"{self.seconds:.2g} s"),
        ]

    def plot(self, ax: Axes | None = None) -> Axes:
        """The bits before rounding, in order: a step is certainty, a slope is guessing."""
        from deniable.plots import curves

        return curves(
            np.arange(1, self.size + 1).tolist(),
            {"estimate before rounding": np.sort(self.relaxed).tolist()},
            x="people, from the least to the most likely 1",
            y="estimate",
            title="How clear the bits are",
            ax=ax,
        )

    __str__ = Told.__str__
    __repr__ = Told.__str__


def reconstruct(
    queries: ArrayLike | None,
    answers: ArrayLike,
    *,
    noise: str = "bounded",
    method: str | None = None,
) -> Reconstruction:
    """The secret bits of n people, from noisy counts over subsets of them.

    `queries` has a row a question: 1 for the people counted, 0 for the others. `answers` are what was
    published. `noise` says what is known of it, and chooses the decoder: "bounded" and "gaussian"
    (box least squares), "laplace" (least absolute values), "outliers" (some answers are anything).
    `method` chooses another: "linear_program", "exhaustive" (n ≤ 20), or "fourier", which takes no
    queries: they are the n rows of the Hadamard matrix (see `hadamard_counts`).

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
        misfit = given - fourier.hadamard_counts(relaxed > 0.5)
    else:
        matrix = _matrix(queries, given)
        relaxed = _solve(chosen, matrix, given)
        misfit = given - matrix @ (relaxed > 0.5).astype(matrix.dtype)
    return Reconstruction(
        np.clip(relaxed, 0, 1),
        method=chosen,
        misfit=float(np.sqrt(np.mean(misfit**2))),
        questions=given.size,
        seconds=time.perf_counter() - started,
    )


def _matrix(queries: ArrayLike | None, answers: Floats) -> NDArray[np.float32]:
    if queries is None:
        raise BadParameter("queries say who was counted in each answer", fix="a row a question")
    matrix = np.asarray(queries, dtype=np.float32)
    if matrix.ndim != 2 or matrix.shape[0] != answers.size or matrix.shape[1] == 0:
        raise BadParameter.of(
            "queries", np.shape(matrix), must=f"a table of {answers.size} rows, a column a person"
        )
    if not np.all(np.isfinite(matrix.sum(axis=0))):
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
