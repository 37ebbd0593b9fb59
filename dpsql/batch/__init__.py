"""``dpsql run``: price a file of statements as a whole, then answer them one by one.

text --script--> Script --bill--> Bill --start--> manifest.json --run--> a file for each answer
                            |                          |
                          shares                 written before anything is paid,
                     of one total price          and again after each statement

Everything is read, planned and priced before the first debit. A killed run resumes from its manifest, at
the same prices and the same time: the ledger serves again what was paid for.
"""
