"""Write pycanon.json: what pycanon 1.3.6 says of Adult and of tables that we anonymized.

    python -m tests.anonymity.record_pycanon PYTHON      PYTHON: an interpreter that has pycanon

Its recursive (c, ℓ) is left out: it takes the rarest value for the commonest. So is its enhanced β,
the largest min(β, −ln p) of any value, which is finite also where a gain exceeds −ln p and no β
works. Its δ looks only at the values a class contains; a value that is absent makes δ infinite.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

import deniable as dp
from deniable.anonymity import anonymize

QUASI = ["sex", "age", "race", "marital_status", "education", "native_country"]
CASES = [
    ("adult", QUASI, "occupation", {}),
    ("adult", QUASI[:3], "education_num", {}),
    ("optimal", QUASI, "occupation", {"k": 5}),
    ("optimal, ℓ", QUASI[:4], "occupation", {"k": 10, "l": 4, "suppression": 0.02}),
    ("optimal, t", QUASI[:4], "occupation", {"k": 5, "t": 0.35, "suppression": 0.1}),
    ("optimal, t by rank", QUASI[:3], "education_num", {"k": 5, "t": 0.1, "suppression": 0.1}),
    ("mondrian", QUASI, "occupation", {"k": 5, "method": "mondrian"}),
    ("optimal, every value", ["sex", "race"], "income", {"k": 5}),
    ("mondrian, ℓ, t", QUASI, "occupation", {"k": 5, "l": 3, "t": 0.4, "method": "mondrian"}),
]
ASKED = """
import json, sys, pandas as pd
from pycanon import anonymity as a
quasi, sensitive = json.loads(sys.argv[2]), [sys.argv[3]]
table = pd.read_csv(sys.argv[1], keep_default_na=False)
print(json.dumps({
    "k": int(a.k_anonymity(table, quasi)),
    "l": int(a.l_diversity(table, quasi, sensitive)),
    "entropy_l": int(a.entropy_l_diversity(table, quasi, sensitive)),
    "t": float(a.t_closeness(table, quasi, sensitive)),
    "alpha": float(a.alpha_k_anonymity(table, quasi, sensitive)[0]),
    "beta": float(a.basic_beta_likeness(table, quasi, sensitive)),
    "delta_of_present": float(a.delta_disclosure(table, quasi, sensitive)),
    "enhanced_beta_wrong": float(a.enhanced_beta_likeness(table, quasi, sensitive)),
}))
"""


def main(python):
    frame = dp.load_adult(split="all").to_pandas().dropna().reset_index(drop=True)
    people = pa.Table.from_pandas(frame, preserve_index=False)
    found = []
    for name, quasi, sensitive, parameters in CASES:
        table = people
        if parameters:
            table = anonymize(people, quasi=quasi, sensitive=sensitive, **parameters).frame
        with tempfile.NamedTemporaryFile(suffix=".csv") as file:
            pyarrow.csv.write_csv(table, file.name)
            command = [python, "-c", ASKED, file.name, json.dumps(quasi), sensitive]
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        asked = {"table": name, "quasi": quasi, "sensitive": sensitive, "parameters": parameters}
        found.append(asked | json.loads(said))
    Path(__file__).with_name("pycanon.json").write_text(
        json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    )


if __name__ == "__main__":
    main(sys.argv[1])
