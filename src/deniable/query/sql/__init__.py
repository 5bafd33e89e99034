"""SQL text → our trees, with carets under what is refused.

    text          the text, parsed, able to point at any part of itself; what is known beside it
    check         what is allowed at all
    refusals      why the rest is not, and what to write instead
    functions     how SQL spells our operators
    lower         expressions about single rows
    spellings     those that depend on a word of SQL, or on the kinds of values
    aggregates    which function, of what, of which rows
    groups        GROUP BY: keys and grouping sets
    answers       the outermost SELECT: a question
    people        subqueries that sum up each person's own rows
    joins         JOIN and commas: which rows stand side by side
    select        a whole text; FROM, WHERE and other subqueries

No text gets further than this folder: engines see only SQL that is compiled from the trees.
"""
