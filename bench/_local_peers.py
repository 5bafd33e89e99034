"""pure-ldp and multi-freq-ldpy on a part of the users: seconds per user, and mean squared error.

Run by `bench.local` in the interpreter that DENIABLE_LDP_PEERS names, as they need an old xxhash.
"""

import json
import sys
import time

import numpy as np


def peers(k, epsilon):
    from multi_freq_ldpy.pure_frequency_oracles import GRR, LH, UE
    from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
    from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

    def unary(values):
        client = UEClient(epsilon=epsilon, d=k, use_oue=True)
        server = UEServer(epsilon=epsilon, d=k, use_oue=True)
        for value in values:
            server.aggregate(client.privatise(value + 1))
        return server.estimate_all(range(1, k + 1))

    def hashing(values):
        client = LHClient(epsilon=epsilon, d=k, use_olh=True)
        server = LHServer(epsilon=epsilon, d=k, use_olh=True)
        for value in values:
            server.aggregate(client.privatise(value + 1))
        return server.estimate_all(range(1, k + 1))

    def ldpy_unary(values):
        reports = [UE.UE_Client(int(v), k, epsilon, True) for v in values]
        return UE.UE_Aggregator_MI(np.array(reports), epsilon, True)

    def ldpy_hashing(values):
        reports = [LH.LH_Client(int(v), k, epsilon, True) for v in values]
        return LH.LH_Aggregator_MI(reports, k, epsilon, True)

    def ldpy_direct(values):
        reports = [GRR.GRR_Client(int(v), k, epsilon) for v in values]
        return GRR.GRR_Aggregator_MI(np.array(reports), k, epsilon)

    return {
        "pure-ldp OUE": unary,
        "pure-ldp OLH": hashing,
        "multi-freq-ldpy OUE": ldpy_unary,
        "multi-freq-ldpy OLH": ldpy_hashing,
        "multi-freq-ldpy GRR": ldpy_direct,
    }


def main():
    k, epsilon, budget = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    draw = np.random.default_rng(1)
    for name, run in peers(k, epsilon).items():
        users, seconds = 8, 0.0
        try:
            run(np.zeros(8, dtype=int))  # compile what they compile, untimed
            while True:
                values = np.minimum(draw.zipf(1.2, users) - 1, k - 1)
                start = time.process_time()
                run(values)
                seconds = time.process_time() - start
                if seconds > budget / 4 or users >= 100_000:
                    break
                users *= 4
            print(json.dumps({"name": name, "users": users, "seconds": seconds}), flush=True)
        except Exception as error:
            print(json.dumps({"name": name, "failed": f"{type(error).__name__}: {error}"[:90]}))


if __name__ == "__main__":
    main()
