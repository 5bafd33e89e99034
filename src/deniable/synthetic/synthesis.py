"""A synthetic table before it is made: checked against public facts, free until released."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from deniable import parameters
from deniable.errors import BadParameter, BudgetExceeded
from deniable.ledger import Entry
from deniable.losses import Loss
from deniable.losses.filters import Price
from deniable.release import Plan, Provenance, Release
from deniable.release.provenance import ONLY_NOISE
from deniable.schema.edges import Bins
from deniable.session import Session
from deniable.session.asked import facts_of, randomness
from deniable.session.offers import offering
from deniable.statistics.building import About, distinct_columns

from ._synthetic import Synthetic
from .constraints import Constraint, constrained, refined
from .counting import (
    MOST_ASKED,
    MOST_COUNTED,
    MOST_SENT,
    MOST_TABULATED,
    Listed,
    Tabulated,
    counted,
    is_apart,
)
from .domain import Domain, domain_of, workload_of
from .inference import Clique
from .methods import adaptive, fixed, tree
from .methods.adaptive import candidates_of
from .methods.tree import pairs_within
from .planning import planned
from .purse import Purse, purse_for
from .run import Run, Steps

if TYPE_CHECKING:
    from .counting import Hidden
    from .run import Marginals

METHODS: Final = ("auto", "independent", "marginals", "tree", "adaptive")
MOST: Final = 1_600_000
"""The cells that a model may have: 13 MB."""
FINE: Final = 256
"""The cells of a column from which `bins="private"` makes groups."""
_FOUND: Final = 32  # groups per column that it makes at most
MOST_COLUMNS: Final = 250
"""The columns that a method may take if it compares all pairs of them."""
_WIDE: Final = 40  # columns: beyond, all triples are too many to compare


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a synthesis. `synthetic` is what was paid for until then, or None.

    Any other error that ends a run has the same attribute.
    """

    def __init__(self, synthetic: Synthetic | None) -> None:
        super().__init__("the synthesis was interrupted; what it paid for is in error.synthetic")
        self.synthetic = synthetic


