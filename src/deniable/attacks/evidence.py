"""How well an attack tells people in the data from people like them who are not.

An attack gives each person a score, the higher the likelier "in the data". What it is worth is seen
beside a control: people of the same population who were left out. Under ε-differential privacy no
rule of any kind has a true-positive rate above e^ε times its false-positive rate (plus δ)
[WZ10, KOV15], so rates that are further apart show how large ε is at least.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter
from deniable.plots import Axes, roc

from .tables import Floats
from .telling import Facts, Told, percent


@dataclass(frozen=True, kw_only=True, eq=False)
class Membership(Told):
    """Scores of people who are in the data and of a control, and what they prove.

    The bound on ε counts people as independent trials. Answers to one release are not quite that,
    so it is evidence at about the stated confidence; `deniable.audit` has the bounds that are
    proof.
    """

    inside: Floats
    outside: Floats
    source: str
    """What was published, in words."""
    test: str
    """The rule that gives the scores."""
    epsilon: float | None = None
    """The ε that was promised, where one was."""

    def __post_init__(self) -> None:
        if self.inside.size == 0 or self.outside.size == 0:
            raise BadParameter("an attack is judged on at least one member and one control")

    @cached_property
    def curve(self) -> tuple[Floats, Floats]:
        """False- and true-positive rates of the rule "in, if the score is at least t", every t."""
        cuts = np.unique(np.concatenate([self.inside, self.outside]))[::-1]
        inside, outside = np.sort(self.inside), np.sort(self.outside)
        hit = 1 - np.searchsorted(inside, cuts, side="left") / inside.size
        false = 1 - np.searchsorted(outside, cuts, side="left") / outside.size
        return np.concatenate([[0.0], false]), np.concatenate([[0.0], hit])

    @property
    def auc(self) -> float:
        """The chance that a member scores above a control: 0.5 is guessing, 1 is certainty."""
        false, hit = self.curve
        return float(np.trapezoid(hit, false))

    @property
    def advantage(self) -> float:
        """The largest gap between the two rates: 0 is guessing, 1 is certainty [YGFJ18]."""
        false, hit = self.curve
        return float(np.max(hit - false))

    def tpr_at(self, fpr: float) -> float:
        """The share of members found when this share of controls is accused [CCNSTT22].

        Between two cuts a coin decides which of them to use, as between tied scores.
        """
        false, hit = self.curve
        places, last = np.unique(false[::-1], return_index=True)
        return float(np.interp(parameters.probability("fpr", fpr), places, hit[::-1][last]))

    def epsilon_lower(self, confidence: float = 0.95, *, delta: float = 0.0) -> float:
        """The ε below which these scores would be a surprise; 0 if they are none.

        The cut is chosen on every other person and the rates are counted on the rest, so that the
        choice cannot flatter the result.
        """
        alpha = 1 - parameters.confidence("confidence", confidence)
        choose = Membership(inside=self.inside[::2], outside=self.outside[::2], source="", test="")
        inside, outside = self.inside[1::2], self.outside[1::2]
        if not (inside.size and outside.size):
            return 0.0
        # "In, if high" bounds one direction, "out, if low" the other.
        high = _proved(inside, outside, choose.best_cut(delta), alpha / 2, delta)
        low = -choose.best_cut(delta, flip=-1.0)
        return max(high, _proved(-outside, -inside, low, alpha / 2, delta))

    def best_cut(self, delta: float, *, flip: float = 1.0) -> float:
        """The score at which these people would prove most."""
        first, second = self.inside, self.outside
        if flip < 0:
            first, second = -second, -first
        cuts = np.unique(np.concatenate([self.inside, self.outside]))
        cuts = cuts[np.linspace(0, cuts.size - 1, min(cuts.size, 200)).astype(int)]
        proved = [_proved(first, second, flip * cut, 0.05, delta) for cut in cuts]
        return float(cuts[int(np.argmax(proved))])

    def _headline(self) -> str:
        found = self.tpr_at(0.01)
        return (
            f"Of the people in the data {percent(found)} are found from {self.source} "
            "while 1 % of the others are accused; guessing finds 1 %."
        )

    def _facts(self) -> Facts:
        lower = self.epsilon_lower()
        promised = "" if self.epsilon is None else f"; promised: {self.epsilon:.3g}"
        found, more = percent(self.tpr_at(0.001)), percent(self.tpr_at(0.05))
        return [
            ("test", self.test),
            ("AUC", f"{self.auc:.3f} (0.5 is guessing)"),
            ("TPR", f"{found} at FPR 0.1 %, {more} at 5 %"),
            ("ε", f"at least {lower:.3g}, with 95 % confidence{promised}"),
            ("judged on", f"{self.inside.size:,} members, {self.outside.size:,} controls"),
        ]

    def plot(self, ax: Axes | None = None) -> Axes:
        """True against false positives, both on logarithmic axes, with what ε allows."""
        false, hit = self.curve
        return roc({self.test: (false.tolist(), hit.tolist())}, epsilon=self.epsilon, ax=ax)


def _proved(inside: Floats, outside: Floats, cut: float, alpha: float, delta: float) -> float:
    """What the rule "in, if the score is at least the cut" proves."""
    hits, false = ((int(np.sum(side >= cut)), side.size) for side in (inside, outside))
    return epsilon_from_rates(hits, false, alpha=alpha, delta=delta)


def epsilon_from_rates(
    hits: tuple[int, int], false: tuple[int, int], *, alpha: float, delta: float = 0.0
) -> float:
    """The least ε that (hits, trials) against (false, trials) leave open, wrong with probability α.

    >>> round(epsilon_from_rates((90, 100), (10, 100), alpha=0.05), 2)
    1.54
    >>> epsilon_from_rates((12, 100), (10, 100), alpha=0.05)
    0.0
    """
    low = rate_bounds(*hits, alpha=alpha / 2)[0] - delta
    high = rate_bounds(*false, alpha=alpha / 2)[1]
    return max(0.0, math.log(low / high)) if low > 0 else 0.0


def rate_bounds(hits: int, trials: int, *, alpha: float) -> tuple[float, float]:
    """Clopper–Pearson: each end is wrong with probability at most α [CP34].

    >>> tuple(round(end, 4) for end in rate_bounds(5, 10, alpha=0.025))
    (0.1871, 0.8129)
    """
    from scipy import special

    low = float(special.betaincinv(hits, trials - hits + 1, alpha)) if hits else 0.0
    high = float(special.betainccinv(hits + 1, trials - hits, alpha)) if hits < trials else 1.0
    return low, high


def best_guess(epsilon: float, *, prior: float = 0.5) -> float:
    """The most often anyone can guess one of two cases right under ε, given the prior odds.

    >>> round(best_guess(1.0), 3)
    0.731
    """
    epsilon = parameters.non_negative("epsilon", epsilon)
    odds = max(prior, 1 - prior) / max(1e-300, min(prior, 1 - prior))
    return 1 / (1 + math.exp(-epsilon) / odds)
