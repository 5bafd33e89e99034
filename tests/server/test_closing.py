"""A database that is closed while threads use it ends no process, and halves no transaction."""

import sqlite3
import subprocess
import sys

CODE = """
import sys, threading, time
from pathlib import Path
from deniable.server.database import SqliteDatabase

database, stop = SqliteDatabase(Path(sys.argv[1])), threading.Event()

def write():
    while not stop.wait(0.003):
        with database.transaction() as run:
            run("INSERT INTO log VALUES (1, '', '', '')")
            run("INSERT INTO log VALUES (2, '', '', '')")

threads = [threading.Thread(target=write) for _ in range(3)]
for each in threads: each.start()
for _ in range(20):
    time.sleep(0.03)
    database.close()
stop.set()
for each in threads: each.join()
"""


def test_closing_waits_for_who_is_writing(tmp_path):
    command = [sys.executable, "-c", CODE, str(tmp_path / "server.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    with sqlite3.connect(tmp_path / "server.db") as connection:
        ((one, two),) = connection.execute("SELECT sum(time = 1), sum(time = 2) FROM log")
    connection.close()
    assert one == two > 0
