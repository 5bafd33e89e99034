"""One example of every mechanism. A mechanism without one fails the suite.

An example says how to ask about a value and about its neighbour many times at once, what law the
answers must have, and which twin with half the noise (or another fault) that law must tell apart.
"""

from . import combine, counting, keys_and_local, numbers

EXAMPLES = numbers.EXAMPLES | keys_and_local.EXAMPLES | counting.EXAMPLES | combine.EXAMPLES
