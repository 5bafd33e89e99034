"""`python -m bench.query`, or with sizes: `python -m bench.query 1000000`."""

import sys

from . import main

main(*sys.argv[1:])
