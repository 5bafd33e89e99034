"""From what was asked to what is answered, a file or folder a step.

algebra     our own trees: expressions of total operators, relations, questions
sql, ibis   SQL text or an Ibis expression → trees, with carets under what is refused
bind        names, keys, bounds, missing values, the person: from the schema
front       the first three as one call
aggregates  each family of aggregates: its tallies, its ± in advance, its estimate and interval
bound       each person's rows weighted, each value clipped: what is left is whole numbers
allocate    the loss split over the answers, mechanisms and noise chosen: explain stops here
compile     our trees → each engine's SQL, in forms that cannot fail on a row
execute     the one module that sends anything to an engine (backends)
vectors     the exact numbers behind a question, hidden and bounded, read once when needed
rows        the bounded rows behind a question, hidden, for algorithms that learn
answer      noisy tallies → a Release
refuse      where too little is left: what could be had
query       a question one may explain and release
"""
