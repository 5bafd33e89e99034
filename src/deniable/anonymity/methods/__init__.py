"""The two ways to generalise, and what they share.

prepared   a table read once and coded
lattice    one level a column for all rows: the best of all combinations (`rollup` counts them)
mondrian   boxes of rows, each with its own ranges (`recoding` names them)
loss       how much exactness was given up
"""
