"""From what was asked to what is answered, a file or folder a step.

algebra     our own trees: expressions of total operators, relations, questions
sql         SQL text → trees, with carets under what is refused
bind        names, keys, bounds, missing values, the person: from the schema
front       the first three as one call
"""
