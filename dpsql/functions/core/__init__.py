"""Types, ranges, literals, casts and conditionals: the basis of all other functions."""
