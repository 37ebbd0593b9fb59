"""Printing to a terminal, and what is shown while one waits: for the command line and the shell."""
