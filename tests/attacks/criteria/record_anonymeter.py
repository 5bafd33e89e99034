"""Write anonymeter.json: what Anonymeter 1.1.0 says of the leaky table.

python -m tests.attacks.criteria.record_anonymeter PYTHON     PYTHON: an interpreter with Anonymeter
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.attacks.criteria.leaky import HALVES, KNOWN, SECRET, leaky

ASKED = """
import json, sys, time, pandas as pd
from anonymeter.evaluators import (
    InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator)
ori, control, syn = (pd.read_csv(f"{sys.argv[1]}/{n}.csv") for n in ("ori", "control", "syn"))
halves, known, secret = json.loads(sys.argv[2])
said = {}
def run(name, evaluator, **options):
    start = time.perf_counter()
    evaluator.evaluate(**options)
    risk = evaluator.risk(confidence_level=0.95)
    said[name] = {"value": risk.value, "interval": list(risk.ci),
                  "seconds": round(time.perf_counter() - start, 2)}
run("univariate", SinglingOutEvaluator(ori, syn, 500, control=control, seed=1), mode="univariate")
run("multivariate", SinglingOutEvaluator(ori, syn, 500, 3, control=control, seed=1),
    mode="multivariate")
run("linkability", LinkabilityEvaluator(ori, syn, tuple(halves), 1500, 1, control=control),
    n_jobs=1)
run("inference", InferenceEvaluator(ori, syn, known, secret, False, 1500, control=control),
    n_jobs=1)
print(json.dumps(said))
"""


def main(python):
    with tempfile.TemporaryDirectory() as folder:
        for name, frame in zip(("ori", "control", "syn"), leaky(), strict=True):
            frame.to_csv(f"{folder}/{name}.csv", index=False)
        asked = json.dumps([HALVES, KNOWN, SECRET])
        command = [python, "-c", ASKED, folder, asked]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    target = Path(__file__).with_name("anonymeter.json")
    target.write_text(json.dumps(json.loads(said.splitlines()[-1]), indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
