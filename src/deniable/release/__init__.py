"""Answers, with their ±, their cost and their certificate.

    _release       the answer, its ±, its loss, its provenance
    provenance     where an answer came from: question, charge, budget, version
    noisy          a column of noisy answers and what is known of its noise
    plan           cost, ± and steps, before anything is spent
    certificate    the claim, for sceptics and registries
    frame          tables for terminals and notebooks
    months         months as keys: dates, written without the day
    numbers        ε and ± to three digits, δ as 1e-07; spent and ± round up, left rounds down

A release holds noisy values and public facts: it can be shown, stored and sent.
"""

from __future__ import annotations

from ._release import Release, answer_of, spread_of
from .certificate import Certificate
from .frame import Frame
from .noisy import Additive, Noisy, Spread, Summed, Tabulated
from .plan import Plan
from .provenance import Provenance

__all__ = [
    "Additive",
    "Certificate",
    "Frame",
    "Noisy",
    "Plan",
    "Provenance",
    "Release",
    "Spread",
    "Summed",
    "Tabulated",
    "answer_of",
    "spread_of",
]
