"""Can the time of an answer tell whether one person is in the table?

python -m bench.server_timing          60 asks per server: a person with 100,000 rows, a long text
python -m bench.server_timing 1000     more asks, narrower figures

Two servers on one machine serve the same tables, one of them with that person. They are asked in
turns, so that whatever else the machine does slows both; a second analyst asks about a small table
at the same time. An AUC of 0.5 is guessing, and 1 is knowing. Without padding answers leave as soon
as they are there; with padding, at the server's default steps of time.
"""

import asyncio
import random
import shutil
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

import httpx2
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import uvicorn

import deniable as dp
from deniable.attacks.timing import Timing
from deniable.server.app import create
from deniable.server.house import House
from deniable.server.serving import made
from deniable.server.settings import STEPS

SCHEMA = """
[unit]
column = "id"
rows = 5
relation = "add_remove"

[columns.id]
type = "int"

[columns.age]
type = "int"
bounds = [0, 100]
missing = "drop"

[columns.note]
type = "text"
"""
FINE = tuple(i / 1000 for i in range(1, 60_000))
PEOPLE = 5_000
SECRETS = {
    "100,000 rows": (
        [10**6] * 100_000,
        "",
        "SELECT COUNT(DISTINCT age) AS n FROM {} WHERE age < {}",
    ),
    "a text of 10 MB": (
        [10**6],
        "Ab" * 5_000_000,
        "SELECT COUNT(*) AS n FROM {} WHERE LOWER(note) = 'x{}'",
    ),
}


def main(asks=60):
    """Print the figures."""
    home = Path(tempfile.mkdtemp(prefix="bench-timing-"))
    try:
        for number, secret in enumerate(SECRETS):
            for words, steps in (("no padding", FINE), (f"steps {STEPS}", STEPS)):
                place = home / f"{number}-{len(steps)}"
                sites = [Site(place, steps, secret, present=here) for here in (False, True)]
                try:
                    told(f"{secret}, {words}", *asyncio.run(measured(sites, secret, asks)))
                finally:
                    for site in sites:
                        site.stop()
    finally:
        shutil.rmtree(home, ignore_errors=True)


class Site:
    """A server in a thread, with that person or without."""

    def __init__(self, home, steps, secret, *, present):
        folder = home / str(present)
        folder.mkdir(parents=True)
        ids, text, _ = SECRETS[secret]
        own, note = (ids, text) if present else ([], "")
        for name, rows in (("visits", [*np.arange(4 * PEOPLE) // 4, *own]), ("small", range(100))):
            notes = ["short"] * len(rows)
            if own and name == "visits":
                notes[-1] = note or "short"
            table = pa.table({"id": list(map(int, rows)), "age": [int(i) % 100 for i in rows],
                              "note": notes})  # fmt: skip
            pq.write_table(table, folder / f"{name}.parquet")
            (folder / f"{name}.toml").write_text(SCHEMA)
        settings = replace(made(folder), anchors=home / f"anchors-{present}", asks=10**9)
        self.house = House(replace(settings, steps=steps), budget=dp.epsilon(1000.0))
        self.tokens = [self._token(name) for name in ("analyst", "another")]
        self._server = uvicorn.Server(uvicorn.Config(create(self.house), port=0, log_level="error"))
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"

    def _token(self, name):
        person = self.house.accounts.add(name)
        self.house.ledgers["people"].share(person.name, amount=dp.epsilon(100.0))
        return self.house.accounts.issue(person, "token")

    def stop(self):
        self._server.should_exit = True
        self._thread.join(60)


async def measured(sites, secret, asks):
    """Seconds per answer, at each server, for the analyst and for the one beside them."""
    found, question = [([], []) for _ in sites], SECRETS[secret][2]
    async with httpx2.AsyncClient(timeout=600) as http:

        async def answered(site, who, number):
            sql = question.format("visits" if who == 0 else "small", number + 500)
            headers = {
                "authorization": f"Bearer {site.tokens[who]}",
                "idempotency-key": f"key-{who}-{number:05}",
            }
            body = {"sql": sql, "spend": {"epsilon": 0.001}}
            start = time.perf_counter()
            answer = await http.post(f"{site.url}/api/ask", json=body, headers=headers)
            assert answer.status_code == 200, answer.text
            return time.perf_counter() - start

        for number in range(asks + 3):  # the first three warm up
            turns = list(zip(sites, found, strict=True))
            random.shuffle(turns)
            for site, times in turns:
                pair = await asyncio.gather(*(answered(site, who, number) for who in (0, 1)))
                if number >= 3:
                    for mine, seconds in zip(times, pair, strict=True):
                        mine.append(seconds)
    return found


def told(words, without, present):
    for who, first, second in zip(("analyst", "another"), without, present, strict=True):
        timing = Timing(first=np.array(second), second=np.array(first))
        print(
            f"{words:<48}{who:<9}AUC {timing.auc:.3f} ± {1.96 / np.sqrt(6 * len(first)):.2f}   "
            f"medians {np.median(first):.3f} s without, {np.median(second):.3f} s with",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
