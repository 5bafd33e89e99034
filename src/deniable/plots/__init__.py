"""Charts: plain arrays in, matplotlib Axes out.

    privacy_loss     how likely each amount of privacy loss is
    accountants      ε against the number of queries, for each way of counting
    trade_off        misses against false alarms: how well anyone can distinguish
    belief           an attacker's belief after an answer, given the belief before
    bars             noisy answers by group
    curves           one quantity against another
    roc              how many people are found, and how many wrongly accused
    style            the palette, canvas and caption of all charts

The palette works for the colour-blind, and in grey by line style and lightness. matplotlib is
loaded when the first chart is drawn.
"""

from __future__ import annotations

from .accountants import accountants
from .bars import bars
from .belief import belief
from .curves import curves
from .privacy_loss import privacy_loss
from .roc import roc
from .trade_off import trade_off

__all__ = ["accountants", "bars", "belief", "curves", "privacy_loss", "roc", "trade_off"]
