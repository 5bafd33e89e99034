"""A private sum over parties who trust nobody, charged by a session: played here, or elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import fixes, parameters
from deniable.errors import BadParameter, MissingBounds
from deniable.forms import Form, read_numbers
from deniable.ledger import open_ledger
from deniable.losses import Loss
from deniable.losses.filters import ApproxFilter
from deniable.mechanisms import Skellam, SkellamL2, SkellamShares
from deniable.release import Noisy, Plan, Release
from deniable.release.noisy import Additive
from deniable.release.plan import balance
from deniable.sensitive import Sensitive
from deniable.session import Session, budgets
from deniable.session.offers import offering
from deniable.units import Unit, rows

from .coordinator import Coordinator
from .graph import shape_of
from .party import Party
from .rounds import Round
from .vectors import clipped, entries


@parameters.called("secure.aggregate([[3, 1], [2, 2]], spend=dp.epsilon(1.0, delta=1e-6), l1=1)")
def aggregate(
    vectors: Sequence[ArrayLike | None],
    *,
    spend: Loss,
    l1: int | None = None,
    l2: float | None = None,
    dropouts: int = 0,
    colluding: int = 0,
    limit: int = Round.limit,
    unit: Unit | None = None,
    session: Session | None = None,
) -> Release:
    """Add the parties' vectors of whole numbers so that nobody sees more than the noisy sum.

    Every party runs here as it would on its own machine, and they exchange bytes alone. `None` in
    place of a vector is a party that drops out: before it sends its vector, after it shared out its
    secrets. `l1` or `l2` is how far one privacy unit can move the sum. The noise is enough if up to
    `dropouts` parties drop out and up to `colluding` others tell everyone their shares and whatever
    they know. Numbers beyond ±limit are clipped to it. The charge goes to the `session`, or to one
    of its own with `spend` as its whole budget. With an (ε, δ) that costs a little less than
    `spend`: a ledger keeps a part of δ back.

    >>> import deniable as dp
    >>> counts = [[120, 30], [80, 45], [99, 27], None, [101, 13]]
    >>> r = aggregate(counts, spend=dp.epsilon(1, delta=1e-6), l1=1, dropouts=1, colluding=1)
    >>> r.value.shape, r.loss.delta
    ((2,), 1e-06)
    """
    vectors = _by_party(vectors)
    length, missing = _described(vectors, dropouts=dropouts)
    session = _own_session(spend, unit) if session is None else _checked(session)
    calibrate = partial(
        calibrated,
        session=session,
        parties=len(vectors),
        l1=l1,
        l2=l2,
        dropouts=dropouts,
        colluding=colluding,
    )
    noise = calibrate(session.spending(spend))
    round_ = Round(
        parties=len(vectors),
        length=length,
        limit=limit,
        dropouts=dropouts,
        colluding=colluding,
        noise=noise,
    )
    with offering(session, spend, lambda loss: session.ledger.price(calibrate(loss))):
        return _released(
            round_,
            lambda: _stacked(vectors, round_),
            lambda table: run(round_, table, missing=missing),
            session=session,
            unit=unit,
            who=f"{len(vectors) - len(missing)} of {len(vectors)} parties",
        )


@parameters.called("secure.release(round_, play, session=s)")
def release(
    round_: Round, play: Callable[[], ArrayLike], *, session: Session, unit: Unit | None = None
) -> Release:
    """Charge a session for a round among parties elsewhere, then play it.

    `play` carries messages as you like and returns the coordinator's `total()`. It is called after
    the charge, which is for the noise of the round; whatever it raises is charged as well, and
    stops the asker until the curator resumes. So what can fail may come before: a sum can be read
    only once parties are sent `confirmations()`.

    >>> import deniable as dp
    >>> noise = SkellamShares(of=dp.Skellam.calibrate(to=dp.rho(0.1)), parties=3)
    >>> round_, s = Round(parties=3, length=2, noise=noise), _own_session(dp.rho(1), None)
    >>> r = release(round_, lambda: run(round_, np.ones((3, 2), int)), session=s)
    >>> r.value.shape, str(s.left)
    ((2,), 'ρ = 0.9')
    """
    _checked(session)
    if not isinstance(round_, Round):
        raise BadParameter.of("round_", round_, must="a Round")
    if round_.noise is None or round_.failing:
        raise BadParameter(
            "a session charges for rounds with noise, and without a `chance` to fail",
            why="the price is that of the noise, for honest parties that are surely protected",
            fix="secure.Round(..., noise=SkellamShares(...))",
        )
    who = f"at least {round_.least} of {round_.parties} parties"
    return _released(round_, lambda: None, lambda _: play(), session=session, unit=unit, who=who)


@parameters.called("secure.explain(parties=5, spend=dp.epsilon(1.0, delta=1e-6), l1=1)")
def explain(
    *,
    parties: int,
    spend: Loss,
    l1: int | None = None,
    l2: float | None = None,
    dropouts: int = 0,
    colluding: int = 0,
    session: Session | None = None,
) -> Plan:
    """What `aggregate` would do, cost and err by, from public facts alone: free.

    >>> import deniable as dp
    >>> plan = explain(parties=5, spend=dp.rho(0.1), l1=1, dropouts=1, colluding=1)
    >>> plan.errors["value"], len(plan.steps)
    (6.0, 4)
    """
    charged = _own_session(spend, None) if session is None else _checked(session)
    noise = calibrated(
        charged.spending(spend),
        session=charged,
        parties=parties,
        l1=l1,
        l2=l2,
        dropouts=dropouts,
        colluding=colluding,
    )
    shape = shape_of(parties=parties, dropouts=dropouts, colluding=colluding)
    return Plan(
        question=f"a secure sum over {parties} parties",
        cost=budgets.alone(noise, budget=charged.budget),
        errors={"value": noise.error()},
        steps=[
            f"each party adds Skellam noise of variance {noise.share.variance:.4g} to its vector",
            f"it masks the result with {shape.degree} others, and splits its secrets among them",
            f"any {shape.threshold} of them can unmask it if it drops out; fewer learn nothing",
            f"the sum has noise of variance {noise.of.variance:.4g} that no coalition knows",
        ],
        notes=(f"this holds if dropouts ≤ {dropouts} and colluding parties ≤ {colluding}",),
        **(
            {"left": None, "exceeded": None}
            if session is None
            else balance(session.ledger, session.ledger.price(noise))
        ),
    )


def run(
    round_: Round, vectors: NDArray[np.int64], *, missing: frozenset[int] = frozenset()
) -> NDArray[np.int64]:
    """One round in one process; those `missing` drop out after they shared their secrets."""
    parties = [Party(round_, i) for i in range(round_.parties)]
    coordinator = Coordinator(round_)
    coordinator.receive(*(p.advertise() for p in parties))
    rosters = coordinator.rosters()
    for party in parties:
        coordinator.receive(party.share(rosters[party.index]))
    letters = coordinator.deliveries()
    left = [p for p in parties if p.index not in missing]
    for party in left:
        coordinator.receive(party.mask(letters.pop(party.index), vectors[party.index]))
    survivors = coordinator.survivors()
    coordinator.receive(*(p.confirm(survivors[p.index]) for p in left))
    codes = coordinator.confirmations()
    for party in left:
        coordinator.receive(party.reveal(codes[party.index]))
    return coordinator.total()


@dataclass(frozen=True, kw_only=True)
class InParties(SkellamShares):
    """The same mechanism, with the rows added by parties who exchange messages.

    It has the name, the price and the record of `SkellamShares`: what differs is who adds up.
    """

    adding: Callable[[Any], ArrayLike] = field(repr=False, compare=False)
    length: int = field(repr=False, compare=False)

    @classmethod
    def of_round(cls, round_: Round, adding: Callable[[Any], ArrayLike]) -> InParties:
        """The shares of a round, added so."""
        noise = round_.noise
        facts = {each.name: getattr(noise, each.name) for each in fields(SkellamShares)}
        return cls(adding=adding, length=round_.length, **facts)

    def reading(self, form: Form) -> Callable[[Any], Any]:
        """The value as it is: each party reads its own row."""
        super().reading(form)
        return lambda value: value

    def draw(self, value: object) -> NDArray[np.int64]:
        """The sum of the rows, each with its share, as the coordinator reads it."""
        form = Form(whole=True, shape=(self.length,))
        return read_numbers(self.adding(value), form)

    def to_dict(self) -> dict[str, object]:
        """The record of the shares."""
        own = {each.name for each in fields(SkellamShares)}
        return {
            name: part for name, part in super().to_dict().items() if name in {"mechanism", *own}
        }


def _released(
    round_: Round,
    compute: Callable[[], object],
    adding: Callable[[Any], ArrayLike],
    *,
    session: Session,
    unit: Unit | None,
    who: str,
) -> Release:
    """Charge for the noise of a round, compute what the parties have, and let them add it."""
    round_.prepare()
    shape, mechanism = (round_.parties, round_.length), InParties.of_round(round_, adding)
    moved: Any = {mechanism.of.norm: mechanism.of.sensitivity}
    value = Sensitive(compute, whole=True, shape=shape, unit=unit, **moved)
    about = f"the sum over {who}, of numbers clipped to ±{round_.limit}"
    return session.release(
        [mechanism.on(value)],
        title=f"a secure sum over {who}",
        present=_present(mechanism, round_.length, about),
    )


def calibrated(
    spend: Loss,
    *,
    session: Session,
    parties: int,
    l1: int | None,
    l2: float | None,
    dropouts: int,
    colluding: int,
) -> SkellamShares:
    """The least noise for this loss that the session's ledger admits, in shares."""
    if (l1 is None) == (l2 is None):
        raise MissingBounds(
            "aggregate needs l1= or l2=, and only one of them",
            why="noise is sized to the most that one unit can change the sum",
            fix="l1=1    where one unit adds 1 to one number of one vector",
        )
    kind: type[Skellam | SkellamL2] = Skellam if l2 is None else SkellamL2
    name, moved = ("l1", parameters.whole("l1", l1)) if l2 is None else ("l2", l2)
    parameters.positive(name, moved)
    noise = kind.calibrate(to=spend, sensitivity=moved)
    used = session.ledger.filter
    while isinstance(used, ApproxFilter) and noise.renyi(used.order) > used.divergence:
        larger = max(1.0001, noise.renyi(used.order) / used.divergence)
        noise = kind.within_reach(noise.variance * larger, moved, to=spend)
    return SkellamShares(of=noise, parties=parties, dropouts=dropouts, colluding=colluding)


