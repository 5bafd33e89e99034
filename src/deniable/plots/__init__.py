"""Charts: plain arrays in, matplotlib Axes out.

    privacy_loss     how likely each amount of privacy loss is
    accountants      ε against the number of queries, for each way of counting
    trade_off        misses against false alarms: how well anyone can distinguish
    belief           an attacker's belief after an answer, given the belief before
    bars             bars with whiskers
    answers          noisy answers: bars, a line over time, or bars in groups
    panels           a bar chart per level or table
    bands            noisy numbers in order, with their ±
    burn_down        what is left of a budget after each charge
    curves           one quantity against another
    teaching/        neighbours, clipping, errors, differences: charts that explain
    roc              how many people are found, and how many wrongly accused
    style            the palette, canvas and caption of all charts
    figures          a figure that finds a font for every script
    charts           noisy answers as interactive charts: a Vega-Lite specification

The palette works for the colour-blind, and in grey by line style and lightness. matplotlib is
loaded when the first chart is drawn.
"""

from __future__ import annotations

from .accountants import accountants
from .answers import answers
from .bands import band
from .bars import bars
from .belief import belief
from .burn_down import burn_down
from .curves import curves
from .privacy_loss import privacy_loss
from .roc import roc
from .style import Axes
from .teaching import clipping, differences, errors, neighbours
from .trade_off import trade_off

__all__ = [
    "Axes",
    "accountants",
    "answers",
    "band",
    "bars",
    "belief",
    "burn_down",
    "clipping",
    "curves",
    "differences",
    "errors",
    "neighbours",
    "privacy_loss",
    "roc",
    "trade_off",
]
