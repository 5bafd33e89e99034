"""Where the lines of a ledger are kept.

store        what a place for lines must do
memory       a list, for as long as the process lives
sqlite       one file
turns        a lock on that file that other uses of it do not release
postgres     one schema of a server
sql          what the last two share: the tables, the look-ups, one connection per process
"""
