"""The public facts about the bundled census extract, as a schema in TOML.

The lists are those of the data set's own documentation.
"""

from typing import Final

ADULT: Final = """\
# Public facts about the bundled census extract of 1994: one row per person.
size = 48842

[unit]
relation = "add_remove"

[columns.age]
type = "int"
bounds = [0, 125]
missing = "drop"

[columns.hours_per_week]
type = "int"
bounds = [0, 100]
missing = "drop"

[columns.education]
keys = [
    "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad",
    "Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
]

[columns.marital_status]
keys = [
    "Married-civ-spouse", "Divorced", "Never-married", "Separated", "Widowed",
    "Married-spouse-absent", "Married-AF-spouse",
]

[columns.sex]
keys = ["Female", "Male"]

[columns.income]
keys = ["<=50K", ">50K"]
"""
