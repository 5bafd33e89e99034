"""The work is really done by two processes, neither of them ours."""

import os
import time

import deniable as dp

from .keeping import TABLES, exactly, in_spark, opened


def tasks(spark):
    """How many tasks each process that lives has done so far."""
    found = spark._jsc.sc().statusStore().executorList(True)
    executors = [found.apply(i) for i in range(found.size())]
    return {each.id(): each.completedTasks() for each in executors}


def when(happened):
    """Wait for it: Spark counts its tasks a little later, and replaces an executor it lost."""
    deadline = time.monotonic() + 240
    while not happened() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert happened()


def test_both_executors_work_on_a_question_and_the_driver_does_not(spark):
    session = opened(in_spark(spark, TABLES["visits"]), "rows", None)
    when(lambda: len(tasks(spark)) == 3)
    before = tasks(spark)
    (row,) = exactly(session, "SELECT COUNT(*) AS n FROM data")
    assert row["n"] == TABLES["visits"].num_rows
    both = set(before) - {"driver"}
    when(lambda: all(tasks(spark)[each] > before[each] for each in both))
    assert tasks(spark)["driver"] == before["driver"] == 0


def test_the_executors_are_two_processes_and_neither_is_the_driver(spark):
    def parents(_):
        """The process that started this one's parent: Spark's workers are forked by a daemon."""
        with open(f"/proc/{os.getppid()}/stat") as file:  # noqa: PTH123
            yield int(file.read().rpartition(")")[2].split()[1])

    both = spark.sparkContext.parallelize(range(2), 2).barrier().mapPartitions(parents).collect()
    driver = spark._jvm.java.lang.ProcessHandle.current().pid()
    assert len({*both, driver, os.getpid()}) == 4


def test_a_task_that_is_done_again_changes_nothing(spark):
    """A question asked twice of partitions cut differently finds the same whole numbers."""
    frame = in_spark(spark, TABLES["visits"])
    schema = dp.Schema(columns={"age": dp.bounds(0, 120, type="int"), "pay": dp.bounds(0.0, 9.0)})
    text = "SELECT COUNT(*) AS n, SUM(age) AS s, AVG(pay) AS a FROM data"
    one, other = (
        exactly(opened(each, "persons", schema), text) for each in (frame, frame.repartition(3))
    )
    assert one == other
