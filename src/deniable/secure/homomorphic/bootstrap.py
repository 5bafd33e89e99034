"""A computation that takes bootstrapping: suppress small sums without ever decrypting them.

Sums are linear, and additive schemes do them. "Zero if below ten" is not: under encryption it is a
look-up in a table, which fully homomorphic schemes do while they refresh the noise of a ciphertext
(programmable bootstrapping [CGGI20]). So any number of steps can follow, where a levelled scheme
runs out (`lattice.depth`). It costs about 0.2 seconds per number, and the key holder learns less
than from the sums.

Concrete, which does it, needs a NumPy older than deniable's. It is therefore run by an interpreter
of its own: make a virtual environment with `pip install "setuptools<80" concrete-python`, and name
its Python in the variable DENIABLE_CONCRETE_PYTHON. `script/bootstrapping` does that for the tests.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import parameters
from deniable.errors import BadParameter, MissingExtra
from deniable.forms import read_whole

VARIABLE = "DENIABLE_CONCRETE_PYTHON"
_LARGEST = 255  # sums of up to eight bits: tables beyond that take minutes
_LONGEST = 3600  # seconds


def suppressed(
    rows: ArrayLike, *, least: int, limit: int, interpreter: str | None = None
) -> NDArray[np.int64]:
    """The sums of the rows' columns, those below `least` as 0; only the result is decrypted.

    Rows are counts from 0 to `limit`, one row for each party, encrypted under one key.
    """
    return np.array(report(rows, least=least, limit=limit, interpreter=interpreter)["suppressed"])


def report(
    rows: ArrayLike, *, least: int, limit: int, interpreter: str | None = None
) -> dict[str, Any]:
    """The suppressed sums, with the seconds they took and the number of bootstraps."""
    counts = read_whole(np.asarray(rows))
    limit, least = parameters.whole("limit", limit), parameters.whole("least", least)
    if counts.ndim != 2 or len(counts) * limit > _LARGEST:
        raise BadParameter(f"rows must be a table whose sums stay below {_LARGEST + 1}")
    python = interpreter or os.environ.get(VARIABLE)
    if not python or not Path(python).is_file():
        raise MissingExtra(
            "Concrete, which bootstraps, is run by an interpreter of its own, and none is named",
            why="it needs a NumPy older than deniable's",
            fix='python -m venv fhe && fhe/bin/pip install "setuptools<80" concrete-python\n'
            f"export {VARIABLE}=fhe/bin/python",
        )
    asked = {"rows": np.clip(counts, 0, limit).tolist(), "least": least, "limit": limit}
    try:
        done = subprocess.run(  # noqa: S603  the interpreter is the user's own
            [python, str(Path(__file__).with_name("_bootstrapped.py"))],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            check=True,
            timeout=_LONGEST,
        )
        answer: dict[str, Any] = json.loads(done.stdout)
    except (subprocess.SubprocessError, OSError, ValueError) as error:
        told = str(getattr(error, "stderr", None) or error).strip().splitlines()[-1]
        raise MissingExtra(
            f"{python} cannot run Concrete: {told}",
            fix=f'{python} -m pip install "setuptools<80" concrete-python',
        ) from None
    return answer
