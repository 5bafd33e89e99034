"""The door for programs: JSON in, JSON out, described by OpenAPI.

models      what requests and answers look like
people      who is asking, and what a curator may do
questions   explain, try, ask, look, cancel
answers     rows of a synthetic table, predictions of a model
"""
