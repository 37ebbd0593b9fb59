"""``dpsql serve``: analysts who hold no file ask over PostgreSQL's wire protocol.

    client --> wire --> login --> conversation --> pool --> a connection of the analyst (dpsql.dbapi)
               bytes    SCRAM     statements       threads  pays before it looks, as in process

messages.py      the protocol's messages        statements.py  what a statement is for
wire.py          bounded buffers, TLS           parameters.py  $1 and the values that clients send
login.py         startup, TLS, password         encoding.py    values as clients read them
scram.py         SCRAM-SHA-256                  notices.py     prices, margins and refusals as fields
verifiers.py     the file of verifiers          pool.py        connections of analysts, in threads
conversation.py  one client, logged in          server.py      accepting, limits, the end
questions.py     what it asks, and of whom      setup.py       what is served, checked before
transactions.py  states without effect          running.py     until a signal
catalogues.py    names and types, never rows    processes.py   several that answer together
catalogue/       what is asked of pg_catalog    dialect/       what BI tools write

Claim   a client sees nothing of the data but what a connection with ``analyst=`` of its login gives.
Proof   Every question goes to such a connection, opened by name in pool.py; nothing here opens one without
        an analyst, or calls another method that reads private rows. All else that is sent (settings, the
        catalogue, errors of the protocol) is made from the client's own words, the policy's names and types,
        and the configuration. Nothing is sent to who has not logged in but what does not depend on whether
        the name exists (login.py).
Test    tests/drivers/test_server_walls.py
"""
