"""Ceilings for analysts who choose as they go.

When the next mechanism, its price included, may depend on earlier answers, adding up prices and
stopping at a budget needs a theorem of its own: a *filter* [RRUV16]. A filter here is a frozen
value: written down when a ledger opens, never changed after. It turns each charge into a `Price`,
a vector of figures that only grow; it admits a total or not; what it admits, whatever was chosen in
whatever order, is private within the budget.

    budget   admitted while                                        theorem
    Pure     Σε ≤ ε                                                [RRUV16]
    Zcdp     Σρ ≤ ρ: all orders at once within a curve           [FZ21; Lec21; WRRW23]
    Renyi    Σr(α) ≤ r(α) at every order α of the curve            [FZ21; Lec21]
    Gdp      Σμ² ≤ μ²                                              [ST22]
    Approx   Σε ≤ ε, or Σr(α) ≤ r at one order α fixed at opening; and Σδ of blocks within a reserve

*Why Approx is sound.* Write r for the largest divergence at order α that implies (ε, δ − reserve).
Prices only grow, so the final transcript satisfies the first rule (set A) or the second (set B). On
A the likelihood ratio is at most e^ε point by point. On B the run is that of a session with the
second rule alone, which is (α, r)-Rényi private [FZ21], hence (ε, δ − reserve)-private. So for any
event S, P(S) = P(S ∩ A) + P(S ∩ B) ≤ e^ε·Q(S ∩ A) + e^ε·Q(S ∩ B) + δ − reserve.
A block that is (ε_b, δ_b)-private is, but for probability δ_b, randomized response with ε_b
([KOV15]; for interactive blocks [VZ23]), so it enters both rules as that, and the chance that any
block fails is at most Σδ_b ≤ reserve, also when the δ_b are chosen on the way. Interleaved analysts
change nothing [HSTVVXZ23].

*What is not sound*: "some order is still within (ε, δ)", or composing loss distributions and
stopping when (ε, δ) is reached. The order is then chosen after the answers; an adversary with two
steps nearly doubles δ. That is why the order is fixed when the filter is made.
"""

from __future__ import annotations

from ._filter import Filter, Price, filter_for
from .approx import ApproxFilter
from .odometer import Odometer
from .one_figure import GdpFilter, PureFilter, ZcdpFilter
from .renyi import RenyiFilter

__all__ = [
    "ApproxFilter",
    "Filter",
    "GdpFilter",
    "Odometer",
    "Price",
    "PureFilter",
    "RenyiFilter",
    "ZcdpFilter",
    "filter_for",
]
