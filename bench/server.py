"""Fifty analysts at once: throughput, latency, memory, and whether anything was overspent.

python -m bench.server             50 analysts, 10 questions each, and prices in between
python -m bench.server 50 100      analysts, questions each

Prints also what a local session needs for the same small question, before any padding. The load
comes from a process of its own, so that the memory of the web process is the server's alone.
"""

import asyncio
import gc
import multiprocessing as mp
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import httpx2
import uvicorn

import deniable as dp
from deniable.server.app import create
from deniable.server.house import House
from deniable.server.serving import made

SCHEMA = """
[unit]
relation = "add_remove"

[columns.age]
type = "int"
bounds = [0, 100]
missing = "drop"
"""
SPEND, ROUNDS, WARM, IDLE = 0.01, 5, 3, 10


def main(analysts=50, questions=10):
    """Print the figures."""
    home = Path(tempfile.mkdtemp(prefix="bench-server-"))
    try:
        folder = home / "tables"
        folder.mkdir()
        (folder / "people.toml").write_text(SCHEMA)
        rows = "\n".join(str(i % 100) for i in range(10_000))
        (folder / "people.csv").write_text(f"age\n{rows}\n")
        settings = replace(
            made(folder), anchors=home / "anchors", steps=(0.001, 300.0), asks=10**9, prices=10**9
        )
        started(folder, home)
        shutil.rmtree(folder / ".deniable", ignore_errors=True)
        budget = dp.epsilon(analysts * share(questions) * 1.01)
        run(House(replace(settings, steps=tuple(i / 100 for i in range(1, 30_000))), budget=budget),
            analysts, questions)  # fmt: skip
    finally:
        shutil.rmtree(home, ignore_errors=True)


