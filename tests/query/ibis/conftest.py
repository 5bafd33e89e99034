"""The tables of the front's tests are asked about here, too."""

import sys
from pathlib import Path

for folder in (".", "front", "whole", "ibis"):
    sys.path.insert(0, str(Path(__file__).parents[1] / folder))
