"""Reports of the local model in a Spark frame are counted where they are."""

import numpy as np
import pytest

from deniable import local
from deniable.errors import BadParameter


def test_reports_of_a_spark_frame_are_counted_in_executors(spark):
    p = local.Hadamard(categories=50, epsilon=1.0)
    reports = [bytes(each) for each in p.encode_all(np.arange(5000) % 50)]
    frame = spark.createDataFrame([(each,) for each in reports], "report binary").repartition(4)
    found = local.aggregate(frame, p)
    assert found.to_bytes() == p.server().add(reports).to_bytes()
    foreign = local.Hadamard(categories=51, epsilon=1.0).encode(3)
    mixed = frame.union(spark.createDataFrame([(foreign,)], "report binary"))
    with pytest.raises(BadParameter, match="another protocol"):
        local.aggregate(mixed, p)
    with pytest.raises(BadParameter, match="no column"):
        local.aggregate(frame, p, column="reports")
