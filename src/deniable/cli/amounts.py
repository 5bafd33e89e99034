"""Amounts as they are typed: 0.5 is ε, 0.5,1e-8 is ε and δ, rho=0.1 and mu=0.5 are themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.errors import BadParameter
from deniable.fixes import Fix

if TYPE_CHECKING:
    from deniable.losses import Loss


class NotUnderstood(BadParameter):
    """A text that is not an amount: a command that is typed so ends with 2."""


SYNTAX = "0.5 (ε), 0.5,1e-8 (ε and δ), rho=0.1 or mu=0.5"


def loss(name: str, text: str) -> Loss:
    """The loss that a text names.

    >>> loss("spend", "0.5"), loss("spend", "0.5,1e-8"), loss("spend", "rho=0.1")
    (Pure(epsilon=0.5), Approx(epsilon=0.5, delta=1e-08), Zcdp(rho=0.1))
    """
    from deniable import losses

    kind, equals, figures = text.rpartition("=")
    try:
        numbers = [float(part) for part in figures.split(",")]
    except ValueError:
        raise NotUnderstood.of(name, text, must=SYNTAX) from None
    match (kind.strip() if equals else "epsilon", *numbers):
        case "epsilon", float(epsilon):
            return losses.epsilon(epsilon)
        case "epsilon", _, float(delta) if delta >= 1:  # 0,5 is meant for 0.5
            point = Fix(f"--{name} {figures.replace(',', '.')}", note="with a decimal point")
            raise NotUnderstood.of(name, text, must=SYNTAX, fix=point)
        case "epsilon", float(epsilon), float(delta):
            return losses.epsilon(epsilon, delta=delta)
        case "rho", float(rho):
            return losses.rho(rho)
        case "mu", float(mu):
            return losses.mu(mu)
    raise NotUnderstood.of(name, text, must=SYNTAX)


def maybe(name: str, text: str | None) -> Loss | None:
    """The same, where nothing may have been said."""
    return None if text is None else loss(name, text)


def typed(amount: Loss) -> str:
    """A loss as it would be typed.

    >>> from deniable import losses
    >>> typed(losses.epsilon(0.5)), typed(losses.epsilon(0.5, delta=1e-8)), typed(losses.rho(0.1))
    ('0.5', '0.5,1e-08', 'rho=0.1')
    """
    name = "" if amount.figure == "epsilon" else f"{amount.figure}="
    return name + ",".join(f"{figure:g}" for figure in amount.figures().values())


def within(texts: list[str] | None) -> float | dict[str, float] | None:
    """The ± that are wanted: one number, or one a column.

    >>> within(["100"]), within(["n=100", "age=2"])
    (100.0, {'n': 100.0, 'age': 2.0})
    """
    if not texts:
        return None
    try:
        if len(texts) == 1 and "=" not in texts[0]:
            return float(texts[0])
        pairs = [text.rpartition("=") for text in texts]
        if all(column for column, _, _ in pairs):
            return {column: float(number) for column, _, number in pairs}
    except ValueError:
        pass
    raise NotUnderstood.of(
        "within", " ".join(texts), must="a number, or one per column: --within n=100 --within age=2"
    )
