"""Attacks: what an attacker learns from data that were "anonymised" or averaged.

    linkage            join rows without names to records with names
    histories          a few approximate events against many rows per person
    matching           rules for when two records may belong to the same person
    uniqueness         which columns single people out; selectivity ranks columns
    small_groups       an average over one person
    differencing       two sums that differ in one person; search_log finds them in a log
    averaging          noise that is drawn again and again
    reconstruction     from many answers back to bits, from tables back to people
    members            who is in the data, and what else is true of them
    criteria           singling out by predicates and linkability, beside a control and guessing
    floating_point     noise whose last bits give it away
    ciphertexts        encryption that multiplies and leaks: unpadded RSA, plain ElGamal
    timing             how long an answer takes
    beliefs            how an answer changes a belief: poll, lesson
    risk               the risk report for a table about to be published
    defended           each attack again, against a session
    evidence           how well an attack separates members from others
    telling            an attack's findings as text, HTML and JSON
    tables             tables as columns of small integers

Each attack takes what an attacker would have, and returns what was learned and how confidently.
They are for curators who decide what to publish, and for anyone who wants to see why.
"""

from __future__ import annotations

from . import ciphertexts, defended
from .averaging import Average, averaging
from .beliefs import Lesson, lesson, plot_beliefs, poll, posterior_bounds
from .criteria import Rate, Risk, linkability, singling_out
from .differencing import Difference, Exposed, differencing, search_log
from .evidence import Membership, best_guess
from .floating_point import Reachable, floating_point
from .histories import Histories, histories
from .linkage import Linkage, linkage, linked_rows
from .matching import month, near, prefix, spelling, year
from .members import (
    AttributeInference,
    attributes,
    from_correlations,
    from_frequencies,
    from_model,
    from_synthetic,
    membership,
)
from .reconstruction import (
    Block,
    Breakdown,
    Reconstruction,
    all_subsets,
    breakdown,
    cross_tabulate,
    domains_of,
    hadamard_counts,
    reconstruct,
    reconstruct_rows,
)
from .risk import Report, report
from .small_groups import SmallGroups, small_groups
from .timing import Timing, timing
from .uniqueness import Combination, Selectivity, Uniqueness, selectivity, uniqueness

__all__ = [
    "AttributeInference",
    "Average",
    "Block",
    "Breakdown",
    "Combination",
    "Difference",
    "Exposed",
    "Histories",
    "Lesson",
    "Linkage",
    "Membership",
    "Rate",
    "Reachable",
    "Reconstruction",
    "Report",
    "Risk",
    "Selectivity",
    "SmallGroups",
    "Timing",
    "Uniqueness",
    "all_subsets",
    "attributes",
    "averaging",
    "best_guess",
    "breakdown",
    "ciphertexts",
    "cross_tabulate",
    "defended",
    "differencing",
    "domains_of",
    "floating_point",
    "from_correlations",
    "from_frequencies",
    "from_model",
    "from_synthetic",
    "hadamard_counts",
    "histories",
    "lesson",
    "linkability",
    "linkage",
    "linked_rows",
    "membership",
    "month",
    "near",
    "plot_beliefs",
    "poll",
    "posterior_bounds",
    "prefix",
    "reconstruct",
    "reconstruct_rows",
    "report",
    "search_log",
    "selectivity",
    "singling_out",
    "small_groups",
    "spelling",
    "timing",
    "uniqueness",
    "year",
]
