"""Ways to spend: each a generator that a session drives, and that fills a `Run`.

fixed       marginals that were chosen before anything was seen: independent columns, or a list
tree        all columns, then the strongest pairs that make a tree
adaptive    again and again the marginal that the model gets most wrong
"""

from .adaptive import adaptive
from .fixed import fixed
from .tree import tree

__all__ = ["adaptive", "fixed", "tree"]
