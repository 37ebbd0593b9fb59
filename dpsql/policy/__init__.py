"""The owner's policy: read from TOML, checked against the database, drafted, composed, and its digest."""
