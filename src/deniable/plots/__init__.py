"""Pictures: plain arrays in, matplotlib Axes out.

    privacy_loss     how likely each amount of privacy loss is
    accountants      ε against the number of questions, by each way of counting
    trade_off        false alarms against misses: how well anyone can tell
    belief           what an attacker believes after, given what they believed before
    bars             noisy answers by group
    curves           how something changes as something else grows
    roc              who is found, and who is accused wrongly

One palette for all: told apart by the colour-blind, and in grey by line style and lightness.
matplotlib is loaded when the first picture is drawn.
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
