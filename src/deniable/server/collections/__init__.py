"""Collections in the local model: people send randomized reports, and the server adds them up.

    store     collections and their reports, in the server's database
    shown     estimates as rows with their ±
    routes    create, invite, report, close: over HTTP
    pages     the list of collections, and what each one found

Whoever sends a report needs no account. Nothing about a single report is ever shown: estimates are
published in batches, and between batches neither they nor the number of reports change.
"""
