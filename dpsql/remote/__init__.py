"""A database that a server keeps: the calls of a connection, sent over PostgreSQL's protocol.

documents.py    answers, prices, lists of tables as JSON, and back
calls.py        what may be called, and the server's side of it
login.py        where the server is, how its certificate is checked, the password
connection.py   RemoteConnection, with the direct calls of an analyst's Connection
"""
