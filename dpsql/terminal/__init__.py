"""What a person sees in a terminal, and while they wait: the doors share it."""