def _by_party(vectors: object) -> list[ArrayLike | None]:
    """A vector or None for each party; refused where it is not plain which those are."""
    if not isinstance(vectors, Sequence | np.ndarray) or isinstance(vectors, str | bytes):
        named = isinstance(vectors, Mapping)
        raise BadParameter(
            f"vectors must be a list with one vector per party, not {parameters.a_kind(vectors)}",
            fix="list(vectors.values())" if named else "vectors.to_numpy(), with a row per party",
        )
    listed = list(vectors)
    if not any(each is not None for each in listed):
        raise BadParameter("no party has a vector")
    if any(isinstance(each, Number) for each in listed):
        raise BadParameter(
            "each party needs a list of numbers, even for a single number",
            fix="[[each] for each in vectors]",
        )
    return listed


def _described(vectors: Sequence[ArrayLike | None], *, dropouts: int) -> tuple[int, frozenset[int]]:
    """The common length of the vectors, and who drops out."""
    lengths = {len(entries(v)) for v in vectors if v is not None}
    if len(lengths) != 1:
        raise BadParameter(
            "all parties must have vectors of the same length",
            why="numbers are added position by position",
            fix="put 0 where a party has nothing to count",
        )
    missing = frozenset(i for i, v in enumerate(vectors) if v is None)
    if len(missing) > parameters.whole("dropouts", dropouts, least=0):
        raise BadParameter(
            f"{len(missing)} of the parties drop out, but dropouts={dropouts}",
            why="the noise that is left would not be what is charged for",
            fix=f"dropouts={len(missing)}",
        )
    return lengths.pop(), missing


