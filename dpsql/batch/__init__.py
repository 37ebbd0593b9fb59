"""A file of statements as one paid whole: ``dpsql run``.

text --script--> Script --bill--> Bill --journal--> manifest.json --run--> a file for each answer
                            |                            |
                          shares                   written before anything is paid,
                     of one total price            and again after each statement

Everything is read, planned and priced before the first debit. A run that was killed is continued from its
manifest, at the same prices and the same time: what was paid for is served by the ledger, as it was.
"""
