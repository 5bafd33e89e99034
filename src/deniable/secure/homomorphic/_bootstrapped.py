"""Run by an interpreter that has Concrete: sum encrypted counts, and suppress small sums.

Reads {"rows": [[…], …], "least": t, "limit": l} from standard input; writes {"suppressed": […],
"keys_seconds": …, "seconds": …, "bootstraps": …}. It imports nothing of deniable, because Concrete
needs an older NumPy.
"""

import json
import sys
import time


def main() -> None:
    """Compile the circuit for these public facts, then encrypt, run and decrypt."""
    import numpy as np
    from concrete import fhe

    asked = json.load(sys.stdin)
    rows, least = np.array(asked["rows"]), asked["least"]
    top = int(asked["limit"])
    table = fhe.LookupTable([x if x >= least else 0 for x in range(top * len(rows) + 1)])

    @fhe.compiler({"counts": "encrypted"})
    def suppressed(counts):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202  (the compiler reads it)
        return table[np.sum(counts, axis=0)]

    ends = [np.zeros_like(rows), np.full_like(rows, top)]
    started = time.perf_counter()
    circuit = suppressed.compile(ends)
    circuit.keygen()
    ready = time.perf_counter()
    answer = circuit.encrypt_run_decrypt(rows)
    done = {
        "suppressed": np.asarray(answer).tolist(),
        "keys_seconds": ready - started,
        "seconds": time.perf_counter() - ready,
        "bootstraps": circuit.programmable_bootstrap_count,
    }
    json.dump(done, sys.stdout)


if __name__ == "__main__":
    main()
