"""Noisy sums over disjoint batches: an epoch costs what one of its sums does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from deniable import parameters
from deniable.errors import BadParameter
from deniable.forms import Form
from deniable.mechanisms._mechanism import Mechanism, Norm
from deniable.mechanisms.combine import Composed
from deniable.mechanisms.interactive import Interaction, Series
from deniable.mechanisms.numbers import Gaussian
from deniable.sensitive import Sensitive

if TYPE_CHECKING:
    from deniable.losses.pairs import Pairs


@dataclass(frozen=True, kw_only=True)
class DisjointBatches(Mechanism):
    """DisjointBatches: Gaussian noise on a sum over each of B disjoint batches, E times over.

    Releases   E rounds of B answers, one per batch; a sum may depend on all answers before it
    Privacy    √E·μ-GDP, where μ = Δ₂/σ is the price of one answer              [proved below]
    Error      of one answer: that of the noise
    Assumes    all rows of a unit are in one batch, and which one depends on no other unit; Δ₂
               bounds how far one unit moves the sum of its batch
    Numerics   as for `Gaussian`

    Added or removed: the unit is in one batch, so it moves one answer of each round by at most Δ₂.
    Given the answers before it, every other answer has the same law with and without the unit, and
    loses nothing. That leaves E answers of μ-GDP each, which compose adaptively to √E·μ
    [DRS22, Cor. 3.3]. If batches are drawn at random, this holds for every draw; the law of the
    answers is a mixture over the draws of the other units, which are the same on both sides, and a
    mixture is no easier to tell apart than the worst of its parts.
    Replaced: the old unit and the new one may be in two batches. Then two answers per round move,
    by at most half of Δ₂ each (which is twice what adding a unit moves), and lose μ²/4 + μ²/4 in
    place of μ². In the same batch they move one answer by at most Δ₂. So the price covers both.

    >>> made = DisjointBatches(of=Gaussian(sigma=2.0), batches=10, epochs=4)
    >>> made.gdp()
    1.0
    """

    name: ClassVar[str] = "disjoint_batches"
    norm: ClassVar[Norm] = "l2"
    of_samples: ClassVar[bool] = False

    of: Gaussian
    batches: int
    epochs: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.of, Gaussian):
            raise BadParameter.of("of", self.of, must="a dp.Gaussian")
        parameters.whole("batches", self.batches)
        parameters.whole("epochs", self.epochs)

    @property
    def sensitivity(self) -> float:
        """The sensitivity of one batch's sum."""
        return self.of.sensitivity

    @property
    def _touched(self) -> Composed:
        """The answers that one unit can move."""
        return Composed.of((self.of, self.epochs))

    def gdp(self) -> float:
        return self._touched.gdp()

    def zcdp(self) -> float:
        return self._touched.zcdp()

    def renyi(self, order: float) -> float:
        """E times the divergence of one answer."""
        return self._touched.renyi(order)

    def pairs(self) -> Pairs | None:
        """N(0, 1) against N(√E·μ, 1)."""
        return self._touched.pairs()

    def error(self, confidence: float = 0.95) -> float:
        """That of the noise."""
        return self.of.error(confidence)

    def shown_error(self, confidence: float, *, whole: bool) -> float:
        """That of the noise."""
        return self.of.shown_error(confidence, whole=whole)

    def reading(self, form: Form) -> Callable[[Any], Any]:
        """Each batch's own sum, in the form declared for all."""
        read = self.of.reading(form)
        return lambda value: [read(own) for own in value]

    def draw(self, value: object) -> list[object]:
        """All rounds of answers about one sum per batch."""
        if not isinstance(value, Sequence) or len(value) != self.batches:
            raise BadParameter(f"there must be {self.batches} values, one per batch")
        return [self.of.draw(own) for _ in range(self.epochs) for own in value]

    def begin(self) -> Interaction:
        """The batches in order, round after round."""
        return _Rounds(self)


def label(number: int, batches: int) -> str:
    """What a sum over one batch declares itself to be, as its stream."""
    return f"batch {number} of {batches}"


class _Rounds(Series):
    """Asks for the sums in turn: each must declare which batch it is about."""

    def __init__(self, mechanism: DisjointBatches) -> None:
        super().__init__([(mechanism.of, mechanism.batches * mechanism.epochs)])
        self._batches, self._asked = mechanism.batches, 0

    def admit(self, value: Sensitive[Any]) -> None:
        """Refuse a sum over another batch: a unit would be asked about twice in one round."""
        wanted = label(self._asked % self._batches, self._batches)
        if value.stream != wanted:
            raise BadParameter(f"the next answer must be about {wanted}; this is {value.stream!r}")
        super().admit(value)

    def ask(self, value: Any) -> object:
        """The next batch, whatever becomes of this one."""
        self._asked += 1
        return super().ask(value)
