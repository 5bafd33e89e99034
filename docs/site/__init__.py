"""The builder of the documentation site; `script/docs` runs it.

build         gather pages, make links fit, render, put in place
reference     one page per mechanism, error code and package, from docstrings
interfaces    the command line and the HTTP interface, from the programs
notebooks     pages of the tour as notebooks
"""
