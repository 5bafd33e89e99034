"""Questions on their way: through the door, into the queue, to a worker process, and back.

door       price, try, ask; answers at public steps of time
asking     idempotency keys: queued, reserved, stored, lost or refused
known      what may be known by now of answers and ledgers
outcomes   what a question came to
pace       public steps of time
turns      one task at a time for each person
workers    a pool of processes
kinds/     questions by name: what each is, explains and releases
choosing   selection and sparse vector over the results of a query
work       what each of them does: the only code of the server that touches rows
"""
