"""`dp.connect`: the same queries, plans, answers and errors as in a local session, over HTTP.

connection    requests with a token, retried without paying twice
client        tables, sql, left
naming        questions by name: workloads, synthetic data, learning
collecting    reports to a collection, randomized here
"""

from .client import Client, connect

__all__ = ["Client", "connect"]
