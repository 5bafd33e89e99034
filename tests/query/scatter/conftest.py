"""Executors start workers with the Python of these tests, which has deniable."""

import os
import sys

# Read when a Spark context is made, which is later than this.
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
