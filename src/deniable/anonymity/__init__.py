"""What came before differential privacy: k-anonymity, ℓ-diversity, t-closeness, and their limits.

    check(table, quasi=, sensitive=)     how anonymous a table is
    anonymize(table, quasi=, k=)         make it k-anonymous, with the least loss
    generalize(table, levels=)           take columns up to levels you choose
    deidentify(table)                    find the columns that name people, and drop them
    pseudonymize(table, column)          the same person, another name
    clip(table, bounds=)                 top and bottom coding
    digits ranges doubling dates tree steps single suggest      ways to say a value less exactly
    limits                               what an attacker still learns

These hide people in groups, and promise nothing against someone who knows more than was foreseen.
"""

from . import limits
from .anonymizing import Anonymized, anonymize, generalize
from .checking import Check, Spread, check
from .demands import Demands
from .hierarchies import Ladder, dates, digits, doubling, ranges, single, steps, tree
from .identifiers import Deidentified, Finding, deidentify
from .outliers import clip
from .pseudonyms import Pseudonymized, pseudonymize
from .reports import Measured, Report
from .suggesting import suggest

__all__ = [
    "Anonymized",
    "Check",
    "Deidentified",
    "Demands",
    "Finding",
    "Ladder",
    "Measured",
    "Pseudonymized",
    "Report",
    "Spread",
    "anonymize",
    "check",
    "clip",
    "dates",
    "deidentify",
    "digits",
    "doubling",
    "generalize",
    "limits",
    "pseudonymize",
    "ranges",
    "single",
    "steps",
    "suggest",
    "tree",
]
