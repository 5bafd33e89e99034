"""From a query to its answer, one file or folder per step.

algebra     our own trees: expressions of total operators, relations, questions
sql, ibis   SQL text or an Ibis expression → trees, with carets under what is refused
bind        names, keys, bounds, missing values, the person: from the schema
aggregates  each family of aggregates: its tallies, its ± in advance, its estimate and interval
integers    each person's rows weighted, each value clipped: only integers are left
allocate    the loss split over the answers, mechanisms and noise chosen: explain stops here
compile     our trees → each engine's SQL, in forms that cannot fail on a row
execute     the one module that sends anything to an engine
backends    the engines: DuckDB, Postgres, Spark
scatter     answers with very many groups: Spark's executors draw the noise
vectors     the exact numbers behind a query, hidden and bounded, read once when needed
each_row    the statement that gives rows one by one, before they are added up
rows        the bounded rows behind a query, hidden, for algorithms that learn
answer      noisy tallies → a Release
public      answers that are already public: nothing is read, drawn or charged
refuse      what would fit when too little budget is left
query       a query that can be explained and released
"""
