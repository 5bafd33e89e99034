"""What the peers do, in an interpreter of their own: python _anonymity_peers.py FOLDER TASK...

They cannot all live in one environment. FOLDER has adult.csv and ladders.json; each task prints one
line of JSON: seconds of CPU, and what came out.
"""

import json
import sys
import time
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")
FOLDER = Path(sys.argv[1])
SIX = ["sex", "age", "race", "marital_status", "education", "native_country"]


def table():
    import pandas as pd

    frame = pd.read_csv(FOLDER / "adult.csv", keep_default_na=False)
    return frame.astype({name: str for name in SIX if name != "age"})


def timed(run):
    start = time.process_time()
    out = run()
    return time.process_time() - start, out


def pycanon_checks():
    from pycanon import anonymity

    data = table()
    sensitive = ["occupation"]
    runs = {
        "k": lambda: int(anonymity.k_anonymity(data, SIX)),
        "l": lambda: int(anonymity.l_diversity(data, SIX, sensitive)),
        "t": lambda: float(anonymity.t_closeness(data, SIX, sensitive)),
    }
    return {name: timed(run) for name, run in runs.items()}


def anjana_k(suppression):
    import numpy as np
    from anjana.anonymity import k_anonymity
    from anjana.anonymity.utils import utils

    data = table()
    written = json.loads((FOLDER / "ladders.json").read_text())
    ladders = {
        name: {level: np.array(labels) for level, labels in enumerate(levels)}
        for name, levels in written.items()
    }
    ladders["age"][0] = ladders["age"][0].astype(int)
    seconds, out = timed(lambda: k_anonymity(data, [], SIX, 5, suppression, ladders))
    levels = utils.get_transformation(out, SIX, ladders)
    return {"seconds": seconds, "levels": [int(level) for level in levels], "rows": len(out)}


def anonypy_mondrian():
    import anonypy

    data = table()[[*SIX, "occupation"]]
    for name in SIX:
        if name != "age":
            data[name] = data[name].astype("category")
    spans = {n: data[n].nunique() - 1 for n in SIX if n != "age"}
    years = int(data["age"].max() - data["age"].min())
    preserver = anonypy.Preserver(data, SIX, "occupation")
    seconds, rows = timed(lambda: preserver.anonymize_k_anonymity(k=5))
    lost = 0.0
    for row in rows:
        low, _, high = row["age"][0].partition("-")
        lost += row["count"] * (int(high or low) - int(low)) / years
        for name, span in spans.items():
            lost += row["count"] * (len(row[name][0].split(",")) - 1) / span
    return {"seconds": seconds, "ncp": lost / len(data) / len(SIX)}


TASKS = {
    "pycanon": pycanon_checks,
    "anjana 0": lambda: anjana_k(0),
    "anjana 5": lambda: anjana_k(5),
    "anonypy": anonypy_mondrian,
}
for task in sys.argv[2:]:
    try:
        result = TASKS[task]()
    except Exception as problem:  # a peer's failure is a result too
        result = {"failed": f"{type(problem).__name__}: {problem}"[:100]}
    print(json.dumps({task: result}), flush=True)
