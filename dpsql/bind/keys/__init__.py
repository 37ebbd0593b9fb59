"""The groups of public keys: lists of values, and which combinations of them there are."""
