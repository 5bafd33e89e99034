"""Hierarchies for the Adult data, of the shape that is usual in the literature on anonymity."""

from deniable.anonymity import ranges, single, tree

SIX = ["sex", "age", "race", "marital_status", "education", "native_country"]
NINE = [*SIX, "workclass", "occupation", "income"]

# fmt: off
SCHOOL = {
    "basic": {
        "primary": ["Preschool", "1st-4th", "5th-6th"],
        "lower secondary": ["7th-8th", "9th", "10th", "11th", "12th"],
    },
    "middle": {
        "school diploma": ["HS-grad"],
        "vocational": ["Assoc-acdm", "Assoc-voc", "Prof-school"],
        "college, no degree": ["Some-college"],
    },
    "higher": {"first degree": ["Bachelors"], "graduate": ["Masters", "Doctorate"]},
}
MARRIAGE = {
    "spouse present": ["Married-civ-spouse", "Married-AF-spouse"],
    "spouse absent": [
        "Married-spouse-absent", "Never-married", "Divorced", "Separated", "Widowed",
    ],
}
WORK = {
    "government": ["Federal-gov", "Local-gov", "State-gov"],
    "own account": ["Self-emp-inc", "Self-emp-not-inc"],
    "employed": ["Private"],
    "unpaid": ["Never-worked", "Without-pay"],
}
JOBS = {
    "technical": ["Tech-support", "Craft-repair", "Machine-op-inspct", "Prof-specialty"],
    "office": ["Adm-clerical", "Exec-managerial", "Sales"],
    "manual": ["Farming-fishing", "Handlers-cleaners", "Transport-moving"],
    "other": ["Other-service", "Priv-house-serv", "Protective-serv", "Armed-Forces"],
}
COUNTRIES = {
    "North America": [
        "United-States", "Canada", "Mexico", "Puerto-Rico", "Cuba", "Jamaica", "Haiti", "Honduras",
        "El-Salvador", "Guatemala", "Dominican-Republic", "Nicaragua", "Trinadad&Tobago",
        "Outlying-US(Guam-USVI-etc)",
    ],
    "South America": ["Columbia", "Ecuador", "Peru"],
    "Europe": [
        "England", "Germany", "Greece", "Italy", "Poland", "Portugal", "Ireland", "France",
        "Hungary", "Scotland", "Yugoslavia", "Holand-Netherlands",
    ],
    "Asia": [
        "India", "Japan", "China", "Iran", "Philippines", "Vietnam", "Laos", "Taiwan", "Thailand",
        "Cambodia", "Hong", "South",
    ],
}
# fmt: on

LADDERS = {
    "age": ranges(5, 10, 20),
    "sex": single(),
    "race": single(),
    "marital_status": tree(MARRIAGE),
    "education": tree(SCHOOL),
    "native_country": tree(COUNTRIES),
    "workclass": tree(WORK),
    "occupation": tree(JOBS),
    "income": single(),
}
