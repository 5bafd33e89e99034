"""Attribute inference: guess a secret column from what is known of a person [YGFJ18].

A table teaches about everyone, in it or not, so a guess that is often right is not a breach. The
breach is the part by which guesses about people *in* the table are better than about a control.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable import parameters
from deniable.attacks.criteria._risk import Rate, Risk
from deniable.attacks.evidence import epsilon_from_rates, rate_bounds
from deniable.attacks.tables import Array, Integers, Mask, codes, columns_of
from deniable.attacks.telling import Facts, Told, percent
from deniable.errors import BadParameter
from deniable.plots import Axes, bars

from .synthetic import Scale, distances


@dataclass(frozen=True, kw_only=True)
class AttributeInference(Told):
    """How often a secret is guessed: for members, for a control, and by the commonest value."""

    secret: str
    known: tuple[str, ...]
    members: tuple[int, int]
    """Right guesses, people."""
    controls: tuple[int, int]
    baseline: float
    """How often the commonest value is right for the control."""
    epsilon: float | None = None

    @property
    def accuracy(self) -> float:
        """The share of members whose secret is guessed."""
        return self.members[0] / self.members[1]

    @property
    def control_accuracy(self) -> float:
        """The share of people outside the table whose secret is guessed."""
        return self.controls[0] / self.controls[1]

    @property
    def advantage(self) -> float:
        """How much better guesses are for being in the table."""
        return self.accuracy - self.control_accuracy

    @property
    def risk(self) -> Risk:
        """The inference risk: what guesses gain by the person being in the table [GBWT23]."""
        size = self.members[1]
        return Risk(
            criterion="inference",
            attack=f"{self.secret} guessed from {' + '.join(self.known)}",
            members=Rate(*self.members),
            controls=Rate(*self.controls),
            baseline=Rate(round(self.baseline * size), size),
            wanted=size,
        )

    def epsilon_lower(self, confidence: float = 0.95) -> float:
        """The ε below which such a difference would be a surprise; right and wrong guesses both."""
        alpha = (1 - confidence) / 2
        wrong = [(size - hits, size) for hits, size in (self.members, self.controls)]
        return max(
            epsilon_from_rates(self.members, self.controls, alpha=alpha),
            epsilon_from_rates(wrong[1], wrong[0], alpha=alpha),
        )

    def _headline(self) -> str:
        return (
            f"{self.secret} is guessed for {percent(self.accuracy)} of the people in the table, "
            f"for {percent(self.control_accuracy)} of people who are not in it."
        )

    def _facts(self) -> Facts:
        low, high = rate_bounds(*self.members, alpha=0.025)
        return [
            ("known", " + ".join(self.known)),
            ("baseline", f"the commonest value is right for {percent(self.baseline)}"),
            ("interval", f"{percent(low)} to {percent(high)} for members (95 % confidence)"),
            ("ε", f"at least {self.epsilon_lower():.3g}, with 95 % confidence"),
        ]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Accuracy for members, controls and the baseline."""
        return bars(
            ["in the table", "not in the table", "commonest value"],
            [self.accuracy, self.control_accuracy, self.baseline],
            title=f"Guesses of {self.secret} that are right",
            axis_label="share of people",
            ax=ax,
        )


@parameters.called(
    'attacks.attributes(released, secret="income", known=["age"], members=inside, controls=outside)'
)
def attributes(
    released: object,
    *,
    secret: str,
    known: Sequence[str],
    members: object,
    controls: object,
    epsilon: float | None = None,
) -> AttributeInference:
    """Guess `secret` by the released records that are nearest in the `known` columns.

    `released` is a raw, anonymised or synthetic table. Each guess is the commonest secret among the
    closest records. `members` and `controls` hold the known columns and the truth.

    >>> table = {"age": [20, 40, 60], "ill": ["no", "flu", "no"]}
    >>> others = {"age": [21, 41, 61], "ill": ["flu", "flu", "flu"]}
    >>> found = attributes(table, secret="ill", known=["age"], members=table, controls=others)
    >>> found.members, found.controls
    ((3, 3), (1, 3))
    """
    if not known or secret in known:
        raise BadParameter("`known` are columns other than the secret, at least one")
    values = columns_of(released, [secret])[secret]
    (secrets,), levels = codes(values)
    scale = Scale.of(released, known)
    records = scale.places(released)
    commonest = levels[int(np.argmax(np.bincount(secrets)))]
    right = []
    for people in (members, controls):
        truth = columns_of(people, [secret])[secret]
        guesses: list[int] = []
        for part in distances(scale.places(people), records):
            closest = part <= part.min(axis=1, keepdims=True) + 1e-6
            guesses += _votes(closest, secrets, len(levels)).tolist()
        told = zip(truth.tolist(), guesses, strict=True)
        right.append((sum(value == levels[guess] for value, guess in told), len(guesses)))
    control_truth = columns_of(controls, [secret])[secret]
    return AttributeInference(
        secret=secret,
        known=tuple(known),
        members=right[0],
        controls=right[1],
        baseline=float(np.mean([value == commonest for value in control_truth.tolist()])),
        epsilon=epsilon,
    )


def _votes(closest: Mask, secrets: Array, size: int) -> Integers:
    """The commonest secret among each person's closest records."""
    people, records = np.nonzero(closest)
    cells = np.bincount(people * size + secrets[records], minlength=len(closest) * size)
    return np.asarray(np.argmax(cells.reshape(len(closest), size), axis=1))