def _checked(session: object) -> Session:
    if not isinstance(session, Session):
        raise BadParameter.of("session", session, must="a session", fix="s = dp.open(...)")
    return session


def _own_session(spend: object, unit: Unit | None) -> Session:
    if not isinstance(spend, Loss):
        fix = fixes.amount("spend", "epsilon", 1.0, delta=1e-6)
        raise BadParameter.of("spend", spend, must="a loss", fix=fix)
    return Session(
        tables={}, schema=None, ledger=open_ledger(budget=spend, unit=unit or rows(), name="sum")
    )


def _stacked(vectors: Sequence[ArrayLike | None], round_: Round) -> NDArray[np.int64]:
    """A row for each party, clipped; of those who drop out, zeros that nobody sends."""
    rows = np.zeros((round_.parties, round_.length), dtype=np.int64)
    for row, vector in zip(rows, vectors, strict=True):
        if vector is not None:
            row[:] = clipped(vector, length=round_.length, limit=round_.limit)
    return rows


def _present(noise: SkellamShares, length: int, about: str) -> Callable[[list[Any]], Any]:
    def present(drawn: list[Any]) -> Any:
        cells = tuple(drawn[0].tolist())
        spread = Additive(mechanism=noise, whole=True)
        answer = Noisy(cells=cells, shape=(length,), spread=spread, estimand=about)
        return {"index": tuple(range(length))}, {"value": answer}

    return present
