"""Models from a session: each method calls `deniable.learn`, which is imported on first use."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TypeVar, Unpack

from deniable.losses import Loss
from deniable.parameters import called
from deniable.release import Plan

from .options import Modelled

E = TypeVar("E")


class Learning:
    """Fit models, and choose among them."""

    @called(
        's.fit(LogisticRegression(), target="income", spend=dp.epsilon(1.0, delta=1e-6))',
        options=Modelled,
    )
    def fit(self, estimator: E, *, target: str | None = None, **how: Unpack[Modelled]) -> E:
        """The estimator of `deniable.learn`, fitted: features come from the schema, rows stay here.

        `target` is the column to predict; `features` are the columns to predict it from, by default
        all others with bounds or keys. Predictions take frames with these columns.
        """
        learn = import_module("deniable.learn.fitting")
        fitted: E = learn.fit(self, estimator, target=target, **how)
        return fitted

    @called(
        's.explain_fit(LogisticRegression(), target="income", spend=dp.epsilon(1.0, delta=1e-6))',
        options=Modelled,
    )
    def explain_fit(
        self, estimator: object, *, target: str | None = None, **how: Unpack[Modelled]
    ) -> Plan:
        """What `fit` would cost and do, from public facts alone: free.

        Where a formula is known and the schema states the number of rows, a note bounds the
        expected excess loss. What public facts can refuse is refused, as `fit` would.
        """
        learn = import_module("deniable.learn.explaining")
        plan: Plan = learn.explain_fit(self, estimator, target=target, **how)
        return plan

    @called('s.select([first, second], target="income", spend=dp.epsilon(0.1))')
    def select(
        self, models: Sequence[E], *, target: str, spend: Loss, table: str | None = None
    ) -> E:
        """Of several fitted models, the one that predicts a column of this session's table best.

        A model is anything with `predict(frame)` that judges each row by itself: right predictions
        are counted where the target has keys, errors are added up where it has bounds.
        """
        chosen: E = import_module("deniable.learn.selecting").select(
            self, models, target=target, spend=spend, table=table
        )
        return chosen

    @called(
        's.tune([Ridge(alpha=1), Ridge(alpha=10)], target="age", spend=dp.mu(0.5))',
        options=Modelled,
    )
    def tune(self, candidates: Sequence[E], *, target: str, **how: Unpack[Modelled]) -> E:
        """The best of several settings, fitted; `spend` pays for every fit and for the choice.

        A fifth pays for the choice, and the fits share the rest: a few candidates, or no tuning at
        all, are usually better than many.
        """
        learn = import_module("deniable.learn.selecting")
        best: E = learn.tune(self, candidates, target=target, **how)
        return best
