"""How the frozen ledger was written, once: python write.py FOLDER. It is never written again."""

import json
import sys
from pathlib import Path

import deniable as dp
from deniable.ledger import open_ledger

UNIT = dp.person("user_id", rows=10, groups=3)


def write(folder):
    """One line of every kind, and every optional field."""
    path = folder / "format_1.db"
    budget = dp.epsilon(3.0, delta=1e-6)
    with open_ledger(path, budget=budget, unit=UNIT, name="visits 2026") as ledger:
        ledger.note("opened for the annual survey")
        ledger.share("ann", amount=dp.epsilon(0.5, delta=1e-8))
        count = ledger.charge(
            dp.Laplace(scale=10.0), unit=UNIT, asker="bob", what="SELECT COUNT(*) FROM visits",
            question=ledger.fingerprint({"sql": "SELECT COUNT(*) FROM visits"}),
        )  # fmt: skip
        answer = ledger.answer(count, {"columns": ["n"], "rows": [[10342.5]]})
        ledger.recall(answer.question, asker="ann")
        ledger.charge(dp.Gaussian(sigma=50.0), unit=UNIT)
        ledger.charge(2 * dp.Laplace(scale=40.0) + dp.Laplace(scale=100.0), unit=UNIT, asker="ann")
        ledger.charge(100 * dp.Gaussian(sigma=400.0), unit=UNIT, delta=1e-9, what="a training run")
        head = ledger.verify()
        ledger.to_jsonl(folder / "format_1.jsonl")
    (folder / "format_1_head.json").write_text(json.dumps(head.to_dict()) + "\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
