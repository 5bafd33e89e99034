"""What a fit learns is assigned together, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, TypeVar

if TYPE_CHECKING:
    from ._estimator import PrivateEstimator

P = ParamSpec("P")
E = TypeVar("E", bound="PrivateEstimator")

LEARNT: Final = "_learnt"
SETTINGS: Final = "_settings"


def together(
    method: Callable[Concatenate[E, P], E],
) -> Callable[Concatenate[E, P], E]:
    """A fit on a draft with the same parameters, whose state becomes ours in one statement.

    A fit that is refused, fails or is interrupted leaves the model, its loss and its certificate as
    they were; one that succeeds leaves nothing of the fit before. The parameters it was made with
    are kept beside what was learnt, whatever is set later.
    """

    @wraps(method)
    def run(self: E, /, *given: P.args, **named: P.kwargs) -> E:
        shared = self._fits()  # the draft has the same account
        old: dict[str, Any] = vars(self)
        kept = {name: value for name, value in old.items() if name not in old.get(LEARNT, ())}
        draft = type(self).__new__(type(self))
        vars(draft).update(kept, _account=shared)
        method(draft, *given, **named)
        learnt = {LEARNT, SETTINGS, *vars(draft)} - {*kept, "_account"}
        self.__dict__ = {
            **vars(draft),
            SETTINGS: draft.get_params(deep=False),
            LEARNT: frozenset(learnt),
        }
        return self

    return run
