"""A schema of the bundled census data that states bounds and keys, and nothing fitted to rows."""

import deniable as dp

# fmt: off
KEYS = {
    "workclass": ["Federal-gov", "Local-gov", "Never-worked", "Private", "Self-emp-inc",
                  "Self-emp-not-inc", "State-gov", "Without-pay"],
    "marital_status": ["Divorced", "Married-AF-spouse", "Married-civ-spouse",
                       "Married-spouse-absent", "Never-married", "Separated", "Widowed"],
    "occupation": ["Adm-clerical", "Armed-Forces", "Craft-repair", "Exec-managerial",
                   "Farming-fishing", "Handlers-cleaners", "Machine-op-inspct", "Other-service",
                   "Priv-house-serv", "Prof-specialty", "Protective-serv", "Sales",
                   "Tech-support", "Transport-moving"],
    "relationship": ["Husband", "Not-in-family", "Other-relative", "Own-child", "Unmarried",
                     "Wife"],
    "race": ["Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"],
    "sex": ["Female", "Male"],
    "income": ["<=50K", ">50K"],
}
# fmt: on
NUMBERS = {
    "age": (17, 90),
    "education_num": (1, 16),
    "capital_gain": (0, 100_000),
    "capital_loss": (0, 5_000),
    "hours_per_week": (1, 99),
}


def schema() -> dp.Schema:
    numbers = {name: dp.bounds(*ends, type="int") for name, ends in NUMBERS.items()}
    return dp.Schema(columns=numbers | {name: dp.keys(values) for name, values in KEYS.items()})


def opened(table, budget, unit=None):
    return dp.open(table, unit=unit or dp.rows(), budget=budget, schema=schema())
