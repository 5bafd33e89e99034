"""The two ways to generalise, and what they share.

prepared   a table, read once and coded
lattice    one level per column for all rows: the best of all combinations
rollup     the classes of a generalisation, counted from those of a finer one
mondrian   boxes of rows, each with its own ranges
recoding   labels for boxes of rows, and the information they lose
loss       measures of information loss
"""
