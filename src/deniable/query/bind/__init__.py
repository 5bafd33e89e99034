"""Names, keys, bounds, missing values and the person, all from the schema.

    scope        what a name means at some place of a question
    joins        which rows may stand side by side
    members      which rows have a value that another relation holds
    unions       which rows may follow one another
    spelling     operations that stand for several of our operators
    aggregates   the noisy numbers, each once; what can be summed: bounds, rules for missing values
    summaries    exact summaries of one person's own rows
    keys         what can be grouped by
    bins         bins of a number between public edges
    builder      keys and aggregates become a question, which reads only what it uses

Nothing here knows SQL: every front end ends here.
"""
