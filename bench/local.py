"""Frequencies in the local model, beside peers in one run: python -m bench local.

Peers run in a process of their own (of the interpreter DENIABLE_LDP_PEERS, or of this one; they
need scikit-learn, statsmodels and xxhash<4, undeclared), on as many users as a few seconds allow;
their CPU time is scaled to a million users; starting and compiling are not counted.
"""

import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from bench._figures import measured
from deniable import local
from deniable.sampling.public import PublicRandom

USERS, EPSILON = 1_000_000, 1.0
BEST = 4 * math.exp(EPSILON) / math.expm1(EPSILON) ** 2


def main():
    """Print the figures."""
    for k in (1024, 65536):
        values = np.minimum(PublicRandom(1).generator.zipf(1.2, USERS) - 1, k - 1)
        print(f"{USERS:,} users, {k:,} categories, ε = {EPSILON:g}")
        theirs = peers(k)
        ours = mine(k, values)
        for name, seconds, users in theirs:
            measured(f"{k} categories, {name}", seconds, "CPU s for a million users")
            ratio = seconds / ours
            print(f"  {name:<22}{seconds:12,.1f} s (from {users:,} users): {ratio:,.0f} × slower")
    many()


def mine(k, values):
    """Seconds of the chosen protocol, from values to estimates; others beside it."""
    true = np.bincount(values, minlength=k)
    chosen = local.choose(categories=k, epsilon=EPSILON, reports=USERS)
    print(f"  {chosen.why.splitlines()[0]}")
    found = math.nan
    for p in (chosen, local.Hadamard(categories=k, epsilon=EPSILON)):
        start = time.process_time()
        reports = p.encode_all(values)
        middle = time.process_time()
        estimate = p.server().add(reports).estimate()
        _ = estimate.projected
        seconds = time.process_time() - start
        raw, cut = errors(p, values, true, estimate, times=max(1, 20_000 // k))
        measured(f"{k} categories, {type(p).__name__}", seconds, "CPU s")
        measured(f"{k} categories, {type(p).__name__}, error", raw, "mean squared error per user")
        print(
            f"  {type(p).__name__:<22}{seconds:12.2f} s (clients {middle - start:.2f}); "
            f"{p.length} bytes; MSE/n {raw:.3f} ({raw / BEST:.3f} of the optimum {BEST:.3f}); "
            f"projected {cut:.4f} ({raw / cut:.0f} × less)"
        )
        found = seconds if p is chosen else found
    start = time.process_time()
    chosen.simulate(true)
    print(f"  simulate               {time.process_time() - start:12.2f} s")
    return found


def errors(p, values, true, first, *, times):
    """Mean squared errors per user, raw and projected: over so many runs that chance is ± 1 %."""
    found = [first] + [p.server().add(p.encode_all(values)).estimate() for _ in range(times - 1)]
    raw = np.mean([np.square(each.counts - true).mean() for each in found]) / USERS
    cut = np.mean([np.square(each.projected - true).mean() for each in found]) / USERS
    return raw, cut


def peers(k, budget=6.0):
    python = os.environ.get("DENIABLE_LDP_PEERS", sys.executable)
    script = Path(__file__).with_name("_local_peers.py")
    done = subprocess.run(
        [python, script, str(k), str(EPSILON), str(budget)],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    found = []
    for line in done.stdout.splitlines():
        record = json.loads(line)
        if "failed" in record:
            print(f"  {record['name']:<22}{record['failed']}")
            continue
        scaled = record["seconds"] * USERS / record["users"]
        found.append((record["name"], scaled, record["users"]))
    if not found:
        print(f"  peers: not installed {done.stderr.strip().splitlines()[-1:]}")
    return found


def many(reports=100_000_000, chunk=2_000_000):
    """10⁸ reports in chunks: seconds, and how much memory grew after the first chunk."""
    import resource

    p = local.Projective(categories=1024, epsilon=EPSILON)
    rows = p.encode_all(np.zeros(chunk, dtype=int))
    server, start = p.server(), time.process_time()
    first = 0
    for _ in range(reports // chunk):
        server.add(rows)
        first = first or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    server.estimate()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - first
    seconds = time.process_time() - start
    print(f"{reports:,} reports in chunks: {seconds:.1f} s, memory grew by {grown / 1024:.0f} MiB")
