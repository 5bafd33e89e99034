"""How much of an attack's success is due to having the release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from deniable import parameters
from deniable.attacks.evidence import rate_bounds
from deniable.attacks.telling import Facts, Told, percent
from deniable.plots import Axes, bars


class Rate(NamedTuple):
    """Successes among attempts."""

    hits: int
    trials: int

    @property
    def share(self) -> float:
        """The share of attempts that succeeded; 0 if there were none."""
        return self.hits / self.trials if self.trials else 0.0


@dataclass(frozen=True, kw_only=True)
class Risk(Told):
    """The success of one attack on members, on a control, and by guessing.

    `value` is (r − c)/(1 − c), r and c being the success rates on members and on the control: the
    part of the attempts that fail on the control and succeed on members [GBWT23]. 0 means that
    being in the data made no difference.
    """

    criterion: str
    attack: str
    """What was tried, in words."""
    members: Rate
    controls: Rate
    baseline: Rate
    """The same number of attempts at random, on the members."""
    wanted: int
    """Attempts that were asked for; fewer are made if the release does not suggest as many."""

    @property
    def value(self) -> float:
        """The risk, from 0 to 1."""
        return _excess(self.members.share, self.controls.share)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """An interval for the risk: both rates lie in their Clopper–Pearson intervals [CP34].

        The doubt is shared between the four ends, so the interval errs on the wide side.

        >>> risk = Risk(criterion="linkability", attack="", members=Rate(60, 100),
        ...             controls=Rate(20, 100), baseline=Rate(0, 100), wanted=100)
        >>> [round(figure, 2) for figure in (risk.value, *risk.interval())]
        [0.5, 0.26, 0.67]
        """
        doubt = 1 - parameters.confidence("confidence", confidence)
        if not (self.members.trials and self.controls.trials):
            return 0.0, 1.0
        low, high = rate_bounds(*self.members, alpha=doubt / 4)
        least, most = rate_bounds(*self.controls, alpha=doubt / 4)
        return _excess(low, most), _excess(high, least)

    @property
    def telling(self) -> bool:
        """Whether the attack beats guessing: an attack that does not says nothing about privacy."""
        return self.members.share > self.baseline.share

    def _headline(self) -> str:
        low, high = self.interval()
        return (
            f"{self.criterion} risk: {self.value:.3f}, between {low:.3f} and {high:.3f} "
            "(95 % confidence)."
        )

    def _facts(self) -> Facts:
        named = (("members", self.members), ("control", self.controls), ("guessing", self.baseline))
        facts = [("attack", self.attack)]
        facts += [
            (name, f"{rate.hits:,} of {rate.trials:,} attempts succeed ({percent(rate.share)})")
            for name, rate in named
        ]
        if self.members.trials < self.wanted:
            few = f"only {self.members.trials:,} of {self.wanted:,} attempts could be made"
            facts.append(("note", f"{few}: the risk may be larger"))
        if not self.telling:
            facts.append(("note", "the attack is no better than guessing, so it proves nothing"))
        return facts

    def plot(self, ax: Axes | None = None) -> Axes:
        """Success rates on members, on the control, and by guessing."""
        return bars(
            ["members", "control", "guessing"],
            [self.members.share, self.controls.share, self.baseline.share],
            title=self.criterion.capitalize(),
            axis_label="share of attempts that succeed",
            ax=ax,
        )


def _excess(rate: float, control: float) -> float:
    return max(0.0, (rate - control) / (1 - control)) if control < 1 else 0.0
