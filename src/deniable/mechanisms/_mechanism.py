"""What every mechanism is: public parameters, privacy facts, sampler and error in one value.

A mechanism states the facts it can prove (`pure`, `zcdp`, `gdp`, `renyi`, `pairs`, `approx`); what
follows from them by theorem is filled in here and in `losses`. What draws the noise is therefore
what is charged: there is no second description to drift from the first.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

from deniable import parameters
from deniable.errors import BadParameter, NoBound, SensitivityMismatch
from deniable.forms import Form, read_numbers
from deniable.losses import Loss, Renyi, Zcdp, convert, rounding
from deniable.sensitive import Sensitive
from deniable.units import Relation, Unit

if TYPE_CHECKING:
    from deniable.losses.pairs import Pairs

    from .combine import Composed, Sampled
    from .interactive import Handle, Interaction

L = TypeVar("L", bound=Loss)
T = TypeVar("T")

Norm = Literal["l1", "l2", "linf"]

two_or_more = functools.partial(parameters.whole, least=2)


@dataclasses.dataclass(frozen=True, eq=False)
class Step(Generic[T]):
    """A mechanism and the value it meets: what a session releases and an algorithm yields.

    With a `handle` it is one question to a mechanism that the session opened and charged before.
    """

    mechanism: Mechanism
    value: Sensitive[T]
    handle: Handle | None = None

    @property
    def read(self) -> Sensitive[Any]:
        """The value, coerced to its declared form once it is computed: what `draw` is given."""
        return self.value.read_by(self.mechanism.reading(self.value.form))


class Mechanism(ABC):
    """A randomised algorithm with proved privacy: a frozen dataclass of public parameters."""

    name: ClassVar[str]
    """Its name in ledgers, for ever."""
    norm: ClassVar[Norm]
    """In which norm its `sensitivity` is meant."""
    relation: ClassVar[Relation | None] = None
    """The only neighbours its price is proved for; None: whichever move a value so far."""
    by_entry: ClassVar[bool] = False
    """Whether its answer has one noisy number for each number of the value, in the same places."""
    of_samples: ClassVar[bool] = True
    """Whether it may be asked about a sample, of which it is shown the sum of the rows."""
    draws_units: ClassVar[bool] = False
    """Whether it meets a sample of the units, drawn by the rows of the value."""
    model: ClassVar[str] = "Central"
    """Who makes the noise: "Central", one curator; "Distributed", several parties, in shares."""
    registry: ClassVar[dict[str, type[Mechanism]]] = {}
    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[object]]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" in cls.__dict__:
            Mechanism.registry[cls.name] = cls

    def _canonical(self, **checks: Callable[[str, object], object]) -> None:
        """Each of these parameters in the type that its check returns, or the check's error."""
        for name, check in checks.items():
            object.__setattr__(self, name, check(name, getattr(self, name)))

    # ---- facts: override what is proved; the rest follows

    def pure(self) -> float:
        """ε of pure differential privacy; ∞ if none is proved."""
        return math.inf

    def approx(self) -> tuple[float, float]:
        """One pair (ε, δ) that holds."""
        return self.pure(), 0.0

    def zcdp(self) -> float:
        """ρ of zero-concentrated differential privacy; ∞ if none is proved."""
        return convert.pure_to_zcdp(self.pure())

    def gdp(self) -> float:
        """μ of Gaussian differential privacy; ∞ if none is proved."""
        return math.inf

    def renyi(self, order: float) -> float:
        """Rényi divergence bound at one order α > 1: the least that ε, ρ and the pairs prove."""
        known = min(convert.pure_to_renyi(self.pure(), order), rounding.up(self.zcdp() * order))
        if type(self).pairs is Mechanism.pairs:  # made from ε: it says no more
            return known
        pairs = self.pairs()
        return min(known, pairs.divergence(order)) if pairs is not None else known

    def pairs(self) -> Pairs | None:
        """Dominating pairs of distributions, for tight prices of lists fixed in advance."""
        from deniable.losses.pairs import ApproxPair, Pairs

        epsilon, delta = self.approx()
        if math.isinf(epsilon):
            return None
        return Pairs.symmetric(ApproxPair(epsilon=epsilon, delta=delta))

    # ---- prices

    @parameters.called("dp.Laplace(scale=2.0).loss(dp.Zcdp)")
    def loss(self, kind: type[L]) -> L:
        """What one release costs, in this definition; NoBound where nothing is proved."""
        return kind.from_facts(self)

    def epsilon_at(self, delta: float = 0.0) -> float:
        """The smallest ε known to hold at this δ."""
        delta = parameters.fraction_below_one("delta", delta)
        epsilon, lost = self.approx()
        known = [self.pure(), epsilon if lost <= delta else math.inf]
        if delta > 0:
            known += [loss.epsilon_at(delta) for loss in self._curves()]
        return min(known)

    @parameters.called("dp.Gaussian(sigma=2.0).delta_at(epsilon=1.0)")
    def delta_at(self, epsilon: float) -> float:
        """The smallest δ known to hold at this ε."""
        epsilon = parameters.non_negative("epsilon", epsilon)
        if epsilon >= self.pure():
            return 0.0
        stated, lost = self.approx()
        known = [1.0, lost if stated <= epsilon else 1.0]
        return min(known + [loss.delta_at(epsilon) for loss in self._curves()])

    def _curves(self) -> list[Loss]:
        """Whole curves: the loss distribution; also Rényi where that was made from (ε, δ) only."""
        from deniable.losses import Profile

        kinds: list[type[Loss]] = [Profile, Renyi, Zcdp] if self.black_box() else [Profile]
        known = []
        for kind in kinds:
            with contextlib.suppress(NoBound):
                known.append(self.loss(kind))
        return known

    def black_box(self) -> bool:
        """Is its pair only that of the worst mechanism with the same (ε, δ)?"""
        from deniable.losses.pairs import ApproxPair

        pairs = self.pairs()
        return pairs is None or isinstance(pairs.remove, ApproxPair)

    def error(self, confidence: float = 0.95) -> float:
        """Half-width of the interval that holds the noise of one number with this probability.

        Mechanisms that choose or compare ask for more: among how many candidates, over how many
        queries.
        """
        parameters.confidence("confidence", confidence)
        raise NoBound(f"{type(self).__name__} has no ±: its answers are not numbers")

    def shown_error(self, confidence: float, *, whole: bool) -> float:
        """The ± to show beside an answer; `whole` says that it is in whole numbers.

        NoBound where an answer has none of its own: an index, or noise that depends on data.
        """
        del whole  # for noise that is rounded with the answer
        return self.error(confidence)

    # ---- use

    @abstractmethod
    def draw(self, value: Any) -> Any:
        """Answer with noise. Called by `release` and by sessions, never by other code.

        What a value is, and an answer, each mechanism says in its own signature.
        """

    @parameters.called("dp.Laplace(scale=2.0).on(dp.Sensitive(lambda: 3, l1=1))")
    def on(self, value: Sensitive[T]) -> Step[T]:
        """This mechanism applied to a private value, as a step a session can release."""
        if not isinstance(value, Sensitive):
            raise BadParameter(
                f"{type(self).__name__}.on takes a dp.Sensitive; "
                f"you gave {parameters.a_kind(value)}",
                why="a bare value has no bound on how much one unit can change it",
                fix="mechanism.on(dp.Sensitive(lambda: <your count>, l1=1))",
            )
        self.check(value)
        self.reading(value.form)
        return Step(self, value)

    def check(self, value: Sensitive[Any]) -> None:
        """Raise unless the noise covers what one unit can change of the value."""
        self._check_covers(value)

    def reading(self, form: Form) -> Callable[[Any], Any]:
        """How a computed value is coerced to the form that was declared of it.

        Called before the charge, with public facts: raises if the declaration does not suffice.
        What it returns runs after the charge, and whatever it raises is a data failure. It makes
        the same of every representation of a value, so `draw` may choose by type.
        """
        return lambda value: read_numbers(value, form)

    def _covering(self, bound: float) -> str:
        """A mechanism of this kind that covers values which one unit moves that far."""
        amount = "rho=0.005" if self.norm == "l2" else "epsilon=0.1"
        made = f".calibrate({amount}" if hasattr(self, "calibrate") else "(..."
        written = int(bound) if float(bound).is_integer() else bound
        return f"dp.{type(self).__name__}{made}, sensitivity={written})"

    def _check_covers(self, value: Sensitive[Any]) -> None:
        bound = value.bound(self.norm)
        covered = float(getattr(self, "sensitivity", math.inf))
        if bound is None or bound > covered:
            has = f"an {self.norm} bound of {bound:g}" if bound is not None else "no such bound"
            raise SensitivityMismatch(
                f"{type(self).__name__} covers values that one unit changes by at most {covered:g} "
                f"in {self.norm}, but this value has {has}",
                why="noise that is smaller than one unit's influence does not hide it",
                fix=f"dp.Sensitive(..., {self.norm}={covered:g})"
                if bound is None
                else self._covering(bound),
            )

    def begin(self) -> Interaction:
        """The private state of an interactive mechanism, made once it is charged in full."""
        raise BadParameter(
            f"{type(self).__name__} gives a single answer: it needs a value, and cannot be opened",
            fix="mechanism.on(dp.Sensitive(...))",
        )

    @parameters.called("dp.Laplace(scale=2.0).release(100)")
    def release(self, value: Any) -> Any:
        """Answer with noise, outside any session: you keep the books."""
        return self.draw(value)

    # ---- combination

    def __mul__(self, times: int) -> Composed:
        from .combine import Composed

        return Composed.of((self, parameters.whole("times", times)))

    __rmul__ = __mul__

    def __add__(self, other: Mechanism) -> Composed:
        from .combine import Composed

        if not isinstance(other, Mechanism):
            return NotImplemented
        return Composed.of((self, 1), (other, 1))

    @parameters.called("dp.Gaussian(sigma=2.0).sampled(rate=0.01)")
    def sampled(self, *, rate: float, relation: str = "add_remove") -> Sampled:
        """Applied to a Poisson sample: each unit is in it with chance `rate`, independently.

        Priced for units that are added or removed, or with relation="replace" for units that are
        replaced by others, which costs more.
        """
        from .combine import Sampled

        return Sampled(of=self, rate=rate, neighbours=relation)

    def priced_for(self) -> Relation | None:
        """The only neighbours its price is proved for; None: whichever move a value so far."""
        return self.relation

    def within(self) -> Iterator[Mechanism]:
        """This mechanism and every mechanism among its parameters, however deep."""
        yield self
        named = getattr(self, "__dataclass_fields__", ())
        held = [getattr(self, name, None) for name in named]
        while held:
            part = held.pop(0)
            if type(part) in _PLAIN:
                continue  # asked before every charge: looking no further is most of the time
            if isinstance(part, Mechanism):
                yield from part.within()
            elif isinstance(part, tuple | list):
                held = [*part, *held]

    # ---- records

    def to_dict(self) -> dict[str, object]:
        """A record of the public parameters in plain JSON types, for ledgers and certificates."""
        fields = {f.name: _plain(getattr(self, f.name)) for f in dataclasses.fields(self)}
        return {"mechanism": self.name} | fields

    @classmethod
    def from_record(cls, record: Mapping[str, object]) -> Mechanism:
        """The mechanism of this name that `to_dict` wrote."""
        return cls(**{k: _rebuilt(v) for k, v in record.items() if k != "mechanism"})

    @staticmethod
    def from_dict(record: Mapping[str, object]) -> Mechanism:
        """The mechanism that `to_dict` wrote."""
        name = record.get("mechanism")
        kind = Mechanism.named(name)
        if kind is None:
            known = ", ".join(sorted(Mechanism.registry))
            raise BadParameter.of("mechanism", name, must=f"one of {known}")
        return kind.from_record(record)

    @staticmethod
    def named(name: object) -> type[Mechanism] | None:
        """The mechanism of that name in ledgers; None if there is none, here or imported since."""
        if name not in Mechanism.registry:
            from deniable import mechanisms

            for each in mechanisms.__all__:  # each makes itself known when it is imported
                getattr(mechanisms, each)
        return Mechanism.registry.get(str(name))


_PLAIN = frozenset({float, int, bool, str, type(None)})


def _plain(value: object) -> object:
    """A parameter in JSON types: mechanisms and units become records, tuples become lists."""
    if isinstance(value, Mechanism | Unit):
        return value.to_dict()
    return [_plain(part) for part in value] if isinstance(value, tuple | list) else value


def _rebuilt(value: object) -> object:
    """What `_plain` was given."""
    if isinstance(value, Mapping):
        return Mechanism.from_dict(value) if "mechanism" in value else Unit.from_dict(value)
    return tuple(_rebuilt(part) for part in value) if isinstance(value, tuple | list) else value
