"""Functions of dates, times and durations."""
