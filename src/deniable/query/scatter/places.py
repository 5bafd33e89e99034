"""The folder of an answer: it is committed once, or it is not there.

Spark writes what each attempt of a task makes to a folder of that attempt, under `_temporary`. Of
all attempts of a task one is let commit, which moves its file to the task's folder, in place of
whatever was there; when all tasks have committed, the driver moves their files to where they are
seen, and deletes `_temporary`. That is version 1 of Hadoop's committer. Version 2 moves files to
where they are seen when a task commits, so a job that fails later, or a task that is run again
after its executor was lost, shows draws that are not the answer: hence version 1 is pinned here,
with the classes that obey it, whatever the cluster is set to.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from typing import Any, Final, NamedTuple

from deniable.errors import BadParameter
from deniable.query.backends.engine import check_settings

# Hadoop reads these as patterns.
_PATTERNS: Final = frozenset("*?[]{}\\")
_COMMITTER: Final = "org.apache.parquet.hadoop.ParquetOutputCommitter"
_SETTINGS: Final = {
    "spark.sql.sources.commitProtocolClass": "org.apache.spark.sql.execution.datasources."
    "SQLHadoopMapReduceCommitProtocol",
    "spark.sql.sources.outputCommitterClass": _COMMITTER,
    "spark.sql.parquet.output.committer.class": _COMMITTER,
    # Else how many files there are, and which groups are in which, would depend on how large the
    # table is: partitions are merged, split or read in another order by their sizes.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
}
_OPTIONS: Final = {
    "mapreduce.fileoutputcommitter.algorithm.version": "1",
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "true",
}
_PAID: Final = "deniable.paid"
_JOB: Final = re.compile(r"part-\d+-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")


def checked(path: object) -> str:
    """A path as Spark is given it."""
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise BadParameter.of("path", path, must="a folder to write to", fix='"s3a://…/counts"')
    text = str(os.fspath(path))
    if _PATTERNS & set(text):
        raise BadParameter.of("path", path, must=f"without any of {' '.join(sorted(_PATTERNS))}")
    return text


def exists(spark: Any, path: str) -> bool:
    """Whether there is anything at a path; nothing of it is read."""
    try:
        _ = spark.read.text(path).schema  # Connect looks when it is asked for columns
    except Exception as error:
        if "PATH_NOT_FOUND" in str(error):
            return False
        raise BadParameter(f"Spark cannot look at {path}") from error
    return True


def pin(spark: Any) -> None:
    """How files are written and committed, in a session of our own: it concerns no other."""
    for name, value in _SETTINGS.items():
        spark.conf.set(name, value)
    check_settings(_SETTINGS, {name: spark.conf.get(name) for name in _SETTINGS})


def commit(frame: Any, path: str, *, paid: str) -> None:
    """Compute, draw and write in one stage, and commit; if that fails, nothing is to be seen.

    The frame is of a session that is pinned. Every file says by which charge it was `paid`.
    """
    spark = frame.sparkSession
    try:
        _marked(frame, paid).write.mode("error").options(**_OPTIONS).parquet(path)
    except BaseException:
        _remove_empty(spark, path)
        raise


def _marked(frame: Any, paid: str) -> Any:
    """The frame with the hash of its charge beside the first column, where Parquet keeps it."""
    first, *others = (f"`{name.replace('`', '``')}`" for name in frame.columns)
    named = frame[first].alias(frame.columns[0], metadata={_PAID: paid})
    return frame.select(named, *others)


class JobFiles(NamedTuple):
    """The files of one job in a folder."""

    job: str
    """The number that Spark gave it."""
    files: str
    """A hash of their names: another if one is missing."""
    paid: str
    """The hash of the charge that paid for them; empty if they do not say."""

    @property
    def record(self) -> dict[str, object]:
        """By which the same files are known again."""
        return {"job": self.job, "files": self.files}


def found(spark: Any, path: str) -> JobFiles | None:
    """The files in a folder, if one job wrote them all; None if not."""
    if not exists(spark, path):
        return None
    files = sorted(spark.read.schema("_ BOOLEAN").parquet(path).inputFiles())
    jobs = {match[1] if (match := _JOB.search(file)) else None for file in files}
    job = jobs.pop() if len(jobs) == 1 else None
    if job is None:
        return None
    names = "\n".join(file.rpartition("/")[2] for file in files)
    first = spark.read.parquet(path).schema[0]
    paid = str(first.metadata.get(_PAID, ""))
    return JobFiles(job=job, files=hashlib.sha256(names.encode()).hexdigest(), paid=paid)


def succeeded(spark: Any, path: str) -> bool:
    """Whether the driver came to the end of its commit, and all files are there."""
    return exists(spark, f"{path.rstrip('/')}/_SUCCESS")


def _remove_empty(spark: Any, path: str) -> None:
    """The folder that a failed job leaves, if nothing is in it; Spark Connect cannot."""
    with contextlib.suppress(Exception):
        context = spark.sparkContext
        java, settings = context._jvm, context._jsc.hadoopConfiguration()  # noqa: SLF001  (no other way)
        place = java.org.apache.hadoop.fs.Path(path)
        files = place.getFileSystem(settings)
        if files.getFileStatus(place).isDirectory():
            files.delete(place, False)  # refuses to delete a folder with anything in it
