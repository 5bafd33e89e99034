"""Synthetic rows of the Adult data at three budgets, beside floors: python -m bench synthetic.

Mean total-variation error over all 455 three-way marginals, of rows and of the model; CPU seconds
and peak memory; at ε 1 the AUC of a logistic regression that was trained on the synthetic rows.
`python -m bench.synthetic 1` runs one budget only, `python -m bench.synthetic 1 1 1` three times.
Each peer is set up in an environment of its own (`script/setup mbi`), or looked for in those whose
Pythons are listed in DENIABLE_PEERS, separated as in PATH; with DENIABLE_PEERS=none there are none.
"""

import itertools
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow.compute as pc

import deniable as dp
from deniable.sampling.public import PublicRandom

from ._synthetic_peers import MISSING, PINS

# Round figures that anyone would give without looking at the data, not its minima and maxima: they
# leave cells empty, as they would in practice. Lists of values are still read from the table.
BOUNDS = {
    "age": (0, 125),
    "fnlwgt": (0, 1_500_000),
    "education_num": (1, 16),
    "capital_gain": (0, 100_000),
    "capital_loss": (0, 5_000),
    "hours_per_week": (0, 100),
}
DELTA = 1e-9


def main(budgets=(0.3, 1.0, 10.0)):
    """Print the figures."""
    adult = dp.load_adult(split="all")
    schema = dp.Schema(columns={name: facts(adult, name) for name in adult.column_names})
    real, done = None, set()
    for epsilon in budgets:
        for method in ("independent", "tree", "adaptive"):
            spend = dp.epsilon(epsilon, delta=DELTA)
            s = dp.open(adult, unit=dp.rows(), budget=spend, schema=schema)
            start = time.process_time()
            y = s.synthesize(spend=spend, method=method, bins=32)
            cpu = time.process_time() - start
            if real is None:
                from deniable.synthetic.evaluation import encoded

                real = encoded(y, adult)
                floors(real, y.domain.sizes)
            rows, model = errors(y, real)
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            print(
                f"ε {epsilon:<4g} {method:<12} rows {rows:.4f}  model {model:.4f}  "
                f"cpu {cpu:6.1f} s  peak {memory:.2f} GB  marginals {len(y.measured)}",
                flush=True,
            )
            if method == "adaptive" and epsilon == 1.0 and epsilon not in done:
                areas = y.evaluate(adult, target="income").classifier
                shown = ", ".join(f"{name} rows {area:.4f}" for name, area in areas.items())
                print(f"       AUC of a logistic regression trained on {shown}", flush=True)
        if epsilon not in done:
            peers(real, y.domain.sizes, epsilon)
        done.add(epsilon)


def pythons(name):
    """Where a peer may be installed; an environment is made for it unless some are listed."""
    listed = os.environ.get("DENIABLE_PEERS", "")
    if listed:
        return [each for each in listed.split(os.pathsep) if each != "none"]
    root = Path(__file__).parents[1]
    ran = subprocess.run(
        [root / "script" / "setup", name], cwd=root, capture_output=True, text=True, check=False
    )
    return [str(root / ran.stdout.strip())] if not ran.returncode else []


def peers(real, sizes, epsilon):
    """MST of each peer, in the first environment that has it: their pins exclude each other."""
    script = Path(__file__).with_name("_synthetic_peers.py")
    with tempfile.TemporaryDirectory() as folder:
        held, made = Path(folder) / "codes.npz", Path(folder) / "rows.npy"
        np.savez(held, codes=real, sizes=sizes)
        for name, called in PINS.items():
            given = [script, name, held, made, str(epsilon), str(DELTA)]
            ran = None
            for python in pythons(name):
                ran = subprocess.run([python, *given], capture_output=True, text=True, check=False)
                if ran.returncode != MISSING:
                    break
            head = f"ε {epsilon:<4g} MST of {called}:"
            if ran is None or ran.returncode == MISSING:
                print(f"{head} not installed", flush=True)
            elif ran.returncode:
                print(f"{head} failed: {ran.stderr.strip().splitlines()[-1]}", flush=True)
            else:
                cpu, peak = ran.stdout.split()[-2:]
                off = distance(np.load(made), real, sizes)
                print(f"{head} rows {off:.4f}  cpu {cpu} s  peak {peak} GB", flush=True)


def distance(fake, real, sizes):
    """Mean total variation of rows."""
    off = []
    for clique in triples(sizes):
        shares = [counts(codes, clique, sizes) / len(codes) for codes in (real, fake)]
        off.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return np.mean(off)


def facts(table, name):
    if name in BOUNDS:
        return dp.bounds(*BOUNDS[name], type="int")
    return dp.keys(sorted(v for v in pc.unique(table[name]).to_pylist() if v is not None))


def counts(codes, clique, sizes):
    shape = [sizes[a] for a in clique]
    return np.bincount(np.ravel_multi_index(codes[:, clique].T, shape), minlength=np.prod(shape))


def triples(sizes):
    return list(itertools.combinations(range(len(sizes)), 3))


def errors(y, real):
    """Mean total variation of rows and of the model."""
    sizes, fake = y.domain.sizes, y.codes(seed=0)
    found = []
    for clique in triples(sizes):
        truth = counts(real, clique, sizes) / len(real)
        made = counts(fake, clique, sizes) / len(fake)
        model = y.model.marginal(clique).ravel()
        found.append((np.abs(truth - made).sum() / 2, np.abs(truth - model).sum() / 2))
    return np.mean(found, axis=0)


def floors(real, sizes):
    draw = PublicRandom(1).generator
    again = real[draw.integers(0, len(real), len(real))]
    ones = [np.bincount(real[:, a], minlength=n) / len(real) for a, n in enumerate(sizes)]
    boot, alone = [], []
    for clique in triples(sizes):
        truth = counts(real, clique, sizes) / len(real)
        boot.append(np.abs(truth - counts(again, clique, sizes) / len(real)).sum() / 2)
        a, b, c = clique
        product = np.einsum("i,j,k->ijk", ones[a], ones[b], ones[c]).ravel()
        alone.append(np.abs(truth - product).sum() / 2)
    print(f"floors: bootstrap {np.mean(boot):.4f}, independent columns {np.mean(alone):.4f}")


if __name__ == "__main__":
    main([float(a) for a in sys.argv[1:]] or (0.3, 1.0, 10.0))
