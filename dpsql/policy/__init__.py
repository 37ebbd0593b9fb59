"""The owner's policy: read, checked against the database, drafted, and known by a digest."""
