"""Terminal output, progress and error display, shared by the command line and the shell."""
