"""k-anonymity, ℓ-diversity and t-closeness, which came before differential privacy; their limits.

    check(table, quasi=, sensitive=)     how anonymous a table is
    in_population(table, population, quasi=)            k-map and δ-presence
    population_uniqueness(table, quasi=, fraction=)     who is unique beyond the table
    anonymize(table, quasi=, k=)         make it k-anonymous, with the least loss
    generalize(table, levels=)           generalise columns to levels you choose
    deidentify(table)                    find the columns that name people, and drop them
    pseudonymize(table, column)          replace names by pseudonyms
    clip(table, bounds=)                 top and bottom coding
    digits ranges doubling dates tree steps single suggest      ways to generalise values

These methods hide people in groups, and promise nothing against someone who knows more than
expected. The modules:

    checking        check
    anonymizing     anonymize, generalize
    demands         the conditions on every class: k, ℓ and t
    diversity       ℓ-diversity, t-closeness, β-likeness and δ-disclosure of a class
    population      in_population, population_uniqueness
    hierarchies     the steps by which values are generalised
    suggesting      a hierarchy for a column without one
    methods         the search for a generalisation
    identifiers     deidentify
    pseudonyms      pseudonymize
    outliers        clip
    reports         what was done to a table, what holds for it, and what was lost
    limits          what a k-anonymous table still reveals
    tables          tables of any kind, as integer codes
"""

from . import limits
from .anonymizing import Anonymized, anonymize, generalize
from .checking import Check, Spread, check
from .demands import Demands
from .hierarchies import Ladder, dates, digits, doubling, ranges, single, steps, tree
from .identifiers import Deidentified, Finding, deidentify
from .outliers import clip
from .population import InPopulation, PopulationUniqueness, in_population, population_uniqueness
from .pseudonyms import Pseudonymized, pseudonymize
from .reports import Measured, Report
from .suggesting import suggest

__all__ = [
    "Anonymized",
    "Check",
    "Deidentified",
    "Demands",
    "Finding",
    "InPopulation",
    "Ladder",
    "Measured",
    "PopulationUniqueness",
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
    "in_population",
    "limits",
    "population_uniqueness",
    "pseudonymize",
    "ranges",
    "single",
    "steps",
    "suggest",
    "tree",
]
