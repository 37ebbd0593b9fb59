"""How fast, how heavy, how accurate: one file per question, each figure a ratio measured in one run."""
