"""A curator's server: tables in, private answers out, by page, by HTTP and from Python.

    settings      steps of time, limits, host names
    folder        which tables there are, in groups of people who share one ceiling
    house         what a server process holds: accounts, ledgers, workers, anchors, log
    anchors       the newest line of each ledger and whom it counts, kept elsewhere
    database      accounts and questions under way, in SQLite or Postgres
    accounts      people, roles, tokens, browser sessions, one-time links
    curating/     schemas, registrations and risk reports, from the page
    jobs/         questions on their way: door, queue, worker processes
    views         what people may see, as records
    wire          plans, answers and errors as JSON
    guard/        what every request must pass: connections, sizes, origins, rates
    state         what a request finds
    app           the application
    serving       `deniable serve`
    backups       copies of ledgers and accounts, and back
    agents        tools for software agents (MCP)
    api/          for programs
    pages/        for people
    collections/  reports in the local model, and what they add up to
    client/       `dp.connect`

It has no privacy logic of its own: sessions charge, compute and draw, in worker processes.
"""

from __future__ import annotations

from .client import Client, connect

__all__ = ["Client", "connect"]
