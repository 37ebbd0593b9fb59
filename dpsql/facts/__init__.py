"""Facts of a relation before any row is read: column types, ranges, ownership, keys, origins."""