@dataclass(frozen=True, kw_only=True)
class Synthesis:
    """A synthetic table before it is made: `.explain` is free, `.release` spends."""

    session: Session = field(repr=False)
    columns: Sequence[str] | None = None
    method: str = "auto"
    marginals: object = None
    bins: Bins | Mapping[str, Bins] | str | None = None
    constraints: Sequence[Constraint] = ()
    table: str | None = None
    cells: int = MOST

    @cached_property
    def about(self) -> About:
        """The table that is imitated."""
        return About(session=self.session, table=self.table)

    @cached_property
    def domain(self) -> Domain:
        """The columns and their cells."""
        source = self.about.source
        person = self.session.unit.column
        names = [name for name in source.columns if name != person]
        if self.columns is not None:
            names = distinct_columns(self.about, "columns", self.columns)
            if person in names:
                raise BadParameter(
                    f"`{person}` identifies people, so it cannot be synthesized",
                    fix="leave it out of columns=",
                )
        columns = {name: source.column(name) for name in names}
        bins = FINE if isinstance(self.bins, str) else self.bins
        return refined(domain_of(columns, bins=bins), columns, self.constraints)

    def chosen(self) -> str:
        """The method that is used."""
        parameters.one_of("method", self.method, METHODS)
        method = self.method
        if method == "auto":
            method = "marginals" if self.marginals is not None else self._usual()
        if method == "marginals" and self.marginals is None:
            raise BadParameter(
                'method="marginals" needs marginals=, the columns to count together',
                fix='marginals=[["age", "income"]]',
            )
        if method in ("independent", "tree") and self.marginals is not None:
            raise BadParameter(
                f'method="{method}" finds its own marginals',
                fix='leave out marginals=, or method="adaptive"',
            )
        columns = len(self.domain.sizes)
        if method in ("tree", "adaptive") and columns > MOST_COLUMNS:
            raise BadParameter(
                f'method="{method}" takes at most {MOST_COLUMNS} columns, and there are {columns}',
                why="it compares all pairs of columns",
                fix=("fewer columns=", 'method="independent"'),
            )
        if isinstance(self.bins, str):
            parameters.one_of("bins", self.bins, ("private",))
            if method not in ("tree", "adaptive"):
                raise BadParameter(
                    f'bins="private" does not go with method="{method}"',
                    why="private bins come from noisy counts of columns, measured first",
                    fix='method="tree" or method="adaptive"',
                )
        return method

    def _usual(self) -> str:
        columns = len(self.domain.sizes)
        if columns == 1:
            return "independent"
        return "adaptive" if 3 <= columns <= _WIDE else "tree"

    @cached_property
    def start(self) -> tuple[Any, tuple[Clique, ...]]:
        """The model before anything is measured, and the cliques of its public zeros."""
        return constrained(self.domain, self.constraints, largest=self.cells)

    def cliques(self, method: str) -> list[Clique]:
        """What is measured (independent, marginals), or what is chosen from (tree, adaptive)."""
        count = range(len(self.domain.sizes))
        singles: list[Clique] = [(a,) for a in count]
        if method == "independent":
            return singles
        if method == "tree":
            return pairs_within(self.domain.sizes, self.cells)
        if self.marginals is not None:
            wanted = workload_of(self.domain, self.marginals, largest=self.cells)
        else:
            ways = 3 if len(singles) <= _WIDE else 2
            every = combinations(count, min(ways, len(singles)))
            wanted = [c for c in every if self.domain.size_of(c) <= self.cells]
        if method == "adaptive":
            return wanted or singles
        inside = {a for clique in wanted for a in clique}
        return wanted + [(a,) for a in count if a not in inside]

    # ---- before

    def explain(self, *, spend: Loss) -> Plan:
        """What it would cost and how near each marginal would be. No data are read."""
        spend = self.session.spending(spend)
        method = self.chosen()
        run = self._run(method, self._purse(spend))
        return planned(self, run, method=method, spend=spend, cliques=self.cliques(method))

    def _purse(self, spend: Loss) -> Purse:
        return purse_for(spend, filter=self.session.ledger.filter)

    def _due(self, spend: Loss) -> Price:
        return self._purse(spend).due(self.session.ledger.filter)

    def _run(self, method: str, purse: Purse) -> Run:
        model, zeros = self.start
        return Run(
            domain=self.domain,
            marginals=self._hidden(method),
            purse=purse,
            model=model,
            fixed=zeros,
            most_groups=_FOUND if isinstance(self.bins, str) else None,
        )

    def _hidden(self, method: str) -> Marginals | Mapping[Clique, Hidden]:
        """Counted by the engine where it is known what will be asked, and not too much."""
        singles = [(a,) for a in range(len(self.domain.sizes))]
        wanted = singles + self.cliques(method)
        if method == "adaptive":
            wanted = list(candidates_of(wanted))
        cells, apart = sum(map(self.domain.size_of, wanted)), is_apart(self.about)
        if cells > (MOST_SENT if apart else MOST_TABULATED) or (method == "adaptive" and not apart):
            return Listed(self.about, self.domain)
        if apart or cells > MOST_COUNTED or len(wanted) > MOST_ASKED:
            return Tabulated(self.about, self.domain, wanted)
        return counted(self.about, self.domain, wanted)

    def _steps(self, run: Run, method: str) -> Steps[None]:
        cliques = self.cliques(method)
        if method == "tree":
            return tree(run, cliques)
        if method == "adaptive":
            return adaptive(run, cliques, cells=self.cells)
        return fixed(run, cliques)

    # ---- spending

    def release(self, *, spend: Loss) -> Synthetic:
        """Make it: every step is charged before it is computed."""
        session = self.session
        spend = session.spending(spend)
        method, purse = self.chosen(), self._purse(spend)
        run = self._run(method, purse)
        with offering(session, spend, self._due):
            session.ledger.check(self._due(spend))
        try:
            session.run(self._steps(run, method), name="synthesis", charges=run.charges)
        except BudgetExceeded:
            if not run.measured:
                raise
            run.notes.append("the budget ran out before all was spent on this table")
        except KeyboardInterrupt:
            raise Interrupted(self._rest(run, method, spend, "interrupted")) from None
        except Exception as error:
            vars(error)["synthetic"] = self._rest(run, method, spend, "stopped by an error")
            raise
        return self._made(run, method, spend)

    def _rest(self, run: Run, method: str, spend: Loss, why: str) -> Synthetic | None:
        """What a run that ended early has paid for; None if it measured nothing."""
        if not run.measured:
            return None
        run.notes.append(f"{why}: only what was measured until then is in the model")
        return self._made(run, method, spend)

    def _made(self, run: Run, method: str, spend: Loss) -> Synthetic:
        session, unit = self.session, self.session.unit
        if not run.converged:
            try:
                run.refit(steps=200)
            except (Exception, KeyboardInterrupt):  # noqa: BLE001  what was paid for is not lost
                run.notes.append("the fit was cut short: the model misses the last measurements")
        notes = list(run.notes)
        if unit.column is not None:
            notes.append(
                f"at most {unit.rows} rows per person ({unit.column}) count; whoever has more is "
                "represented by a weighted part of them, and no row belongs to a person"
            )
        release = Release(
            answers={},
            loss=spend,
            mechanisms=tuple(m.to_dict() for m in run.mechanisms),
            unit=unit,
            provenance=_provenance(session, self.about.source.name, method, run.charges),
            randomness=randomness(),
        )
        return Synthetic(
            domain=self.domain,
            model=run.unfolded,
            total=run.total,
            method=method,
            measured=tuple(run.measured),
            release=release,
            notes=tuple(notes),
        )


def _provenance(session: Session, table: str, method: str, charges: Sequence[Entry]) -> Provenance:
    """Cites the run's own charges: others may have written to the ledger meanwhile."""
    facts = [facts_of(session, entry) for entry in charges]
    prices = [entry.price for entry in charges if entry.price is not None]
    return Provenance(
        question=f"synthetic rows of {table}, method {method}",
        table=table,
        price=sum(prices, start=Price.zero).to_dict(),
        entries=tuple(each["entry_hash"] for each in facts),
        note=ONLY_NOISE,
        data_version=session.version,
        **facts[-1],
    )
