"""What is known of relations before any row is read: types, ranges, owners, keys, origins."""
