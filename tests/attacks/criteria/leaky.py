"""A synthetic table that leaks: a third of its rows are people's own, the rest are shuffled."""

import numpy as np

import deniable as dp

COLUMNS = ["age", "education_num", "occupation", "sex", "hours_per_week", "marital_status", "race"]
HALVES = (["age", "education_num", "sex"], ["occupation", "hours_per_week", "marital_status"])
SECRET, KNOWN = "occupation", ["age", "education_num", "sex", "hours_per_week", "marital_status"]


def leaky(size=4_000, copied=0.3, seed=7):
    """Members, controls and a leaky synthetic table of the members, as pandas frames."""
    rng = np.random.default_rng(seed)
    frame = dp.load_adult(split="all").to_pandas()[COLUMNS].dropna().reset_index(drop=True)
    chosen = rng.permutation(len(frame))
    members = frame.iloc[chosen[:size]].reset_index(drop=True)
    controls = frame.iloc[chosen[size : 2 * size]].reset_index(drop=True)
    made = members.copy()
    for name in COLUMNS:
        made[name] = rng.permutation(made[name].to_numpy())
    kept = int(copied * size)
    made.iloc[:kept] = members.iloc[:kept]
    members = members.iloc[rng.permutation(size)].reset_index(drop=True)
    return members, controls, made.iloc[rng.permutation(size)].reset_index(drop=True)
