"""Peers of synthetic data, each in an environment of its own: their pins exclude each other.

    python bench/_synthetic_peers.py dpmm codes.npz rows.npy 1.0 1e-9

reads rows as numbers of cells, writes synthetic ones, and prints CPU seconds and peak memory in GB.
Nothing of deniable is imported here.
"""

import importlib.util
import itertools
import resource
import sys
import time

import numpy as np

MISSING = 3
PINS = {"mbi": "mbi 2.0.0", "snsynth": "smartnoise-synth 1.0.8", "dpmm": "dpmm 0.1.9"}


def frame(codes):
    import pandas as pd

    return pd.DataFrame(codes, columns=[f"c{i}" for i in range(codes.shape[1])])


def dpmm(codes, sizes, epsilon, delta):
    """MST of dpmm."""
    from dpmm.models.mst import MSTGM
    from dpmm.pipelines.base import GenerativePipeline

    domain = {f"c{i}": int(n) for i, n in enumerate(sizes)}
    made = GenerativePipeline(gen=MSTGM(epsilon=epsilon, delta=delta, domain=domain))
    made.fit(frame(codes), domain=domain, random_state=0)
    return made.generate(n_records=len(codes), random_state=0).to_numpy()


def snsynth(codes, sizes, epsilon, delta):
    """MST of smartnoise-synth."""
    from snsynth.mst import MSTSynthesizer
    from snsynth.transform import LabelTransformer, TableTransformer

    labels = []
    for n in sizes:  # all values are public: none is read from the rows
        label = LabelTransformer(nullable=False)
        label.fit(list(range(int(n))))
        labels.append(label)
    made = MSTSynthesizer(epsilon=epsilon, delta=delta)
    made.fit(frame(codes), transformer=TableTransformer(labels), preprocessor_eps=0.0)
    return np.asarray(made.sample(len(codes)), dtype=np.int64)


def mbi(codes, sizes, epsilon, delta):
    """MST as published, with the inference of private-pgm (mbi)."""
    import jax

    jax.config.update("jax_enable_x64", True)
    from mbi import Dataset, Domain, LinearMeasurement, estimation

    draw = np.random.default_rng(0)
    rho = zcdp(epsilon, delta)
    names = [f"c{i}" for i in range(len(sizes))]
    sigma = np.sqrt(3 / (2 * rho)) * np.sqrt(len(sizes))
    ones = [np.bincount(codes[:, i], minlength=n) for i, n in enumerate(sizes)]
    ones = [x + draw.normal(0, sigma, x.size) for x in ones]
    groups = [grouped(y, 3 * sigma) for y in ones]
    small = np.stack([g[codes[:, i]] for i, g in enumerate(groups)], axis=1)
    counts = [int(g.max()) + 1 for g in groups]
    domain = Domain(names, counts)
    data = Dataset({n: small[:, i] for i, n in enumerate(names)}, domain)
    told = [
        LinearMeasurement(np.bincount(g, weights=y), (n,), sigma)
        for g, y, n in zip(groups, ones, names, strict=True)
    ]

    def fitted(measured, steps):
        return estimation.MirrorDescent().estimate(domain, measured, iters=steps)

    pairs = spanning(data, fitted(told, 1000), names, rho / 3, draw)
    wide = np.sqrt(3 / (2 * rho)) * np.sqrt(len(pairs))
    for pair in pairs:
        x = np.asarray(data.project(pair).datavector())
        told.append(LinearMeasurement(x + draw.normal(0, wide, x.size), pair, wide))
    rows = fitted(told, 5000).synthetic_data(rows=len(codes))
    held = np.stack([np.asarray(rows.to_dict()[n]) for n in names], axis=1)
    return np.stack([ungrouped(held[:, i], g, draw) for i, g in enumerate(groups)], axis=1)


def grouped(counts, least):
    """Cells that stand out by themselves, all others as one."""
    kept = counts >= least
    group = np.cumsum(kept) - 1
    return np.where(kept, group, kept.sum()).astype(np.int64)


def ungrouped(values, group, draw):
    made = np.zeros(len(values), dtype=np.int64)
    for g in range(int(group.max()) + 1):
        cells, here = np.flatnonzero(group == g), np.flatnonzero(values == g)
        made[here] = draw.choice(cells, len(here)) if len(cells) > 1 else cells[0]
    return made


def spanning(data, model, names, rho, draw):
    """The pairs that independent columns get most wrong, by the exponential mechanism."""
    wrong = {}
    for pair in itertools.combinations(names, 2):
        held = [np.asarray(each.project(pair).datavector()) for each in (data, model)]
        wrong[pair] = np.abs(held[0] - held[1]).sum()
    epsilon = np.sqrt(8 * rho / (len(names) - 1))
    part, chosen = {n: n for n in names}, []
    while len(chosen) < len(names) - 1:
        open_ = [pair for pair in wrong if part[pair[0]] != part[pair[1]]]
        scores = np.array([wrong[pair] for pair in open_]) * epsilon / 2 + draw.gumbel(
            size=len(open_)
        )
        a, b = best = open_[int(scores.argmax())]
        gone = part[a]
        part = {n: part[b] if p == gone else p for n, p in part.items()}
        chosen.append(best)
    return chosen


def zcdp(epsilon, delta):
    """The largest ρ whose zCDP implies (ε, δ), by ε = ρ + 2√(ρ·ln(1/δ))."""
    log = np.log(1 / delta)
    return (np.sqrt(log + epsilon) - np.sqrt(log)) ** 2


def main(name, source, target, epsilon, delta):
    if importlib.util.find_spec(name) is None:
        sys.exit(MISSING)
    held = np.load(source)
    start = time.process_time()
    made = globals()[name](held["codes"], held["sizes"], float(epsilon), float(delta))
    np.save(target, made)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = time.process_time() - start + children.ru_utime + children.ru_stime
    peak = max(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, children.ru_maxrss) / 2**20
    print(f"{cpu:.1f} {peak:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
