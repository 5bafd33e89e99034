"""One example of every mechanism, a file a family. A mechanism without one fails the suite.

An example says how to ask about a value and about its neighbour many times at once, what law the
answers must have, and which twin with half the noise (or another fault) that law must tell apart.
Every module here that has EXAMPLES is read.
"""

import pkgutil
from importlib import import_module

EXAMPLES = {}
for _found in pkgutil.iter_modules(__path__):
    EXAMPLES |= getattr(import_module(f".{_found.name}", __name__), "EXAMPLES", {})
