"""What a request must pass before anything is done for it.

connections   those over which nothing comes are closed
security      host names, sizes, times and origins; the headers of every answer
limits        requests per minute
"""
