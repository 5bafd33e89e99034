"""The Postgres server of the ledger's tests, here too."""

import importlib.util
from pathlib import Path

_path = Path(__file__).parents[1] / "ledger" / "conftest.py"
_spec = importlib.util.spec_from_file_location("ledger_conftest", _path)
_ledger = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_ledger)

server, place, fresh = _ledger.server, _ledger.place, _ledger.fresh
