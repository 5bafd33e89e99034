"""Names, keys, bounds, missing values and the person, all from the schema.

    scope        what a name means at some place of a question
    joins        which rows may stand side by side
    members      which rows have a value that another relation holds
    unions       which rows may follow one another
    arguments    what can be summed: bounds and rules for missing values
    keys         what can be grouped by
    prune        read only the columns that are used

Nothing here knows SQL: every front end ends here.
"""