def in_a_round(questions):
    """Questions of one analyst between two looks at the memory."""
    return max(1, questions // ROUNDS)


def share(questions):
    """What pays for all that any analyst asks here: so no refusal is one of the budget."""
    return SPEND * (WARM + IDLE + ROUNDS * in_a_round(questions) + 1)


def run(house, analysts, questions):
    local(house)
    tokens = []
    for number in range(analysts):
        person = house.accounts.add(f"analyst {number}")
        house.ledgers["people"].share(person.name, amount=dp.epsilon(share(questions)))
        tokens.append(house.accounts.issue(person, "token"))
    server = uvicorn.Server(uvicorn.Config(create(house), port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with ProcessPoolExecutor(1, mp_context=mp.get_context("spawn")) as analysts_:
        loaded(analysts_, house, server, thread, url, tokens, questions)


def loaded(pool, house, server, thread, url, tokens, questions):
    analysts = len(tokens)
    try:
        asked(pool, url, tokens[:1], WARM, first=2000)  # every process is up
        idle = asked(pool, url, tokens[:1], IDLE, first=3000)
        told("one analyst, idle server", *idle)
        held, parts = [memory(house)], []
        for number in range(ROUNDS):
            each = in_a_round(questions)
            parts.append(asked(pool, url, tokens, each, first=200 * (number + 1)))
            held.append(memory(house))
        asks, prices, refused = ([x for part in parts for x in part[i]] for i in range(3))
        seconds = sum(part[3] for part in parts)
        told(f"{analysts} analysts at once", asks, prices, refused, seconds)
        for place, what in enumerate(("MB of the web process", "MB of the workers",
                                      "objects of the web process")):  # fmt: skip
            shown = " → ".join(f"{each[place]:,.0f}" for each in held)
            print(f"{what:<42}{shown}")
        check(house, analysts, share(questions))
    finally:
        server.should_exit = True
        thread.join(60)


def started(folder, home):
    """From the command to the first page, as a curator waits for it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "deniable", "serve", str(folder), "--budget", "3"]
    place = {**os.environ, "DENIABLE_ANCHORS": str(home / "anchors-of-start")}
    start = time.perf_counter()
    server = subprocess.Popen(
        [*command, "--port", str(port)], env=place, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while True:
            try:
                page = httpx2.get(f"http://127.0.0.1:{port}/public", timeout=5)
                break
            except httpx2.TransportError:
                time.sleep(0.01)
        assert page.status_code == 200
        taken, stat = time.perf_counter() - start, Path(f"/proc/{server.pid}/stat").read_text()
        used = sum(map(int, stat.rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")
        what = "from `deniable serve` to its first page"
        print(f"{what:<42}{taken:8.2f} s, with {used:.2f} s of CPU")
    finally:
        server.terminate()
        server.wait(30)


def local(house):
    """A small question in a local session on the same table."""
    group = house.groups["people"]
    with dp.open(
        dict(group.sources), schema=group.schema, budget=dp.epsilon(9.0), ledger=None
    ) as session:
        times = []
        for number in range(12):
            start = time.perf_counter()
            session.sql(f"SELECT COUNT(*) AS n FROM people WHERE age > {number}").release(
                spend=dp.epsilon(SPEND)
            )
            times.append(time.perf_counter() - start)
    print(f"{'a local session, ledger in memory':<42}{1e3 * statistics.median(times[2:]):8.0f} ms")


def asked(pool, *arguments, first):
    """What the load process measures."""
    return pool.submit(in_process, arguments, first).result()


def in_process(arguments, first):
    return asyncio.run(load(*arguments, first=first))


async def load(url, tokens, questions, first=0):
    """Ask until all is asked; times of asks and of prices, refusals, and the whole time."""
    asks, prices, refused = [], [], []

    async def analyst(number, token):
        headers = {"authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=600) as http:
            for each in range(questions):
                some = f"age > {each % 100} AND age < {number + first}"  # no two are the same
                sql = f"SELECT COUNT(*) AS n FROM people WHERE {some}"
                body = {"sql": sql, "spend": {"epsilon": SPEND}}
                start = time.perf_counter()
                await http.post("/api/explain", json=body)
                middle = time.perf_counter()
                key = {"idempotency-key": f"key-{number:05}-{each:05}-{first}"}
                answer = await http.post("/api/ask", json=body, headers=key)
                asks.append(time.perf_counter() - middle)
                prices.append(middle - start)
                if answer.status_code != 200:
                    refused.append(answer.status_code)

    start = time.perf_counter()
    await asyncio.gather(*(analyst(n, token) for n, token in enumerate(tokens)))
    return asks, prices, refused, time.perf_counter() - start


def told(what, asks, prices, refused, seconds):
    for kind, times in (("ask", asks), ("price", prices)):
        low, high = statistics.median(times), sorted(times)[int(0.95 * (len(times) - 1))]
        print(f"{what + ', ' + kind:<42}{1e3 * low:8.0f} ms median {1e3 * high:8.0f} ms p95")
    print(f"{what:<42}{len(asks) / seconds:8.1f} asks/s, {len(refused)} refused")


def memory(house):
    """Resident megabytes of this process and of the workers, and the objects that Python holds."""
    gc.collect()
    pids = [w.pid for w in (*house.workers.all, *house.planners.all) if w.pid]
    pages = [int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in ("self", *pids)]
    return pages[0] * 4096 / 1e6, sum(pages[1:]) * 4096 / 1e6, len(gc.get_objects())


def check(house, analysts, reserved):
    """Every answer was charged, no share was passed, and the ledger is whole."""
    ledger = house.ledgers["people"]
    ledger.verify()
    charges = sum(e.kind == "charge" for e in ledger.entries)
    ((stored,),) = house.database.rows("SELECT COUNT(*) FROM asks WHERE state = 'stored'")
    most = reserved * (1 + 2**-40)  # the resolution of ceilings
    over = [a for a, s in ledger.shares().items() if ledger.filter.spent(s.used).epsilon > most]
    print(f"{'charges, stored answers, shares passed':<42}{charges:8}, {stored}, {len(over)}")
    assert charges == stored  # all questions differ
    assert not over
    assert ledger.spent.epsilon <= ledger.budget.epsilon
    assert len(ledger.shares()) == analysts


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
