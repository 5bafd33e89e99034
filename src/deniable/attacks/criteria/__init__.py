"""The three ways in which anonymisation can fail [WP14]: singling out, linkability, inference.

    _risk           how much of an attack's success is due to having the release
    singling_out    predicates that are true of exactly one person
    linkability     two halves of a record that the release ties together

Inference, the third, is `attacks.attributes(...).risk`. Each attack is also run on a control,
people who had no part in the release, and once by guessing [GBWT23].
"""

from __future__ import annotations

from ._risk import Rate, Risk
from .linkability import linkability
from .singling_out import singling_out

__all__ = ["Rate", "Risk", "linkability", "singling_out"]
