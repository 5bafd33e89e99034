"""What an audit found, in words and as a picture."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass

from deniable.errors import MissingExtra
from deniable.plots import Axes
from deniable.release.numbers import percent


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether a claim was refuted, by which event, and what the audit could have seen.

    `violated` is a proof at the stated confidence. Its absence is none: it says that no error
    larger than `power` was there to be seen by these events on these two data sets.
    """

    violated: bool
    claim: str
    """What was claimed, in words."""
    epsilon_lower: float
    """ε for one unit is at least this, at `delta`."""
    epsilon_claimed: float
    """The claimed ε at `delta`; ∞ where the claim speaks in another definition."""
    delta: float
    mu_lower: float | None = None
    """μ is at least this, where a μ was claimed."""
    witness: str
    """The event that proves the bound."""
    evidence: str
    """Its rates, or how many guesses were right."""
    power: float
    """The smallest relative error in noise scale that would be caught 9 times in 10; ∞: none."""
    samples: int
    """Answers drawn of each data set, or canaries."""
    confidence: float
    seconds: float
    bars: tuple[tuple[str, float], ...]
    """What the picture shows: lower bounds, each with its name."""
    limit: float
    """What the picture compares them with."""
    axis: str
    """The name of the picture's axis."""

    def __str__(self) -> str:
        lines = [self._headline(), *(f"  {label:<10}{text}" for label, text in self._facts())]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        colour = "#b3261e" if self.violated else "#3b6e8f"
        rows = "".join(
            f"<dt>{label}</dt><dd>{html.escape(text)}</dd>" for label, text in self._facts()
        )
        return (
            f"<div role='status' style='border-left:4px solid {colour};padding:.4em .8em'>"
            f"<b>{html.escape(self._headline())}</b><dl>{rows}</dl></div>"
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """The lower bounds as bars beside the claim; a bar that passes it refutes it."""
        if ax is None:
            try:
                from matplotlib.figure import Figure
            except ImportError:
                raise MissingExtra.of("matplotlib", extra="plots") from None
            size = (7, 1.2 + 0.5 * len(self.bars))
            ax = Figure(figsize=size, layout="constrained").add_subplot()
        values = [max(0.0, value) for _, value in self.bars]
        names = [f"{name}: ≥ {max(0.0, value):.3g}" for name, value in self.bars]
        colours = ["#b3261e" if value > self.limit else "#7fa8c2" for value in values]
        ax.barh(names, values, color=colours, height=0.55)
        ax.axvline(self.limit, color="black", linewidth=1.5, linestyle="--")
        ax.set_xlim(0, 1.08 * max([self.limit, *values, 1e-3]))
        ax.set_title(f"claimed: {self.claim} (dashed)", loc="left", fontsize="medium")
        ax.set_xlabel(f"{self.axis}, proved at {percent(self.confidence)}")
        ax.invert_yaxis()
        ax.spines[["top", "right"]].set_visible(False)
        return ax

    def _headline(self) -> str:
        proved = (
            f"the audit proves at least {self._proved()} ({percent(self.confidence)} confidence)"
        )
        if self.violated:
            return f"Violated: the claim is {self.claim}; {proved}."
        return f"No violation found: the claim is {self.claim}; {proved}."

    def _proved(self) -> str:
        if self.mu_lower is not None:
            return f"μ = {self.mu_lower:.3g}"
        at = f" (at δ = {self.delta:.2g})" if self.delta else ""
        return f"ε = {self.epsilon_lower:.3g}{at}"

    def _facts(self) -> list[tuple[str, str]]:
        if math.isinf(self.power):
            power = "none: no error in noise scale would be caught; take more samples or a group"
        else:
            power = f"noise {percent(self.power)} too small would be caught 9 times in 10"
        facts = [("witness", self.witness), ("evidence", self.evidence), ("power", power)]
        return [*facts, ("samples", f"{self.samples:,}, in {self.seconds:.2g} s")]
