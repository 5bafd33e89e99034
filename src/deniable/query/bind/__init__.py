"""Names, keys, bounds, missing values and the person, all from the schema.

    scope        what a name means at some place of a question
    joins        which rows may stand side by side
    members      which rows have a value that another relation holds
    unions       which rows may follow one another
    spelling     operations that stand for several of our operators
    arguments    what can be summed: bounds and rules for missing values
    aggregates   the noisy numbers, each once
    summaries    exact summaries of one person's own rows
    keys         what can be grouped by
    bins         bins of a number between public edges
    prune        read only the columns that are used
    builder      keys and aggregates become a question

Nothing here knows SQL: every front end ends here.
"""
